//! The lines that players say, on their way through the game.

use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

/// The listeners of a line that a player said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// All players and spectators.
    #[default]
    Everyone,
    /// These players alone, for example the speaker's team. The speaker hears the line only if the
    /// list names the speaker.
    Players(Vec<EntityId>),
    /// Nobody: the game keeps the line to itself, for example because it is a command.
    Nobody,
}

/// The lines that players said between the latest two ticks, or since the latest tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct SaidLines {
    /// The tick before which the lines were said.
    before: u64,
    lines: Vec<(EntityId, String)>,
}

impl SaidLines {
    /// Notes a line. `ticks` is the number of ticks so far.
    pub(crate) fn note(&mut self, ticks: u64, player: EntityId, line: &str) {
        if self.before != ticks + 1 {
            self.before = ticks + 1;
            self.lines.clear();
        }
        self.lines.push((player, line.to_owned()));
    }

    /// The lines that were said before this tick and after the one before it.
    pub(crate) fn before(&self, tick: u64) -> &[(EntityId, String)] {
        if self.before == tick { &self.lines } else { &[] }
    }
}
