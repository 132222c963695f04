//! The checks of saved bytes, which may come from anyone: each number is in its range, and each
//! pose is free.

use glam::{DQuat, DVec3};
use obsp::model::BodyKind;

use super::{LoadWorldError, Saved, SavedEntity, damaged};
use crate::arena::LEFT;
use crate::bodies::armed_move::ArmedMove;
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity, Outside, SearchState};
use crate::bodies::guard::Seeker;
use crate::bodies::linear_move::LinearMove;
use crate::bodies::roles::{Kinematic, Missile, PlayerBody, Role};
use crate::bodies::rounds::Strike;
use crate::bodies::slots::MAX_ENTITIES;
use crate::bodies::solver::max_spin;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::state::{EntityId, Posture};
use crate::traits::Attachment;
use crate::world::World;

/// Maximum distance of a saved position from the map, in units. Entities that have left the map are
/// taken out after the bodies have moved, but missiles move later in the tick.
const AROUND: f64 = LEFT + 1024.0;

/// Maximum saved speed, in units or radians per second.
const MAX_SPEED: f64 = 1e9;

/// Maximum saved speed of a kinematic body, in units per second.
const MAX_DRIVEN: f64 = 5_000.0;

/// Share by which a kinematic body may spin faster than the greatest spin, because of rounding.
const SPIN_ROUNDING: f64 = 1e-9;

/// Maximum absolute value of any other saved number.
const MAX_NUMBER: f64 = 1e12;

/// Maximum saved impulse, in kg·units/s: more than the heaviest body at its highest speed has.
const MAX_IMPULSE: f64 = 1e18;

/// Maximum difference of the length of a saved orientation or direction from 1.
const UNIT: f64 = 1e-6;

/// Maximum difference of the length from 1 for an orientation that is kept as it was saved. Audits
/// allow 1e-9 of its square.
const EXACT_UNIT: f64 = 1e-10;

/// Maximum number of ticks of a match. At 60 ticks a second this is 148,000 years.
const MAX_TICK: u64 = 1 << 48;

/// Maximum number of ticks in the saved history of positions.
const MAX_HISTORY: usize = 64;

/// The checks of a saved state, for the match that it is to replace.
pub(super) struct Checks<'a> {
    pub(super) world: &'a World,
}

