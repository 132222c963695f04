use std::collections::BTreeMap;

use obsp_sim::{Command, EntityId, PlayerKind};

use crate::RecordedTick;

/// Turns the commands of each tick into their changes since the last tick. Every player in the
/// match has a command. A player without a command has left.
///
/// ```
/// use obsp_recording::Recorder;
/// use obsp_sim::{Command, EntityId, PlayerKind};
///
/// let player = EntityId { slot: 0, generation: 0 };
/// let ahead = Command { forward: 127, ..Command::default() };
/// let mut recorder = Recorder::new();
///
/// let first = recorder.tick(&[(player, ahead)], |_| PlayerKind::Box, 1);
/// assert_eq!(first.joined, [(player, PlayerKind::Box)]);
/// assert_eq!(first.commands, [(player, ahead)]);
///
/// // A command that stays the same is not recorded again.
/// let second = recorder.tick(&[(player, ahead)], |_| PlayerKind::Box, 2);
/// assert_eq!(second.commands, []);
/// ```
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
    /// match. `kind` returns the kind with which a player has joined, and `digest` is the digest of
    /// the match after the tick. [`RecordedTick::with_words`] adds names and chat.
    pub fn tick(
        &mut self,
        commands: &[(EntityId, Command)],
        kind: impl Fn(EntityId) -> PlayerKind,
        digest: u64,
    ) -> RecordedTick {
        let now: BTreeMap<EntityId, Command> = commands.iter().copied().collect();
        let left = self.commands.keys().copied().filter(|id| !now.contains_key(id)).collect();
        // Players join in the order of their commands, which is the order in which they came.
        let players = commands.iter().map(|(id, _)| *id);
        let joined =
            players.filter(|id| !self.commands.contains_key(id)).map(|id| (id, kind(id))).collect();
        let stays = |(id, command): &(&EntityId, &Command)| {
            self.commands.get(id).copied().unwrap_or_default() == **command
        };
        let changed = now.iter().filter(|entry| !stays(entry));
        let changed = changed.map(|(id, command)| (*id, *command)).collect();
        self.commands = now;
        RecordedTick { left, joined, commands: changed, digest, ..RecordedTick::default() }
    }
}
