//! The props' share of a tick: contacts, velocities, guarded moves, rest.
//!
//! The solver proposes where every body goes; all then move together under
//! guard. Who is stopped answers the contact and spends what is left of its
//! tick once its neighbours have moved: all of it, else the translation alone,
//! else the rotation alone.

use glam::DVec3;

use crate::contact::{Pair, find, known, look_around, solve};
use crate::counters::Counters;
use crate::entities::Entities;
use crate::guard::{Advance, Blocker, CREPT, Proposal, Space};
use crate::impact::Impact;
use crate::impulse::Struck;
use crate::movement::GRAVITY;
use crate::pose::Pose;
use crate::rest;
use crate::shape::Shapes;

/// Rounds of waking in one tick: a blow travels that far through a heap of
/// sleepers before the next tick.
const MAX_WAKE_ROUNDS: usize = 3;

/// Further tries for bodies that were stopped, once their neighbours have
/// moved: each lets a queue of bodies close up by one.
const MORE_ROUNDS: usize = 2;

/// A body that would move less than this, in units, is not tried again: heaps
/// that settle are full of such trembling.
const WORTHWHILE: f64 = 1.0 / 64.0;

/// What is left to do for a body that was stopped.
struct Remainder {
    slot: u16,
    /// Seconds of its tick that it has not spent.
    seconds: f64,
    /// Whether it could not move at all.
    hindered: bool,
    /// What stopped it.
    blocker: Option<Blocker>,
}

/// Moves all awake props by `seconds`. Returns the slots of bodies that were
/// found overlapping something before they moved.
pub(crate) fn step(
    map: &maps::World,
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    seconds: f64,
    counters: &mut Counters,
) -> Vec<u16> {
    for round in 0..MAX_WAKE_ROUNDS {
        look_around(map, shapes, entities, seconds);
        let space = Space { map, shapes, entities };
        *pairs = find(&space, pairs, seconds, round > 0, counters);
        entities.iter_mut().for_each(|entity| entity.seen = entity.seen_now());
        if !rest::wake_touched(entities, shapes, pairs) {
            break;
        }
    }
    let proposals = solve(entities, shapes, pairs, seconds);
    let mut mover = Mover {
        map,
        shapes,
        entities,
        pairs,
        counters,
        overlapping: Vec::new(),
        stirred: Vec::new(),
    };
    let mut stopped = mover.advance(&proposals);
    for _ in 0..MORE_ROUNDS {
        let (again, stuck) = mover.worth_another_try(stopped);
        stopped = mover.advance_rest(&again, |_, target| target);
        stopped.extend(stuck);
        stopped.sort_unstable_by_key(|remainder| remainder.slot);
    }
    mover.advance_in_part(stopped, seconds);
    let overlapping = mover.overlapping;
    rest::settle(entities, shapes, pairs, seconds);
    overlapping
}

struct Mover<'a> {
    map: &'a maps::World,
    shapes: &'a Shapes,
    entities: &'a mut Entities,
    pairs: &'a [Pair],
    counters: &'a mut Counters,
    overlapping: Vec<u16>,
    /// Who moved in the last round, or was pushed; ascending.
    stirred: Vec<u16>,
}

