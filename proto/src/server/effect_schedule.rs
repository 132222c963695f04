//! Decides which effects one client is sent, and how often.

use std::collections::VecDeque;
use std::sync::Arc;

use glam::DVec3;

use crate::Tick;
use crate::effects::{
    Effect, EffectsDatagram, MAX_EFFECTS_OF_TICK, MAX_RECORDS, MAX_SPAN, REPEATS, TickEffects,
};
use crate::quantise::{Quantised, WorldBounds};

/// Distance in units within which a player is sent effects.
const NEAR: f64 = 2048.0;

/// The effects of the latest ticks that one client is to be sent.
#[derive(Debug)]
pub(super) struct EffectSchedule {
    bounds: WorldBounds,
    /// The slot of the client's own player; `None` for a spectator.
    own: Option<u16>,
    /// The last known place of the client's own player.
    place: Option<DVec3>,
    /// The ticks that were sent fewer than [`REPEATS`] times, in ascending order.
    waiting: VecDeque<Waiting>,
    /// The latest tick that was taken.
    latest: Tick,
}

/// The effects of a tick, and how often they were sent.
#[derive(Debug)]
struct Waiting {
    of: TickEffects,
    sent: u8,
}

/// The outcome of [`EffectSchedule::encode`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) datagram: Option<Vec<u8>>,
    /// Effects that are sent for the first time.
    pub(super) effects: u64,
    /// Effects that were dropped because a datagram has no room for them, or because they had to
    /// wait for too long.
    pub(super) excess: u64,
}

impl EffectSchedule {
    /// The schedule of a client that was let in at `tick`.
    pub(super) fn new(bounds: WorldBounds, own: Option<u16>, tick: Tick) -> Self {
        Self { bounds, own, place: None, waiting: VecDeque::new(), latest: tick }
    }

    /// Takes the effects that the client is to be sent, of the new ticks up to the tick of `state`.
    /// Returns the number of effects beyond the limit of a tick, which are dropped.
    pub(super) fn take(&mut self, state: &Quantised, recent: &[Arc<TickEffects>]) -> u64 {
        self.place = self.own.and_then(|own| self.position(state, own)).or(self.place);
        let new = |of: &&Arc<TickEffects>| of.tick > self.latest && of.tick <= state.tick();
        let new: Vec<_> = recent.iter().filter(new).collect();
        let mut excess = 0;
        for of in new {
            let (effects, beyond) = self.select(state, &of.effects);
            excess += beyond;
            if !effects.is_empty() {
                let of = TickEffects { tick: of.tick, effects };
                self.waiting.push_back(Waiting { of, sent: 0 });
            }
        }
        self.latest = self.latest.max(state.tick());
        excess
    }

    fn position(&self, state: &Quantised, slot: u16) -> Option<DVec3> {
        state.entity(slot.into()).map(|entity| self.bounds.position(entity.position))
    }

    /// The effects of a tick that the client is to be sent, and the number of effects beyond the
    /// limit of a tick. If there are too many, the farthest are left out.
    fn select(&self, state: &Quantised, effects: &[Effect]) -> (Vec<Effect>, u64) {
        let distance = |effect: &Effect| match (self.own, self.place) {
            (Some(own), Some(place)) if !effect.concerns(own) => {
                effect.distance(place, |slot| self.position(state, slot))
            }
            _ => 0.0,
        };
        let with_distance = effects.iter().map(distance).enumerate();
        let mut near: Vec<_> = with_distance.filter(|(_, distance)| *distance <= NEAR).collect();
        let beyond = near.len().saturating_sub(MAX_EFFECTS_OF_TICK);
        if beyond > 0 {
            near.sort_by(|(_, a), (_, b)| a.total_cmp(b));
            near.truncate(MAX_EFFECTS_OF_TICK);
            near.sort_by_key(|(index, _)| *index);
        }
        (near.into_iter().map(|(index, _)| effects[index]).collect(), beyond as u64)
    }

    /// Encodes the effects to send now, in at most `limit` bytes: first those that were never
    /// sent.
    pub(super) fn encode(&mut self, limit: usize) -> Encoded {
        let mut encoded = Encoded { excess: self.drop_old(), ..Encoded::default() };
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        order.sort_by_key(|&index| self.waiting[index].sent);
        let mut chosen: Vec<usize> = Vec::new();
        for index in order {
            if self.fits(&chosen, index, limit) {
                chosen.push(index);
            } else if chosen.is_empty() && self.waiting[index].sent == 0 {
                // A datagram of this size has no room for the tick, so only a part of it is sent.
                let whole = self.waiting[index].of.effects.len();
                let part = self.part_that_fits(index, limit);
                if part > 0 {
                    self.waiting[index].of.effects.truncate(part);
                    encoded.excess += (whole - part) as u64;
                    chosen.push(index);
                }
            }
        }
        if chosen.is_empty() {
            return encoded;
        }
        chosen.sort_unstable();
        let mut ticks = Vec::with_capacity(chosen.len());
        for index in chosen {
            let Waiting { of, sent } = &mut self.waiting[index];
            if *sent == 0 {
                encoded.effects += of.effects.len() as u64;
            }
            *sent += 1;
            ticks.push(of.clone());
        }
        self.waiting.retain(|waiting| waiting.sent < REPEATS);
        let datagram = EffectsDatagram::new(ticks);
        encoded.datagram = datagram.map(|datagram| datagram.encode(&self.bounds));
        encoded
    }

    /// Drops ticks that a datagram cannot hold beside the latest one. Returns how many effects of
    /// them were never sent.
    fn drop_old(&mut self) -> u64 {
        let mut excess = 0;
        while let Some(Waiting { of, sent }) = self.waiting.front()
            && self.latest.distance(of.tick) > MAX_SPAN.into()
        {
            excess += if *sent == 0 { of.effects.len() as u64 } else { 0 };
            self.waiting.pop_front();
        }
        excess
    }

    /// Whether a datagram of the chosen ticks has room for one more.
    fn fits(&self, chosen: &[usize], more: usize, limit: usize) -> bool {
        let ticks = || chosen.iter().chain([&more]).map(|&index| &self.waiting[index].of);
        let records: usize = ticks().map(|of| of.effects.len()).sum();
        records <= MAX_RECORDS && EffectsDatagram::length(ticks(), &self.bounds) <= limit
    }

    /// How many effects of a tick fit into a datagram of their own.
    fn part_that_fits(&self, index: usize, limit: usize) -> usize {
        let of = &self.waiting[index].of;
        let fits = |&count: &usize| {
            let part = TickEffects { tick: of.tick, effects: of.effects[..count].to_vec() };
            EffectsDatagram::length([&part], &self.bounds) <= limit
        };
        (1..=of.effects.len()).take_while(fits).last().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
