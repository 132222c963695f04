//! The gravities that a map's zones give to players (`trigger_setgravity`, as in Hipnotic's maps).
//! Each is a set of movement parameters, so that clients predict by it.

use obsp::{Map, MapEntity};
use obsp_sim::MovementParameters;

use super::{Family, keys};

/// The names of the sets, one for each gravity that a map may have.
const NAMES: [&str; 7] =
    ["gravity 1", "gravity 2", "gravity 3", "gravity 4", "gravity 5", "gravity 6", "gravity 7"];

/// Hipnotic's number for the usual gravity: the key `gravity` is a percentage of the usual gravity,
/// plus one.
const USUAL: f64 = 101.0;

/// The greatest share of the usual gravity.
const MOST: f64 = 10.0;

/// The sets of movement parameters for the gravities of a map, for
/// [`Game::movements_on`](crate::Game::movements_on). `usual` are the parameters of all other
/// players. A map has at most seven gravities. Zones with further gravities give the usual gravity.
pub fn movements(
    map: &Map,
    families: &[Family],
    usual: MovementParameters,
) -> Vec<(&'static str, MovementParameters)> {
    if !families.contains(&Family::Triggers) {
        return Vec::new();
    }
    let set = |(name, share): (&&'static str, &f64)| {
        let parameters = MovementParameters { gravity: usual.gravity * share, ..usual };
        parameters.check().is_ok().then_some((*name, parameters))
    };
    NAMES.iter().zip(&shares(map)).filter_map(set).collect()
}

/// The name of the set of a zone; `None` for the usual gravity.
pub(super) fn movement_of(map: &Map, zone: &MapEntity) -> Option<String> {
    let share = share(zone)?;
    let at = shares(map).iter().position(|known| *known == share)?;
    NAMES.get(at).map(|name| (*name).to_owned())
}

/// The shares of the usual gravity that a map's zones give, in the map's order.
fn shares(map: &Map) -> Vec<f64> {
    let mut shares: Vec<f64> = Vec::new();
    for share in map.entities().iter().filter_map(share) {
        if !shares.contains(&share) {
            shares.push(share);
        }
    }
    shares
}

/// The share of a zone; `None` for an entity that is no zone or gives the usual gravity.
fn share(entity: &MapEntity) -> Option<f64> {
    if entity.classname() != "trigger_setgravity" {
        return None;
    }
    let percent = keys::number(entity, "gravity").unwrap_or(USUAL);
    let share = ((percent - 1.0) / 100.0).clamp(0.0, MOST);
    (share != 1.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use obsp_sim::{Buttons, Command};

    use super::super::tests::{Hall, RATE, brush, drawn, map};
    use super::*;

    fn zone(gravity: &str, x: i32) -> String {
        let keys = [("classname", "trigger_setgravity"), ("gravity", gravity)];
        drawn(&keys, &brush([x - 32, -32, 0], [x + 32, 32, 64]))
    }

    /// How high a player jumps from here.
    fn jump(hall: &mut Hall, player: obsp_sim::EntityId) -> f64 {
        let (low, mut high) = (hall.at(player).z, hall.at(player).z);
        let jump = Command { buttons: Buttons::JUMP, ..Command::default() };
        for _ in 0..3 * RATE {
            hall.play(1, &[(player, jump)]);
            high = high.max(hall.at(player).z);
        }
        hall.run(RATE);
        high - low
    }

    #[test]
    fn a_zone_changes_the_gravity_of_who_comes_in_until_another_one_does() {
        let mut hall = Hall::new(&(zone("51", 0) + &zone("0", 200) + &zone("201", 400)));
        let player = hall.player([-200.0, 0.0, 0.0]);
        hall.run(2);
        let usual = jump(&mut hall, player);
        let at = |hall: &mut Hall, x: f64| {
            let place = DVec3::new(x, 0.0, 28.1);
            hall.game.world.teleport(player, place, Default::default()).expect("it is free");
            hall.run(10);
            jump(hall, player)
        };
        for (x, factor) in [(0.0, 2.0), (-200.0, 2.0), (200.0, 1.0), (400.0, 0.5)] {
            let height = at(&mut hall, x) / usual;
            assert!((height - factor).abs() < 0.01 * factor, "{height} for {factor} at {x}");
        }
    }

    #[test]
    fn a_map_has_seven_gravities_and_an_eighth_is_the_usual_one() {
        let floor = brush([-512, -512, -16], [512, 512, 0]);
        let zones =
            |count: i32| (0..count).map(|at| zone(&(2 + at).to_string(), 0)).collect::<String>();
        for (count, sets) in [(1, 1), (7, 7), (8, 7)] {
            let map = map(&floor, &zones(count));
            let found = movements(&map, Family::ALL, MovementParameters::default());
            assert_eq!(found.len(), sets);
            let last = map.entities().last().expect("a zone");
            assert_eq!(movement_of(&map, last).is_some(), count <= 7);
        }
        let usual = map(&floor, &(zone("0", 0) + &zone("101", 0) + &zone("NaN", 0)));
        assert!(movements(&usual, Family::ALL, MovementParameters::default()).is_empty());
    }
}