impl Mover<'_> {
    /// Moves bodies towards what the solver, or their own velocity, proposes
    /// and answers what stops them. Returns those that were stopped.
    fn advance(&mut self, proposals: &[Proposal]) -> Vec<Remainder> {
        let space = Space { map: self.map, shapes: self.shapes, entities: self.entities };
        let planes = |slot, other| known(self.pairs, slot, other);
        let mut stopped = Vec::new();
        self.stirred.clear();
        for advance in space.advance(proposals, planes, self.counters) {
            let Some(placement) = advance.placement else {
                self.overlapping.push(advance.slot);
                continue;
            };
            self.entities.commit(advance.slot, placement);
            if !advance.hindered {
                self.stirred.push(advance.slot);
            }
            if let Some((blocker, impact)) = &advance.stop {
                self.answer(advance.slot, *blocker, impact);
            }
            if advance.left > 0.0 {
                let Advance { slot, left: seconds, hindered, stop, .. } = advance;
                let blocker = stop.map(|(blocker, _)| blocker);
                stopped.push(Remainder { slot, seconds, hindered, blocker });
            }
        }
        self.stirred.sort_unstable();
        stopped
    }

    /// Of those who were stopped, first who would now go another way, or past
    /// something that has changed; then those for whom all is as it was.
    fn worth_another_try(&self, stopped: Vec<Remainder>) -> (Vec<Remainder>, Vec<Remainder>) {
        let stirred = |slot: u16| self.stirred.binary_search(&slot).is_ok();
        stopped.into_iter().partition(|remainder| {
            stirred(remainder.slot)
                || matches!(remainder.blocker, Some(Blocker::Entity(other)) if stirred(other))
        })
    }

    /// Spends what is left of the tick of bodies that were stopped, as far as
    /// `part` lets them.
    fn advance_rest(
        &mut self,
        stopped: &[Remainder],
        part: impl Fn(Pose, Pose) -> Pose,
    ) -> Vec<Remainder> {
        let proposal = |remainder: &Remainder| {
            let Remainder { slot, seconds, .. } = *remainder;
            let entity = self.entities.get(slot)?;
            if rest::surface_speed(entity, self.shapes) * seconds < WORTHWHILE {
                return None;
            }
            let start = *entity.placement()?.pose();
            let target = start.advanced(entity.velocity, entity.angular, seconds);
            Some(Proposal { slot, target: part(start, target), seconds })
        };
        let proposals: Vec<Proposal> = stopped.iter().filter_map(proposal).collect();
        self.advance(&proposals)
    }

    /// Lets bodies that could hardly move try the translation alone, else
    /// the rotation alone. What they could not move they do not keep as speed:
    /// otherwise one that is wedged would gather gravity until it bursts out,
    /// and never sleep.
    fn advance_in_part(&mut self, mut hindered: Vec<Remainder>, seconds: f64) {
        self.take_back_gravity(&hindered);
        let got_nowhere = |remainder: &Remainder| {
            remainder.hindered || remainder.seconds > (1.0 - CREPT) * seconds
        };
        hindered.retain(got_nowhere);
        let translated = |start, target: Pose| Pose { position: target.position, ..start };
        let mut still_hindered = self.advance_rest(&hindered, translated);
        still_hindered.retain(got_nowhere);
        for Remainder { slot, seconds: left, .. } in &hindered {
            let kept = 1.0 - left / seconds;
            let Some(entity) = self.entities.get_mut(*slot) else { continue };
            if still_hindered.iter().any(|remainder| remainder.slot == *slot) {
                entity.velocity *= kept;
            } else {
                entity.angular *= kept;
            }
        }
        let turned = |start, target: Pose| Pose { orientation: target.orientation, ..start };
        for remainder in self.advance_rest(&still_hindered, turned) {
            let Some(entity) = self.entities.get_mut(remainder.slot) else { continue };
            entity.angular *= 1.0 - remainder.seconds / seconds;
            entity.rest.held |= got_nowhere(&remainder);
        }
    }

    /// Who has not fallen for a part of the tick has not gained its speed: what
    /// hinder each other in the fall would land with more than they fell with.
    fn take_back_gravity(&mut self, stopped: &[Remainder]) {
        for Remainder { slot, seconds: left, .. } in stopped {
            if let Some(entity) = self.entities.get_mut(*slot)
                && entity.velocity.z < 0.0
            {
                // An engine has taken its share back already.
                let falls = (GRAVITY - entity.drive().linear.z).max(0.0);
                entity.velocity.z = (entity.velocity.z + falls * left).min(0.0);
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
        let struck = |slot| {
            let entity = self.entities.get(slot).filter(|entity| entity.yields())?;
            Struck::new(entity, self.shapes, impact.point)
        };
        let (Some(mut body), partner) = (struck(slot), other.and_then(struck)) else { return };
        let partner_speed = partner.as_ref().map_or(DVec3::ZERO, Struck::velocity);
        let closing = (body.velocity() - partner_speed).dot(impact.axis);
        let response = body.response(impact.axis)
            + partner.as_ref().map_or(0.0, |partner| partner.response(impact.axis));
        if closing <= 0.0 || response <= 0.0 {
            return;
        }
        let impulse = impact.axis * (closing / response);
        body.push(-impulse);
        body.store(self.entities, slot);
        self.stirred.push(slot);
        if let (Some(mut partner), Some(other)) = (partner, other) {
            self.stirred.push(other);
            partner.push(impulse);
            partner.store(self.entities, other);
        }
    }
}
