//! Locks of doors (the flags 8 and 16), and the messages that doors show to players who touch them.

use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::items::Key;
use super::targets::Calls;
use super::touch::toucher;
use super::{Entity, group, keys};
use crate::world_mut::WorldMut;

/// Flags of a door that asks for a key. With both, it asks for the gold one.
const GOLD: u32 = 8;
const SILVER: u32 = 16;

/// Seconds until a player who touches the door is told again.
const AGAIN: f64 = 2.0;

/// Tells whether a player has a key.
pub(super) type HasKey<'a> = &'a dyn Fn(EntityId, Key) -> bool;

/// The lock and the message of a group of doors. Once the group has opened it has neither.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lock {
    key: Option<Key>,
    message: String,
    /// Ticks until it tells a player again.
    left: u32,
}

impl Lock {
    pub(super) fn of(entity: &MapEntity) -> Self {
        let flags = keys::flags(entity);
        let key = match flags {
            _ if flags & GOLD != 0 => Some(Key::Gold),
            _ if flags & SILVER != 0 => Some(Key::Silver),
            _ => None,
        };
        Self { key, message: entity.get("message").unwrap_or_default().to_owned(), left: 0 }
    }

    /// The lock of a group that another door joins: of several messages the last counts.
    pub(super) fn joined(self, other: &Self) -> Self {
        let message = if other.message.is_empty() { self.message } else { other.message.clone() };
        Self { key: self.key.or(other.key), message, left: 0 }
    }

    pub(super) fn is_locked(&self) -> bool {
        self.key.is_some()
    }
}

/// Counts a tick of a door's lock. Returns by whom the door is set off, if a player with its key
/// touches it.
pub(super) fn tick(
    list: &mut [Entity],
    at: usize,
    world: &WorldMut<'_>,
    calls: &mut Calls,
    has_key: HasKey<'_>,
) -> Option<Option<EntityId>> {
    let own = group::door(list, at)?;
    let (leader, body) = (own.leader as usize, own.body());
    let lock = &mut group::door_mut(list, leader)?.lock;
    if at == leader {
        lock.left = lock.left.saturating_sub(1);
    }
    if lock.left > 0 || (lock.key.is_none() && lock.message.is_empty()) {
        return None;
    }
    let player = toucher(world, body)?;
    lock.left = keys::ticks_of(world, AGAIN);
    if let Some(key) = lock.key.filter(|key| !has_key(player, *key)) {
        let name = match key {
            Key::Silver => "silver",
            Key::Gold => "gold",
        };
        calls.show(Some(player), format!("You need the {name} key"));
        return None;
    }
    if !lock.message.is_empty() {
        calls.show(Some(player), lock.message.clone());
    }
    lock.key.map(|_| Some(player))
}

#[cfg(test)]
mod tests {
    use obsp_sim::Command;

    use super::super::tests::{Hall, RATE, brush, drawn};

    fn walk() -> Command {
        Command { forward: 127, ..Command::default() }
    }

    /// A door in front of which a player walks.
    fn hall(keys: &[(&str, &str)]) -> (Hall, obsp_sim::EntityId) {
        let pairs = [&[("classname", "func_door"), ("angle", "90"), ("wait", "1")], keys].concat();
        let mut hall = Hall::new(&drawn(&pairs, &brush([0, -64, 0], [16, 64, 128])));
        let player = hall.player([-40.0, 0.0, 0.0]);
        (hall, player)
    }

    #[test]
    fn a_locked_door_asks_for_its_key_and_then_stays_open() {
        for (flags, key, name) in [("16", 0, "silver"), ("8", 1, "gold"), ("24", 1, "gold")] {
            let (mut hall, player) = hall(&[("spawnflags", flags)]);
            hall.run(RATE);
            assert_eq!(hall.lowest(0).y, -64.0, "it has no field");
            hall.play(2 * RATE + RATE / 2, &[(player, walk())]);
            let line = format!("You need the {name} key");
            assert_eq!(hall.told(), [(Some(player), line.clone()), (Some(player), line)]);
            assert_eq!(hall.lowest(0).y, -64.0);
            hall.game.act(|_, state, _| state.keys[key] = true);
            hall.play(4 * RATE, &[(player, walk())]);
            assert_eq!(hall.lowest(0).y, 56.0, "spawnflags {flags}");
            hall.run(5 * RATE);
            assert_eq!(hall.lowest(0).y, 56.0, "it stays open, whatever its wait");
        }
    }

    #[test]
    fn a_door_tells_its_message_to_who_touches_it_until_it_opens() {
        let keys = [("targetname", "gate"), ("message", "Find the button")];
        let (mut hall, player) = hall(&keys);
        hall.play(3 * RATE + RATE / 2, &[(player, walk())]);
        let line = "Find the button".to_owned();
        assert_eq!(hall.told(), [(Some(player), line.clone()), (Some(player), line)]);
        hall.set_off("gate");
        hall.run(5 * RATE);
        hall.play(3 * RATE, &[(player, walk())]);
        assert_eq!(hall.told().len(), 2, "an opened door says nothing any more");
    }
}
