//! The behaviour of bodies and players, in maps that are built for one question each.

use std::sync::Arc;

use glam::DVec3;
use obsp::model::shipped;
use obsp_sim::{Buttons, Command, Config, EntityId, EntityState, Kind, Posture, World};
use tests::harness::MapBuilder;

const TICK_RATE: u32 = 60;

fn start(drawing: &MapBuilder) -> World {
    let config = Config { tick_rate: TICK_RATE, seed: 1, objects: 0, max_players: 4 };
    World::new(Arc::new(drawing.compile()), shipped().into(), config)
        .expect("the map can be played")
}

fn run(world: &mut World, seconds: u32, commands: &[(EntityId, Command)]) {
    for _ in 0..seconds * TICK_RATE {
        world.step(commands);
    }
}

fn props(world: &World) -> Vec<EntityState> {
    let is_prop = |entity: &EntityState| matches!(entity.kind, Kind::Prop { .. });
    world.state().entities.into_iter().filter(is_prop).collect()
}

fn find(world: &World, id: EntityId) -> EntityState {
    *world
        .state()
        .entities
        .iter()
        .find(|entity| entity.id == id)
        .expect("the entity is in the world")
}

fn forward(yaw: u16) -> Command {
    Command { forward: 127, yaw, ..Command::default() }
}

/// Headings along +X and +Y.
const EAST: u16 = 0;
const NORTH: u16 = 16384;

#[test]
fn a_dropped_crate_comes_to_rest_flat_on_the_floor_and_sleeps() {
    let mut world = start(&MapBuilder::floor().prop("crate", [0.0, 0.0, 200.0], 30.0));
    run(&mut world, 4, &[]);
    let body = props(&world)[0];
    assert!(body.asleep, "{body:?}");
    assert!((body.position.z - 16.1).abs() < 0.1, "{body:?}");
    assert!((body.orientation * DVec3::Z).z.abs() > 0.9999 || lies_on_a_side(&body), "{body:?}");
}

fn lies_on_a_side(body: &EntityState) -> bool {
    [DVec3::X, DVec3::Y, DVec3::Z].iter().any(|&axis| (body.orientation * axis).z.abs() > 0.9999)
}

#[test]
fn a_crate_stays_on_a_gentle_ramp_and_slides_down_a_steep_one() {
    let drawing = MapBuilder::floor()
        .ramp([0, -128, 0], [512, 128, 128])
        .ramp([0, 300, 0], [256, 556, 256])
        .prop("crate", [256.0, 0.0, 90.0], 0.0)
        .prop("crate", [160.0, 428.0, 190.0], 0.0);
    let mut world = start(&drawing);
    run(&mut world, 6, &[]);
    let bodies = props(&world);
    assert!(bodies[0].position.x > 150.0 && bodies[0].asleep, "gentle: {:?}", bodies[0]);
    assert!(bodies[1].position.x < 40.0, "steep: {:?}", bodies[1]);
}

#[test]
fn five_crates_stand_on_one_another_and_sleep() {
    let mut drawing = MapBuilder::floor();
    for i in 0..5 {
        let angle = f64::from(i) * 7.0;
        drawing = drawing.prop("crate", [f64::from(i % 2), 0.0, 18.0 + 33.0 * f64::from(i)], angle);
    }
    let mut world = start(&drawing);
    run(&mut world, 8, &[]);
    let bodies = props(&world);
    for (i, body) in bodies.iter().enumerate() {
        let expected = 16.0 + 32.0 * i as f64;
        assert!((body.position.z - expected).abs() < 1.0, "crate {i}: {body:?}");
        assert!(body.asleep, "crate {i}: {body:?}");
    }
}

#[test]
fn concave_bodies_interlock_without_passing_into_each_other() {
    let mut drawing = MapBuilder::floor();
    for i in 0..6 {
        let model = if i % 2 == 0 { "u_block" } else { "l_block" };
        drawing = drawing.prop(model, [f64::from(i) * 3.0, 0.0, 40.0 + 50.0 * f64::from(i)], 0.0);
    }
    let mut world = start(&drawing);
    run(&mut world, 12, &[]);
    assert!(props(&world).iter().all(|body| body.asleep), "{:?}", props(&world));
    assert_eq!(world.counters().emergency_replacements, 0);
}

