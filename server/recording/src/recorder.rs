use std::collections::BTreeMap;

use obsp_sim::{Command, EntityId, PlayerKind};

use crate::Tick;

/// Turns the commands of each tick into what changed since the last one.
/// A player with a command plays; a player without one has left.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    commands: BTreeMap<EntityId, Command>,
}

impl Recorder {
    /// A recorder of a match that nobody has joined yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The record of a tick that was simulated with these commands, one for each player in the
    /// match; `kind` knows as what each has joined, and `digest` is that of the match after it.
    pub fn tick(
        &mut self,
        commands: &[(EntityId, Command)],
        kind: impl Fn(EntityId) -> PlayerKind,
        digest: u64,
    ) -> Tick {
        let now: BTreeMap<EntityId, Command> = commands.iter().copied().collect();
        let left = self.commands.keys().copied().filter(|id| !now.contains_key(id)).collect();
        // In the order of their commands, which is the order of their coming.
        let players = commands.iter().map(|(id, _)| *id);
        let joined =
            players.filter(|id| !self.commands.contains_key(id)).map(|id| (id, kind(id))).collect();
        let stays = |(id, command): &(&EntityId, &Command)| {
            self.commands.get(id).copied().unwrap_or_default() == **command
        };
        let changed = now.iter().filter(|entry| !stays(entry));
        let changed = changed.map(|(id, command)| (*id, *command)).collect();
        self.commands = now;
        Tick { left, joined, commands: changed, digest }
    }
}
