//! Conveyors: bodies that stand still, and whose surfaces carry what stands on them at exactly
//! their speed.

use obsp::model::Model;

use super::*;
use crate::arena::movement_sets::MovementSets;
use crate::command::Buttons;
use crate::players::prediction::Predictor;
use crate::traits::CollisionLayers;

/// The rates of the tests, in ticks per second.
const RATES: [u32; 3] = [20, 60, 128];

/// The middle of the belt.
const AT: DVec3 = DVec3::new(260.0, 0.0, 200.0);

/// Half of the belt's length, width and height.
const HALF: DVec3 = DVec3::new(240.0, 64.0, 4.0);

fn models() -> Vec<Model> {
    let belt = Model::cuboid("belt", HALF).expect("a cuboid is a valid model");
    shipped().into_iter().chain([belt.as_kinematic()]).collect()
}

/// A match with a belt that falls by `slope` radians towards +x.
fn belt(tick_rate: u32, slope: f64) -> (World, EntityId) {
    let config = Config { tick_rate, ..CONFIG };
    let mut world = World::new(room(), models().into(), config).expect("the room can be played");
    let model = world.shipped_model("belt");
    let tilt = DQuat::from_rotation_y(slope);
    let belt = world.spawn_body(model, AT, tilt).expect("there is room for the belt");
    (world, belt)
}

fn put(world: &mut World, model: &str, at: DVec3, tilt: DQuat) -> EntityId {
    let model = world.shipped_model(model);
    world.spawn_body(model, at, tilt).expect("there is room")
}

fn convey(world: &mut World, belt: EntityId, velocity: DVec3) {
    world.set_surface_velocity(belt, velocity).expect("the belt is in the world");
}

fn wait(world: &mut World, seconds: f64, commands: &[(EntityId, Command)]) {
    let ticks = (seconds / world.seconds()).round() as u32;
    (0..ticks).for_each(|_| world.step(commands));
}

fn see(world: &World, id: EntityId) -> EntityState {
    world.entity(id).expect("it is in the world")
}

#[test]
fn a_crate_reaches_exactly_the_speed_and_the_belt_stands_still() {
    for rate in RATES {
        for velocity in [DVec3::X * 90.0, DVec3::new(-30.0, 7.0, 0.0), DVec3::X * 0.5] {
            let (mut world, belt) = belt(rate, 0.0);
            let start = AT + DVec3::new(-170.0 * velocity.x.signum(), 0.0, 20.2);
            let load = put(&mut world, "crate", start, DQuat::IDENTITY);
            wait(&mut world, 2.0, &[]);
            assert!(see(&world, load).asleep, "a body sleeps on a belt that is off");
            convey(&mut world, belt, velocity);
            wait(&mut world, 1.0, &[]);
            let before = see(&world, load).position;
            wait(&mut world, 2.0, &[]);
            let after = see(&world, load);
            let off = (after.position - before - velocity * 2.0).length();
            println!("belt at {velocity}, {rate} Hz: the load is {off} units off after 2 s");
            assert!(
                off < 0.01,
                "belt at {velocity}, {rate} Hz: the load is {off} units off after 2 s"
            );
            assert!((after.velocity - velocity).length() < 0.01, "{}", after.velocity);
            let belt_seen = see(&world, belt);
            assert_eq!(
                (belt_seen.position, belt_seen.velocity),
                (AT, velocity.as_vec3().as_dvec3())
            );
            assert!(belt_seen.asleep && !after.asleep && world.is_clean());
            convey(&mut world, belt, DVec3::ZERO);
            wait(&mut world, 2.0, &[]);
            assert!(see(&world, load).asleep, "the belt is off again");
            assert_eq!(see(&world, belt).velocity, DVec3::ZERO);
        }
    }
}

#[test]
fn friction_takes_a_crate_along_at_its_acceleration() {
    let (mut world, belt) = belt(60, 0.0);
    let load = put(&mut world, "crate", AT + DVec3::new(-200.0, 0.0, 20.2), DQuat::IDENTITY);
    wait(&mut world, 2.0, &[]);
    let before = see(&world, load).position;
    let speed = 240.0;
    convey(&mut world, belt, DVec3::X * speed);
    wait(&mut world, 1.0, &[]);
    let friction = shipped()[0].material().friction();
    let slip = speed * speed / (2.0 * friction * 800.0);
    let way = see(&world, load).position.x - before.x;
    println!("{way} units for {}", speed - slip);
    assert!((way - (speed - slip)).abs() < 0.03 * slip + 2.5, "{way} for {}", speed - slip);
}

