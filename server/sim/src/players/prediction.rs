//! Prediction: the server's own movement code, for a client that shows the player's motion
//! before the server confirms it.

mod predicted_bodies;
mod tank;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use obsp::geometry::Aabb;
use obsp::model::{BodyKind, Model};

use crate::arena::Arena;
use crate::arena::movement_sets::MovementSets;
use crate::bodies::armed_move::ArmedMove;
use crate::collision::cascade::{Body, Candidates, box_at, least_gap};
use crate::collision::pose::{Pose, is_speed, is_tick};
use crate::collision::shape::ShapeId;
use crate::command::Command;
use crate::context::StepContext;
use crate::conventions::BODY_GRAVITIES;
use crate::players::agent::NearbyBodies;
use crate::players::driver::{Driver, Load, add_loads};
use crate::players::movement;
use crate::players::movement::{Encounters, PlayerMotion};
use crate::players::plane_cache::PlaneCache;
use crate::players::walk::{PlayerSurroundings, shove_speed};
use crate::setup::SetupError;
use crate::state::{EntityId, EntityState, Kind, ModelId};
use crate::traits::CollisionLayers;
pub use predicted_bodies::{Moving, PredictedBodies};
pub use tank::DrivenTank;

/// Predicts a player's motion from the player's commands. The player moves past the other
/// bodies as the client knows them, and shoves props in the way.
///
/// ```
/// # use std::sync::Arc;
/// use obsp_sim::{Command, Config, Predictor, World};
///
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let models = obsp::model::shipped();
/// let predictor = Predictor::new(Arc::clone(&map), &models)?;
/// let mut world = World::new(map, models.into(), Config::default())?;
/// let player = world.join()?;
///
/// // A client knows the player's motion, the other entities and the parameters.
/// let motion = world.player_motion(player).expect("the entity is in the world");
/// let mut others = world.state().entities;
/// others.retain(|other| other.id != player);
/// let run = Command { forward: 127, ..Command::default() };
/// let layers = world.layers(player).expect("the player is in the match");
/// let by = (world.seconds(), world.movement_sets(), layers);
/// let predicted = predictor.step(motion, run, by, &mut others, &[], &[]);
/// world.step(&[(player, run)]);
/// assert_eq!(world.player_motion(player), Some(predicted.motion));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor {
    arena: Arena,
}

/// Before a rider's ground moves, it is no farther below the rider than this, in units.
const REACH_DOWN: f64 = 1.0;

/// Whether the state of a body in a snapshot is valid: it is within the extent of worlds, its
/// orientation has a length, and it is no faster than 10 million units per second.
fn is_sound(other: &EntityState) -> bool {
    let known = Pose::known(other.position, other.orientation);
    known.is_some() && is_speed(other.velocity)
}

impl PlayerMotion {
    /// Whether the motion is valid: the player is within the extent of worlds, and no faster than
    /// 10 million units per second. Other motions are not predicted.
    pub fn is_sound(&self) -> bool {
        let position = self.position.as_dvec3();
        let velocities = [self.velocity, self.walker.ground_velocity].map(|of| of.as_dvec3());
        Pose::known(position, DQuat::IDENTITY).is_some() && velocities.into_iter().all(is_speed)
    }
}

/// The result of a predicted tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The player's motion after the tick.
    pub motion: PlayerMotion,
    /// Indices in `others` of the props that the player ran into. The props already have the
    /// velocity of the shove.
    pub shoved: Vec<usize>,
    /// Whether a moving body that the player had not set in motion was in the way or carried the
    /// player. Only the server knows the motion of such a body.
    pub pushed: bool,
}

