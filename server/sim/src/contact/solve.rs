//! Sequential impulses in small steps (Catto 2005; Macklin et al., "Small
//! Steps in Physics Simulation", 2019): a tick is cut into sub-steps, each
//! with one pass over all contacts, because many short steps carry a stack
//! that many passes over one long step do not.
//!
//! A contact lets its bodies close no faster than brings them to the rest gap,
//! so a fast body is braked on the way, not stopped in the wall. Bodies nearer
//! than the rest gap are eased apart, and a second pass without that push
//! takes it out of the velocities again: a correction of place must not become
//! energy.

use glam::{DMat3, DQuat, DVec3};

use super::{Pair, REST_GAP};
use crate::entities::{Entities, Entity};
use crate::guard::{Blocker, Proposal};
use crate::hovertank::Drive;
use crate::movement::GRAVITY;
use crate::pose::Pose;
use crate::shape::Shapes;

/// Sub-steps of a tick: with eight a stack of six mixed bodies stands and
/// sleeps; with four it sways for ever.
pub(crate) const SUB_STEPS: u32 = 8;

/// Coulomb friction of everything on everything: boxes stay on ramps up to
/// 31 degrees.
pub(crate) const FRICTION: f64 = 0.6;

/// Slower impacts, in units per second, do not bounce: several ticks of
/// gravity, so that nothing trembles at rest.
const BOUNCE_SPEED: f64 = 60.0;

/// Frequency in hertz of the spring that eases bodies apart. Half as stiff
/// again, stacks begin to sway; a spring beyond a quarter of the sub-steps'
/// rate rings.
const SPRING_FREQUENCY: f64 = 60.0;

/// Damping of that spring; far beyond critical, so that it creeps, not bounces.
const SPRING_DAMPING: f64 = 10.0;

/// Fastest easing, in units per second.
const EASE_SPEED: f64 = 40.0;

/// Share of spin lost per second, so that a barrel rolls out.
const SPIN_DAMPING: f64 = 0.4;

/// Fastest spin in radians per second.
const MAX_SPIN: f64 = 20.0;

/// Farthest turn within a tick, in radians: that for which
/// [`crate::pose::Motion::arc`] is proven.
const MAX_TURN: f64 = 1.0;

/// Fastest prop in units per second.
const MAX_SPEED: f64 = 4000.0;

/// A body as the solver sees it.
#[derive(Clone, Copy, Debug)]
struct Mover {
    inverse_mass: f64,
    inverse_inertia: DMat3,
    restitution: f64,
    position: DVec3,
    velocity: DVec3,
    angular: DVec3,
    /// What its engine gives, gravity not counted.
    drive: Drive,
    /// Displacement since the tick began.
    moved: DVec3,
    /// Turn since the tick began.
    turned: DQuat,
}

impl Mover {
    /// Everything that no impulse moves.
    const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        restitution: 0.0,
        position: DVec3::ZERO,
        velocity: DVec3::ZERO,
        angular: DVec3::ZERO,
        drive: Drive { linear: DVec3::ZERO, angular: DVec3::ZERO },
        moved: DVec3::ZERO,
        turned: DQuat::IDENTITY,
    };

    fn new(entity: &Entity, shapes: &Shapes) -> Option<Self> {
        let placement = entity.placement()?;
        let shape = &shapes[placement.shape()];
        let rotation = placement.pose().rotation();
        Some(Self {
            inverse_mass: shape.inverse_mass,
            inverse_inertia: rotation * shape.inverse_inertia * rotation.transpose(),
            restitution: shape.restitution,
            position: placement.pose().position,
            velocity: entity.velocity,
            angular: entity.angular,
            drive: entity.drive(),
            ..Self::FIXED
        })
    }

    fn fall(&mut self, seconds: f64) {
        self.velocity += (self.drive.linear - DVec3::Z * GRAVITY) * seconds;
        self.angular += self.drive.angular * seconds;
        self.angular *= 1.0 - SPIN_DAMPING * seconds;
    }

    fn go(&mut self, seconds: f64, max_spin: f64) {
        self.velocity = self.velocity.clamp_length_max(MAX_SPEED);
        self.angular = self.angular.clamp_length_max(max_spin);
        let start = Pose { position: self.moved, orientation: self.turned };
        let end = start.advanced(self.velocity, self.angular, seconds);
        self.moved = end.position;
        self.turned = end.orientation;
    }

    fn push(&mut self, arm: DVec3, impulse: DVec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.inverse_inertia * arm.cross(impulse);
    }

    fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.angular.cross(arm)
    }

    /// Speed along `direction` that a unit impulse at `arm` gives.
    fn response(&self, arm: DVec3, direction: DVec3) -> f64 {
        let turned = arm.cross(direction);
        self.inverse_mass + turned.dot(self.inverse_inertia * turned)
    }

    /// How far the point that was at `arm` has come.
    fn displacement(&self, arm: DVec3) -> DVec3 {
        self.moved + self.turned * arm - arm
    }
}

