//! States of a match that is run again, kept on the way so that a step back is short.

use std::collections::VecDeque;

use obsp_recording::{Keyframe, Playback};

/// States that are kept, and the ticks between two of them: what a step back has to run again
/// at most.
const MAX_KEPT: usize = 48;
const INTERVAL: u64 = 30;

/// Ticks on the way to one that is shown whose states are kept.
pub(crate) const NEAR: u64 = 2 * INTERVAL;

/// Ticks between two states of a match that is verified, and bytes of them at most: a seek
/// anywhere in ten minutes is to take less than 200 ms, and a tick may take more than one.
const VERIFIED_INTERVAL: u64 = 100;
const MAX_BYTES: usize = 96 << 20;

/// States of all that has been verified, equally far apart.
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
    /// Keeps the state of a match that goes on, if it is its turn and all of it was equal so
    /// far. Where they take too much memory, every other is forgotten.
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

/// The states, the one that was kept last at the end.
#[derive(Debug, Default)]
pub(crate) struct Kept(VecDeque<Keyframe>);

impl Kept {
    /// Keeps the state of a match if it is its turn, in place of the oldest.
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
