//! The emergency routine: overlaps forced into a world are gone after one tick, bodies that find no
//! place wait, and no body is lost. The audit judges this by exact triangles, and shares no code
//! with the guard.

use super::*;
use crate::audit::{Audit, Fault};
use crate::random::Random;

/// A closed room about the origin: `width` units square, `height` high, floor
/// at zero.
pub(super) fn chamber(width: i32, height: i32) -> Arc<obsp::Map> {
    let (half, out) = (width / 2, width / 2 + 16);
    let blocks = [
        ([-out, -out, -16], [out, out, 0]),
        ([-out, -out, height], [out, out, height + 16]),
        ([-out, -out, 0], [-half, out, height]),
        ([half, -out, 0], [out, out, height]),
        ([-half, -out, 0], [half, -half, height]),
        ([-half, half, 0], [half, out, height]),
    ];
    compiled(&blocks.map(|(min, max)| block(min, max)).concat(), [0, 0, 25], "")
}

/// A match in a chamber, and its audit.
struct Trial {
    world: World,
    audit: Audit,
}

impl Trial {
    fn new(map: Arc<obsp::Map>) -> Self {
        let audit = Audit::new(&map, &shipped()).expect("the map has all sizes");
        Self { world: World::new(map, shipped().into(), CONFIG).expect("a match"), audit }
    }

    /// Puts a body at a place that is free in another world. The bodies of this world may be in the
    /// way.
    fn force(&mut self, elsewhere: &World, model: &str, position: DVec3) -> EntityId {
        self.force_turned(elsewhere, model, position, DQuat::IDENTITY)
    }

    fn force_turned(
        &mut self,
        elsewhere: &World,
        model: &str,
        position: DVec3,
        orientation: DQuat,
    ) -> EntityId {
        let model = self.world.shipped_model(model);
        let shape = self.world.arena.shapes.of_model(model).expect("a shipped model");
        let placement = elsewhere.free(shape, position, orientation);
        let id = self.world.entities.insert(Role::Prop(model), shape).expect("a free slot");
        self.world.entities.commit(id.slot, placement);
        id
    }

    fn overlaps(&mut self) -> Vec<Fault> {
        self.audit.check(&self.world.state())
    }

    /// Simulates one tick. After it nothing may overlap, and no body may be missing.
    fn step_clean(&mut self, everybody: usize) {
        self.world.step(&[]);
        let overlaps = self.overlaps();
        assert_eq!(overlaps, [], "tick {}", self.world.tick);
        let context = self.world.context.clone();
        assert_eq!(
            context.counters.entities + context.counters.limbo,
            everybody as u64,
            "{context:?}"
        );
    }
}

/// A world with nothing but a floor far below, where every pose is free.
fn nowhere() -> World {
    let map = compiled(&block([-64, -64, -2_000], [64, 64, -1_990]), [0, 0, -1_900], "");
    World::new(map, shipped().into(), CONFIG).expect("a match")
}

#[test]
fn two_hundred_bodies_in_a_room_for_a_hundred_are_clean_after_one_tick_and_wait_for_room() {
    let models = ["crate", "barrel", "u_block", "plank"];
    let (elsewhere, mut trial) = (nowhere(), Trial::new(chamber(256, 112)));
    let ids: Vec<EntityId> = (0..200)
        .map(|i| trial.force(&elsewhere, models[i % models.len()], DVec3::new(3.0, 4.0, 50.0)))
        .collect();
    assert!(trial.overlaps().len() > 10_000);
    trial.step_clean(200);
    let waiting = trial.world.context.counters.limbo;
    assert!((20..180).contains(&waiting), "{waiting} of 200 wait");
    for _ in 0..30 {
        trial.step_clean(200);
    }
    // Half of the bodies that found room leave, and waiting bodies take their places.
    let placed = |world: &World, id: &EntityId| {
        world.entities.find(*id).is_some_and(|entity| entity.placement().is_some())
    };
    let lucky: Vec<EntityId> =
        ids.iter().filter(|id| placed(&trial.world, id)).copied().step_by(2).collect();
    let waiting = trial.world.context.counters.limbo;
    for id in &lucky {
        trial.world.entities.remove(*id);
    }
    for _ in 0..30 {
        trial.step_clean(200 - lucky.len());
    }
    assert!(trial.world.context.counters.limbo < waiting, "none of {waiting} bodies came back");
}

