//! States of a match that is run again. They are kept while it runs, so that a step back takes
//! little time.

use std::collections::VecDeque;

use obsp_recording::{Keyframe, Playback};

/// Largest number of states that are kept, and ticks between two of them. A step back runs at most
/// `INTERVAL` ticks again.
const MAX_KEPT: usize = 48;
const INTERVAL: u64 = 30;

/// Number of ticks before a shown tick in which states are kept on the way to it.
pub(crate) const NEAR: u64 = 2 * INTERVAL;

/// Ticks between two states of a match that is verified, and the limit in bytes of all these
/// states. A seek in a match of ten minutes must take less than 200 ms, and a tick may take more
/// than 1 ms.
const VERIFIED_INTERVAL: u64 = 100;
const MAX_BYTES: usize = 96 << 20;

/// States of the ticks that have been verified, at equal distances.
#[derive(Debug)]
pub(crate) struct Verified {
    interval: u64,
    states: Vec<Keyframe>,
    bytes: usize,
}

impl Default for Verified {
    fn default() -> Self {
        Self { interval: VERIFIED_INTERVAL, states: Vec::new(), bytes: 0 }
    }
}

impl Verified {
    /// Keeps the state of a match that goes on, if it is due and all digests so far were equal. If
    /// the states take too much memory, every other one is dropped.
    pub(crate) fn keep(&mut self, playback: &Playback) {
        let tick = playback.tick();
        let last = self.states.last().map_or(0, |state| state.tick);
        let is_turn = tick > last && tick.is_multiple_of(self.interval);
        if !is_turn || playback.difference().is_some() {
            return;
        }
        self.states.push(playback.keyframe());
        self.bytes += self.states.last().map_or(0, |state| state.saved.len());
        if self.bytes > MAX_BYTES {
            self.interval *= 2;
            self.states.retain(|state| state.tick.is_multiple_of(self.interval));
            self.bytes = self.states.iter().map(|state| state.saved.len()).sum();
        }
    }

    /// The nearest state that is not after `tick`.
    pub(crate) fn before(&self, tick: u64) -> Option<&Keyframe> {
        let after = self.states.partition_point(|state| state.tick <= tick);
        self.states.get(after.checked_sub(1)?)
    }
}

/// States of a match, in the order in which they were kept.
#[derive(Debug, Default)]
pub(crate) struct Kept(VecDeque<Keyframe>);

impl Kept {
    /// Keeps the state of a match if it is due. If there are too many, the oldest is dropped.
    pub(crate) fn keep(&mut self, playback: &Playback) {
        let tick = playback.tick();
        if !tick.is_multiple_of(INTERVAL) || self.0.iter().any(|kept| kept.tick == tick) {
            return;
        }
        if self.0.len() >= MAX_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(playback.keyframe());
    }

    /// The nearest state that is not after `tick`.
    pub(crate) fn before(&self, tick: u64) -> Option<&Keyframe> {
        self.0.iter().filter(|kept| kept.tick <= tick).max_by_key(|kept| kept.tick)
    }
}