#[test]
fn a_stack_does_not_sway() {
    let (mut world, belt) = belt(60, 0.0);
    let level = |level: u32| AT + DVec3::new(-180.0, 0.0, 20.2 + 32.1 * f64::from(level));
    let stack: Vec<EntityId> =
        (0..4).map(|n| put(&mut world, "crate", level(n), DQuat::IDENTITY)).collect();
    wait(&mut world, 2.0, &[]);
    // The belt starts gently, because the whole speed at once would rock the stack.
    for tick in 0..=30 {
        convey(&mut world, belt, DVec3::X * f64::from(2 * tick));
        world.step(&[]);
    }
    let offsets = |world: &World| {
        let lowest = see(world, stack[0]).position;
        stack.iter().map(|&id| see(world, id).position - lowest).collect::<Vec<DVec3>>()
    };
    wait(&mut world, 1.0, &[]);
    let (before, mut most, mut fastest) = (offsets(&world), 0.0_f64, 0.0_f64);
    for _ in 0..240 {
        world.step(&[]);
        for (before, now) in before.iter().zip(offsets(&world)) {
            most = most.max(before.distance(now));
        }
        for &id in &stack {
            fastest = fastest.max((see(&world, id).velocity.x - 60.0).abs());
        }
    }
    println!("{most} units of sway, and {fastest} units/s");
    assert!(most < 0.15 && fastest < 3.0, "{most} units, {fastest} units/s");
    let speeds: Vec<f64> = stack.iter().map(|&id| see(&world, id).velocity.x).collect();
    assert!(speeds.iter().all(|speed| (speed - 60.0).abs() < 0.2), "{speeds:?}");
}

/// Friction holds a crate on a slope, so it goes up and down at exactly the speed of the surface.
#[test]
fn a_crate_goes_up_and_down_a_slope() {
    for (slope, speed) in [(0.3, 50.0), (0.3, -50.0), (-0.2, 20.0)] {
        let (mut world, belt) = belt(60, slope);
        let tilt = DQuat::from_rotation_y(slope);
        let along = tilt * DVec3::X;
        let velocity = DVec3::X * speed;
        convey(&mut world, belt, velocity);
        let start = AT - velocity.normalize() * 100.0;
        let start = AT + along * (start - AT).dot(along) + tilt * (DVec3::Z * 20.2);
        let load = put(&mut world, "crate", start, tilt);
        wait(&mut world, 1.0, &[]);
        let before = see(&world, load).position;
        wait(&mut world, 2.0, &[]);
        let way = see(&world, load).position - before;
        let law = along * (velocity.dot(along) * 2.0);
        println!("{slope} rad, {speed} units/s: {way} for {law}");
        assert!(way.distance(law) < 0.05, "{slope} rad: {way} for {law}");
    }
}

/// A player who stands still goes 600 units with the belt in 60 s, on the level and on slopes.
#[test]
fn a_player_drifts_with_the_belt_to_the_unit() {
    for rate in RATES {
        for (slope, speed) in [(0.0, 7.1), (0.35, 7.1), (-0.35, 7.1), (0.6, -7.1_f64)] {
            let (mut world, belt) = belt(rate, slope);
            let tilt = DQuat::from_rotation_y(slope);
            let along = tilt * DVec3::X;
            let start = AT - along * (200.0 * speed.signum()) + DVec3::Z * 48.0;
            let player = world.join_at(start);
            wait(&mut world, 1.0, &[]);
            let velocity = DVec3::new(speed, 0.0, 0.0);
            convey(&mut world, belt, velocity);
            let before = see(&world, player).position;
            wait(&mut world, 60.0, &[]);
            let way = see(&world, player).position - before;
            let law = along * (velocity.dot(along) * 60.0);
            println!("{slope} rad, {rate} Hz: {way} for {law}");
            assert!(way.distance(law) < 0.5, "{slope} rad at {rate} Hz: {way} for {law}");
            assert!(world.is_clean());
        }
    }
}

#[test]
fn who_jumps_off_keeps_the_velocity_and_who_walks_walks_on_the_belt() {
    let (mut world, belt) = belt(60, 0.0);
    let player = world.join_at(AT + DVec3::new(-200.0, 0.0, 32.3));
    wait(&mut world, 1.0, &[]);
    convey(&mut world, belt, DVec3::X * 120.0);
    wait(&mut world, 0.5, &[]);
    let jump = Command { buttons: Buttons::JUMP, ..Command::default() };
    for tick in 0..30 {
        world.step(&[(player, jump)]);
        let motion = world.player_motion(player).expect("there");
        assert!((motion.velocity.x - 120.0).abs() < 0.01, "tick {tick}: {}", motion.velocity);
    }
    wait(&mut world, 0.5, &[]);
    let walk = Command { forward: 127, yaw: 1 << 14, ..Command::default() };
    wait(&mut world, 0.1, &[(player, walk)]);
    let motion = world.player_motion(player).expect("there");
    assert!((motion.velocity.x - 120.0).abs() < 0.01, "{}", motion.velocity);
    assert!(motion.velocity.y > 50.0, "{}", motion.velocity);
    let carried = motion.walker.ground_velocity;
    assert_eq!(carried, glam::Vec3::X * 120.0);
    assert!(!world.was_pushed(player), "a client predicts all of it");
}

