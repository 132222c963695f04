//! Entities that turn for ever (`func_rotating`, and the `rotate_object`s of a
//! `func_rotate_entity`).

use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::keys;
use super::motion::Progress;
use super::rotation::Rotated;
use super::targets::Calls;
use super::turning::Turning;
use crate::world_mut::WorldMut;

/// Default numbers: degrees per second, points of health, and seconds between two hurts.
const SPEED: f64 = 100.0;
const DAMAGE: i16 = 2;
const HURTS: f64 = 0.5;

/// Flags of a `func_rotating`.
const START_ON: u32 = 1;
const REVERSE: u32 = 2;

/// The flags of a `func_rotating` that turns about +X or +Y.
const AXES: [u32; 2] = [4, 8];

/// Flags of a `func_rotate_entity`.
const TOGGLE: u32 = 1;
const SPINS: u32 = 2;

/// An entity that turns for ever.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rotor {
    turning: Turning,
    /// Whether it turns towards smaller angles.
    back: bool,
    turns: bool,
    /// Whether it stops when it is set off again.
    toggles: bool,
    damage: i16,
    /// Ticks until it hurts again.
    hurts: u32,
}

impl Rotor {
    /// A `func_rotating`.
    pub(super) fn rotating(world: &mut WorldMut<'_>, entity: &MapEntity) -> Option<Self> {
        let flags = keys::flags(entity);
        let speed = keys::number(entity, "speed").unwrap_or(SPEED).to_radians();
        let turning =
            Turning::spawn(world, entity, None, keys::axis(entity, AXES), 0.0, speed.abs())?;
        let back = (speed < 0.0) != (flags & REVERSE != 0);
        let turns = flags & START_ON != 0;
        Some(Self::new(world, entity, turning, back, turns, true))
    }

    /// A `rotate_object` that a `func_rotate_entity` turns.
    pub(super) fn of_object(
        world: &mut WorldMut<'_>,
        entity: &MapEntity,
        rotated: &Rotated<'_>,
    ) -> Option<Self> {
        let flags = keys::flags(rotated.by);
        let (axis, speed) = rotated.spin();
        let turning = Turning::spawn(world, entity, rotated.centre(), axis, 0.0, speed.abs())?;
        let turns = flags & SPINS != 0;
        Some(Self::new(world, rotated.by, turning, speed < 0.0, turns, flags & TOGGLE != 0))
    }

    fn new(
        world: &mut WorldMut<'_>,
        keys: &MapEntity,
        turning: Turning,
        back: bool,
        turns: bool,
        toggles: bool,
    ) -> Self {
        let damage = keys::damage(keys, "dmg", DAMAGE);
        let mut rotor = Self { turning, back, turns, toggles, damage, hurts: 0 };
        if turns {
            rotor.start(world);
        }
        rotor
    }

    pub(super) fn body(&self) -> EntityId {
        self.turning.body
    }

    /// Turns. It waits for bodies in its way until there is room, and hurts players.
    pub(super) fn tick(&mut self, world: &mut WorldMut<'_>, calls: &mut Calls) {
        self.hurts = self.hurts.saturating_sub(1);
        if self.turning.step(world) == Progress::Blocked && self.hurts == 0 {
            self.turning.hurt(world, self.damage, "func_rotating", calls);
            self.hurts = keys::ticks_of(world, HURTS);
        }
    }

    /// Starts it, or stops it if it toggles.
    pub(super) fn set_off(&mut self, world: &mut WorldMut<'_>) {
        if !self.turns {
            self.turns = true;
            self.start(world);
        } else if self.toggles {
            self.turns = false;
            self.turning.stop(world);
        }
    }