impl Predictor {
    /// A predictor for a match on `map` with bodies of `models`.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// too many models.
    pub fn new(map: Arc<obsp::Map>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { arena: Arena::new(map, models)? })
    }

    /// Predicts with this gravity of bodies, in units per second squared, instead of
    /// [`BODY_GRAVITY`](crate::BODY_GRAVITY). A number out of
    /// [`BODY_GRAVITIES`](crate::BODY_GRAVITIES) changes nothing.
    #[must_use]
    pub fn with_body_gravity(mut self, gravity: f64) -> Self {
        if BODY_GRAVITIES.contains(&gravity) {
            self.arena.shapes.set_gravity(gravity);
        }
        self
    }

    /// The motion of a player after a tick of `seconds` with `command`. `others` are the other
    /// bodies when the tick begins, without the player. `own` names those of `others` that the
    /// player has set in motion, and `spins` are the known angular velocities of kinematic bodies,
    /// in radians per second. All other bodies count as not turning. `movement` are the server's
    /// sets of parameters, and the motion names one of them. `layers` are the layers of the player.
    ///
    /// The motion is not changed if the tick is not above 0 seconds or is longer than 1 second, if
    /// a parameter is out of its range, or if the motion is not valid ([`PlayerMotion::is_sound`]).
    /// Other bodies whose state is not valid are left out.
    pub fn step(
        &self,
        motion: PlayerMotion,
        command: Command,
        (seconds, movement, layers): (f64, &MovementSets, CollisionLayers),
        others: &mut [EntityState],
        own: &[EntityId],
        spins: &[(EntityId, DVec3)],
    ) -> Predicted {
        if !is_tick(seconds) || !motion.is_sound() || movement.check().is_err() {
            return Predicted { motion, shoved: Vec::new(), pushed: false };
        }
        let mut context = StepContext::default();
        let mut encounters = Encounters::default();
        let parameters = movement.get(motion.walker.movement);
        let reach = parameters.reach(motion.velocity, self.arena.currents.fastest(), seconds);
        let known = (&*others, own, spins);
        let crowd = KnownBodies::new(self, known, (&motion, layers), (seconds, reach));
        let memory = PlaneCache::new(&mut context);
        let mut around = PlayerSurroundings::new(&self.arena, motion.position, crowd, memory);
        let by = (seconds, parameters);
        let motion = movement::step(motion, command, by, &mut around, &mut encounters);
        let pushed = around.pushed;
        let motion = self.come_down(motion, (others, spins), layers, seconds);
        let mut shoved = Vec::new();
        for (hit, speed) in &encounters.touched {
            let Some(index) = others.iter().position(|other| Some(other.id.slot) == hit.entity)
            else {
                continue;
            };
            let Some(shape) = self.rigid(&others[index]) else { continue };
            let inverse_mass = self.arena.shapes[shape].mass.inverse_mass;
            let other = &mut others[index];
            if let Some(gained) = shove_speed(hit, *speed, other.velocity, inverse_mass) {
                other.velocity += gained;
                other.asleep = false;
                shoved.push(index);
            }
        }
        Predicted { motion, shoved, pushed }
    }

    /// The motion of a player whose ground may have gone down in a tick that began with `others`.
    fn come_down(
        &self,
        motion: PlayerMotion,
        (others, spins): (&[EntityState], &[(EntityId, DVec3)]),
        layers: CollisionLayers,
        seconds: f64,
    ) -> PlayerMotion {
        if motion.walker.ground_velocity.z >= 0.0 {
            return motion;
        }
        let mut moved = others.to_vec();
        for other in &mut moved {
            let Some(driver) = self.driver(other, spins) else { continue };
            let Pose { position, orientation } = driver.target(seconds);
            (other.position, other.orientation) = (position, orientation);
        }
        let reach = f64::from(motion.walker.ground_velocity.length()) * seconds + REACH_DOWN;
        let crowd =
            KnownBodies::new(self, (&moved, &[], spins), (&motion, layers), (seconds, reach));
        let mut context = StepContext::default();
        let memory = PlaneCache::new(&mut context);
        let mut around = PlayerSurroundings::new(&self.arena, motion.position, crowd, memory);
        movement::come_down(motion, seconds, &mut around)
    }

    /// Whether a player with this motion after a tick is in the zone of an armed move, by the
    /// server's own rule. If so, a body at rest begins the move at the end of that tick.
    pub fn is_in_zone(&self, armed: &ArmedMove, motion: &PlayerMotion) -> bool {
        let shape = self.arena.shapes.of_posture(motion.walker.posture);
        let pose = Pose::at(motion.position.as_dvec3());
        motion.is_sound() && armed.is_met_by(&self.arena.shapes[shape], &pose)
    }

    /// The bodies that the player shoves (`own`) and the `bodies` near them, to be moved by
    /// [`Predictor::advance`]. `player` is the motion and the layers of the player.
    pub fn predicted_bodies(
        &self,
        own: &[EntityId],
        bodies: &[Moving],
        player: (&PlayerMotion, CollisionLayers),
    ) -> PredictedBodies {
        PredictedBodies::new(self, own, bodies, player)
    }

    /// Moves predicted bodies by a tick of `seconds` with the server's own solver and guard.
    /// `motion` is the player's motion after the tick. `others` are the other bodies when the tick
    /// began. As in [`Predictor::step`], nothing moves if the tick or the motion is not valid, and
    /// bodies whose state is not valid are left out.
    pub fn advance(
        &self,
        predicted: &mut PredictedBodies,
        others: &[EntityState],
        motion: &PlayerMotion,
        seconds: f64,
    ) {
        if is_tick(seconds) && motion.is_sound() {
            predicted.advance(self, others, motion, seconds);
        }
    }

    /// A tank that the player drives, and the `bodies` near it, to be moved by
    /// [`Predictor::drive`]. `None` if the body is not a tank, if there is no room for it at its
    /// position, or if its state is not valid.
    pub fn tank(&self, tank: &Moving, bodies: &[Moving]) -> Option<DrivenTank> {
        tank.is_sound().then(|| DrivenTank::new(self, tank, bodies)).flatten()
    }

    /// Corrects a predicted tank, and the bodies near it, to the latest known states for which
    /// there is room. Returns whether anything changed.
    pub fn correct_tank(&self, among: &mut DrivenTank, tank: &Moving, bodies: &[Moving]) -> bool {
        tank.is_sound() && among.correct(self, tank, bodies)
    }

    /// Moves a tank by a tick of `seconds` with its driver's `command`, by the server's own
    /// engine, solver and guard. `others` are the other bodies when the tick began.
    pub fn drive(
        &self,
        tank: &mut DrivenTank,
        command: Command,
        others: &[EntityState],
        seconds: f64,
    ) {
        if is_tick(seconds) {
            tank.advance(self, others, command, seconds);
        }
    }

    /// Whether bodies of this model are missiles, which players do not shove. A snapshot does not
    /// distinguish a missile from a prop, but the model does.
    fn is_missile(&self, model: ModelId) -> bool {
        let shape = self.arena.shapes.of_model(model);
        shape.is_some_and(|shape| self.arena.shapes[shape].kind == BodyKind::Missile)
    }

    fn player(&self, motion: &PlayerMotion) -> Body<'_> {
        let shape = self.arena.shapes.of_posture(motion.walker.posture);
        Body::standing(&self.arena.shapes[shape], Pose::at(motion.position.as_dvec3()))
    }

    /// The shape of a body that gives way to a shove; `None` for other bodies.
    fn rigid(&self, other: &EntityState) -> Option<ShapeId> {
        match other.kind {
            Kind::Player { .. } => None,
            Kind::Vehicle { model } | Kind::Prop { model } => {
                let has_own_rules = self.is_missile(model) || self.arena.shapes.is_kinematic(model);
                self.arena.shapes.of_model(model).filter(|_| !has_own_rules)
            }
        }
    }

    /// The shape of a body that moves by itself, or gives way to a shove.
    fn predicted_shape(&self, other: &EntityState) -> Option<ShapeId> {
        match other.kind {
            Kind::Prop { model } if self.arena.shapes.is_kinematic(model) => {
                self.arena.shapes.of_model(model)
            }
            _ => self.rigid(other),
        }
    }

    /// Whether bodies of this model are kinematic: they move as their game says.
    pub fn is_kinematic(&self, model: ModelId) -> bool {
        self.arena.shapes.is_kinematic(model)
    }

    /// The kinematic body with this state, if it or its surface moves. The state of a body that
    /// stands still has the velocity of its surface.
    fn driver(&self, other: &EntityState, spins: &[(EntityId, DVec3)]) -> Option<Driver<'_>> {
        let Kind::Prop { model } = other.kind else { return None };
        let spin = spins.iter().find(|(id, spin)| *id == other.id && is_speed(*spin));
        let [velocity, angular, surface] = match spin.filter(|_| !other.asleep) {
            _ if other.asleep => [DVec3::ZERO, DVec3::ZERO, other.velocity],
            spin => [other.velocity, spin.map_or(DVec3::ZERO, |(_, spin)| *spin), DVec3::ZERO],
        };
        if [velocity, angular, surface] == [DVec3::ZERO; 3]
            || !self.arena.shapes.is_kinematic(model)
            || !is_sound(other)
        {
            return None;
        }
        Some(Driver {
            slot: other.id.slot,
            shape: &self.arena.shapes[self.arena.shapes.of_model(model)?],
            pose: Pose::known(other.position, other.orientation)?,
            velocity,
            angular,
            surface,
            is_held: false,
        })
    }

    /// The body with this state as a load of kinematic bodies; `None` if it cannot be one.
    fn load(&self, other: &EntityState) -> Option<Load<'_>> {
        let is_kinematic =
            matches!(other.kind, Kind::Prop { model } if self.arena.shapes.is_kinematic(model));
        if is_kinematic || other.asleep {
            return None;
        }
        let shape = &self.arena.shapes[self.shape(other)?];
        let pose = self.body(other)?.motion.start;
        Some(Load { slot: other.id.slot, shape, pose, bounds: box_at(&shape.bounds, &pose) })
    }

    fn shape(&self, other: &EntityState) -> Option<ShapeId> {
        match other.kind {
            Kind::Player { posture } => Some(self.arena.shapes.of_posture(posture)),
            Kind::Vehicle { model } | Kind::Prop { model } => self.arena.shapes.of_model(model),
        }
    }

    fn body(&self, other: &EntityState) -> Option<Body<'_>> {
        let orientation = match other.kind {
            Kind::Player { .. } => DQuat::IDENTITY,
            Kind::Vehicle { .. } | Kind::Prop { .. } => other.orientation,
        };
        let pose = Pose::known(other.position, orientation).filter(|_| is_sound(other))?;
        Some(Body::standing(&self.arena.shapes[self.shape(other)?], pose))
    }
}

