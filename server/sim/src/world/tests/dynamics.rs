//! Parameters and forces of single bodies, against laws in closed form.

use super::*;
use crate::bodies::dynamics::{BodyError, BodyMass, BodyParameters, ForceSpan, LockedAxes};

const G: f64 = crate::conventions::GRAVITY;

impl World {
    fn put_crate(&mut self, at: [f64; 3]) -> EntityId {
        let model = self.shipped_model("crate");
        self.spawn_body(model, at.into(), DQuat::IDENTITY).expect("the place is free")
    }

    fn change(&mut self, id: EntityId, change: impl FnOnce(&mut BodyParameters)) {
        let mut parameters = self.body_parameters(id).expect("a dynamic body");
        change(&mut parameters);
        self.set_body_parameters(id, parameters).expect("parameters in range");
    }

    fn state_of(&self, id: EntityId) -> EntityState {
        self.entity(id).expect("the entity is in the world")
    }

    fn steps(&mut self, ticks: u32) {
        (0..ticks).for_each(|_| self.step(&[]));
    }

    /// Steps, and checks that no entity comes nearer to anything than the margin.
    fn audited_steps(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.step(&[]);
            assert_eq!(self.context.counters.emergency_replacements, 0, "tick {}", self.tick);
        }
    }
}

/// A tall empty shaft.
fn shaft(height: i32) -> World {
    let blocks = [
        ([-512, -512, -16], [512, 512, 0]),
        ([-512, -512, height], [512, 512, height + 16]),
        ([-528, -528, 0], [-512, 528, height]),
        ([512, -528, 0], [528, 528, height]),
        ([-528, -528, 0], [528, -512, height]),
        ([-528, 512, 0], [528, 528, height]),
    ];
    let brushes: String = blocks.map(|(min, max)| block(min, max)).concat();
    let map = compiled(&brushes, [-400, -400, 25], "");
    World::new(map, shipped().into(), CONFIG).expect("the shaft can be played")
}

/// A body that falls in air of a damping *c* reaches gravity divided by *c*, at any tick rate.
#[test]
fn a_falling_body_reaches_its_terminal_velocity() {
    for (scale, damping) in [(1.0, 2.0), (0.5, 4.0), (-0.25, 5.0), (1.0, 100.0)] {
        let mut world = shaft(8192);
        let start = if scale > 0.0 { 8000.0 } else { 100.0 };
        let id = world.put_crate([0.0, 0.0, start]);
        world.change(id, |of| (of.gravity_scale, of.linear_damping) = (scale, damping));
        world.steps(360);
        let (speed, law) = (world.state_of(id).velocity.z, -G * scale / damping);
        assert!((speed / law - 1.0).abs() < 1e-4, "{scale}, {damping}: {speed}, not {law}");
    }
}

/// Without gravity, a body of a damping *c* stops after a distance of v / c.
#[test]
fn a_damped_body_stops_after_a_known_way() {
    let mut world = shaft(512);
    let id = world.put_crate([-300.0, 0.0, 200.0]);
    world.change(id, |of| (of.gravity_scale, of.linear_damping) = (0.0, 2.0));
    world.set_velocity(id, DVec3::X * 800.0, DVec3::ZERO).expect("it is in the world");
    world.steps(900);
    let state = world.state_of(id);
    assert!((state.position.x - 100.0).abs() < 1.0, "{state:?}");
    assert!(state.asleep, "a body that floats at rest sleeps: {state:?}");
}

/// The acceleration is the force divided by the mass that the game has set.
#[test]
fn a_force_accelerates_by_its_share_of_the_mass() {
    for mass in [0.01, 3.0, 66.0, 1e6] {
        let mut world = shaft(2048);
        let id = world.put_crate([-300.0, 0.0, 1000.0]);
        world.change(id, |of| (of.mass, of.gravity_scale) = (BodyMass::Mass(mass), 0.0));
        assert!((world.mass(id).expect("a body") / mass - 1.0).abs() < 1e-12);
        world.add_force(id, DVec3::X * (mass * 120.0), ForceSpan::UntilReset).expect("in range");
        world.steps(60);
        let state = world.state_of(id);
        assert!((state.velocity.x - 120.0).abs() < 1e-6, "{mass} kg: {state:?}");
        assert!((state.position.x + 240.0).abs() < 0.02, "{mass} kg: {state:?}");
        world.reset_forces(id).expect("a dynamic body");
        world.steps(10);
        assert!((world.state_of(id).velocity.x - 120.0).abs() < 1e-6, "no force acts any more");
        world.add_force(id, DVec3::Y * (mass * 120.0), ForceSpan::Tick).expect("in range");
        world.steps(10);
        let gained = world.state_of(id).velocity.y;
        assert!((gained - 2.0).abs() < 1e-6, "a tick of 1/60 s gives 2 units/s, not {gained}");
    }
}