    fn start(&mut self, world: &mut WorldMut<'_>) {
        let goal = if self.back { f64::NEG_INFINITY } else { f64::INFINITY };
        self.turning.go(world, goal);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::tests::{Hall, RATE, brush, drawn};

    /// A beam of 128 × 16 × 16 units above the middle of the hall.
    fn beam(pairs: &[(&str, &str)], z: i32) -> String {
        drawn(pairs, &brush([-64, -8, z], [64, 8, z + 16]))
    }

    fn angle(hall: &Hall) -> f64 {
        let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
        let ahead = body.orientation * DVec3::X;
        ahead.y.atan2(ahead.x).to_degrees()
    }

    fn near(angle: f64, expected: f64) -> bool {
        ((angle - expected + 180.0).rem_euclid(360.0) - 180.0).abs() < 0.01
    }

    #[test]
    fn it_turns_at_its_speed_and_stops_when_it_is_set_off() {
        let keys = [("classname", "func_rotating"), ("targetname", "fan"), ("speed", "45")];
        for (flags, starts, way) in [("0", false, 1.0), ("1", true, 1.0), ("3", true, -1.0)] {
            let pairs = [&keys[..], &[("spawnflags", flags)]].concat();
            let mut hall = Hall::new(&beam(&pairs, 80));
            if !starts {
                hall.run(RATE);
                assert_eq!(angle(&hall), 0.0);
                hall.set_off("fan");
            }
            let turned = |hall: &Hall, seconds: f64| near(angle(hall), way * 45.0 * seconds);
            for seconds in 1..=9 {
                hall.run(RATE);
                assert!(turned(&hall, seconds.into()), "{} after {seconds} s", angle(&hall));
            }
            hall.set_off("fan");
            hall.run(RATE);
            assert!(turned(&hall, 9.0), "it stands");
        }
    }

    #[test]
    fn it_turns_about_the_axis_of_its_flags() {
        for (flags, axis) in [("1", DVec3::Z), ("5", DVec3::X), ("9", DVec3::Y)] {
            let pairs = [("classname", "func_rotating"), ("speed", "90"), ("spawnflags", flags)];
            let mut hall = Hall::new(&beam(&pairs, 80));
            hall.run(RATE);
            let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
            let turned = body.orientation.xyz() / 0.5_f64.sqrt();
            assert!(turned.distance(axis) < 1e-3, "spawnflags {flags}: {turned}");
        }
    }

    #[test]
    fn an_object_turns_about_its_info_rotate() {
        let driver = |class, keys: &[(&str, &str)]| {
            let own = [("classname", class), ("target", "arm"), ("targetname", "motor")];
            drawn(&[&own, keys].concat(), "")
        };
        let centre = drawn(
            &[("classname", "info_rotate"), ("targetname", "hub"), ("origin", "-64 0 88")],
            "",
        );
        let arm = [("classname", "rotate_object"), ("targetname", "arm"), ("target", "hub")];
        let arm = beam(&arm, 80) + &centre;
        let hub = DVec3::new(-64.0, 0.0, 88.0);
        let is_on_circle = |hall: &Hall, degrees: f64| {
            let body = hall.game.world.entity(hall.movers()[0]).expect("it is there");
            let (sin, cos) = degrees.to_radians().sin_cos();
            let expected = hub + DVec3::new(cos, sin, 0.0) * 64.0;
            assert!(body.position.distance(expected) < 0.01, "{} at {degrees}", body.position);
            assert!(near(angle(hall), degrees), "{} for {degrees}", angle(hall));
        };
        let entity = driver("func_rotate_entity", &[("rotate", "0 90 0"), ("spawnflags", "1")]);
        let mut hall = Hall::new(&(arm.clone() + &entity));
        is_on_circle(&hall, 0.0);
        hall.set_off("motor");
        for seconds in 1..5 {
            hall.run(RATE);
            is_on_circle(&hall, 90.0 * f64::from(seconds));
        }
        hall.set_off("motor");
        hall.run(RATE);
        is_on_circle(&hall, 0.0);
        // A door goes to its angle in its time, and back when it is set off again.
        let door = driver("func_rotate_door", &[("angles", "0 -120 0"), ("speed", "1.5")]);
        let mut hall = Hall::new(&(arm + &door));
        for (half, whole) in [(-60.0, -120.0), (-60.0, 0.0)] {
            hall.set_off("motor");
            hall.run(RATE * 3 / 4);
            is_on_circle(&hall, half);
            hall.run(RATE * 3 / 4 + 1);
            is_on_circle(&hall, whole);
            hall.run(RATE);
            is_on_circle(&hall, whole);
        }
    }

    #[test]
    fn it_waits_for_a_player_between_it_and_a_wall() {
        let pairs =
            [("classname", "func_rotating"), ("speed", "60"), ("spawnflags", "1"), ("dmg", "4")];
        let wall = drawn(&[("classname", "func_togglewall")], &brush([24, 44, 0], [120, 52, 128]));
        let mut hall = Hall::new(&(beam(&pairs, 20) + &wall));
        hall.player([44.0, 27.0, 0.0]);
        hall.run(5 * RATE);
        assert!(angle(&hall).abs() < 30.0, "{}", angle(&hall));
        let hurts = hall.game.state().hurts.len();
        assert!((7..=10).contains(&hurts), "{hurts} hurts, which come twice a second");
    }

    #[test]
    fn it_waits_for_a_crate_between_it_and_a_wall_and_goes_on_when_it_is_gone() {
        let pairs = [("classname", "func_rotating"), ("speed", "60"), ("spawnflags", "1")];
        let wall = drawn(&[("classname", "func_togglewall")], &brush([24, 44, 0], [120, 52, 128]));
        let prop = drawn(&[("classname", "prop"), ("model", "crate"), ("origin", "44 27 17")], "");
        let mut hall = Hall::new(&(beam(&pairs, 10) + &wall + &prop));
        hall.run(5 * RATE);
        let held = angle(&hall);
        hall.run(RATE);
        assert!((angle(&hall) - held).abs() < 3.0, "{held}, then {}", angle(&hall));
        let movers = hall.movers();
        let bodies = hall.game.world.bodies().to_vec();
        let found: Vec<_> = bodies.into_iter().filter(|id| !movers.contains(id)).collect();
        assert_eq!(found.len(), 1);
        hall.game.act(|_, _, world| world.remove(found[0]).expect("it is there"));
        // It has pressed on slowly, and doubles its speed in each tick until it has its full speed.
        hall.run(10);
        let before = angle(&hall);
        hall.run(RATE);
        assert!(near(angle(&hall), before + 60.0), "{before}, then {}", angle(&hall));
    }

    #[test]
    fn it_turns_by_a_quarter_of_a_radian_a_tick_at_most() {
        // 14 radians a second are 0.233 a tick; the next speed is beyond the limit of 15.
        for (speed, turn) in [("802.1", 802.1_f64.to_radians() / 60.0), ("1e30", 0.25)] {
            let keys = [("classname", "func_rotating"), ("speed", speed), ("spawnflags", "1")];
            let mut hall = Hall::new(&beam(&keys, 80));
            for tick in 1..20 {
                hall.run(1);
                let expected = (turn * f64::from(tick)).to_degrees();
                assert!(near(angle(&hall), expected), "{speed}, tick {tick}: {}", angle(&hall));
            }
        }
        // A beam of 2,000 units is slowed so that its ends do not outrun the guard.
        let long = [("classname", "func_rotating"), ("speed", "720"), ("spawnflags", "1")];
        let mut hall = Hall::new(&drawn(&long, &brush([-1000, -8, 80], [1000, 8, 96])));
        hall.run(10);
        let fastest = (4000.0 / 1000.0_f64).to_degrees() / 6.0;
        assert!((angle(&hall) - fastest).abs() < 0.1, "{} for {fastest}", angle(&hall));
    }
}
