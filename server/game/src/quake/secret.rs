//! Secret doors (`func_door_secret`): they slide aside or down first, then along their heading, and
//! come back the same way.

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::{Mover, Progress};
use super::targets::{Calls, Wires};
use super::touch::toucher;
use crate::world_mut::WorldMut;

/// Quake's numbers: units per second, seconds, points of health, seconds at the corner of the way,
/// seconds between two hurts, and seconds until a player is told again.
const SPEED: f64 = 50.0;
const WAIT: f64 = 5.0;
const DAMAGE: i16 = 2;
const PAUSE: f64 = 1.0;
const HURTS: f64 = 0.5;
const AGAIN: f64 = 2.0;

/// Flags of a secret door.
const OPEN_ONCE: u32 = 1;
const FIRST_LEFT: u32 = 2;
const FIRST_DOWN: u32 = 4;
const YES_SHOOT: u32 = 16;

/// A secret door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SecretDoor {
    mover: Mover,
    /// Where it is shut, at the corner of its way, and open.
    places: [DVec3; 3],
    stage: Stage,
    /// Ticks for which it stays open; `None` if it stays open for ever.
    wait: Option<u32>,
    is_shot: bool,
    damage: i16,
    /// Ticks until it hurts again.
    hurts: u32,
    message: String,
    /// Ticks until it tells its message again.
    tells: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Shut,
    /// On the first and on the second part of its way.
    Aside,
    Along,
    Open,
    BackAlong,
    BackAside,
}