/// The velocity of a belt points out of its end face, so that face pushes nobody. A belt that runs
/// towards a wall holds its load at the wall.
#[test]
fn the_ends_of_a_belt_are_walls() {
    let (mut world, belt) = belt(60, 0.0);
    convey(&mut world, belt, DVec3::X * 200.0);
    // The wall of the room is 12 units from the end.
    let load = put(&mut world, "crate", AT + DVec3::new(200.0, 0.0, 20.2), DQuat::IDENTITY);
    for _ in 0..600 {
        world.step(&[]);
        assert!(world.is_clean());
    }
    let held = see(&world, load);
    assert!(held.position.x > AT.x + 220.0 && held.velocity.length() < 2.0, "{held:?}");
}

#[test]
fn a_client_predicts_every_tick_on_a_belt() {
    for slope in [0.0, 0.4] {
        let (mut world, belt) = belt(60, slope);
        convey(&mut world, belt, DVec3::new(70.7, 3.0, 0.0));
        let predictor = Predictor::new(room(), &models()).expect("a predictor");
        let player = world.join_at(AT + DVec3::new(-150.0, 0.0, 120.0));
        let sets = MovementSets::from(*world.movement());
        let mut carried = 0;
        for tick in 0..400_u32 {
            if tick == 200 {
                convey(&mut world, belt, DVec3::X * -90.0);
            }
            let command = Command {
                forward: if tick % 70 < 20 { 40 } else { 0 },
                yaw: (tick * 700) as u16,
                buttons: if tick % 90 < 3 { Buttons::JUMP } else { Buttons::default() },
                ..Command::default()
            };
            let motion = world.player_motion(player).expect("there");
            let mut others = world.state().entities;
            others.retain(|other| other.id != player);
            let by = (1.0 / 60.0, &sets, CollisionLayers::default());
            let predicted = predictor.step(motion, command, by, &mut others, &[], &[]);
            world.step(&[(player, command)]);
            let moved = world.player_motion(player).expect("there");
            assert_eq!(moved, predicted.motion, "{slope} rad, tick {tick}");
            carried += u32::from(moved.walker.ground_velocity != glam::Vec3::ZERO);
        }
        assert!(carried > 30, "{carried} ticks on the belt");
    }
}

#[test]
fn a_saved_match_goes_on_with_its_belts() {
    let (mut world, belt) = belt(60, 0.2);
    put(&mut world, "crate", AT + DVec3::Z * 40.0, DQuat::IDENTITY);
    let digest = world.digest();
    convey(&mut world, belt, DVec3::X * 50.0);
    let on = world.digest();
    assert_ne!(on, digest);
    convey(&mut world, belt, DVec3::X * 51.0);
    assert_ne!(world.digest(), on, "the velocity is part of the digest");
    wait(&mut world, 1.0, &[]);
    let mut loaded =
        World::load(room(), models().into(), &world.save()).expect("the save can be loaded");
    assert_eq!(loaded.surface_velocity(belt), DVec3::X * 51.0);
    for _ in 0..120 {
        world.step(&[]);
        loaded.step(&[]);
        assert_eq!(loaded.digest(), world.digest());
    }
}

#[test]
fn odd_surfaces_are_refused() {
    let (mut world, belt) = belt(60, 0.0);
    let refused = world.set_surface_velocity(belt, DVec3::X * f64::NAN);
    assert_eq!(refused, Err(crate::place_error::PlaceError::NotFinite));
    let load = put(&mut world, "crate", AT + DVec3::Z * 40.0, DQuat::IDENTITY);
    let refused = world.set_surface_velocity(load, DVec3::X);
    assert_eq!(refused, Err(crate::place_error::PlaceError::NoSuchEntity));
    convey(&mut world, belt, DVec3::X * 1e300);
    assert_eq!(world.surface_velocity(belt), DVec3::X * 4500.0);
    assert_eq!(world.surface_velocity(load), DVec3::ZERO);
}
