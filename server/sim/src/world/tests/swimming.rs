//! Players in a pool: how they sink, rise, swim by their view, and hop out.

use obsp::LiquidKind;

use super::*;
use crate::arena::movement_sets::MovementSets;
use crate::command::Buttons;
use crate::players::movement::PlayerMotion;
use crate::players::prediction::Predictor;
use crate::players::submersion::{Depth, Submersion};
use crate::random::Random;
use crate::test_maps::water;
use crate::traits::CollisionLayers;

/// Speed of a swimmer: half of the running speed.
const SWIM: f64 = 160.0;

/// A room whose floor is at height 0 for x above 0, and at -200 elsewhere. `more` are further
/// brushes.
fn basin(more: &str) -> Arc<obsp::Map> {
    let blocks = [
        ([-512, -256, -216], [512, 256, -200]),
        ([0, -256, -200], [512, 256, 0]),
        ([-512, -256, 256], [512, 256, 272]),
        ([-528, -272, -200], [-512, 272, 256]),
        ([512, -272, -200], [528, 272, 256]),
        ([-528, -272, -200], [528, -256, 256]),
        ([-528, 256, -200], [528, 272, 256]),
    ];
    let walls: String = blocks.map(|(min, max)| block(min, max)).concat();
    compiled(&(walls + more), [200, 0, 25], "")
}

/// The basin with water up to the height `surface`.
fn pool(surface: i32, more: &str) -> Arc<obsp::Map> {
    basin(&(water([-512, -256, -200], [0, 256, surface]) + more))
}

fn world(map: &Arc<obsp::Map>, tick_rate: u32) -> World {
    let config = Config { tick_rate, ..CONFIG };
    World::new(Arc::clone(map), shipped().into(), config).expect("a match")
}

fn velocity(world: &World, id: EntityId) -> DVec3 {
    world.entities.get(id.slot).expect("there").velocity
}

/// Steps the world for `seconds` at its own tick rate.
fn run(world: &mut World, seconds: f64, commands: &[(EntityId, Command)]) {
    (0..(seconds / world.seconds()) as usize).for_each(|_| {
        world.step(commands);
    });
}

fn ahead(yaw: u16, pitch: i16) -> Command {
    Command { forward: 127, yaw, pitch, ..Command::default() }
}

/// Each point of the body is in the water just below the surface and out of it just above.
#[test]
fn the_depth_is_that_of_feet_waist_and_eyes() {
    let map = pool(-16, "");
    let depth = |centre: f64| {
        let at = DVec3::new(-256.0, 0.0, centre).as_vec3();
        let found = Submersion::of(&map, 28.0, at);
        assert!(found.is_none_or(|found| found.kind == LiquidKind::Water));
        found.map(|found| found.depth)
    };
    for (height, below, above) in [
        (1.0, Some(Depth::Feet), None),
        (25.0, Some(Depth::Waist), Some(Depth::Feet)),
        (50.0, Some(Depth::Eyes), Some(Depth::Waist)),
    ] {
        let centre = -16.0 - height + 28.0;
        assert_eq!((depth(centre - 0.01), depth(centre + 0.01)), (below, above), "{height}");
    }
    let mut world = world(&map, 60);
    let id = world.join_at(DVec3::new(-256.0, 0.0, -100.0));
    let submersion = world.submersion(id).expect("in the pool");
    assert!(submersion.swims() && submersion.depth == Depth::Eyes);
    let dry = world.join_at(DVec3::new(256.0, 0.0, 29.0));
    assert_eq!(world.submersion(dry), None);
}

