//! A branch: another future of a recorded match, with the same commands except for one change.

use obsp_recording::{Keyframe, Playback, Ticks};
use obsp_sim::{Buttons, Command, EntityId};

use crate::kept::Kept;

/// The change by which a branch differs from the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change.
    Nothing,
    /// The body is removed, or the player leaves.
    Removed,
    /// The player's keys are changed, for this number of ticks.
    Keys(Keys, u64),
}

/// The keys that a player holds instead of the recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// No keys.
    Still,
    /// The recorded keys except those that fire.
    HoldFire,
    /// The recorded keys and the jump key.
    Jump,
}

impl Change {
    /// The change with this number of the page. It lasts `ticks` ticks.
    pub fn of(number: u32, ticks: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Nothing,
            1 => Self::Removed,
            2 => Self::Keys(Keys::Still, ticks.into()),
            3 => Self::Keys(Keys::HoldFire, ticks.into()),
            4 => Self::Keys(Keys::Jump, ticks.into()),
            _ => return None,
        })
    }
}

impl Keys {
    fn change(self, command: Command) -> Command {
        let buttons = command.buttons;
        let only = |mask: Buttons| Buttons::from_recorded_bits(buttons.bits() & mask.bits());
        let fire = Buttons::PRIMARY | Buttons::SECONDARY | Buttons::TERTIARY;
        match self {
            Self::Still => Command {
                forward: 0,
                right: 0,
                buttons: only(Buttons::PROTECTED).unwrap_or_default(),
                ..command
            },
            Self::HoldFire => {
                let bits = buttons.bits() & !fire.bits();
                let buttons = Buttons::from_recorded_bits(bits).unwrap_or_default();
                Command { buttons, ..command }
            }
            Self::Jump => Command { buttons: buttons | Buttons::JUMP, ..command },
        }
    }
}

/// A branch that is being played.
#[derive(Debug)]
pub(crate) struct Branch {
    /// The match right after the change, and the recorded ticks that follow.
    origin: (Keyframe, Ticks),
    playback: Playback,
    /// The ticks after the one that `playback` is at.
    next: Ticks,
    kept: Kept,
    id: EntityId,
    change: Change,
}

impl Branch {
    /// Begins a branch of the recorded match in `playback`. `next` holds the recorded ticks that
    /// follow.
    pub(crate) fn new(
        mut playback: Playback,
        next: Ticks,
        id: EntityId,
        change: Change,
    ) -> Result<Self, String> {
        let is_player = playback.world().player_kind(id).is_some();
        match change {
            Change::Removed if is_player => playback.game_mut().leave(id),
            Change::Removed => {
                let removed = playback.game_mut().world_mut().remove(id);
                removed.map_err(|error| error.to_string())?;
            }
            Change::Keys(..) if !is_player => return Err("only players hold keys".to_owned()),
            Change::Keys(..) | Change::Nothing => {}
        }
        let origin = (playback.keyframe(), next.clone());
        Ok(Self { origin, playback, next, kept: Kept::default(), id, change })
    }

    /// Goes to a tick; `None` if the tick is before the change.
    pub(crate) fn show(&mut self, tick: u64) -> Option<&Playback> {
        let begin = self.origin.0.tick;
        if tick < begin {
            return None;
        }
        let nearest = self.kept.before(tick).unwrap_or(&self.origin.0);
        if !(nearest.tick..=tick).contains(&self.playback.tick()) {
            // This match itself saved the state, so it can be restored.
            self.playback.go_to(nearest).ok()?;
            self.next = self.origin.1.clone();
            for _ in begin..nearest.tick {
                self.next.next();
            }
        }
        while self.playback.tick() < tick {
            let Some(Ok(next)) = self.next.next() else { break };
            let changed = self.playback.tick() - begin;
            let (id, change) = (self.id, self.change);
            self.playback.play_with(&next, |player, command| match change {
                Change::Keys(keys, ticks) if player == id && changed < ticks => {
                    keys.change(command)
                }
                _ => command,
            });
            self.kept.keep(&self.playback);
        }
        Some(&self.playback)
    }
}
