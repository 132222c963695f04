//! What a client sends each tick, as a datagram: which snapshots it has, and
//! its last few commands, so that a lost datagram costs nothing.

use sim::Command;

use crate::Tick;

/// Most commands a datagram carries: seven datagrams in a row may be lost
/// before a command is.
pub const MAX_COMMANDS: usize = 8;

/// Which snapshots a client has decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The latest.
    pub latest: Tick,
    /// Bit `n` stands for the tick `n + 1` before the latest.
    pub before: u32,
}

/// Commands for consecutive ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBatch {
    newest: Tick,
    /// From the newest back, 1 to [`MAX_COMMANDS`].
    commands: Vec<Command>,
}

impl CommandBatch {
    /// Each command with its tick, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Tick, Command)> {
        let ticks = (0..).map_while(|age| self.newest.before(age));
        let mut all: Vec<_> = ticks.zip(self.commands.iter().copied()).collect();
        all.reverse();
        all.into_iter()
    }
}