/// The angular acceleration is the torque divided by the body's own moment of inertia.
#[test]
fn a_torque_turns_by_the_bodys_own_inertia() {
    let mut world = shaft(1024);
    let id = world.put_crate([0.0, 0.0, 500.0]);
    let inertia = DVec3::new(4e4, 6e4, 8e4);
    world.change(id, |of| {
        of.mass = BodyMass::MassAndInertia { mass: 100.0, inertia };
        (of.gravity_scale, of.angular_damping) = (0.0, 0.0);
    });
    for axis in 0..3 {
        let unit = DVec3::AXES[axis];
        world.teleport(id, DVec3::Z * 500.0, DQuat::IDENTITY).expect("it is free");
        world.set_velocity(id, DVec3::ZERO, DVec3::ZERO).expect("it is in the world");
        world.add_torque(id, unit * 8e4, ForceSpan::UntilReset).expect("in range");
        world.steps(60);
        let (spin, law) = (world.spin(id).expect("a body"), unit * 8e4 / inertia[axis]);
        assert!((spin - law).length() < 1e-6, "{spin}, not {law}");
        world.reset_forces(id).expect("a dynamic body");
    }
    // A force beside the centre of mass gives the torque of its arm.
    world.teleport(id, DVec3::Z * 500.0, DQuat::IDENTITY).expect("it is free");
    world.set_velocity(id, DVec3::ZERO, DVec3::ZERO).expect("it is in the world");
    let point = DVec3::new(10.0, 0.0, 500.0);
    world.add_force_at_point(id, DVec3::Y * 4800.0, point, ForceSpan::Tick).expect("in range");
    world.steps(1);
    let (spin, law) = (world.spin(id).expect("a body").z, 10.0 * 4800.0 / 8e4 / 60.0);
    assert!((spin - law).abs() < 1e-9, "{spin}, not {law}");
}

/// A balloon rises, rests below the ceiling and sleeps there.
#[test]
fn a_balloon_rests_below_the_ceiling() {
    for scale in [-0.1, -1.0, -0.01] {
        let mut world = shaft(512);
        let id = world.put_crate([0.0, 0.0, 420.0]);
        world.change(id, |of| (of.gravity_scale, of.linear_damping) = (scale, 0.5));
        let ticks = if scale == -0.01 { 3000 } else { 900 };
        world.audited_steps(ticks);
        let state = world.state_of(id);
        let gap = 512.0 - 16.0 - state.position.z;
        assert!((1.0 / 128.0..0.3).contains(&gap), "{scale}: {gap} below the ceiling: {state:?}");
        assert!(state.asleep, "{scale}: {state:?}");
        // It comes down as soon as it is heavy again.
        world.change(id, |of| of.gravity_scale = 1.0);
        world.audited_steps(180);
        assert!(world.state_of(id).position.z < 20.0, "{scale}: {:?}", world.state_of(id));
    }
}

/// Balloons of a heap below the ceiling carry each other and sleep.
#[test]
fn balloons_pile_up_below_the_ceiling() {
    let mut world = shaft(512);
    let ids: Vec<EntityId> =
        [260.0, 300.0, 340.0, 380.0].map(|z| world.put_crate([0.0, 0.0, z])).into();
    for id in &ids {
        world.change(*id, |of| of.gravity_scale = -0.3);
    }
    world.audited_steps(1200);
    for id in &ids {
        assert!(world.state_of(*id).asleep, "{:?}", world.state_of(*id));
    }
}

