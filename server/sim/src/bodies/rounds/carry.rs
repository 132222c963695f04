//! Kinematic bodies carry along the bodies that are wedged against them.
//!
//! A body between two walls of a kinematic body, or between a kinematic body and another body, may
//! be pressed to the guard's margin on both sides. Any motion that the solver proposes turns the
//! body a little, so the body and the kinematic body stop each other. Both are then moved as if
//! they were one rigid body, as Quake's pushers move bodies in their way (`SV_PushMove`). These
//! bodies keep their distances from each other, and the guard checks them against everything else.

use glam::DVec3;

use super::{Remainder, Rounds};
use crate::bodies::driven::{self, HELD_SHARE};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Proposal;
use crate::bodies::mobility::Mobility;
use crate::collision::pose::Pose;

impl Rounds<'_> {
    /// For each kinematic body that a dynamic body stopped before half of its motion: moves it for
    /// the rest of the motion, together with the stopped bodies that it pushes or carries. Returns
    /// the bodies that are still stopped afterwards.
    pub(super) fn carry(&mut self, mut stopped: Vec<Remainder>) -> Vec<Remainder> {
        for slot in self.moving_kinematic() {
            let Ok(at) = stopped.binary_search_by_key(&slot, |remainder| remainder.slot) else {
                continue;
            };
            let Remainder { seconds, whole, ref blocker, .. } = stopped[at];
            let blocker = blocker.and_then(|blocker| blocker.entity());
            let gives_way = |slot| self.entities.mobility(slot) == Mobility::Dynamic;
            if 1.0 - seconds / whole >= HELD_SHARE || !blocker.is_some_and(gives_way) {
                continue;
            }
            let proposals = self.as_one(slot, seconds, &stopped);
            let still_stopped = self.advance(&proposals);
            let is_carried =
                |other: &Remainder| proposals.binary_search_by_key(&other.slot, |p| p.slot).is_ok();
            let (carried, others) = stopped.into_iter().partition(is_carried);
            self.slip(slot, carried);
            stopped = others;
            stopped.extend(still_stopped);
            stopped.sort_unstable_by_key(|remainder| remainder.slot);
        }
        stopped
    }

    /// Slots of the kinematic bodies that move, ascending.
    fn moving_kinematic(&self) -> Vec<u16> {
        self.entities.moving_kinematic().map(|entity| entity.id.slot).collect()
    }

    /// Lets carried bodies spend the rest of their own motion, relative to the kinematic body that
    /// carries them.
    fn slip(&mut self, kinematic: u16, mut carried: Vec<Remainder>) {
        let frame = self.entities.get(kinematic).and_then(|entity| {
            Some((entity.placement()?.pose().position, entity.velocity, entity.angular))
        });
        let Some((centre, velocity, angular)) = frame else { return };
        let add = |entities: &mut Entities, slots: &[u16], sign: f64| {
            for &slot in slots {
                let Some(entity) = entities.get_mut(slot) else { continue };
                let Some(at) = entity.placement().map(|p| p.pose().position) else { continue };
                entity.velocity += (velocity + angular.cross(at - centre)) * sign;
                entity.angular += angular * sign;
            }
        };
        let slots: Vec<u16> = carried.iter().map(|remainder| remainder.slot).collect();
        add(self.entities, &slots, -1.0);
        carried.retain(|remainder| remainder.slot != kinematic);
        self.advance_in_part(carried);
        add(self.entities, &slots, 1.0);
    }

    /// The motion in the next `seconds` of a kinematic body and of the bodies in `stopped` that it
    /// pushes or carries, in ascending order of slot. Bodies whose locked axes forbid the motion
    /// are left out.
    fn as_one(&self, kinematic: u16, seconds: f64, stopped: &[Remainder]) -> Vec<Proposal> {
        let pose = |slot| Some(*self.entities.get(slot)?.placement()?.pose());
        let (Some(entity), Some(start)) = (self.entities.get(kinematic), pose(kinematic)) else {
            return Vec::new();
        };
        let end = start.advanced(entity.velocity, entity.angular, seconds);
        let turn = (end.orientation * start.orientation.conjugate()).normalize();
        let turns = entity.angular != DVec3::ZERO;
        let moved = |pose: Pose| {
            if !turns {
                return Pose { position: pose.position + (end.position - start.position), ..pose };
            }
            Pose {
                position: end.position + turn * (pose.position - start.position),
                orientation: (turn * pose.orientation).normalize(),
            }
        };
        let slots = stopped.iter().map(|remainder| remainder.slot);
        let carried = slots.filter(|&slot| {
            let is_driven =
                || self.islands.driven().drivers_of(slot).any(|driver| driver == kinematic);
            let gives_way = |other: &Entity| {
                let locked = other.dynamics.locked();
                !locked.any() || !turns && locked.translation(entity.velocity) == entity.velocity
            };
            slot == kinematic || is_driven() && self.entities.get(slot).is_some_and(gives_way)
        });
        let proposal = |slot| Some(Proposal { slot, target: moved(pose(slot)?), seconds });
        carried.filter_map(proposal).collect()
    }

    /// Removes the kinematic bodies from the stopped bodies, and adjusts their speeds. A kinematic
    /// body never makes only a part of its motion, and keeps its velocity for the next tick.
    pub(super) fn without_kinematic(&mut self, mut stopped: Vec<Remainder>) -> Vec<Remainder> {
        if !self.entities.has_kinematic() {
            return stopped;
        }
        for slot in self.moving_kinematic() {
            let stop = stopped.binary_search_by_key(&slot, |remainder| remainder.slot);
            let stop = stop.map(|at| &stopped[at]).ok();
            let made = stop.map_or(1.0, |stop| 1.0 - stop.seconds / stop.whole);
            let blocker = stop.and_then(|stop| stop.blocker?.entity());
            let gives_way = |slot| self.entities.mobility(slot) == Mobility::Dynamic;
            let gives_way = blocker.is_some_and(gives_way);
            if let Some(entity) = self.entities.get_mut(slot) {
                driven::adjust_speed(entity, made, gives_way);
            }
        }
        let is_kinematic = |slot| self.entities.get(slot).is_some_and(Entity::is_kinematic);
        stopped.retain(|remainder| !is_kinematic(remainder.slot));
        stopped
    }
}
