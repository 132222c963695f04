//! The props' share of a tick: contacts, velocities, guarded moves, rest.
//!
//! The solver proposes where every body goes; each then moves under guard, in
//! order of slot, past everything where it stands at that moment. Who is
//! stopped answers the contact and spends what is left of its tick once its
//! neighbours have moved: all of it, else the translation alone, else the
//! rotation alone.

use glam::DVec3;

use crate::contact::{Ease, Pair, find, plane_of, solve};
use crate::counters::Counters;
use crate::entities::{Entities, Entity};
use crate::guard::{Advance, Blocker, Space};
use crate::impact::Impact;
use crate::movement::GRAVITY;
use crate::pose::Pose;
use crate::rest;
use crate::shape::Shape;

/// Share of spin lost per second, so that a barrel rolls out.
const SPIN_DAMPING: f64 = 0.4;

/// Fastest spin in radians per second. It keeps a tick's turn below the one
/// radian for which [`crate::pose::Motion::arc`] is proven, at 20 Hz and up.
const MAX_SPIN: f64 = 20.0;

/// Fastest prop in units per second.
const MAX_SPEED: f64 = 4000.0;

/// Rounds of waking in one tick: a blow travels that far through a heap of
/// sleepers before the next tick.
const MAX_WAKE_ROUNDS: usize = 3;

/// What is left to do for a body that was stopped.
struct Remainder {
    slot: u16,
    /// Seconds of its tick that it has not spent.
    seconds: f64,
}

/// Moves all awake props by `seconds`. Returns the slots of bodies that were
/// found overlapping something before they moved.
pub(crate) fn step(
    map: &maps::World,
    shapes: &[Shape],
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    seconds: f64,
    counters: &mut Counters,
) -> Vec<u16> {
    for _ in 0..MAX_WAKE_ROUNDS {
        let space = Space { map, shapes, entities };
        *pairs = find(&space, pairs, seconds, counters);
        if !rest::wake_touched(entities, shapes, pairs) {
            break;
        }
    }
    for entity in entities.iter_mut().filter(|entity| entity.is_awake_prop()) {
        entity.velocity.z -= GRAVITY * seconds;
        entity.angular *= 1.0 - SPIN_DAMPING * seconds;
    }
    let ease = solve(entities, shapes, pairs, seconds);
    for entity in entities.iter_mut().filter(|entity| entity.is_awake_prop()) {
        entity.velocity = entity.velocity.clamp_length_max(MAX_SPEED);
        entity.angular = entity.angular.clamp_length_max(MAX_SPIN);
    }
    let mut mover = Mover { map, shapes, entities, pairs, counters, overlapping: Vec::new() };
    let mut stopped = Vec::new();
    for slot in mover.entities.slots_where(Entity::is_awake_prop) {
        stopped.extend(mover.first_move(slot, ease[usize::from(slot)], seconds));
    }
    for remainder in stopped {
        mover.second_move(&remainder);
    }
    let overlapping = mover.overlapping;
    rest::settle(entities, shapes, pairs, seconds);
    overlapping
}

struct Mover<'a> {
    map: &'a maps::World,
    shapes: &'a [Shape],
    entities: &'a mut Entities,
    pairs: &'a [Pair],
    counters: &'a mut Counters,
    overlapping: Vec<u16>,
}