/// A force that friction balances does not keep a body awake. A stronger force accelerates it by
/// F/m - μg.
#[test]
fn a_force_within_friction_lets_a_body_sleep() {
    let mut world = shaft(512);
    let id = world.put_crate([-300.0, 0.0, 16.1]);
    let mass = world.mass(id).expect("a body");
    world.steps(60);
    assert!(world.state_of(id).asleep);
    world.add_force(id, DVec3::X * (0.4 * G * mass), ForceSpan::UntilReset).expect("in range");
    assert!(!world.state_of(id).asleep, "a force wakes a body");
    world.steps(60);
    let state = world.state_of(id);
    assert!(state.asleep && (state.position.x + 300.0).abs() < 0.5, "{state:?}");
    world.add_force(id, DVec3::X * (0.4 * G * mass), ForceSpan::UntilReset).expect("in range");
    world.steps(30);
    let (speed, law) = (world.state_of(id).velocity.x, 0.5 * (0.8 - 0.6) * G);
    assert!((speed / law - 1.0).abs() < 0.05, "{speed}, not {law}");
}

/// How far rounding moves or turns a body with locked axes within a test, in units.
const ROUNDED: f64 = 1e-12;

/// Upright crates in a heap stay upright. A crate on a vertical rail stays on the rail. The guard
/// rounds the place at which it stops a body, in the last bit.
#[test]
fn locked_axes_hold_in_a_heap() {
    let mut world = shaft(512);
    let mut ids = Vec::new();
    for index in 0..27_u8 {
        let [x, y, z] = [index % 3, index / 3 % 3, index / 9].map(f64::from);
        let at = [34.0 * x + 9.0 * z, 34.0 * y - 7.0 * z, 20.0 + 40.0 * z];
        ids.push(world.put_crate(at));
    }
    let upright = LockedAxes::ROTATION_LOCKED;
    let rail = LockedAxes::TRANSLATION_LOCKED_X | LockedAxes::TRANSLATION_LOCKED_Y;
    let hinge = LockedAxes::TRANSLATION_LOCKED;
    let locks = [upright, rail, hinge | upright, LockedAxes::ROTATION_LOCKED_Z];
    for (index, id) in ids.iter().enumerate() {
        let lock = locks[index % 4];
        world.change(*id, |of| of.locked_axes = lock);
        let velocity = DVec3::new(200.0, -150.0, 90.0);
        world.set_velocity(*id, velocity, DVec3::new(3.0, -2.0, 4.0)).expect("in the world");
    }
    let starts: Vec<EntityState> = ids.iter().map(|id| world.state_of(*id)).collect();
    for tick in 0..240 {
        if tick % 30 == 0 {
            let at = DVec3::new(-60.0, 40.0, 60.0);
            world.apply_impulse(ids[tick % 27], DVec3::new(3e4, -2e4, 4e4), at).expect("a body");
        }
        world.audited_steps(1);
        for (index, (id, start)) in ids.iter().zip(&starts).enumerate() {
            let (state, lock) = (world.state_of(*id), locks[index % 4]);
            let shift = state.position - start.position;
            let forbidden = (shift - lock.translation(shift)).length();
            assert!(forbidden < ROUNDED, "tick {tick}, body {index}: moved by {shift}");
            if lock.contains(upright) {
                let turned = state.orientation - start.orientation;
                assert!(turned.length() < ROUNDED, "tick {tick}, body {index}: {turned}");
            }
            let spin = world.spin(*id).expect("a body");
            assert_eq!(lock.rotation(spin), spin, "tick {tick}, body {index}");
            assert_eq!(lock.translation(state.velocity), state.velocity, "tick {tick}");
        }
    }
    let moved = ids
        .iter()
        .zip(&starts)
        .filter(|(id, start)| world.state_of(**id).position.distance(start.position) > 5.0);
    assert!(moved.count() > 10, "the crates with free axes moved");
}

/// On a slope of 45 degrees without friction, a body slides by g/2 along each axis. On a vertical
/// rail it stands: the slope carries its whole weight.
#[test]
fn a_body_on_a_rail_stands_on_a_slope() {
    let mut world = shaft(512);
    let free = world.put_crate([0.0, 0.0, 200.0]);
    world.change(free, |of| {
        of.locked_axes = LockedAxes::TRANSLATION_LOCKED_X | LockedAxes::ROTATION_LOCKED;
    });
    let below = world.put_crate([20.0, 0.0, 100.0]);
    world.change(below, |of| {
        of.locked_axes = LockedAxes::TRANSLATION_LOCKED | LockedAxes::ROTATION_LOCKED;
    });
    world.audited_steps(240);
    let state = world.state_of(free);
    assert!((state.position.z - 132.1).abs() < 0.2 && state.asleep, "{state:?}");
    assert_eq!(state.position.x, 0.0);
}

