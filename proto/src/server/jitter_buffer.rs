use std::num::NonZeroU16;

use sim::Command;

use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Holds one command per tick for one player, so that each tick finds exactly
/// one, whatever the line does.
#[derive(Clone, Debug)]
pub struct JitterBuffer {}

/// Where a tick's command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    /// The client, for this very tick.
    Client,
    /// None had come: the one before, once more.
    Repeated,
    /// None had come for so long that the player lets go of all keys.
    Neutral,
}

/// What became of the commands that arrived, and of the ticks that wanted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitterStats {
    /// Taken in.
    pub accepted: u64,
    /// The same again, as redundancy has it.
    pub redundant: u64,
    /// Another command for a tick that had one: dropped.
    pub conflicting: u64,
    /// For a tick that had been simulated without it: dropped.
    pub late: u64,
    /// For a tick too far ahead: dropped.
    pub early: u64,
    /// Ticks that got the client's command.
    pub in_time: u64,
    /// Ticks that repeated the one before.
    pub repeated: u64,
    /// Ticks that got none at all.
    pub neutral: u64,
}

impl JitterBuffer {
    /// A buffer for a player who joined after `tick` was simulated.
    pub fn new(tick_rate: NonZeroU16, tick: Tick) -> Self {
        let _ = (tick_rate, tick);
        unimplemented!()
    }

    /// Takes in a command for `tick` that arrived at `arrival`.
    pub fn insert(&mut self, tick: Tick, command: Command, arrival: Time) {
        let _ = (tick, command, arrival);
        unimplemented!()
    }

    /// The one command for `tick`, which is simulated at `now`. Ticks are
    /// taken in ascending order.
    pub fn take(&mut self, tick: Tick, now: Time) -> (Command, CommandSource) {
        let _ = (tick, now);
        unimplemented!()
    }

    /// How early the latest commands came, for the client to steer by; `None`
    /// if none came lately.
    pub fn lead(&self) -> Option<Lead> {
        unimplemented!()
    }

    /// What has been counted.
    pub fn stats(&self) -> &JitterStats {
        unimplemented!()
    }
}
