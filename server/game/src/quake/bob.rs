//! Bodies that swing to and fro for ever (`func_bob`, as in Arcane Dimensions): they go from where
//! they are drawn to the other end of their way and back, as a pendulum does.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::{EntityId, Swing};
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::put;
use crate::world_mut::WorldMut;

/// Default numbers: units per second that a step adds, seconds from end to end, the factor of that
/// gain in each step of the first half, and the factor of the speed in each step of the second
/// half.
const HEIGHT: f64 = 8.0;
const SECONDS: f64 = 2.0;
const FASTER: f64 = 1.0;
const SLOWER: f64 = 0.75;

/// Seconds of a step.
const STEP: f64 = 0.1;

/// The least and the most seconds of a way.
const LEAST_SECONDS: f64 = 1.0;
const MOST_SECONDS: f64 = 600.0;

/// The longest way, in units.
const MOST_WAY: f64 = 4096.0;

/// The fastest that a body swings, in units per second.
const MOST_SPEED: f64 = 2000.0;

/// A body that swings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bob {
    pub(super) body: EntityId,
    /// The swing with which it begins, or goes on once it is set off again.
    swing: Swing,
    /// Ticks until it begins.
    delay: u32,
    swings: bool,
}

impl Bob {
    /// `None` if the entity has no model in the match.
    pub(super) fn spawn(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let drawn = world.model_of(entity)?;
        let (seconds, length) = swing(entity);
        // In Arcane Dimensions it goes against its direction first.
        let way = keys::direction(entity) * -length;
        let bounds = keys::bounds(entity);
        let pocket = bounds.union(Aabb { min: bounds.min + way, max: bounds.max + way });
        let body = put(world, drawn.model, (drawn.place, DQuat::IDENTITY), pocket)?;
        let delay = keys::ticks(world, entity, "delay", 0.0).unwrap_or(0);
        let ticks = keys::ticks_of(world, seconds).max(1);
        let swing = Swing { place: drawn.place, way, ticks, at: 0 };
        Some(Self { body, swing, delay: delay.max(1), swings: true })
    }

    /// Starts the swing after the delay. The simulation then moves the body.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>) {
        if self.delay > 0 {
            self.delay -= 1;
            if self.delay == 0 && self.swings {
                self.begin(world);
            }
        }
    }

    fn begin(&self, world: &mut WorldMut<'_>) {
        // A body that fell out of the map does not swing.
        let _ = world.swing(self.body, self.swing);
    }

    /// Stops it, or lets it swing on.
    pub(super) fn set_off(&mut self, world: &mut WorldMut<'_>) {
        self.swings = !self.swings;
        if self.delay > 0 {
            return;
        }
        if self.swings {
            return self.begin(world);
        }
        self.swing = world.swing_of(self.body).unwrap_or(self.swing);
        let _ = world.set_velocity(self.body, DVec3::ZERO, DVec3::ZERO);
    }
}