/// A heavy crate on a light one. The guard keeps them apart, whatever the ratio.
#[test]
fn a_heavy_body_stands_on_a_light_one() {
    for (ratio, sleeps) in [(10.0, true), (100.0, true), (1000.0, false), (1e6, false)] {
        let mut world = shaft(512);
        let ids = [16.2, 48.5].map(|z| world.put_crate([0.0, 0.0, z]));
        world.change(ids[0], |of| of.mass = BodyMass::Mass(1.0));
        world.change(ids[1], |of| of.mass = BodyMass::Mass(ratio));
        world.audited_steps(600);
        let states = ids.map(|id| world.state_of(id));
        println!("{ratio}: {states:?}");
        let heights = states.map(|state| state.position.z);
        assert!(heights[1] - heights[0] > 32.0 && heights[0] > 16.0, "{ratio}: {heights:?}");
        assert!(states[1].position.truncate().length() < 1.0, "{ratio}: {states:?}");
        if sleeps {
            assert!(states.iter().all(|state| state.asleep), "{ratio}: {states:?}");
        }
    }
}

/// Numbers beyond their ranges are refused, and change nothing.
#[test]
fn numbers_one_step_beyond_their_limits_are_refused() {
    let mut world = shaft(512);
    let id = world.put_crate([0.0, 0.0, 100.0]);
    let usual = world.body_parameters(id).expect("a body");
    let digest = world.digest();
    let up = |number: f64| if number >= 0.0 { number.next_up() } else { number.next_down() };
    let density = BodyMass::Density;
    let inertia = |x: f64, y: f64, z: f64| BodyMass::MassAndInertia {
        mass: 1.0,
        inertia: DVec3::new(x, y, z),
    };
    let with_mass = |mass| BodyParameters { mass, ..usual };
    let limits = [
        (with_mass(density(0.00002)), with_mass(density(0.00002_f64.next_down()))),
        (with_mass(density(0.2)), with_mass(density(0.2_f64.next_up()))),
        (with_mass(BodyMass::Mass(0.01)), with_mass(BodyMass::Mass(0.01_f64.next_down()))),
        (with_mass(BodyMass::Mass(1e6)), with_mass(BodyMass::Mass(1e6_f64.next_up()))),
        (
            with_mass(inertia(0.01, 0.01, 0.01)),
            with_mass(inertia(0.01_f64.next_down(), 0.01, 0.01)),
        ),
        (with_mass(inertia(1e7, 1e7, 1e7)), with_mass(inertia(1e7_f64.next_up(), 1e7, 1e7))),
        (with_mass(inertia(1.0, 1.0, 2.0)), with_mass(inertia(1.0, 1.0, 2.00001))),
        (
            BodyParameters { gravity_scale: -10.0, ..usual },
            BodyParameters { gravity_scale: up(-10.0), ..usual },
        ),
        (
            BodyParameters { gravity_scale: 10.0, ..usual },
            BodyParameters { gravity_scale: up(10.0), ..usual },
        ),
        (
            BodyParameters { linear_damping: 100.0, ..usual },
            BodyParameters { linear_damping: up(100.0), ..usual },
        ),
        (
            BodyParameters { angular_damping: 0.0, ..usual },
            BodyParameters { angular_damping: -5e-324, ..usual },
        ),
    ];
    for (within, beyond) in limits {
        let refused = world.set_body_parameters(id, beyond);
        assert!(refused.is_err(), "{beyond:?}");
        assert_eq!(world.body_parameters(id), Some(usual));
        assert_eq!(world.digest(), digest);
        world.set_body_parameters(id, within).expect("within the range");
        assert_ne!(world.digest(), digest, "{within:?}");
        world.set_body_parameters(id, usual).expect("within the range");
        assert_eq!(world.digest(), digest, "the usual parameters leave no trace");
    }
    let span = ForceSpan::UntilReset;
    let force = DVec3::X * 1e13;
    world.add_force(id, force, span).expect("within the range");
    let most = BodyError::OutOfRange { name: "force", value: 1.5e13, least: -1e13, most: 1e13 };
    assert_eq!(world.add_force(id, DVec3::X * 0.5e13, span), Err(most));
    assert_eq!(
        most.to_string(),
        "force is 15000000000000.0, not between -10000000000000 and 10000000000000"
    );
    world.add_torque(id, DVec3::Y * 1e16, span).expect("within the range");
    assert!(world.add_torque(id, DVec3::Y * 2.0, span).is_err());
    world.reset_forces(id).expect("a body");
    assert_eq!(world.digest(), digest, "forces that are reset leave no trace");
    assert!(world.add_force_at_point(id, force, DVec3::X * 1e6_f64.next_up(), span).is_err());
    assert!(world.add_force_at_point(id, DVec3::Y * 1e13, DVec3::X * 1e6, span).is_err());
    for odd in [f64::NAN, f64::INFINITY, f64::MAX, 1e308, 1e30] {
        assert!(world.add_force(id, DVec3::Z * odd, span).is_err());
        assert!(world.add_torque(id, DVec3::Z * odd, span).is_err());
        assert!(world.set_body_gravity(odd).is_err());
    }
    assert_eq!(world.digest(), digest);
}

