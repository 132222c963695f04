//! Players and props in liquids that flow.

use super::*;
use crate::arena::movement_sets::MovementSets;
use crate::command::Buttons;
use crate::players::prediction::{Moving, Predictor};
use crate::random::Random;
use crate::state::EntityState;
use crate::test_maps::water;
use crate::traits::CollisionLayers;

/// A trough of 2,000 units along x with water up to the height `surface`. `entities` are volumes
/// and point entities.
fn trough(surface: i32, entities: &str) -> Arc<obsp::Map> {
    let blocks = [
        ([-1016, -216, -16], [1016, 216, 0]),
        ([-1016, -216, 400], [1016, 216, 416]),
        ([-1016, -216, 0], [-1000, 216, 400]),
        ([1000, -216, 0], [1016, 216, 400]),
        ([-1000, -216, 0], [1000, -200, 400]),
        ([-1000, 200, 0], [1000, 216, 400]),
    ];
    let walls: String = blocks.map(|(min, max)| block(min, max)).concat();
    let pool = water([-1000, -200, 0], [1000, 200, surface]);
    compiled(&(walls + &pool), [900, 150, 340], entities)
}

/// A current from `from` to `to`, which are heights, over the whole trough.
fn current(keys: &[(&str, &str)], from: i32, to: i32) -> String {
    let keys: String = keys.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect();
    let volume = block([-1000, -200, from], [1000, 200, to]);
    format!("{{\n\"classname\" \"trigger_current\"\n{keys}{volume}}}\n")
}

fn east(speed: &str) -> String {
    current(&[("speed", speed)], 0, 400)
}

fn world(map: &Arc<obsp::Map>, tick_rate: u32) -> World {
    let config = Config { tick_rate, ..CONFIG };
    World::new(Arc::clone(map), shipped().into(), config).expect("a match")
}

fn velocity(world: &World, id: EntityId) -> DVec3 {
    world.entities.get(id.slot).expect("there").velocity
}

fn run(world: &mut World, seconds: f64, commands: &[(EntityId, Command)]) {
    (0..(seconds / world.seconds()) as usize).for_each(|_| {
        world.step(commands);
    });
}

fn ahead(yaw: u16) -> Command {
    Command { forward: 127, yaw, ..Command::default() }
}

/// In the frame of the water, a swimmer moves as in still water: at 160 units per second with a
/// key, and down at 60 without one.
#[test]
fn a_swimmer_is_carried_and_swims_relative_to_the_flow() {
    let map = trough(300, &east("100"));
    let rest = DVec3::new(100.0, 0.0, -60.0);
    for tick_rate in [30, 60, 125] {
        for (command, expected) in [
            (Command::default(), rest),
            (ahead(0), DVec3::new(260.0, 0.0, 0.0)),
            (ahead(32_768), DVec3::new(-60.0, 0.0, 0.0)),
            (ahead(16_384), DVec3::new(100.0, 160.0, 0.0)),
            (holding(Buttons::JUMP), DVec3::new(100.0, 0.0, 160.0)),
        ] {
            let mut world = world(&map, tick_rate);
            let id = world.join_at(DVec3::new(0.0, 0.0, 180.0));
            // The friction of a liquid brings a swimmer to within a fiftieth in a second.
            run(&mut world, 0.9, &[(id, command)]);
            let found = velocity(&world, id);
            assert!(found.distance(expected) < 12.0, "{tick_rate}, {command:?}: {found}");
            assert!(world.is_clean());
        }
    }
}

