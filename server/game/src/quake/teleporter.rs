//! Teleporters that clients do not predict (`trigger_teleport`): teleporters with a name, which
//! work for a moment when they are set off, and teleporters with several destinations, which send
//! players to any of them. The simulation plays all others.

use obsp::MapEntity;
use obsp_sim::{EntityId, destinations, is_game_trigger, keeps_speed};
use serde::{Deserialize, Serialize};

use super::keys;
use super::targets::Wires;
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// Quake's number: seconds for which a teleporter with a name works.
const WORKS: f64 = 0.2;

/// A teleporter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Teleporter {
    volume: VolumeId,
    /// Index of the entity in the map.
    entity: u32,
    /// Ticks for which it still works; `None` if it always does.
    left: Option<u32>,
}

impl Teleporter {
    /// `None` for a teleporter that the simulation plays.
    pub(super) fn new(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let index = world.map().index_of(entity)?;
        if !is_game_trigger(world.map(), entity) {
            return None;
        }
        Some(Self {
            volume: world.add_brush_volume(entity)?,
            entity: index as u32,
            left: Wires::is_targeted(entity).then_some(0),
        })
    }

    pub(super) fn volume(&self) -> VolumeId {
        self.volume
    }

    /// Sends the players inside, and those who have passed since the last tick.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, entered: &[(VolumeId, EntityId)]) {
        if self.left == Some(0) {
            return;
        }
        self.left = self.left.map(|left| left - 1);
        let passed = entered.iter().filter(|(own, _)| *own == self.volume).map(|(_, id)| *id);
        let mut players: Vec<EntityId> =
            world.inside(self.volume).iter().copied().chain(passed).collect();
        players.retain(|id| world.player_kind(*id).is_some());
        players.sort_unstable();
        players.dedup();
        if players.is_empty() {
            return;
        }
        let map = std::sync::Arc::clone(world.map());
        let Some(entity) = map.entities().get(self.entity as usize) else { return };
        let to = destinations(&map, entity);
        if to.is_empty() {
            return;
        }
        for player in players {
            let first = world.random().below(to.len() as u64) as usize;
            // If a destination has no room, the next one is tried.
            let order = to[first..].iter().chain(&to[..first]);
            for destination in order {
                if world.teleport_to(player, destination, keeps_speed(entity)).is_ok() {
                    break;
                }
            }
        }
    }

    /// Lets a teleporter with a name work for a moment.
    pub(super) fn set_off(&mut self, world: &WorldMut<'_>) {
        if self.left.is_some() {
            self.left = Some(keys::ticks_of(world, WORKS));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use glam::DVec3;
    use obsp_sim::{Command, EntityId};

    use super::super::tests::{AllFamilies, Hall, RATE, brush, drawn};
    use crate::any_game::AnyGame;
    use crate::running::RunningMatch;

    /// A teleporter in the middle of the hall.
    fn teleporter(keys: &[(&str, &str)]) -> String {
        let own = [("classname", "trigger_teleport"), ("target", "there")];
        drawn(&[&own, keys].concat(), &brush([-32, -32, 0], [32, 32, 64]))
    }

    fn destination(origin: &str) -> String {
        let class = ("classname", "info_teleport_destination");
        let keys = [class, ("targetname", "there"), ("origin", origin), ("angle", "90")];
        drawn(&keys, "")
    }

    fn to_the_middle(hall: &mut Hall, player: EntityId) {
        let place = DVec3::new(0.0, 0.0, 28.1);
        hall.game.world.teleport(player, place, Default::default()).expect("it is free");
    }

    #[test]
    fn a_teleporter_with_a_name_works_for_a_moment() {
        let map = teleporter(&[("targetname", "gate")]) + &destination("300 0 32");
        let mut hall = Hall::new(&map);
        let player = hall.player([0.0; 3]);
        hall.run(RATE);
        assert!(hall.at(player).x.abs() < 1.0, "it does not work yet");
        hall.set_off("gate");
        hall.run(2);
        assert!((hall.at(player).x - 300.0).abs() < 1.0, "{}", hall.at(player));
        // A fifth of a second is twelve ticks, two of which have passed.
        hall.run(9);
        to_the_middle(&mut hall, player);
        hall.run(1);
        assert!(hall.at(player).x > 290.0, "the last tick");
        hall.run(5);
        to_the_middle(&mut hall, player);
        hall.run(RATE);
        assert!(hall.at(player).x.abs() < 1.0, "its time is over");
    }

    #[test]
    fn a_teleporter_sends_players_to_any_of_its_destinations() {
        let places = ["300 -200 32", "300 0 32", "300 200 32"].map(destination).concat();
        let mut hall = Hall::new(&(teleporter(&[]) + &places));
        let player = hall.player([0.0; 3]);
        let mut found = BTreeSet::new();
        for _ in 0..30 {
            to_the_middle(&mut hall, player);
            hall.run(1);
            let at = hall.at(player);
            assert!((at.x - 300.0).abs() < 1.0, "{at}");
            found.insert((at.y / 200.0).round() as i64);
        }
        assert_eq!(found, BTreeSet::from([-1, 0, 1]));
        // A saved match chooses as the original does.
        let map = Arc::clone(hall.game.world().map());
        let mut again =
            AllFamilies.load_match(map, &hall.game.save()).expect("the save can be loaded");
        let walk = Command { right: 127, ..Command::default() };
        for _ in 0..2 * RATE {
            hall.play(1, &[(player, walk)]);
            again.step(&[(player, walk)]);
            assert_eq!(again.digest(), hall.game.digest());
        }
    }

    #[test]
    fn a_taken_destination_is_passed_over_and_nobody_goes_where_all_are_taken() {
        let places = ["300 -200 32", "300 200 32"].map(destination).concat();
        let mut hall = Hall::new(&(teleporter(&[]) + &places));
        let first = hall.player([300.0, -200.0, 0.0]);
        let player = hall.player([0.0; 3]);
        for _ in 0..10 {
            to_the_middle(&mut hall, player);
            hall.run(1);
            assert!(hall.at(player).y > 190.0, "{}", hall.at(player));
        }
        hall.game.world.set_velocity(player, DVec3::ZERO, DVec3::ZERO).expect("it is there");
        let last = hall.player([0.0; 3]);
        hall.run(RATE);
        assert!(hall.at(last).x.abs() < 1.0 && hall.at(first).y < -190.0);
    }

    #[test]
    fn a_player_keeps_the_speed_by_a_flag() {
        for (flags, targetname, speed) in
            [("0", "", 300.0), ("32", "", 0.0), ("0", "gate", 300.0), ("32", "gate", 0.0)]
        {
            let keys = [("spawnflags", flags), ("targetname", targetname)];
            // In Quake's maps, ends of teleporters are often nearer to the floor than a player's
            // origin.
            let mut hall = Hall::new(&(teleporter(&keys) + &destination("300 0 8")));
            let player = hall.player([0.0; 3]);
            hall.set_off("gate");
            hall.run(1);
            let velocity = hall.game.world.entity(player).expect("it is there").velocity;
            let found = velocity.truncate().length();
            assert!((found - speed).abs() < 20.0, "{found} with {flags} {targetname:?}");
            assert!(hall.at(player).x > 290.0);
        }
    }
}