#[test]
fn a_crowd_of_players_at_one_point_is_clean_after_one_tick() {
    let mut trial = Trial::new(chamber(512, 128));
    let spot = DVec3::new(100.0, 100.0, 29.0);
    let standing = trial.world.arena.shapes.of_posture(Posture::Standing);
    let placement = trial.world.free(standing, spot, DQuat::IDENTITY);
    for _ in 0..100 {
        let id = trial.world.join().expect("there is a place");
        trial.world.entities.commit(id.slot, placement);
    }
    assert!(trial.overlaps().len() > 4_000);
    trial.step_clean(100);
    assert!(trial.world.context.counters.emergency_replacements >= 99);
    for _ in 0..60 {
        trial.step_clean(100);
    }
}

/// Symptom: a body whose centre was slightly inside a wall came back at a spawn point,
/// far away. Cause: every line of sight began in the wall. Cure: search from the nearest
/// point outside, and take the nearest place in sight.
#[test]
fn a_centre_just_inside_a_wall_comes_back_beside_the_wall() {
    for (model, half) in [("crate", 16.0), ("small_crate", 12.0)] {
        let (elsewhere, mut trial) = (nowhere(), Trial::new(chamber(512, 256)));
        let place = DVec3::new(256.01, 40.0, 100.0);
        let id = trial.force(&elsewhere, model, place);
        trial.step_clean(1);
        let back = trial.world.position(id.slot);
        // The nearest place of all is flush with the wall.
        let nearest = DVec3::new(256.0 - half, 40.0, 100.0);
        assert!(back.distance(nearest) < 2.0, "the {model} is at {back}");
        assert_eq!(trial.world.context.counters.emergency_replacements, 1);
    }
}

#[test]
fn bodies_spawned_inside_walls_and_sleepers_are_out_after_one_tick() {
    let (elsewhere, mut trial) = (nowhere(), Trial::new(chamber(512, 256)));
    let sleeper = trial.force(&elsewhere, "cargo_box", DVec3::new(-100.0, -100.0, 40.0));
    for _ in 0..180 {
        trial.step_clean(1);
    }
    let asleep = |world: &World, id| world.entities.find(id).is_some_and(|e| e.sleep.asleep);
    assert!(asleep(&trial.world, sleeper));
    let before = trial.world.position(sleeper.slot);
    // The bodies are in the wall, through the wall, in the floor, in the sleeper
    // and in one another. One is hidden inside the sleeper as a whole.
    for (model, position) in [
        ("crate", DVec3::new(262.0, 0.0, 100.0)),
        ("plank", DVec3::new(250.0, 50.0, 100.0)),
        ("star", DVec3::new(-50.0, 100.0, -4.0)),
        ("small_crate", before),
        ("u_block", before + DVec3::new(10.0, 10.0, 10.0)),
        ("l_block", DVec3::new(100.0, 100.0, 40.0)),
        ("l_block", DVec3::new(101.0, 100.0, 40.0)),
    ] {
        trial.force(&elsewhere, model, position);
    }
    assert!(trial.overlaps().len() >= 6);
    for _ in 0..120 {
        trial.step_clean(8);
    }
    assert_eq!(trial.world.context.counters.limbo, 0);
    let within =
        |slot| trial.world.position(slot).abs().cmplt(DVec3::new(256.0, 256.0, 256.0)).all();
    assert!((0..8).all(within), "a body was put back beyond a wall");
}

/// Bodies of all models and players, in any orientation, at a few points of a room and
/// of its walls: all overlaps are gone within a tick, and no body is lost.
#[test]
fn bodies_forced_into_the_world_are_clean_after_one_tick() {
    let elsewhere = nowhere();
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let mut trial = Trial::new(chamber(400, 200));
        let mut point = |reach: f64| {
            let mut across = || random.between(-reach, reach);
            DVec3::new(across(), across(), 100.0 + across() * 0.5)
        };
        // Two points in the room, and two that may be in its walls.
        let points = [point(180.0), point(180.0), point(204.0), point(204.0)];
        let (bodies, players) = (20 + random.below(80) as usize, 1 + random.below(20) as usize);
        for _ in 0..bodies {
            let models = shipped();
            let name = models[random.below(models.len() as u64) as usize].name();
            let mut part = || random.between(-1.0, 1.0);
            let turn = DQuat::from_xyzw(part(), part(), part(), part()).normalize();
            let aside = DVec3::new(part(), part(), part()) * 8.0;
            let at = points[random.below(4) as usize] + aside;
            trial.force_turned(&elsewhere, name, at, turn);
        }
        let standing = trial.world.arena.shapes.of_posture(Posture::Standing);
        for _ in 0..players {
            let id = trial.world.join().expect("there is a place");
            let at = points[random.below(2) as usize].as_vec3().as_dvec3();
            let placement = elsewhere.free(standing, at, DQuat::IDENTITY);
            trial.world.entities.commit(id.slot, placement);
        }
        assert!(trial.overlaps().len() > bodies, "seed {seed}: no overlap was forced");
        for tick in 0..8 {
            trial.step_clean(bodies + players);
            let state = trial.world.state();
            let outside = |entity: &&EntityState| entity.position.abs().max_element() > 201.0;
            let lost = state.entities.iter().find(outside);
            assert!(lost.is_none(), "seed {seed}, tick {tick}: out of the room: {lost:?}");
        }
    }
}