/// A damped spring as an implicit step sees it (Catto, "Soft Constraints",
/// 2011).
struct Spring {
    /// Share of a missing distance made up per second.
    rate: f64,
    /// Share of the rigid answer given at once.
    stiffness: f64,
    /// Share of the impulse so far that is let go.
    leak: f64,
}

impl Spring {
    fn new(step: f64) -> Self {
        let omega = std::f64::consts::TAU * SPRING_FREQUENCY.min(0.25 / step);
        let a1 = 2.0 * SPRING_DAMPING + step * omega;
        let a2 = step * omega * a1;
        Self { rate: omega / a1, stiffness: a2 / (1.0 + a2), leak: 1.0 / (1.0 + a2) }
    }
}

/// One contact point, prepared.
struct Constraint {
    bodies: [usize; 2],
    arms: [DVec3; 2],
    /// Normal from the first body to the second, and two tangents.
    axes: [DVec3; 3],
    masses: [f64; 3],
    impulse: [f64; 3],
    gap: f64,
    /// Closing speed before the tick.
    closing: f64,
    restitution: f64,
    /// Greatest normal impulse of any sub-step: whether it was a hit.
    greatest: f64,
    /// Which point of which pair this is.
    source: (usize, usize),
}

/// Applies gravity and solves the contacts of all `pairs` over `seconds`.
/// Writes the velocities of awake props and the impulses into the pairs, and
/// returns where each awake prop should go, in ascending order of slot.
pub(crate) fn solve(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &mut [Pair],
    seconds: f64,
) -> Vec<Proposal> {
    let mut movers = vec![Mover::FIXED];
    let mut index_of = Vec::new();
    for entity in entities.iter() {
        let slot = usize::from(entity.id.slot);
        index_of.resize(slot + 1, 0);
        if let Some(mover) = Mover::new(entity, shapes).filter(|_| entity.is_awake_prop()) {
            index_of[slot] = movers.len();
            movers.push(mover);
        }
    }
    let mut constraints = prepare(pairs, &movers, &index_of);
    let sub_step = seconds / f64::from(SUB_STEPS);
    let spring = Spring::new(sub_step);
    let max_spin = MAX_SPIN.min(MAX_TURN / seconds);
    for _ in 0..SUB_STEPS {
        movers[1..].iter_mut().for_each(|mover| mover.fall(sub_step));
        constraints.iter().for_each(|constraint| constraint.warm_start(&mut movers));
        constraints.iter_mut().for_each(|c| c.solve(&mut movers, sub_step, Some(&spring)));
        movers[1..].iter_mut().for_each(|mover| mover.go(sub_step, max_spin));
        constraints.iter_mut().for_each(|c| c.solve(&mut movers, sub_step, None));
    }
    constraints.iter_mut().for_each(|constraint| constraint.bounce(&mut movers));
    for constraint in &constraints {
        let (pair, point) = constraint.source;
        pairs[pair].points[point].impulse = constraint.impulse;
    }
    let mut proposals = Vec::with_capacity(movers.len() - 1);
    for entity in entities.iter_mut() {
        let mover = &movers[index_of[usize::from(entity.id.slot)]];
        let Some(placement) = entity.placement().filter(|_| entity.is_awake_prop()) else {
            continue;
        };
        let start = *placement.pose();
        let target = Pose {
            position: start.position + mover.moved,
            orientation: (mover.turned * start.orientation).normalize(),
        };
        proposals.push(Proposal { slot: entity.id.slot, target, seconds });
        entity.velocity = mover.velocity;
        entity.angular = mover.angular;
    }
    proposals
}