#[test]
fn a_runner_reaches_full_speed_and_stops_at_a_wall() {
    let drawing = MapBuilder::floor().spawn([-500, 0, 1]).block([200, -500, 0], [216, 500, 300]);
    let mut world = start(&drawing);
    let id = world.join().expect("there is room for the player");
    run(&mut world, 1, &[(id, forward(EAST))]);
    assert!((find(&world, id).velocity.x - 320.0).abs() < 5.0, "{:?}", find(&world, id));
    run(&mut world, 3, &[(id, forward(EAST))]);
    let player = find(&world, id);
    assert!((player.position.x - 184.0).abs() < 0.1, "{player:?}");
    assert!(player.velocity.length() < 1.0, "{player:?}");
}

#[test]
fn a_runner_slides_along_a_wall_that_is_met_at_an_angle() {
    let drawing = MapBuilder::floor().spawn([0, -800, 1]).block([200, -1000, 0], [216, 1000, 300]);
    let mut world = start(&drawing);
    let id = world.join().expect("there is room for the player");
    run(&mut world, 4, &[(id, forward(NORTH - 4096))]);
    let player = find(&world, id);
    assert!((player.position.x - 184.0).abs() < 0.1, "{player:?}");
    assert!(player.position.y > 0.0, "the player is stuck at the wall: {player:?}");
}

#[test]
fn stairs_of_eighteen_units_are_walked_up_and_higher_ones_are_not() {
    let stairs = |rise: i32| {
        let mut drawing = MapBuilder::floor().spawn([-300, 0, 1]);
        for step in 1..=5 {
            drawing = drawing.block([step * 48, -200, 0], [1000, 200, step * rise]);
        }
        drawing
    };
    for (rise, climbs) in [(18, true), (20, false)] {
        let mut world = start(&stairs(rise));
        let id = world.join().expect("there is room for the player");
        run(&mut world, 4, &[(id, forward(EAST))]);
        let feet = find(&world, id).position.z - 28.0;
        assert_eq!(
            feet > f64::from(rise) * 5.0 - 1.0,
            climbs,
            "steps of {rise} units: the player's feet are at {feet}"
        );
    }
}

#[test]
fn a_jump_is_forty_five_units_high_and_needs_a_new_press() {
    let mut world = start(&MapBuilder::floor().spawn([0, 0, 1]));
    let id = world.join().expect("there is room for the player");
    run(&mut world, 1, &[]);
    let ground = find(&world, id).position.z;
    let jump = Command { buttons: Buttons::JUMP, ..Command::default() };
    let mut heights = Vec::new();
    for _ in 0..2 * TICK_RATE {
        world.step(&[(id, jump)]);
        heights.push(find(&world, id).position.z - ground);
    }
    let highest = heights.iter().copied().fold(0.0, f64::max);
    assert!((highest - 45.5).abs() < 1.5, "the player jumped {highest} units high");
    assert!(
        heights.last().is_some_and(|height| height.abs() < 0.1),
        "the player did not land: {heights:?}"
    );
}

#[test]
fn only_the_crouching_fit_a_low_tunnel_and_they_stay_low_in_it() {
    let drawing = MapBuilder::floor().spawn([-300, 0, 1]).block([0, -200, 40], [400, 200, 200]);
    let mut world = start(&drawing);
    let id = world.join().expect("there is room for the player");
    run(&mut world, 2, &[(id, forward(EAST))]);
    assert!(
        find(&world, id).position.x < -15.0,
        "the player walked in upright: {:?}",
        find(&world, id)
    );
    let crouched = Command { buttons: Buttons::CROUCH, ..forward(EAST) };
    run(&mut world, 1, &[(id, crouched)]);
    let inside = find(&world, id);
    assert!(inside.position.x > 50.0, "the player did not get in: {inside:?}");
    world.step(&[(id, Command::default())]);
    assert_eq!(find(&world, id).kind, Kind::Player { posture: Posture::Crouching });
    run(&mut world, 4, &[(id, forward(EAST))]);
    let beyond = find(&world, id);
    assert!(beyond.position.x > 416.0, "the player did not get out: {beyond:?}");
    assert_eq!(beyond.kind, Kind::Player { posture: Posture::Standing });
}

#[test]
fn a_crate_is_shoved_along_and_two_players_block_each_other() {
    let drawing = MapBuilder::floor()
        .spawn([-200, 0, 1])
        .entity(&[("classname", "info_player_start"), ("origin", "600 0 25")])
        .prop("crate", [0.0, 0.0, 17.0], 0.0);
    let mut world = start(&drawing);
    let first = world.join().expect("there is room for the player");
    let second = world.join().expect("there is room for the player");
    run(&mut world, 2, &[(first, forward(EAST))]);
    let pushed = props(&world)[0].position.x;
    assert!(pushed > 60.0, "the crate was pushed only to x = {pushed}");
    for _ in 0..8 * TICK_RATE {
        world.step(&[(first, forward(EAST)), (second, forward(32768))]);
        let (a, b) = (find(&world, first).position, find(&world, second).position);
        assert!((a - b).abs().max_element() > 32.0, "{a} and {b} are inside each other");
    }
}