impl Mover<'_> {
    fn first_move(&mut self, slot: u16, ease: Ease, seconds: f64) -> Option<Remainder> {
        let entity = self.entities.get(slot)?;
        let pose = *entity.placement()?.pose();
        let velocity = entity.velocity + ease.velocity;
        let angular = (entity.angular + ease.angular).clamp_length_max(MAX_SPIN);
        let spent = self.advance(slot, pose.advanced(velocity, angular, seconds))?;
        (spent < 1.0).then_some(Remainder { slot, seconds: seconds * (1.0 - spent) })
    }

    fn second_move(&mut self, remainder: &Remainder) {
        let Remainder { slot, seconds } = *remainder;
        let Some(entity) = self.entities.get(slot) else { return };
        let Some(placement) = entity.placement() else { return };
        let start = *placement.pose();
        let target = start.advanced(entity.velocity, entity.angular, seconds);
        let attempts = [
            target,
            Pose { position: target.position, ..start },
            Pose { orientation: target.orientation, ..start },
        ];
        for attempt in attempts {
            match self.advance(slot, attempt) {
                Some(spent) if spent > 0.0 => return,
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Moves a body towards `target` and answers what stops it. Returns the
    /// share of the way, or `None` if the body cannot be moved at all.
    fn advance(&mut self, slot: u16, target: Pose) -> Option<f64> {
        let space = Space { map: self.map, shapes: self.shapes, entities: self.entities };
        let plane = |other| plane_of(self.pairs, slot, other);
        match space.advance(space.entities.get(slot)?, target, plane, self.counters)? {
            Advance::Free(placement) => {
                self.entities.commit(slot, placement);
                Some(1.0)
            }
            Advance::Blocked(placement, blocker, impact) => {
                self.entities.commit(slot, placement);
                self.answer(slot, blocker, &impact);
                Some(impact.time)
            }
            Advance::Overlapping => {
                self.overlapping.push(slot);
                None
            }
        }
    }

    /// Takes the closing speed out of an impact that the solver did not
    /// foresee. Being blocked without closing is no impact.
    fn answer(&mut self, slot: u16, blocker: Blocker, impact: &Impact) {
        let other = match blocker {
            Blocker::Solid(_) => None,
            Blocker::Entity(other) => Some(other),
        };
        let Some(mut body) = Answering::new(self.entities, self.shapes, slot, impact.point) else {
            return;
        };
        let partner =
            other.and_then(|other| Answering::new(self.entities, self.shapes, other, impact.point));
        let partner_speed = partner.as_ref().map_or(DVec3::ZERO, Answering::point_velocity);
        let closing = (body.point_velocity() - partner_speed).dot(impact.axis);
        let response = body.response(impact.axis)
            + partner.as_ref().map_or(0.0, |partner| partner.response(impact.axis));
        if closing <= 0.0 || response <= 0.0 {
            return;
        }
        let impulse = impact.axis * (closing / response);
        body.push(-impulse);
        body.store(self.entities, slot);
        if let (Some(mut partner), Some(other)) = (partner, other) {
            partner.push(impulse);
            partner.store(self.entities, other);
        }
    }
}

/// A body that takes one impulse at one point.
struct Answering {
    velocity: DVec3,
    angular: DVec3,
    arm: DVec3,
    inverse_mass: f64,
    inverse_inertia: glam::DMat3,
}

impl Answering {
    fn new(entities: &Entities, shapes: &[Shape], slot: u16, point: DVec3) -> Option<Self> {
        let entity = entities.get(slot).filter(|entity| entity.is_awake_prop())?;
        let placement = entity.placement()?;
        let shape = &shapes[usize::from(placement.shape().0)];
        let rotation = placement.pose().rotation();
        Some(Self {
            velocity: entity.velocity,
            angular: entity.angular,
            arm: point - placement.pose().position,
            inverse_mass: shape.inverse_mass,
            inverse_inertia: rotation * shape.inverse_inertia * rotation.transpose(),
        })
    }

    fn point_velocity(&self) -> DVec3 {
        self.velocity + self.angular.cross(self.arm)
    }

    fn response(&self, direction: DVec3) -> f64 {
        let turned = self.arm.cross(direction);
        self.inverse_mass + turned.dot(self.inverse_inertia * turned)
    }

    fn push(&mut self, impulse: DVec3) {
        self.velocity += impulse * self.inverse_mass;
        self.angular += self.inverse_inertia * self.arm.cross(impulse);
    }

    fn store(&self, entities: &mut Entities, slot: u16) {
        if let Some(entity) = entities.get_mut(slot) {
            entity.velocity = self.velocity;
            entity.angular = self.angular;
        }
    }
}