#[test]
fn a_swimmer_sinks_without_a_key_and_rises_and_dives_by_keys() {
    let map = pool(-16, "");
    for tick_rate in [30, 60, 125] {
        let mut world = world(&map, tick_rate);
        let id = world.join_at(DVec3::new(-256.0, 0.0, -80.0));
        run(&mut world, 1.0, &[]);
        let sinks = velocity(&world, id);
        assert!(sinks.distance(DVec3::Z * -60.0) < 0.1, "{tick_rate}: {sinks}");
        run(&mut world, 2.0, &[]);
        let lies = world.position(id.slot).z;
        assert!((lies + 172.0).abs() < 0.25, "{tick_rate}: on the ground at {lies}");
        run(&mut world, 0.5, &[(id, holding(Buttons::JUMP))]);
        let rises = velocity(&world, id);
        assert!(rises.distance(DVec3::Z * SWIM) < 0.1, "{tick_rate}: {rises}");
        // At the surface a swimmer bobs, and does not fly.
        run(&mut world, 2.0, &[(id, holding(Buttons::JUMP))]);
        for _ in 0..4 * u64::from(tick_rate) {
            world.step(&[(id, holding(Buttons::JUMP))]);
            let height = world.position(id.slot).z;
            assert!((-60.0..20.0).contains(&height), "{tick_rate}: at {height}");
        }
        run(&mut world, 0.5, &[(id, holding(Buttons::CROUCH))]);
        let dives = velocity(&world, id).z;
        assert!(dives < -140.0, "{tick_rate}: {dives}");
        assert!(world.is_clean());
    }
}

#[test]
fn a_swimmer_goes_where_the_view_goes() {
    let map = pool(-16, "");
    let eighth = 8_192;
    for (command, to) in [
        (ahead(0, 0), DVec3::X),
        (ahead(16_384, 0), DVec3::Y),
        (ahead(0, -eighth), DVec3::new(1.0, 0.0, -1.0)),
        (ahead(16_384, eighth), DVec3::new(0.0, 1.0, 1.0)),
        (Command { forward: -127, ..ahead(0, eighth) }, DVec3::new(-1.0, 0.0, -1.0)),
        (Command { forward: 0, right: 127, ..ahead(0, eighth) }, DVec3::NEG_Y),
        (Command { buttons: Buttons::JUMP, ..ahead(0, 0) }, DVec3::new(1.0, 0.0, 1.0)),
    ] {
        let mut world = world(&map, 60);
        let id = world.join_at(DVec3::new(-256.0, 0.0, -120.0));
        world.run(0.6, &[(id, command)]);
        let off = velocity(&world, id) - to.normalize() * SWIM;
        assert!(off.length() < 1.0, "{to}: off by {off}");
    }
}

/// The time, in ticks, after which a swimmer who swims to the brink stands on it; `None` if the
/// swimmer does not get there in six seconds.
fn time_to_hop(map: &Arc<obsp::Map>, tick_rate: u32, brink: f64) -> Option<u64> {
    let mut world = world(map, tick_rate);
    let id = world.join_at(DVec3::new(-100.0, 0.0, -140.0));
    (0..6 * u64::from(tick_rate)).find(|_| {
        let command = Command { buttons: Buttons::JUMP, ..ahead(0, 0) };
        world.step(&[(id, command)]);
        assert!(world.is_clean());
        let DVec3 { x, z, .. } = world.position(id.slot);
        x > 16.0 && (z - brink - 28.0).abs() < 0.25
    })
}

#[test]
fn a_swimmer_hops_onto_a_brink_that_is_not_too_high() {
    for tick_rate in [30, 60, 125] {
        let time = time_to_hop(&pool(-16, ""), tick_rate, 0.0).expect("16 above the surface");
        assert!(time < 4 * u64::from(tick_rate), "{tick_rate}: {time}");
        assert!(time_to_hop(&pool(-2, ""), tick_rate, 0.0).is_some(), "{tick_rate}");
        // One step beyond: a brink above the eyes at the surface.
        assert_eq!(time_to_hop(&pool(-80, ""), tick_rate, 0.0), None, "{tick_rate}");
        // A ceiling 48 above the brink leaves no room for a player who stands.
        let low = block([-20, -256, 48], [512, 256, 64]);
        assert_eq!(time_to_hop(&pool(-16, &low), tick_rate, 0.0), None, "{tick_rate}");
    }
    // A player who only looks at the brink stays in the water.
    let mut world = world(&pool(-16, ""), 60);
    let id = world.join_at(DVec3::new(-17.0, 0.0, -40.0));
    world.run(3.0, &[]);
    assert!(world.position(id.slot).x < -16.0);
}