#[test]
fn a_current_carries_who_stands_or_wades_in_it_and_nobody_beside_it() {
    // Twelve units of water: the feet are wet.
    let world_of = |entities: &str| {
        let mut world = world(&trough(12, entities), 60);
        let id = world.join_at(DVec3::new(0.0, 0.0, 28.2));
        (world, id)
    };
    let (mut world, id) = world_of(&east("120"));
    run(&mut world, 1.0, &[]);
    assert!((velocity(&world, id).x - 120.0).abs() < 1.0, "{}", velocity(&world, id));
    // Against the current, a runner with wet feet makes 320 · 5/6.
    run(&mut world, 1.0, &[(id, ahead(32_768))]);
    let runs = velocity(&world, id).x;
    assert!((runs - (120.0 - 320.0 * 5.0 / 6.0)).abs() < 1.0, "{runs}");
    // A current that ends below the point of the feet, one that begins above it, and no current.
    for entities in [current(&[], 0, 1) + "", current(&[], 2, 400), String::new()] {
        let (mut world, id) = world_of(&entities);
        run(&mut world, 1.0, &[]);
        assert_eq!(velocity(&world, id).truncate(), glam::DVec2::ZERO, "{entities}");
    }
    let mut dry = self::world(&trough(12, &current(&[], 12, 400)), 60);
    let id = dry.join_at(DVec3::new(0.0, 0.0, 200.0));
    run(&mut dry, 0.2, &[]);
    assert_eq!(velocity(&dry, id).truncate(), glam::DVec2::ZERO, "in the air");
}

#[test]
fn the_keys_of_a_current_say_how_it_flows() {
    let flow = |keys: &[(&str, &str)]| {
        let world = world(&trough(300, &current(keys, 0, 400)), 60);
        (world.arena.currents.at(DVec3::new(0.0, 0.0, 100.0)), world.arena.currents.fastest())
    };
    for (keys, expected) in [
        (&[][..], DVec3::X * 200.0),
        (&[("angle", "90")], DVec3::Y * 200.0),
        (&[("angle", "-1"), ("speed", "50")], DVec3::Z * 50.0),
        (&[("angles", "90 0 0"), ("speed", "50")], DVec3::Z * -50.0),
        (&[("speed", "-30")], DVec3::X * -30.0),
        (&[("speed", "1000")], DVec3::X * 1000.0),
        (&[("speed", "1001")], DVec3::X * 1000.0),
        (&[("speed", "-1e300")], DVec3::X * -1000.0),
        (&[("speed", "0")], DVec3::ZERO),
        (&[("speed", "NaN")], DVec3::X * 200.0),
        (&[("speed", "1e999")], DVec3::X * 200.0),
        (&[("speed", "fast")], DVec3::X * 200.0),
    ] {
        let (found, fastest) = flow(keys);
        assert!(found.distance(expected) < 1e-9, "{keys:?}: {found}");
        assert!((fastest - expected.length()).abs() < 1e-9, "{keys:?}: {fastest}");
    }
    // Two currents at one place add up.
    let both = world(&trough(300, &(east("100") + &current(&[("angle", "180")], 0, 90))), 60);
    let at = |height| both.arena.currents.at(DVec3::new(0.0, 0.0, height)).x;
    assert_eq!((at(50.0), at(100.0)), (-100.0, 100.0));
}

/// Two currents in the same direction carry no faster than the faster one. Two that cross carry
/// diagonally, at the speed of the faster one.
#[test]
fn several_currents_carry_no_faster_than_the_fastest() {
    let north = current(&[("angle", "90"), ("speed", "100")], 0, 400);
    let slow = east("60");
    for (others, expected) in [
        (slow.clone(), DVec3::X * 100.0),
        (north.clone(), DVec3::new(1.0, 1.0, 0.0).normalize() * 100.0),
        (slow.clone() + &slow + &north, DVec3::new(220.0, 100.0, 0.0).normalize() * 100.0),
        (current(&[("angle", "180"), ("speed", "70")], 0, 400), DVec3::X * 30.0),
    ] {
        let mut world = world(&trough(300, &(east("100") + &others)), 60);
        let id = world.join_at(DVec3::new(-500.0, 0.0, 180.0));
        assert!(world.arena.currents.fastest() <= 100.0 + 1e-9);
        run(&mut world, 1.5, &[]);
        let carried = velocity(&world, id).with_z(0.0);
        assert!(carried.distance(expected) < 2.0, "{others}: {carried} for {expected}");
    }
}