#[test]
fn a_new_player_stands_at_the_free_spawn_point_farthest_from_all_others() {
    let point =
        |origin: &'static str| [("classname", "info_player_deathmatch"), ("origin", origin)];
    let drawing = MapBuilder::floor()
        .spawn([-800, 0, 1])
        .entity(&point("-700 0 25"))
        .entity(&point("700 0 25"))
        .entity(&point("800 500 25"));
    let arrivals = |drawing: &MapBuilder| {
        let mut world = start(drawing);
        [(); 3].map(|()| {
            let id = world.join().expect("there is room for the player");
            find(&world, id).position.truncate().as_ivec2().to_array()
        })
    };
    assert_eq!(arrivals(&drawing), [[-800, 0], [800, 500], [700, 0]]);
    // The stack is so high that no player is put on top of it.
    let stack = [17.0, 50.0, 83.0, 116.0].into_iter();
    let taken = stack.fold(drawing, |d, z| d.prop("crate", [700.0, 0.0, z], 0.0));
    assert_eq!(arrivals(&taken), [[-800, 0], [800, 500], [-700, 0]]);
}

#[test]
fn a_jump_pad_throws_up_to_its_target() {
    let drawing = MapBuilder::floor()
        .spawn([-300, 0, 1])
        .volume(&[("classname", "trigger_push"), ("target", "ledge")], [0, -200, 0], [64, 200, 16])
        .entity(&[("classname", "info_notnull"), ("targetname", "ledge"), ("origin", "300 0 200")])
        .block([250, -200, 0], [600, 200, 150]);
    let mut world = start(&drawing);
    let id = world.join().expect("there is room for the player");
    run(&mut world, 1, &[(id, forward(EAST))]);
    run(&mut world, 3, &[]);
    let player = find(&world, id);
    assert!((player.position.z - 178.0).abs() < 0.2, "the player is not on the ledge: {player:?}");
}

#[test]
fn a_teleporter_leads_to_its_destination_and_waits_while_that_is_taken() {
    let keys = [("classname", "trigger_teleport"), ("target", "far")];
    let free = MapBuilder::floor()
        .spawn([-300, 0, 1])
        .volume(&keys, [0, -200, 0], [32, 200, 100])
        .entity(&[
            ("classname", "info_teleport_destination"),
            ("targetname", "far"),
            ("origin", "700 700 25"),
            ("angle", "90"),
        ]);
    let taken = free.clone().prop("crate", [700.0, 700.0, 17.0], 0.0);
    let walk = |drawing: &MapBuilder| {
        let mut world = start(drawing);
        let id = world.join().expect("there is room for the player");
        run(&mut world, 1, &[(id, forward(EAST))]);
        run(&mut world, 1, &[]);
        find(&world, id)
    };
    let stays = walk(&taken);
    assert!(stays.position.y.abs() < 1.0, "the player came out inside a crate: {stays:?}");
    let goes = walk(&free);
    assert!((goes.position.x - 700.0).abs() < 1.0 && goes.position.y > 700.0, "{goes:?}");
}

#[test]
fn the_same_commands_give_the_same_digests_and_other_commands_others() {
    let digests = |yaw: u16| {
        let drawing = MapBuilder::floor()
            .spawn([-200, 0, 1])
            .prop("crate", [0.0, 0.0, 17.0], 0.0)
            .prop("u_block", [3.0, 2.0, 70.0], 20.0);
        let mut world = start(&drawing);
        let id = world.join().expect("there is room for the player");
        let step = |world: &mut World| {
            world.step(&[(id, forward(yaw))]);
            world.digest()
        };
        let mut digests: Vec<_> = (0..200).map(|_| step(&mut world)).collect();
        // The last tick has the same command in all runs, so only the history differs.
        world.step(&[(id, forward(EAST))]);
        digests.push(world.digest());
        digests
    };
    assert_eq!(digests(EAST), digests(EAST));
    assert_ne!(digests(EAST).last(), digests(1).last());
}

#[test]
fn a_full_match_lets_nobody_in_until_somebody_leaves() {
    let mut world = start(&MapBuilder::floor());
    let ids: Vec<_> = (0..4).map(|_| world.join().expect("there is room for the player")).collect();
    assert!(world.join().is_err());
    // There is one spawn point for four players. The others wait outside the world or stand beside
    // it.
    world.leave(ids[1]);
    let newcomer = world.join().expect("a place is free again");
    assert!(!ids.contains(&newcomer), "an id was used twice");
}