#[test]
fn a_swimmer_is_not_stuck_in_a_corner() {
    let map = pool(-16, "");
    for (yaw, pitch) in [(8_192, -8_192), (40_960, -8_192), (24_576, -3_000), (57_344, -12_000)] {
        let mut world = world(&map, 60);
        let id = world.join_at(DVec3::new(-256.0, 0.0, -120.0));
        world.run(8.0, &[(id, ahead(yaw, pitch))]);
        let corner = world.position(id.slot);
        world.run(1.0, &[(id, ahead(yaw, pitch))]);
        let crept = world.position(id.slot).distance(corner);
        assert!(crept < 1.0, "{yaw}: {crept} at {corner}");
        world.run(1.5, &[(id, ahead(yaw ^ 32_768, 4_096))]);
        let away = world.position(id.slot).distance(corner);
        assert!(away > 100.0, "{yaw}: only {away} away from {corner}");
        assert!(world.is_clean());
    }
}

/// Ground that is wet up to the feet slows a runner to five sixths, as in Quake III.
#[test]
fn a_player_who_wades_is_slower_and_can_jump() {
    let map = pool(-16, &water([0, -256, 0], [512, 256, 12]));
    let mut world = world(&map, 60);
    let id = world.join_at(DVec3::new(100.0, -200.0, 29.0));
    world.run(1.0, &[(id, ahead(16_384, 0))]);
    let speed = velocity(&world, id).length();
    assert!((speed - 320.0 * 5.0 / 6.0).abs() < 0.5, "{speed}");
    world.step(&[(id, holding(Buttons::JUMP))]);
    assert!(velocity(&world, id).z > 200.0);
}

/// A client computes a swimmer's motion to the bit, whatever the swimmer does.
#[test]
fn swimming_is_predicted_exactly() {
    let map = pool(-16, &block([-300, -100, -200], [-200, 0, -90]));
    let predictor = Predictor::new(Arc::clone(&map), &shipped()).expect("a predictor");
    let mut random = Random::new(7);
    let mut depths = [0_u32; 4];
    for round in 0..8 {
        let mut world = world(&map, 60);
        let id = world.join_at(DVec3::new(-100.0, 0.0, -100.0));
        let mut command = Command::default();
        for tick in 0..600 {
            if tick % 20 == 0 {
                let mut number = || random.below(1 << 16) as u32;
                command = Command {
                    forward: [127, 127, 0, -127][number() as usize % 4],
                    right: [0, 0, 127, -127][number() as usize % 4],
                    yaw: number() as u16,
                    pitch: (number() % 32_768) as i16 - 16_384,
                    buttons: [Buttons::default(), Buttons::JUMP, Buttons::JUMP, Buttons::CROUCH]
                        [number() as usize % 4],
                    view_age: 0,
                };
            }
            let before = world.player_motion(id).expect("there");
            let by = (1.0 / 60.0, &MovementSets::default(), CollisionLayers::default());
            let predicted = predictor.step(before, command, by, &mut [], &[], &[]);
            world.step(&[(id, command)]);
            let after = world.player_motion(id).expect("there");
            assert_eq!(predicted.motion, after, "round {round}, tick {tick}: {command:?}");
            assert!(!predicted.pushed);
            depths[world.submersion(id).map_or(0, |submersion| submersion.depth as usize)] += 1;
        }
    }
    assert!(depths.iter().all(|&ticks| ticks > 50), "{depths:?}");
}

/// Outside its liquids, a map behaves like one without liquids.
#[test]
fn a_liquid_elsewhere_changes_nothing() {
    let motions = |map: &Arc<obsp::Map>| -> Vec<PlayerMotion> {
        let mut world = world(map, 60);
        let id = world.join_at(DVec3::new(256.0, 0.0, 60.0));
        let mut motion = |tick: u16| {
            let buttons = if tick % 50 > 40 { Buttons::JUMP } else { Buttons::default() };
            world.step(&[(id, Command { buttons, ..ahead(tick.wrapping_mul(1_200), 2_000) })]);
            world.player_motion(id).expect("there")
        };
        // Later the player falls into the basin.
        (0..80).map(&mut motion).collect()
    };
    let (dry, wet) = (basin(""), pool(-1, ""));
    assert!(dry.liquids().is_empty() && wet.liquids().len() == 1);
    for (tick, (dry, wet)) in motions(&dry).iter().zip(motions(&wet)).enumerate() {
        assert_eq!(*dry, wet, "tick {tick}");
    }
}
