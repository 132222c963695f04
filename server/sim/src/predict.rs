mod pile;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use maps::geometry::Aabb;
use maps::model::Model;

use crate::agent::{Around, shove_speed};
use crate::arena::Arena;
use crate::cascade::{Body, Candidates, least_gap};
use crate::combat::Weapon;
use crate::command::Command;
use crate::counters::Counters;
use crate::guard::{Crowd, Memory};
use crate::movement::{self, Encounters, PlayerMotion};
use crate::pose::Pose;
use crate::setup::SetupError;
use crate::shape::ShapeId;
use crate::state::{EntityId, EntityState, Kind, ModelId};
pub use pile::{Moving, Pile};

/// The server's own movement code for a client that does not want to wait for
/// the server's answer: the player moves past the others as the client knows
/// them, and shoves what lies in the way.
#[derive(Clone, Debug)]
pub struct Predictor {
    arena: Arena,
}

/// What is farther than this, in units, than a player gets at their speed is met
/// by nobody within a tick: a step up and down, and what the guard keeps free.
const BEYOND: f64 = 40.0;

/// How much faster, in units per second, than at its beginning a player can be
/// within a tick: from standing to running, and a jump.
const FASTER: f64 = 600.0;

/// What a predicted tick comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// How the player moves after it.
    pub motion: PlayerMotion,
    /// Props that the player ran into, by index; they have got the speed of the
    /// shove.
    pub shoved: Vec<usize>,
    /// Whether anything that moves, and not by the player's own doing, was in
    /// the way or carried the player: what that does meanwhile only the server
    /// knows.
    pub pushed: bool,
}

impl Predictor {
    /// A predictor for a match on `map` with bodies of `models`.
    ///
    /// # Errors
    /// [`SetupError`] if the map lacks a size that players need, or there are
    /// too many models.
    pub fn new(map: Arc<maps::World>, models: &[Model]) -> Result<Self, SetupError> {
        Ok(Self { arena: Arena::new(map, models)? })
    }

    /// Where `command` leads a player in `seconds`, past `others` (without the
    /// player) as they stand when the tick begins, as the server would have
    /// it. `own` are those of them that the player has set going.
    pub fn step(
        &self,
        motion: PlayerMotion,
        command: Command,
        seconds: f64,
        others: &mut [EntityState],
        own: &[EntityId],
    ) -> Predicted {
        let mut counters = Counters::default();
        let mut encounters = Encounters::default();
        let crowd = Seen::new(self, others, own, &motion, seconds);
        let memory = Memory::new(&mut counters);
        let mut around = Around::new(&self.arena, crowd, memory);
        let motion = movement::step(motion, command, seconds, &mut around, &mut encounters);
        let pushed = around.pushed;
        let mut shoved = Vec::new();
        for (hit, speed) in &encounters.touched {
            let Some(index) = others.iter().position(|other| Some(other.id.slot) == hit.entity)
            else {
                continue;
            };
            let Some(shape) = self.rigid(&others[index]) else { continue };
            let inverse_mass = self.arena.shapes[shape].inverse_mass;
            let other = &mut others[index];
            if let Some(gained) = shove_speed(hit, *speed, other.velocity, inverse_mass) {
                other.velocity += gained;
                other.asleep = false;
                shoved.push(index);
            }
        }
        Predicted { motion, shoved, pushed }
    }

    /// What the player shoves (`own`) with what of `bodies` is near it, to be
    /// moved on by [`Predictor::advance`].
    pub fn pile(&self, own: &[EntityId], bodies: &[Moving], motion: &PlayerMotion) -> Pile {
        Pile::new(self, own, bodies, motion)
    }

    /// What happens to a pile in a tick of `seconds`, after which the player
    /// moves like `motion`, among `others` as they stood when it began: the
    /// server's own solver and guard move it.
    pub fn advance(
        &self,
        pile: &mut Pile,
        others: &[EntityState],
        motion: &PlayerMotion,
        seconds: f64,
    ) {
        pile.advance(self, others, motion, seconds);
    }

    /// Whether bodies of this model burst: a rocket, or a grenade.
    fn bursts(&self, model: ModelId) -> bool {
        Weapon::ALL.iter().any(|weapon| self.arena.model(weapon.model_name()) == Some(model))
    }

    fn player(&self, motion: &PlayerMotion) -> Body<'_> {
        let shape = self.arena.shapes.of_posture(motion.walker.posture);
        Body::standing(&self.arena.shapes[shape], Pose::at(motion.position.as_dvec3()))
    }

    /// The shape of what gives way to a shove.
    fn rigid(&self, other: &EntityState) -> Option<ShapeId> {
        match other.kind {
            Kind::Player { .. } => None,
            Kind::Prop { model } if self.bursts(model) => None,
            Kind::Vehicle { model } | Kind::Prop { model } => self.arena.shapes.of_model(model),
        }
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
        let pose = Pose { position: other.position, orientation };
        Some(Body::standing(&self.arena.shapes[self.shape(other)?], pose))
    }
}

/// The bodies that a client knows of, as far as the player can meet them.
struct Seen<'a> {
    others: &'a [EntityState],
    own: &'a [EntityId],
    /// With the box around each.
    bodies: Vec<(u16, Body<'a>, Aabb)>,
}

impl<'a> Seen<'a> {
    fn new(
        predictor: &'a Predictor,
        others: &'a [EntityState],
        own: &'a [EntityId],
        motion: &PlayerMotion,
        seconds: f64,
    ) -> Self {
        let player = predictor.player(motion);
        let here = player.speedbox();
        let speed = f64::from(motion.velocity.length()) + FASTER;
        let reach = here.inflated(speed * seconds + BEYOND);
        let body = |other: &EntityState| {
            let radius = predictor.arena.shapes[predictor.shape(other)?].radius;
            let around = Aabb::from_centre(other.position, DVec3::splat(radius));
            if !around.overlaps(&reach) {
                return None;
            }
            let body = predictor.body(other)?;
            let around = body.speedbox();
            // What is thought to be where the player is must be elsewhere.
            let inside =
                around.overlaps(&here) && least_gap(&player, &body, Candidates::ALL).is_none();
            (!inside).then_some((other.id.slot, body, around))
        };
        let bodies = others.iter().filter_map(body).collect();
        Self { others, own, bodies }
    }
}

impl<'a> Crowd<'a> for Seen<'a> {
    fn visit(&self, bounds: &Aabb, each: &mut dyn FnMut(u16, &Body<'a>)) {
        let near = self.bodies.iter().filter(|(.., around)| around.overlaps(bounds));
        near.for_each(|(slot, body, _)| each(*slot, body));
    }

    fn velocity(&self, slot: u16) -> DVec3 {
        let stood_on = self.others.iter().find(|other| other.id.slot == slot);
        stood_on.map_or(DVec3::ZERO, |other| other.velocity)
    }

    fn is_own_doing(&self, slot: u16) -> bool {
        self.own.iter().any(|own| own.slot == slot)
    }
}