/// Without a game a player comes back at a spawn point within the tick of the fall.
#[test]
fn a_player_who_falls_out_of_the_map_is_back_at_the_end_of_the_tick() {
    let mut world = nowhere();
    let player = world.join().expect("the match has a place for a player");
    let spawned = world.entity(player).expect("there is room").position;
    let aside = DVec3::new(300.0, 0.0, -2_900.0);
    world.teleport(player, aside, DQuat::IDENTITY).expect("the place is free");
    for _ in 0..120 {
        world.step(&[]);
        let position = world.entity(player).expect("the player is never out of the world").position;
        if world.counters().fallen > 0 {
            assert!(position.distance(spawned) < 1.0, "{position}");
            assert!(world.events().contains(&WorldEvent::Spawned { player }));
            return;
        }
    }
    panic!("the player does not fall");
}

#[test]
fn players_who_find_no_place_wait_in_limbo_and_return() {
    let mut trial = Trial::new(chamber(128, 80));
    let ids: Vec<_> =
        (0..20).map(|_| trial.world.join().expect("the match has a place for a player")).collect();
    let waiting = trial.world.context.counters.limbo;
    assert!((8..18).contains(&waiting), "{waiting} of 20 wait in a room for nine");
    trial.step_clean(20);
    for id in &ids[..12] {
        trial.world.leave(*id);
    }
    for _ in 0..3 {
        trial.step_clean(8);
    }
    assert!(trial.world.context.counters.limbo < waiting, "none of {waiting} bodies came back");
}

#[test]
fn a_player_comes_in_with_the_heading_of_the_spawn_point() {
    let spawn = "{ \"classname\" \"info_player_start\" \"origin\" \"-300 0 25\" \"angle\" \"90\" }";
    let mut world = World::new(room_with(spawn), shipped().into(), CONFIG).expect("a match");
    for _ in 0..2 {
        world.join().expect("the match has a place for a player");
    }
    let facing: Vec<u16> =
        world.entities.iter().filter_map(Entity::walker).map(|w| w.yaw).collect();
    assert_eq!(facing, [0, 16_384]);
}

#[test]
fn mistakes_in_a_map_are_reported_with_their_place() {
    let text = "{ \"classname\" \"prop\" \"model\" \"crat\" \"origin\" \"-200 0 100\" }\n\
                { \"classname\" \"prop\" \"origin\" \"-200 0 90\" }\n\
                { \"classname\" \"prop\" \"model\" \"crate\" }\n\
                { \"classname\" \"prop\" \"model\" \"crate\" \"origin\" \"0 0 -3000\" }\n\
                { \"classname\" \"info_player_start\" \"origin\" \"-300 0 20\" }\n\
                { \"classname\" \"info_player_start\" \"origin\" \"-520 0 -100\" }\n\
                { \"classname\" \"info_player_deathmatch\" \"origin\" \"900 0 25\" }";
    let world = World::new(room_with(text), shipped().into(), CONFIG).expect("a match");
    let told: Vec<String> = world.warnings().iter().map(ToString::to_string).collect();
    let has = |parts: &[&str]| told.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(has(&["prop at [-200, 0, 100]", "'crat'", "barrel, ", "u_block"]));
    assert!(has(&["prop at [-200, 0, 90]", "''"]));
    assert!(has(&["class prop has no origin"]));
    assert!(has(&["info_player_deathmatch at [900, 0, 25]", "no floor"]));
    assert!(has(&["1 props fell out"]));
    assert!(!has(&["[-300, 0, 20]"]), "a point that is a few units too low is lifted");
}