/// Only dynamic bodies have parameters and forces of their own.
#[test]
fn players_and_missiles_have_no_forces() {
    let mut world = shaft(512);
    let player = world.join().expect("there is room");
    let refused = world.add_force(player, DVec3::X, ForceSpan::Tick);
    assert_eq!(refused, Err(BodyError::NotDynamic));
    assert_eq!(world.body_parameters(player), None);
    let gone = world.put_crate([0.0, 0.0, 100.0]);
    world.remove(gone).expect("a body");
    assert_eq!(world.reset_forces(gone), Err(BodyError::NoSuchEntity));
}

/// A saved match goes on with the same parameters, forces and gravity.
#[test]
fn own_dynamics_are_saved() {
    let mut world = shaft(512);
    world.set_body_gravity(300.0).expect("within the range");
    let id = world.put_crate([0.0, 0.0, 100.0]);
    world.change(id, |of| {
        of.mass = BodyMass::MassAndInertia { mass: 9.0, inertia: DVec3::new(900.0, 950.0, 990.0) };
        of.locked_axes = LockedAxes::TRANSLATION_LOCKED_Y;
        (of.gravity_scale, of.linear_damping, of.angular_damping) = (0.7, 0.3, 0.1);
    });
    world.add_force(id, DVec3::new(40.0, 0.0, 900.0), ForceSpan::UntilReset).expect("in range");
    world.add_torque(id, DVec3::new(4e3, 2e3, 1e3), ForceSpan::UntilReset).expect("in range");
    world.steps(5);
    world.add_force(id, DVec3::X * 4000.0, ForceSpan::Tick).expect("in range");
    let saved = world.save();
    let mut again = World::load(Arc::clone(&world.arena.map), shipped().into(), &saved)
        .expect("the saved match can be loaded");
    assert_eq!(again.digest(), world.digest());
    assert_eq!(again.body_gravity(), 300.0);
    for _ in 0..60 {
        world.steps(1);
        again.steps(1);
        assert_eq!(again.digest(), world.digest());
    }
    assert_eq!(world.state_of(id).position.y, 0.0);
}

/// A body that must not turn comes back from limbo as it was.
#[test]
fn a_body_that_may_not_turn_comes_back_unturned() {
    let mut world = shaft(512);
    let model = world.shipped_model("crate");
    let turned = DQuat::from_rotation_z(0.7);
    let id = world.spawn_body(model, DVec3::Z * 100.0, turned).expect("the place is free");
    world.change(id, |of| of.locked_axes = LockedAxes::ROTATION_LOCKED);
    world.entities.withdraw(id.slot);
    world.bring_back_all();
    let before = world.state_of(id);
    assert_eq!(before.orientation, turned);
}

/// The gravity of bodies is the match's, scaled by the body.
#[test]
fn bodies_fall_by_the_gravity_of_the_match() {
    for (gravity, scale) in [(0.0, 1.0), (100.0, 1.0), (4000.0, 0.25)] {
        let mut world = shaft(2048);
        world.set_body_gravity(gravity).expect("within the range");
        let id = world.put_crate([0.0, 0.0, 2000.0]);
        world.change(id, |of| of.gravity_scale = scale);
        world.steps(60);
        let (fallen, law) = (2000.0 - world.state_of(id).position.z, 0.5 * gravity * scale);
        assert!((fallen - law).abs() < 1e-6, "{gravity}: {fallen}, not {law}");
    }
}