/// A raft goes as fast as the stream, comes to the wall at its end, and lies there.
#[test]
fn what_floats_drifts_with_the_stream() {
    for tick_rate in [30, 60, 125] {
        let mut world = world(&trough(100, &east("80")), tick_rate);
        let raft = world.throw("crate", DVec3::new(-600.0, 0.0, 110.0), DVec3::ZERO, DVec3::ZERO);
        run(&mut world, 5.0, &[]);
        let speed = world.entities.get(raft).expect("there").velocity;
        assert!((speed.x - 80.0).abs() < 4.0 && speed.y.abs() < 4.0, "{tick_rate}: {speed}");
        let drifted = world.position(raft).x + 600.0;
        assert!((300.0..400.0).contains(&drifted), "{tick_rate}: {drifted} in five seconds");
        run(&mut world, 25.0, &[]);
        let end = world.position(raft).x;
        assert!((end - 984.0).abs() < 8.0, "{tick_rate}: it lies at {end}");
        assert!(world.is_clean());
    }
    // In still water the raft stays.
    let mut still = world(&trough(100, ""), 60);
    let raft = still.throw("crate", DVec3::new(-600.0, 0.0, 110.0), DVec3::ZERO, DVec3::ZERO);
    run(&mut still, 5.0, &[]);
    assert!((still.position(raft).x + 600.0).abs() < 0.5);
}

/// A client computes to the bit how a current carries a swimmer, whatever the swimmer does.
#[test]
fn currents_are_predicted_exactly() {
    let map = trough(120, &(east("150") + &current(&[("angle", "-1"), ("speed", "90")], 0, 60)));
    let predictor = Predictor::new(Arc::clone(&map), &shipped()).expect("a predictor");
    let mut random = Random::new(11);
    let mut carried = 0;
    for round in 0..6 {
        let mut world = world(&map, 60);
        let id = world.join_at(DVec3::new(-800.0, 0.0, 80.0));
        let mut command = Command::default();
        for tick in 0..400 {
            if tick % 20 == 0 {
                let mut number = || random.below(1 << 16) as usize;
                command = Command {
                    forward: [127, 127, 0, -127][number() % 4],
                    yaw: number() as u16,
                    pitch: (number() % 32_768) as i16 - 16_384,
                    buttons: [Buttons::default(), Buttons::JUMP, Buttons::CROUCH][number() % 3],
                    ..Command::default()
                };
            }
            let before = world.player_motion(id).expect("there");
            let by = (1.0 / 60.0, &MovementSets::default(), CollisionLayers::default());
            let predicted = predictor.step(before, command, by, &mut [], &[], &[]);
            world.step(&[(id, command)]);
            let after = world.player_motion(id).expect("there");
            assert_eq!(predicted.motion, after, "seed 11, round {round}, tick {tick}: {command:?}");
            carried += u32::from(world.submersion(id).is_some());
        }
    }
    assert!(carried > 1000, "{carried} ticks in the stream");
}

/// A client that predicts a prop in a stream comes to the server's own motion.
#[test]
fn a_prop_in_a_stream_is_predicted() {
    let map = trough(100, &east("80"));
    let predictor = Predictor::new(Arc::clone(&map), &shipped()).expect("a predictor");
    let mut world = world(&map, 60);
    let raft = world.throw("crate", DVec3::new(-600.0, 0.0, 100.0), DVec3::ZERO, DVec3::ZERO);
    run(&mut world, 3.0, &[]);
    let id = world.join_at(DVec3::new(-800.0, 0.0, 80.0));
    let raft = world.entities.get(raft).expect("there").id;
    let moving = |world: &World| {
        let state: EntityState = world.entity(raft).expect("there");
        Moving::new(state, world.spin(raft).expect("there"))
    };
    let motion = world.player_motion(id).expect("there");
    let player = (&motion, CollisionLayers::default());
    let mut predicted = predictor.predicted_bodies(&[raft], &[moving(&world)], player);
    for _ in 0..30 {
        predictor.advance(&mut predicted, &[], &motion, 1.0 / 60.0);
        world.step(&[]);
    }
    let found = predicted.bodies().find(|body| body.state.id == raft).expect("predicted");
    let off = found.state.position.distance(moving(&world).state.position);
    assert!(off < 0.1, "off by {off}");
}