/// The bodies that a client knows and that the player can meet within a tick.
struct KnownBodies<'a> {
    others: &'a [EntityState],
    own: &'a [EntityId],
    /// Slot, body, and the box around it.
    bodies: Vec<(u16, Body<'a>, Aabb)>,
    drivers: Vec<Driver<'a>>,
}

impl<'a> KnownBodies<'a> {
    fn new(
        predictor: &'a Predictor,
        (others, own, spins): (&'a [EntityState], &'a [EntityId], &[(EntityId, DVec3)]),
        (motion, layers): (&PlayerMotion, CollisionLayers),
        (seconds, farthest): (f64, f64),
    ) -> Self {
        let player = predictor.player(motion);
        let here = player.speedbox();
        let reach = here.inflated(farthest);
        let body = |other: &EntityState| {
            if !other.traits.is_solid() || !layers.may_meet(other.traits.layers) {
                return None;
            }
            let radius = predictor.arena.shapes[predictor.shape(other)?].radius;
            let around = Aabb::from_centre(other.position, DVec3::splat(radius));
            if !around.overlaps(&reach) {
                return None;
            }
            let body = predictor.body(other)?;
            let around = body.speedbox();
            // A body that seems to overlap the player must have moved since its snapshot, and is
            // left out.
            let inside =
                around.overlaps(&here) && least_gap(&player, &body, Candidates::ALL).is_none();
            (!inside).then_some((other.id.slot, body, around))
        };
        let mut bodies: Vec<(u16, Body, Aabb)> = Vec::new();
        for found in others.iter().filter_map(body) {
            // A slot has one body. States that claim more are not those of one tick.
            if bodies.iter().all(|(slot, ..)| *slot != found.0) {
                bodies.push(found);
            }
        }
        let is_near = |slot| bodies.iter().any(|(near, ..)| *near == slot);
        let drivers = others.iter().filter_map(|other| predictor.driver(other, spins));
        let mut drivers: Vec<Driver> = drivers.filter(|driver| is_near(driver.slot)).collect();
        if !drivers.is_empty() {
            let loads = others.iter().filter(|other| is_near(other.id.slot));
            let loads = loads.filter_map(|other| predictor.load(other)).collect();
            add_loads(&mut drivers, loads, seconds);
        }
        Self { others, own, bodies, drivers }
    }
}

impl<'a> NearbyBodies<'a> for KnownBodies<'a> {
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>)) {
        let near = self.bodies.iter().filter(|(.., around)| around.overlaps(bounds));
        near.for_each(|(slot, body, _)| each(*slot, body));
    }

    fn velocity(&self, slot: u16) -> DVec3 {
        let stood_on = self.others.iter().find(|other| other.id.slot == slot);
        stood_on.filter(|other| !other.asleep).map_or(DVec3::ZERO, |other| other.velocity)
    }

    fn is_own_doing(&self, slot: u16) -> bool {
        self.own.iter().any(|own| own.slot == slot)
    }

    fn drivers(&self) -> &[Driver<'a>] {
        &self.drivers
    }
}
