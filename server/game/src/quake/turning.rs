//! A turning mover: a kinematic body that turns about an axis of the world.
//!
//! Like a sliding mover, it has no velocity at rest. A body whose origin is not on the axis goes
//! around it: in each tick it heads for its place at the end of the next tick, so that it stays on
//! its circle even after something has held it up.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{HELD, PATIENCE, Progress, put};
use super::rotation::turn;
use super::targets::Calls;
use super::touch;
use crate::world_mut::WorldMut;

/// A body nearer to its goal than this, in radians, is there. A tick's turn is exact to a tenth of
/// this.
const THERE: f64 = 1e-5;

/// The most that a body turns in a tick, in radians.
const MOST_TURN: f64 = 0.25;

/// The fastest that a point of a body moves, in units per second.
const MOST_SPEED: f64 = 4000.0;

/// A kinematic body that turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Turning {
    pub(super) body: EntityId,
    axle: Axle,
    /// The place of the body where it is drawn.
    place: DVec3,
    /// Radians per second.
    speed: f64,
    /// Radians from where it is drawn, after the last tick.
    angle: f64,
    /// Radians; infinite for a body that goes on for ever.
    goal: Option<f64>,
    /// Ticks until it sets out.
    delay: u32,
    /// The turn that it is to make in this tick, in radians.
    turn: f64,
    /// The linear and the angular velocity that the body was given.
    velocities: [DVec3; 2],
    /// The ticks in a row in which it was held up.
    held: u32,
}

/// The line about which a body turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Axle {
    pub(super) point: DVec3,
    /// A unit vector along +X, +Y or +Z.
    pub(super) axis: DVec3,
}

impl Axle {
    /// The turn by an angle in radians.
    fn turn(&self, angle: f64) -> DQuat {
        turn(self.axis, angle)
    }

    /// A place after the turn by an angle in radians.
    fn turned(&self, place: DVec3, angle: f64) -> DVec3 {
        self.point + self.turn(angle) * (place - self.point)
    }

    /// The box around everything that a box sweeps while it turns.
    fn swept(&self, bounds: &Aabb) -> Aabb {
        let arm = (bounds.min - self.point).abs().max((bounds.max - self.point).abs());
        let across = (arm * (DVec3::ONE - self.axis)).length();
        let reach = (DVec3::ONE - self.axis) * across;
        let along = |corner: DVec3| corner * self.axis + self.point * (DVec3::ONE - self.axis);
        Aabb { min: along(bounds.min) - reach, max: along(bounds.max) + reach }
    }
}

impl Turning {
    /// Spawns the body of an entity, turned by `angle` from where it is drawn; `speed` is in
    /// radians per second. `None` if the entity has no model in the match.
    pub(super) fn spawn(
        world: &mut WorldMut<'_>,
        entity: &MapEntity,
        axle: Option<DVec3>,
        axis: DVec3,
        angle: f64,
        speed: f64,
    ) -> Option<Self> {
        let drawn = world.model_of(entity)?;
        let axle = Axle { point: axle.unwrap_or(drawn.place), axis };
        let pocket = axle.swept(&keys::bounds(entity));
        let pose = (axle.turned(drawn.place, angle), axle.turn(angle));
        let body = put(world, drawn.model, pose, pocket)?;
        let mut turning = Self {
            body,
            axle,
            place: drawn.place,
            speed,
            angle,
            goal: None,
            delay: 0,
            turn: 0.0,
            velocities: [DVec3::ZERO; 2],
            held: 0,
        };
        let reach = (pocket.max - pocket.min).max_element().max(1.0) / 2.0;
        let most = (MOST_TURN / world.seconds()).min(MOST_SPEED / reach);
        turning.speed = speed.clamp(0.0, most);
        Some(turning)
    }

    /// Sets out for an angle, in radians from where it is drawn.
    pub(super) fn go(&mut self, world: &mut WorldMut<'_>, goal: f64) {
        self.go_after(world, goal, 0);
    }

    /// Sets out for an angle after some ticks.
    pub(super) fn go_after(&mut self, world: &mut WorldMut<'_>, goal: f64, delay: u32) {
        (self.goal, self.delay, self.held) = (Some(goal), delay, 0);
        if delay == 0 {
            self.drive(world, goal);
        }
    }

    /// Stops where it is.
    pub(super) fn stop(&mut self, world: &mut WorldMut<'_>) {
        self.goal = None;
        self.set_velocities(world, [DVec3::ZERO; 2]);
    }

    /// Checks how far the body has come in this tick.
    pub(super) fn step(&mut self, world: &mut WorldMut<'_>) -> Progress {
        let Some(goal) = self.goal else { return Progress::Rests };
        let Some(entity) = world.entity(self.body) else {
            self.goal = None;
            return Progress::Rests;
        };
        if self.delay > 0 {
            self.delay -= 1;
            if self.delay > 0 {
                return Progress::Waits;
            }
            self.drive(world, goal);
            return Progress::Starts;
        }
        let before = self.angle;
        self.angle = self.nearest(entity.orientation);
        if (goal - self.angle).abs() <= THERE {
            self.stop(world);
            return Progress::Arrived;
        }
        let is_free = (self.angle - before) / self.turn > HELD;
        self.drive(world, goal);
        self.held = if is_free { 0 } else { self.held.saturating_add(1) };
        if self.held < keys::ticks_of(world, PATIENCE).max(2) {
            return Progress::Moves;
        }
        self.held = 0;
        Progress::Blocked
    }

    /// Hurts the player who holds the body up.
    pub(super) fn hurt(
        &self,
        world: &WorldMut<'_>,
        damage: i16,
        means: &'static str,
        calls: &mut Calls,
    ) {
        touch::hurt(world, self.body, damage, means, calls);
    }

    /// The angle of an orientation that is nearest to the angle of the last tick: a body may have
    /// made many turns.
    fn nearest(&self, orientation: DQuat) -> f64 {
        let along = orientation.xyz().dot(self.axle.axis);
        let angle = 2.0 * libm::atan2(along, orientation.w);
        let turns = ((self.angle - angle) / std::f64::consts::TAU).round();
        angle + turns * std::f64::consts::TAU
    }

    fn drive(&mut self, world: &mut WorldMut<'_>, goal: f64) {
        let Some(at) = world.entity(self.body).map(|entity| entity.position) else { return };
        let (seconds, left) = (world.seconds(), goal - self.angle);
        let step = self.speed * seconds;
        self.turn = if left.abs() <= step + THERE { left } else { step.copysign(left) };
        let to = self.axle.turned(self.place, self.angle + self.turn);
        self.set_velocities(world, [(to - at) / seconds, self.axle.axis * (self.turn / seconds)]);
    }

    fn set_velocities(&mut self, world: &mut WorldMut<'_>, velocities: [DVec3; 2]) {
        if self.velocities != velocities {
            self.velocities = velocities;
            // A body that fell out of the map has no velocity.
            let _ = world.set_velocity(self.body, velocities[0], velocities[1]);
        }
    }
}