/// The seconds and the length of the way, as in Arcane Dimensions: each tenth of a second of the
/// first half adds to the speed, and each tenth of the second half takes a share of the speed away.
fn swing(entity: &MapEntity) -> (f64, f64) {
    let seconds = keys::positive(entity, "count", SECONDS).clamp(LEAST_SECONDS, MOST_SECONDS);
    let number = |key: &str, usual: f64| keys::positive(entity, key, usual).min(1e6);
    let (mut gained, faster) = (number("height", HEIGHT), number("waitmin", FASTER));
    let slower = number("waitmin2", SLOWER);
    let half = (seconds / STEP / 2.0).round() as u32;
    let (mut speed, mut length) = (0.0_f64, 0.0_f64);
    for step in 0..2 * half {
        if step < half {
            gained = (gained * faster).min(MOST_WAY);
            speed += gained;
        } else {
            speed *= slower;
        }
        speed = speed.min(1e6);
        length += speed * STEP;
    }
    // A pendulum is fastest in the middle: at half of pi times its mean speed.
    (seconds, length.min(MOST_SPEED * seconds * 2.0 / PI).min(MOST_WAY))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::{AllFamilies, Hall, RATE, brush, drawn, entity};
    use super::*;
    use crate::any_game::AnyGame;
    use crate::running::RunningMatch;

    /// The length of the way with the default keys: ten steps that each add 8 units/s, and ten that
    /// each take a quarter of the speed away.
    const USUAL: f64 = 44.0 + 8.0 * 3.0 * (1.0 - 0.056_313_514_709_472_656);

    fn bob(keys: &[(&str, &str)], min: [i32; 3], max: [i32; 3]) -> String {
        drawn(
            &[&[("classname", "func_bob"), ("targetname", "bob")], keys].concat(),
            &brush(min, max),
        )
    }

    fn plate(keys: &[(&str, &str)]) -> Hall {
        Hall::new(&bob(keys, [-64, -64, 150], [64, 64, 166]))
    }

    #[test]
    fn it_swings_as_a_pendulum_and_comes_back() {
        let mut hall = plate(&[("angle", "-1")]);
        let swung = |hall: &Hall| 150.0 - hall.lowest(0).z;
        // The first tick of the match gives it a velocity.
        hall.run(1);
        for second in 1..=12_u32 {
            hall.run(RATE);
            let share = 0.5 - 0.5 * (PI * f64::from(second) / 2.0).cos();
            let off = swung(&hall) - USUAL * share;
            assert!(off.abs() < 0.01, "after {second} s: {} of {USUAL}", swung(&hall));
        }
        hall.set_off("bob");
        let before = hall.lowest(0);
        hall.run(RATE);
        assert_eq!(hall.lowest(0), before, "it is stopped");
        hall.set_off("bob");
        hall.run(RATE);
        assert!((swung(&hall) - USUAL / 2.0).abs() < 1.5, "{}", swung(&hall));
    }

    #[test]
    fn its_keys_say_the_way() {
        let length = |keys: &[(&str, &str)]| swing(&entity(keys)).1;
        assert!((length(&[]) - USUAL).abs() < 1e-6, "{} for {USUAL}", length(&[]));
        assert!((length(&[("height", "16")]) - 2.0 * USUAL).abs() < 1e-6);
        assert!(length(&[("waitmin", "1.2")]) > USUAL && length(&[("waitmin2", "0.5")]) < USUAL);
        for (count, seconds) in [("0.9", 1.0), ("1.1", 1.1), ("599", 599.0), ("601", 600.0)] {
            assert_eq!(swing(&entity(&[("count", count)])).0, seconds);
        }
        // With 305 it goes 2,541 units in 2 s, and with one more it would be too fast.
        assert!((length(&[("height", "305")]) - 305.0 / 8.0 * USUAL).abs() < 1e-3);
        assert_eq!(length(&[("height", "306")]), 2000.0 * 4.0 / PI);
        assert_eq!(length(&[("height", "30"), ("count", "30")]), 4096.0);
        for odd in ["1e300", "nan", "-4"] {
            let keys = ["height", "waitmin", "waitmin2", "count", "delay"].map(|key| (key, odd));
            let mut hall = plate(&[&keys[..], &[("angle", "90")]].concat());
            hall.run(RATE);
            let moved = hall.lowest(0).y + 64.0;
            assert!((-2000.0..=0.0).contains(&moved), "{odd}: {moved}");
        }
    }

    #[test]
    fn a_delay_is_waited_for() {
        let mut hall = plate(&[("delay", "1")]);
        hall.run(RATE);
        assert_eq!(hall.lowest(0).x, -64.0);
        hall.run(RATE / 2);
        assert!(hall.lowest(0).x < -70.0, "{}", hall.lowest(0));
    }

    #[test]
    fn a_rider_stays_on_it() {
        let mut hall = plate(&[("angle", "0"), ("height", "20")]);
        let player = hall.player([20.0, 10.0, 166.0]);
        hall.run(RATE);
        let place = |hall: &Hall| hall.at(player) - hall.lowest(0);
        let rest = place(&hall);
        for _ in 0..20 * RATE {
            hall.run(1);
            assert!(place(&hall).distance(rest) < 0.1, "{} for {rest}", place(&hall));
        }
    }

    /// It waits above a player in its way, and swings on when the player has gone. No tick fails
    /// the audit, and a saved match goes on with the same digests.
    #[test]
    fn it_waits_for_who_is_in_its_way() {
        let mut hall =
            Hall::new(&bob(&[("angle", "-1"), ("height", "10")], [-64, -64, 100], [64, 64, 116]));
        let player = hall.player([0.0, 0.0, 0.0]);
        hall.run(30 * RATE);
        let height = hall.lowest(0).z;
        assert!(height > 56.0 && height < 57.0, "it lies on the player's head: {height}");
        let away = DVec3::new(-200.0, 0.0, 28.1);
        hall.game.world.teleport(player, away, Default::default()).expect("there is room");
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for _ in 0..8 * RATE {
            hall.run(1);
            least = least.min(hall.lowest(0).z);
            most = most.max(hall.lowest(0).z);
        }
        assert!((most - 100.0).abs() < 0.01 && (least - (100.0 - 1.25 * USUAL)).abs() < 0.01);
        let map = Arc::clone(hall.game.world().map());
        let mut again =
            AllFamilies.load_match(map, &hall.game.save()).expect("the save can be loaded");
        for _ in 0..4 * RATE {
            hall.run(1);
            again.step(&[]);
            assert_eq!(again.digest(), hall.game.digest());
        }
    }
}