impl Checks<'_> {
    /// The saved entities, each at its saved pose, if it can be there.
    pub(super) fn entities(&self, saved: &Saved) -> Result<Entities, LoadWorldError> {
        if !saved.agents.is_sorted_by(|a, b| a < b) {
            return Err(damaged("its agents are not in order".to_owned()));
        }
        let World { arena, config, .. } = self.world;
        let mut entities = Entities::with_generations(
            &arena.map.bounds(),
            config.max_players,
            saved.generations.to_vec(),
            saved.agents.to_vec(),
        )
        .ok_or_else(|| damaged(format!("it has more than {MAX_ENTITIES} slots")))?;
        entities.use_grid(self.world.entities.uses_grid());
        for SavedEntity { entity, pose, anchor, searched } in &saved.entities {
            let id = entity.id;
            let reject = |what: &str| damaged(format!("in slot {}, {what}", id.slot));
            let pose = pose.as_ref().map(|saved| saved.pose(None));
            let mut entity = entity.clone().into_owned();
            entity.sleep.anchor = anchor.pose(pose.as_ref());
            self.entity(&entity).map_err(reject)?;
            entity.dynamics.restore(&arena.shapes[entity.shape]).map_err(reject)?;
            let (shape, posture) = (entity.shape, entity.walker().map(|walker| walker.posture));
            let seeker = Seeker::of(&entity);
            entities
                .restore(entity)
                .ok_or_else(|| reject("the slot is missing, taken or of another generation"))?;
            if let Some(pose) = pose {
                self.pose(&pose).map_err(reject)?;
                if let Some(posture) = posture {
                    self.on_foot(&pose, shape, posture).map_err(reject)?;
                }
                let space = arena.space(&entities);
                let placement = space.restore(shape, pose, seeker);
                let placement = placement.ok_or(LoadWorldError::Overlap(id))?;
                entities.commit(id.slot, placement);
            }
            if let Some(entity) = entities.get_mut(id.slot) {
                entity.record.searched_as = searched.state(entity);
                let searched_as = entity.record.searched_as;
                self.search(searched_as).map_err(reject)?;
            }
        }
        let is_player = |id: &EntityId| entities.find(*id).is_some_and(|it| it.player().is_some());
        let chain = |entity: &Entity| entities.carriers(entity.id).len();
        if entities.iter().any(|entity| chain(entity) > Attachment::MAX_CHAIN) {
            return Err(damaged("a chain of attachments is too long, or a ring".to_owned()));
        }
        if !saved.agents.iter().all(is_player) {
            return Err(damaged("an agent is not a player".to_owned()));
        }
        Ok(entities)
    }

    /// Checks the pose of a player on foot.
    fn on_foot(&self, pose: &Pose, shape: ShapeId, posture: Posture) -> Result<(), &'static str> {
        if *pose != on_foot(pose) {
            return Err("a player on foot has a rotation, or a position that is not exact in f32");
        }
        if shape != self.world.arena.shapes.of_posture(posture) {
            return Err("the box of a player does not belong to the posture");
        }
        Ok(())
    }

    /// Checks the role of an entity and its motion.
    fn entity(&self, entity: &Entity) -> Result<(), &'static str> {
        let shapes = &self.world.arena.shapes;
        let standing = shapes.of_posture(Posture::Standing);
        let crouching = shapes.of_posture(Posture::Crouching);
        let fits = match &entity.role {
            Role::Player(PlayerBody::Box(walker)) => {
                numbers(&walker.ground_velocity.as_dvec3().to_array())?;
                [standing, crouching].contains(&entity.shape)
            }
            Role::Player(PlayerBody::Hovertank(tank)) => {
                numbers(&tank.drive.linear.to_array())?;
                numbers(&tank.drive.angular.to_array())?;
                shapes.of_model(tank.model) == Some(entity.shape)
            }
            Role::Kinematic(Kinematic { slowdowns, .. })
                if *slowdowns > Kinematic::MAX_SLOWDOWNS =>
            {
                return Err("a kinematic body was slowed down more often than is possible");
            }
            Role::Kinematic(Kinematic { model, .. })
            | Role::Prop(model)
            | Role::Missile(Missile { model, .. }) => shapes.of_model(*model) == Some(entity.shape),
        };
        // A shape that fits belongs to the match, so the index is in range.
        let is_kinematic = || shapes[entity.shape].kind == BodyKind::Kinematic;
        if !fits || is_kinematic() != entity.is_kinematic() {
            return Err("the shape of an entity does not belong to its kind");
        }
        if entity.dynamics.own().is_some() && !entity.has_dynamics() {
            return Err("an entity that is not a dynamic body has parameters of its own");
        }
        self.outside(entity)?;
        if let Some(pocket) = entity.pocket() {
            numbers(&pocket.min.to_array())?;
            numbers(&pocket.max.to_array())?;
        }
        if let Some(by) = entity.linear_move() {
            linear_move(&by)?;
        }
        if let Some(swing) = entity.swing() {
            numbers(&swing.place.to_array())?;
            numbers(&swing.way.to_array())?;
            if !swing.is_sound() {
                return Err("a swing has no ticks, has too many, or is beyond its end");
            }
        }
        speed(entity.velocity, MAX_SPEED)?;
        speed(entity.angular, MAX_SPEED)?;
        if entity.is_kinematic() {
            // The solver does not limit the velocities of kinematic bodies.
            speed(entity.velocity, MAX_DRIVEN)?;
            speed(entity.surface(), MAX_DRIVEN)?;
            let most = max_spin(self.world.context.seconds) * (1.0 + SPIN_ROUNDING);
            speed(entity.angular, most)?;
        }
        if entity.walker().is_some() && entity.velocity != entity.velocity.as_vec3().as_dvec3() {
            return Err("the velocity of a player on foot is not exact in f32");
        }
        // The two distances may be infinite, for a body that overlaps something, or that turns too
        // far.
        if entity.record.free_distance.is_nan() || entity.record.moved.is_nan() {
            return Err("a distance is NaN");
        }
        if let Some(anchor) = &entity.sleep.anchor {
            self.pose(anchor)?;
        }
        Ok(())
    }

    /// Checks the state of an entity at the last search for contacts.
    fn search(&self, state: Option<SearchState>) -> Result<(), &'static str> {
        let Some(SearchState { shape, pose, .. }) = state else { return Ok(()) };
        if !self.is_of_model(shape) {
            return Err("there is no shape of this number");
        }
        self.pose(&pose)
    }

    fn pose(&self, Pose { position, orientation }: &Pose) -> Result<(), &'static str> {
        if !self.world.arena.map.bounds().inflated(AROUND).contains(*position) {
            return Err("a position is far outside of the map");
        }
        unit(orientation.length(), UNIT)
    }

    /// Checks the state of the world except its entities.
    pub(super) fn rest(&self, saved: &Saved, slots: usize) -> Result<(), LoadWorldError> {
        let error = |what: &'static str| move |why: &str| damaged(format!("in {what}, {why}"));
        if saved.tick > MAX_TICK {
            return Err(damaged(format!("tick {} is beyond {MAX_TICK}", saved.tick)));
        }
        if saved.budget.is_some_and(|budget| !(0.0..=MAX_NUMBER).contains(&budget)) {
            return Err(damaged("the budget is negative, too great or NaN".into()));
        }
        for pair in &*saved.pairs {
            self.pair(pair, slots).map_err(error("a contact"))?;
        }
        for Strike { body, other, at, normal, impulse } in &*saved.strikes {
            self.between(*body, *other, slots).map_err(error("a stop"))?;
            let all = [at.to_array(), normal.to_array(), [*impulse; 3]].concat();
            numbers(&all).map_err(error("a stop"))?;
        }
        if !saved.pairs.is_sorted_by_key(|pair| pair.key) {
            return Err(error("the list of contacts")("a pair is out of order"));
        }
        for (_, ArmedMove { zone, by }) in &*saved.armed {
            let all = [zone.min.to_array(), zone.max.to_array()].concat();
            numbers(&all).and_then(|()| linear_move(by)).map_err(error("an armed move"))?;
        }
        if !saved.armed.is_sorted_by(|(a, _), (b, _)| a.slot < b.slot) {
            return Err(error("the list of armed moves")("a body is out of order"));
        }
        if saved.history.len() > MAX_HISTORY {
            return Err(error("the past positions")("there are too many ticks"));
        }
        for past in saved.history.poses() {
            let known = [Posture::Standing, Posture::Crouching]
                .map(|posture| self.world.arena.shapes.of_posture(posture));
            let shape = known.contains(&past.shape) || self.is_of_model(past.shape);
            let pose = self.pose(&past.pose);
            if !shape {
                return Err(error("a past position")("there is no shape of this number"));
            }
            pose.map_err(error("a past position"))?;
        }
        let late = saved.touches.iter().any(|touch| touch.tick > saved.tick);
        if late {
            return Err(error("a touch")("the tick is in the future"));
        }
        Ok(())
    }

    fn is_of_model(&self, shape: ShapeId) -> bool {
        usize::from(shape.0) < 2 + self.world.arena.model_names.len()
    }

    /// Checks what the entity is while it has no placement.
    fn outside(&self, entity: &Entity) -> Result<(), &'static str> {
        let pose = match &entity.outside {
            Outside::Waits | Outside::TakenOut => return Ok(()),
            Outside::Intangible(pose) => pose,
            Outside::Attached(Attachment { offset, rotation, .. }, pose) => {
                unit(rotation.length(), EXACT_UNIT)?;
                if !(offset.abs().max_element() <= Attachment::MAX_OFFSET && offset.is_finite()) {
                    return Err("an attached body is too far from its carrier");
                }
                pose
            }
        };
        if !matches!(entity.role, Role::Prop(_) | Role::Kinematic(_)) {
            return Err("a player or a missile is intangible");
        }
        unit(pose.orientation.length(), EXACT_UNIT)?;
        numbers(&pose.position.to_array())
    }

    /// Checks that a body may have met an obstacle.
    fn between(&self, body: u16, other: Blocker, slots: usize) -> Result<(), &'static str> {
        let known = match other {
            Blocker::Solid(index) => (index as usize) < self.world.arena.map.solids().len(),
            Blocker::Entity(slot) => usize::from(slot) < slots,
        };
        let is_known = known && usize::from(body) < slots;
        is_known.then_some(()).ok_or("there is no such body or solid")
    }

    fn pair(&self, pair: &Pair, slots: usize) -> Result<(), &'static str> {
        self.between(pair.key.body, pair.key.other, slots)?;
        unit(pair.axis.length(), UNIT)?;
        numbers(&[pair.gap])?;
        for point in &pair.points {
            numbers(&point.local.as_dvec3().to_array())?;
            numbers(&[point.gap.into()])?;
            let [normal, tangent, bitangent] = point.impulse;
            let impulses = [normal, tangent, bitangent, point.taken];
            let impulses = impulses.map(|impulse| f64::from(impulse).abs());
            if impulses.iter().any(|impulse| !(0.0..=MAX_IMPULSE).contains(impulse)) {
                return Err("an impulse is too great or NaN");
            }
        }
        Ok(())
    }
}

/// The pose of a player on foot: without rotation, and with a position rounded to `f32`.
fn on_foot(pose: &Pose) -> Pose {
    Pose { position: pose.position.as_vec3().as_dvec3(), orientation: DQuat::IDENTITY }
}

fn numbers(values: &[f64]) -> Result<(), &'static str> {
    let usual = values.iter().all(|value| value.abs() <= MAX_NUMBER);
    if usual { Ok(()) } else { Err("a number is too great or NaN") }
}

fn linear_move(LinearMove { goal, speed, .. }: &LinearMove) -> Result<(), &'static str> {
    let possible = *speed > 0.0 && *speed <= MAX_DRIVEN;
    possible.then_some(()).ok_or("the speed of a linear move is not above zero, or too high")?;
    numbers(&goal.to_array())
}

fn speed(velocity: DVec3, most: f64) -> Result<(), &'static str> {
    if velocity.length() <= most { Ok(()) } else { Err("a speed is too great or NaN") }
}

fn unit(length: f64, most_off: f64) -> Result<(), &'static str> {
    if (length - 1.0).abs() <= most_off { Ok(()) } else { Err("a direction is not of length one") }
}
