//! Commands for consecutive ticks.

use obsp_sim::Command;

use crate::Tick;

/// Maximum number of commands per datagram. A command is lost only if this many datagrams in a row
/// are lost.
pub const MAX_COMMANDS: usize = 8;

/// Commands for consecutive ticks, 1 to [`MAX_COMMANDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBatch {
    oldest: Tick,
    commands: Vec<Command>,
}

impl CommandBatch {
    /// Commands for `oldest` and the ticks after it; `None` if there are no commands or too many,
    /// or if their ticks go beyond 32 bits.
    pub fn new(oldest: Tick, commands: Vec<Command>) -> Option<Self> {
        let count = u32::try_from(commands.len()).ok()?;
        let possible = (1..=MAX_COMMANDS).contains(&commands.len())
            && oldest.0.checked_add(count - 1).is_some();
        possible.then_some(Self { oldest, commands })
    }

    /// The tick of the last command.
    pub fn newest(&self) -> Tick {
        self.oldest.after(self.commands.len() as u32 - 1)
    }

    /// The commands, the oldest first.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Each command with its tick, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Tick, Command)> {
        (0..).map(|age| self.oldest.after(age)).zip(self.commands.iter().copied())
    }
}