impl SecretDoor {
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let (drawn, flags) = (keys::bounds(entity), keys::flags(entity));
        let size = drawn.max - drawn.min;
        let ahead = keys::direction(entity);
        let right = ahead.cross(DVec3::Z).normalize_or(DVec3::NEG_Y);
        let aside = match flags {
            _ if flags & FIRST_DOWN != 0 => -right.cross(ahead),
            _ if flags & FIRST_LEFT != 0 => -right,
            _ => right,
        };
        let far = |key, way: DVec3| keys::number(entity, key).unwrap_or(size.dot(way).abs());
        let corner = aside * far("t_width", aside);
        let open = corner + ahead * far("t_length", ahead);
        let moved = |by: DVec3| Aabb { min: drawn.min + by, max: drawn.max + by };
        let pocket = drawn.union(moved(corner)).union(moved(open));
        let speed = keys::positive(entity, "speed", SPEED);
        let place = world.model_of(entity)?.place;
        let mover = Mover::spawn(world, entity, DVec3::ZERO, pocket, speed)?;
        let wait = keys::ticks(world, entity, "wait", WAIT);
        Some(Self {
            mover,
            places: [place, place + corner, place + open],
            stage: Stage::Shut,
            wait: wait.filter(|_| flags & OPEN_ONCE == 0),
            is_shot: !Wires::is_targeted(entity) || flags & YES_SHOOT != 0,
            damage: keys::damage(entity, "dmg", DAMAGE),
            hurts: 0,
            message: entity.get("message").unwrap_or_default().to_owned(),
            tells: 0,
        })
    }

    pub(super) fn body(&self) -> EntityId {
        self.mover.body
    }

    /// Moves the door, which waits for whatever is in its way.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        self.hurts = self.hurts.saturating_sub(1);
        match self.mover.step(world) {
            Progress::Arrived => self.arrive(world),
            Progress::Starts => {
                self.stage = match self.stage {
                    Stage::Aside => Stage::Along,
                    Stage::Open => Stage::BackAlong,
                    _ => Stage::BackAside,
                };
            }
            Progress::Blocked if self.hurts == 0 => {
                self.mover.hurt(world, self.damage, "func_door_secret", calls);
                self.hurts = keys::ticks_of(world, HURTS);
            }
            Progress::Rests | Progress::Waits | Progress::Moves | Progress::Blocked => {}
        }
        self.tells = self.tells.saturating_sub(1);
        if self.tells == 0
            && !self.message.is_empty()
            && let Some(player) = toucher(world, self.mover.body)
        {
            calls.show(Some(player), self.message.clone());
            self.tells = keys::ticks_of(world, AGAIN);
        }
    }

    /// Goes on from a corner or an end of its way, after a while.
    fn arrive(&mut self, world: &mut WorldMut<'_>) {
        let pause = keys::ticks_of(world, PAUSE).max(1);
        let next = match self.stage {
            Stage::Aside => Some((2, pause)),
            Stage::Along => {
                self.stage = Stage::Open;
                self.wait.map(|wait| (1, wait.max(1)))
            }
            Stage::BackAlong => Some((0, pause)),
            _ => {
                self.stage = Stage::Shut;
                None
            }
        };
        if let Some((place, delay)) = next {
            self.mover.go_after(world, self.places[place], delay);
        }
    }

    /// Opens the door, unless it is on its way. Returns whether it fires its targets.
    pub(super) fn set_off(&mut self, world: &mut WorldMut<'_>) -> bool {
        let opens = self.stage == Stage::Shut;
        if opens {
            self.message.clear();
            self.stage = Stage::Aside;
            self.mover.go(world, self.places[1]);
        }
        opens
    }

    /// Whether a shot opens the door.
    pub(super) fn damage(&self, points: i32) -> bool {
        self.is_shot && points > 0 && self.stage == Stage::Shut
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A secret door of 16 × 64 × 128 units.
    fn hall(keys: &[(&str, &str)]) -> Hall {
        let pairs = [&[("classname", "func_door_secret")], keys].concat();
        Hall::new(&drawn(&pairs, &brush([0, 0, 0], [16, 64, 128])))
    }

    fn shoot(hall: &mut Hall) {
        let (door, player) = (hall.movers()[0], hall.player([-300.0, 200.0, 0.0]));
        hall.game.act(|_, state, _| state.map.damaged(door, 1, player));
        hall.run(1);
    }

    #[test]
    fn a_secret_door_goes_aside_and_along_and_comes_back() {
        // Along +X. The first part of the way is right (-Y), left or down, by the door's size.
        for (flags, first) in
            [("0", [0.0, -64.0, 0.0]), ("2", [0.0, 64.0, 0.0]), ("4", [0.0, 0.0, -128.0])]
        {
            let mut hall = hall(&[("angle", "0"), ("spawnflags", flags), ("wait", "2")]);
            shoot(&mut hall);
            let seconds = first.iter().map(|way: &f64| way.abs()).sum::<f64>() / 50.0;
            let aside = hall.ticks_until(0, first);
            let expected = (seconds * f64::from(RATE)).ceil() as u32;
            assert!(aside.abs_diff(expected) <= 1, "spawnflags {flags}: {aside} for {expected}");
            let open = [16.0, first[1], first[2]];
            // A second at the corner, and 16 units at 50 a second.
            let along = hall.ticks_until(0, open);
            assert!(along.abs_diff(RATE + 20) <= 1, "{along}");
            let back = hall.ticks_until(0, first);
            assert!(back.abs_diff(2 * RATE + 20) <= 1, "{back}");
            let shut = hall.ticks_until(0, [0.0; 3]);
            assert!(shut.abs_diff(RATE + expected) <= 1, "{shut}");
        }
    }

    #[test]
    fn a_secret_door_goes_as_far_as_its_keys_say_and_may_stay() {
        let keys = [
            ("angle", "90"),
            ("t_width", "8"),
            ("t_length", "24"),
            ("spawnflags", "1"),
            ("targetname", "secret"),
        ];
        let mut hall = hall(&keys);
        shoot(&mut hall);
        hall.run(RATE);
        assert_eq!(hall.lowest(0).x, 0.0, "one with a name is not shot");
        hall.set_off("secret");
        hall.ticks_until(0, [8.0, 24.0, 0.0]);
        hall.run(20 * RATE);
        assert_eq!(hall.lowest(0).to_array(), [8.0, 24.0, 0.0]);
    }

    #[test]
    fn a_secret_door_waits_for_a_player_and_hurts_twice_a_second() {
        let keys = [
            ("angle", "0"),
            ("t_width", "8"),
            ("targetname", "secret"),
            ("dmg", "3"),
            ("t_length", "64"),
        ];
        let wall = drawn(&[("classname", "func_togglewall")], &brush([50, -64, 0], [66, 128, 128]));
        let door = [&[("classname", "func_door_secret")], &keys[..]].concat();
        let mut hall = Hall::new(&(drawn(&door, &brush([0, 0, 0], [16, 64, 128])) + &wall));
        hall.player([33.1, 32.0, 0.0]);
        hall.set_off("secret");
        hall.run(5 * RATE);
        let hurts = hall.game.state().hurts.len();
        assert!((6..=8).contains(&hurts), "{hurts} in the last 3.5 seconds or so");
        assert!(hall.lowest(0).x < 2.0, "{}", hall.lowest(0));
    }

    #[test]
    fn a_secret_door_waits_for_a_crate_and_goes_on_when_it_is_gone() {
        let keys = [("angle", "0"), ("t_width", "8"), ("targetname", "secret"), ("t_length", "64")];
        let door = [&[("classname", "func_door_secret")], &keys[..]].concat();
        let wall = drawn(&[("classname", "func_togglewall")], &brush([50, -64, 0], [66, 128, 128]));
        let prop = drawn(&[("classname", "prop"), ("model", "crate"), ("origin", "33 32 17")], "");
        let mut hall = Hall::new(&(drawn(&door, &brush([0, 0, 0], [16, 64, 128])) + &wall + &prop));
        hall.run(RATE);
        hall.set_off("secret");
        hall.run(8 * RATE);
        let held = hall.lowest(0);
        assert!(held.y < -7.9 && held.x < 4.0, "the crate is between door and wall: {held}");
        let crates = |hall: &Hall| -> Vec<obsp_sim::EntityId> {
            let bodies = hall.game.world.bodies().to_vec();
            bodies.into_iter().filter(|id| !hall.movers().contains(id)).collect()
        };
        let found = crates(&hall);
        assert_eq!(found.len(), 1);
        hall.game.act(|_, _, world| world.remove(found[0]).expect("it is there"));
        hall.run(2 * RATE);
        // The wall beyond is a mover, through which the door passes.
        assert_eq!(hall.lowest(0).to_array(), [64.0, -8.0, 0.0]);
    }
}
