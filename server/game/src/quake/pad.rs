//! Jump pads that clients do not predict (`trigger_push`): pads with a name, which are switched,
//! and pads that push once. The simulation plays all others.

use glam::DVec3;
use obsp::MapEntity;
use obsp_sim::{EntityId, is_game_trigger};
use serde::{Deserialize, Serialize};

use super::keys;
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Flags of a pad: it pushes once; it is off until it is set off.
const ONCE: u32 = 1;
const START_OFF: u32 = 2;

/// A pad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pad {
    volume: VolumeId,
    /// Index of the entity in the map.
    entity: u32,
    is_on: bool,
    once: bool,
}

impl Pad {
    /// `None` for a pad that the simulation plays.
    pub(super) fn new(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let index = world.map().index_of(entity)?;
        if !is_game_trigger(world.map(), entity) {
            return None;
        }
        let flags = keys::flags(entity);
        Some(Self {
            volume: world.add_brush_volume(entity)?,
            entity: index as u32,
            is_on: flags & START_OFF == 0,
            once: flags & ONCE != 0,
        })
    }

    pub(super) fn volume(&self) -> VolumeId {
        self.volume
    }

    /// Pushes the players inside, and those who have passed since the last tick.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, entered: &[(VolumeId, EntityId)]) {
        if !self.is_on {
            return;
        }
        let passed = entered.iter().filter(|(own, _)| *own == self.volume).map(|(_, id)| *id);
        let players: Vec<EntityId> =
            world.inside(self.volume).iter().copied().chain(passed).collect();
        let map = std::sync::Arc::clone(world.map());
        let Some(pad) = map.entities().get(self.entity as usize) else { return };
        for player in players {
            // Only players on foot are pushed.
            let Some(velocity) = world.pad_velocity(pad, player) else { continue };
            let pushed = world.set_velocity(player, velocity, DVec3::ZERO);
            if self.once && pushed.is_ok() {
                self.is_on = false;
                return;
            }
        }
    }

    /// Switches the pad.
    pub(super) fn set_off(&mut self) {
        self.is_on = !self.is_on;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Hall, RATE, brush, drawn};

    fn hall(keys: &[(&str, &str)]) -> (Hall, obsp_sim::EntityId) {
        let pad = [("classname", "trigger_push"), ("angle", "-1"), ("speed", "50")];
        let pairs = [&pad[..], keys].concat();
        let mut hall = Hall::new(&drawn(&pairs, &brush([-32, -32, 0], [32, 32, 16])));
        let player = hall.player([0.0; 3]);
        (hall, player)
    }

    /// How often a player is thrown in five seconds.
    fn throws(hall: &mut Hall, player: obsp_sim::EntityId) -> u32 {
        let (mut count, mut was_high) = (0, hall.at(player).z > 60.0);
        for _ in 0..5 * RATE {
            hall.run(1);
            let is_high = hall.at(player).z > 60.0;
            count += u32::from(is_high && !was_high);
            was_high = is_high;
        }
        count
    }

    #[test]
    fn a_pad_with_a_name_is_switched() {
        let (mut hall, player) = hall(&[("targetname", "fan"), ("spawnflags", "2")]);
        assert_eq!(throws(&mut hall, player), 0, "it starts off");
        hall.set_off("fan");
        // 500 units a second up and down again take 1.25 seconds.
        assert_eq!(throws(&mut hall, player), 4);
        hall.set_off("fan");
        hall.run(2 * RATE);
        assert_eq!(throws(&mut hall, player), 0);
        let (mut on, player) = self::hall(&[("targetname", "fan")]);
        assert_eq!(throws(&mut on, player), 4, "without the flag it starts on");
    }

    #[test]
    fn a_pad_may_push_once() {
        let (mut hall, player) = hall(&[("spawnflags", "1")]);
        assert_eq!(throws(&mut hall, player), 1);
        let (mut others, player) = self::hall(&[]);
        assert_eq!(throws(&mut others, player), 4, "the simulation plays this one");
    }
}