fn prepare(pairs: &[Pair], movers: &[Mover], index_of: &[usize]) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        let second = match pair.key.other {
            Blocker::Solid(_) => 0,
            Blocker::Entity(slot) => index_of[usize::from(slot)],
        };
        let bodies = [index_of[usize::from(pair.key.body)], second];
        let [a, b] = bodies.map(|index| &movers[index]);
        let normal = pair.axis;
        let tangent = normal.any_orthonormal_vector();
        let axes = [normal, tangent, normal.cross(tangent)];
        for (index, point) in pair.points.iter().enumerate() {
            let arms =
                [point.on_body - a.position, point.on_body + normal * point.gap - b.position];
            let masses = axes.map(|axis| {
                let response = a.response(arms[0], axis) + b.response(arms[1], axis);
                if response > 0.0 { 1.0 / response } else { 0.0 }
            });
            let closing = (a.velocity_at(arms[0]) - b.velocity_at(arms[1])).dot(normal);
            constraints.push(Constraint {
                bodies,
                arms,
                axes,
                masses,
                impulse: point.impulse,
                gap: point.gap,
                closing,
                restitution: a.restitution.max(b.restitution),
                greatest: 0.0,
                source: (at, index),
            });
        }
    }
    constraints
}

impl Constraint {
    fn apply(&self, movers: &mut [Mover], impulse: DVec3) {
        let [a, b] = self.bodies;
        movers[a].push(self.arms[0], -impulse);
        movers[b].push(self.arms[1], impulse);
    }

    fn relative(&self, movers: &[Mover]) -> DVec3 {
        let [a, b] = self.bodies;
        movers[b].velocity_at(self.arms[1]) - movers[a].velocity_at(self.arms[0])
    }

    fn warm_start(&self, movers: &mut [Mover]) {
        let [n, s, t] = self.axes;
        let [along, across, beside] = self.impulse;
        self.apply(movers, n * along + s * across + t * beside);
    }

    /// One pass; with `spring`, bodies nearer than the rest gap are pushed
    /// apart as softly as it says.
    fn solve(&mut self, movers: &mut [Mover], sub_step: f64, spring: Option<&Spring>) {
        let [a, b] = self.bodies;
        let apart = movers[b].displacement(self.arms[1]) - movers[a].displacement(self.arms[0]);
        let room = self.gap + apart.dot(self.axes[0]) - REST_GAP;
        match spring.filter(|_| room < 0.0) {
            Some(spring) => {
                let speed = (-room * spring.rate).min(EASE_SPEED);
                self.reach_speed(movers, speed, spring.stiffness, spring.leak);
            }
            None => self.reach_speed(movers, -room.max(0.0) / sub_step, 1.0, 0.0),
        }
        self.rub(movers);
    }

    /// Pushes until the bodies part at `least_speed` at the least.
    fn reach_speed(&mut self, movers: &mut [Mover], least_speed: f64, stiffness: f64, leak: f64) {
        let speed = self.relative(movers).dot(self.axes[0]);
        let before = self.impulse[0];
        let change = (least_speed - speed) * self.masses[0] * stiffness - before * leak;
        self.impulse[0] = (before + change).max(0.0);
        self.greatest = self.greatest.max(self.impulse[0]);
        self.apply(movers, self.axes[0] * (self.impulse[0] - before));
    }

    /// Friction, within the cone that the normal impulse allows.
    fn rub(&mut self, movers: &mut [Mover]) {
        let slip = self.relative(movers);
        let before = [self.impulse[1], self.impulse[2]];
        let mut wanted = [1, 2].map(|k| self.impulse[k] - slip.dot(self.axes[k]) * self.masses[k]);
        let limit = FRICTION * self.impulse[0];
        let length = (wanted[0] * wanted[0] + wanted[1] * wanted[1]).sqrt();
        if length > limit {
            wanted = wanted.map(|w| w * (limit / length));
        }
        [self.impulse[1], self.impulse[2]] = wanted;
        let change =
            self.axes[1] * (wanted[0] - before[0]) + self.axes[2] * (wanted[1] - before[1]);
        self.apply(movers, change);
    }

    /// Gives back a share of the speed of a real impact.
    fn bounce(&mut self, movers: &mut [Mover]) {
        if self.closing > BOUNCE_SPEED && self.greatest > 0.0 {
            self.reach_speed(movers, self.closing * self.restitution, 1.0, 0.0);
        }
    }
}
