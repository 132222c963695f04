//! Sequential impulses over all contacts (Catto 2005), warm-started.
//!
//! A contact allows its bodies to close no faster than brings them to the
//! rest gap at the end of the tick, so a fast body is braked on the way, not
//! stopped in the wall. Bodies nearer than the rest gap are eased apart by a
//! second set of velocities that moves them and is then forgotten: a
//! correction of place must not become energy.

use glam::{DMat3, DVec3};

use super::{Pair, REST_GAP};
use crate::entities::{Entities, Entity};
use crate::guard::Blocker;
use crate::shape::Shape;

/// Passes over all contacts: enough for a stack of five to stand.
const ITERATIONS: usize = 12;

/// Coulomb friction of everything on everything: boxes stay on ramps up to
/// 31 degrees.
const FRICTION: f64 = 0.6;

/// Share of the closing speed that comes back, for impacts faster than
/// [`BOUNCE_SPEED`].
const RESTITUTION: f64 = 0.2;

/// Slower impacts, in units per second, do not bounce: several ticks of
/// gravity, so that nothing trembles at rest.
const BOUNCE_SPEED: f64 = 60.0;

/// Share of the missing distance that one tick of easing apart makes up.
const EASE: f64 = 0.2;

/// Distance that easing leaves alone, so that a stack comes to rest.
const EASE_SLOP: f64 = 0.01;

/// Fastest easing, in units per second.
const EASE_SPEED: f64 = 40.0;

/// Share of last tick's impulses to start from.
const WARM: f64 = 0.9;

/// A body's velocities as the solver sees them.
#[derive(Clone, Copy, Debug)]
struct Mover {
    inverse_mass: f64,
    inverse_inertia: DMat3,
    position: DVec3,
    velocity: DVec3,
    angular: DVec3,
    ease: DVec3,
    ease_angular: DVec3,
}

impl Mover {
    const FIXED: Self = Self {
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        position: DVec3::ZERO,
        velocity: DVec3::ZERO,
        angular: DVec3::ZERO,
        ease: DVec3::ZERO,
        ease_angular: DVec3::ZERO,
    };

    fn new(entity: &Entity, shapes: &[Shape]) -> Self {
        let Some(placement) = entity.placement().filter(|_| entity.is_awake_prop()) else {
            return Self::FIXED;
        };
        let shape = &shapes[usize::from(placement.shape().0)];
        let rotation = placement.pose().rotation();
        Self {
            inverse_mass: shape.inverse_mass,
            inverse_inertia: rotation * shape.inverse_inertia * rotation.transpose(),
            position: placement.pose().position,
            velocity: entity.velocity,
            angular: entity.angular,
            ..Self::FIXED
        }
    }

    fn push(&mut self, arm: DVec3, impulse: DVec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.inverse_inertia * arm.cross(impulse);
    }

    fn ease(&mut self, arm: DVec3, impulse: DVec3) {
        self.ease += impulse * self.inverse_mass;
        self.ease_angular += self.inverse_inertia * arm.cross(impulse);
    }

    /// Speed along `direction` that a unit impulse at `arm` gives.
    fn response(&self, arm: DVec3, direction: DVec3) -> f64 {
        let turned = arm.cross(direction);
        self.inverse_mass + turned.dot(self.inverse_inertia * turned)
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
    /// Least allowed relative speed along the normal; negative closes.
    least_speed: f64,
    ease_speed: f64,
    ease_impulse: f64,
    source: (usize, usize),
}

/// The velocities that ease a body apart from its neighbours this tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ease {
    pub(crate) velocity: DVec3,
    pub(crate) angular: DVec3,
}

/// Solves the contacts of all `pairs` for a tick of `seconds`: writes the
/// velocities of awake props, the impulses into the pairs, and returns the
/// easing velocities by slot.
pub(crate) fn solve(
    entities: &mut Entities,
    shapes: &[Shape],
    pairs: &mut [Pair],
    seconds: f64,
) -> Vec<Ease> {
    // Index zero is everything that does not move.
    let mut movers = vec![Mover::FIXED];
    let mut index_of = Vec::new();
    for entity in entities.iter() {
        let slot = usize::from(entity.id.slot);
        index_of.resize(slot + 1, 0);
        if entity.is_awake_prop() {
            index_of[slot] = movers.len();
            movers.push(Mover::new(entity, shapes));
        }
    }
    let mut constraints = prepare(pairs, &movers, &index_of, seconds);
    for constraint in &constraints {
        let [n, s, t] = constraint.axes;
        let [a, b, c] = constraint.impulse;
        constraint.apply(&mut movers, n * a + s * b + t * c);
    }
    for _ in 0..ITERATIONS {
        for constraint in &mut constraints {
            constraint.solve(&mut movers);
        }
    }
    for _ in 0..ITERATIONS {
        for constraint in &mut constraints {
            constraint.solve_ease(&mut movers);
        }
    }
    for constraint in &constraints {
        let (pair, point) = constraint.source;
        pairs[pair].points[point].impulse = constraint.impulse;
    }
    let mut ease = vec![Ease::default(); index_of.len()];
    for entity in entities.iter_mut() {
        let slot = usize::from(entity.id.slot);
        if index_of[slot] != 0 {
            let mover = &movers[index_of[slot]];
            entity.velocity = mover.velocity;
            entity.angular = mover.angular;
            ease[slot] = Ease { velocity: mover.ease, angular: mover.ease_angular };
        }
    }
    ease
}

fn prepare(pairs: &[Pair], movers: &[Mover], index_of: &[usize], seconds: f64) -> Vec<Constraint> {
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
            let relative =
                b.velocity + b.angular.cross(arms[1]) - a.velocity - a.angular.cross(arms[0]);
            let closing = -relative.dot(normal);
            let room = point.gap - REST_GAP;
            let bounces = closing > BOUNCE_SPEED && closing * seconds > room;
            let least_speed =
                if bounces { closing * RESTITUTION } else { -room.max(0.0) / seconds };
            let missing = (-room - EASE_SLOP).max(0.0);
            constraints.push(Constraint {
                bodies,
                arms,
                axes,
                masses,
                impulse: point.impulse.map(|impulse| impulse * WARM),
                least_speed,
                ease_speed: (missing * EASE / seconds).min(EASE_SPEED),
                ease_impulse: 0.0,
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
        let [a, b] = self.bodies.map(|index| &movers[index]);
        b.velocity + b.angular.cross(self.arms[1]) - a.velocity - a.angular.cross(self.arms[0])
    }

    fn solve(&mut self, movers: &mut [Mover]) {
        let speed = self.relative(movers).dot(self.axes[0]);
        let before = self.impulse[0];
        self.impulse[0] = (before + (self.least_speed - speed) * self.masses[0]).max(0.0);
        self.apply(movers, self.axes[0] * (self.impulse[0] - before));

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

    fn solve_ease(&mut self, movers: &mut [Mover]) {
        let [a, b] = self.bodies;
        let relative = movers[b].ease + movers[b].ease_angular.cross(self.arms[1])
            - movers[a].ease
            - movers[a].ease_angular.cross(self.arms[0]);
        let before = self.ease_impulse;
        let wanted = before + (self.ease_speed - relative.dot(self.axes[0])) * self.masses[0];
        // Without a floor on the speed where there is room, easing one contact
        // would close another.
        self.ease_impulse = wanted.max(0.0);
        let change = self.axes[0] * (self.ease_impulse - before);
        movers[a].ease(self.arms[0], -change);
        movers[b].ease(self.arms[1], change);
    }
}
