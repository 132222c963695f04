//! The stages of the cascade only save work. The match is the same whichever stages are on, timed
//! or not, and with any number of threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DQuat, DVec3};
use obsp::model::{Model, shipped};
use obsp_sim::{
    Buttons, Clock, Command, Config, Counters, EntityId, ModelId, Stage, Stages, World,
};
use tests::harness::{Random, compile, own_map};

const TICKS: u64 = 90;
const PLAYERS: u16 = 12;
const SEED: u64 = 11;

/// Nine bars beside each other, as one model. The stages query the BSP of a body only if the body
/// has many parts.
fn grating() -> Model {
    const FACES: [[u32; 4]; 6] =
        [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]];
    let mut text = String::new();
    for bar in 0..9 {
        for corner in 0..8 {
            let x = 4 * bar - 17 + 2 * (corner & 1);
            text += &format!("v {x} {} {}\n", 16 * (corner & 2) - 16, (corner >> 1 & 2) - 1);
        }
        for face in FACES {
            text += &format!("f {}\n", face.map(|at| (at + 8 * bar as u32).to_string()).join(" "));
        }
    }
    Model::from_obj("grating", &text).expect("nine bars are a model")
}

/// Digests of a short match of players who run into things.
fn play(map: &Arc<obsp::Map>, set_up: impl Fn(&mut World)) -> (Vec<u64>, Counters) {
    let config = Config { tick_rate: 60, seed: SEED, objects: 150, max_players: PLAYERS };
    let models: Vec<Model> = shipped().into_iter().chain([grating()]).collect();
    let mut world =
        World::new(Arc::clone(map), models.into(), config).expect("a match can be set up");
    let before = *world.counters();
    set_up(&mut world);
    let players: Vec<EntityId> =
        (0..PLAYERS).map(|_| world.join().expect("there is room for the player")).collect();
    let grating = world.model_names().iter().position(|name| name == "grating");
    let grating = ModelId(grating.expect("a model of the match") as u8);
    for &player in &players {
        let place = world.entity(player).expect("the player has a place").position;
        let place = place + DVec3::new(24.0, 24.0, 40.0);
        let turned = DQuat::from_rotation_x(0.3);
        world.spawn_body_near(grating, place, turned).expect("there is room near a player");
    }
    let mut random = Random::new(SEED);
    let mut digests = Vec::new();
    for tick in 0..TICKS {
        let commands: Vec<_> = players
            .iter()
            .map(|&id| {
                let yaw = (random.bits() as u16) / 8 + (tick as u16 / 30) * 9_000;
                let jump = if random.one_in(20) { Buttons::JUMP } else { Buttons::default() };
                (id, Command { forward: 127, yaw, buttons: jump, ..Command::default() })
            })
            .collect();
        world.step(&commands);
        digests.push(world.digest());
    }
    let mut counters = *world.counters();
    for (after, before) in counters.cascade.iter_mut().zip(before.cascade) {
        after.tests -= before.tests;
        after.definitive -= before.definitive;
    }
    (digests, counters)
}

#[test]
fn a_match_does_not_depend_on_the_stages_that_are_on() {
    let map = Arc::new(compile(&own_map("arena.map")));
    let (usual, counters) = play(&map, |_| {});
    // The hard case decides nothing.
    for stage in Stage::ALL.into_iter().filter(|&stage| stage != Stage::BspHard) {
        let counter = counters.cascade[stage as usize];
        assert!(counter.definitive > 0, "{} decided nothing: {counter:?}", stage.name());
        assert_eq!(counter.nanoseconds, 0, "{} was timed without a clock", stage.name());
    }
    let sets = [Stages::ALL, Stages::EXACT, Stages::EXACT.with(Stage::BspHard)];
    let sets = sets.into_iter().chain(Stage::ALL.map(|stage| Stages::ALL.without(stage)));
    for stages in sets {
        let (digests, _) = play(&map, |world| world.set_stages(stages));
        let differs = usual.iter().zip(&digests).position(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {SEED}: a tick differs with {stages:?}");
    }
}

/// `SIM_TICKS=12000` with `--release` plays the long match that is due before a release.
#[test]
fn a_match_does_not_depend_on_the_number_of_threads() {
    let ticks = std::env::var("SIM_TICKS").map_or(60, |ticks| ticks.parse().expect("a number"));
    let map = Arc::new(compile(&own_map("arena.map")));
    let config = Config { tick_rate: 60, seed: SEED, objects: 600, max_players: PLAYERS };
    // The props start in the air, because threads share the work only if hundreds are awake.
    let mut worlds = [1, 2, 3, 8].map(|threads| {
        let world = World::unsettled(Arc::clone(&map), shipped().into(), config);
        let mut world = world.expect("a match can be set up");
        world.set_threads(threads);
        world
    });
    let players: Vec<EntityId> = (0..PLAYERS)
        .map(|_| {
            worlds.each_mut().map(|world| world.join().expect("there is room for the player"))[0]
        })
        .collect();
    assert!(worlds[0].counters().awake > 400, "{:?}", worlds[0].counters());
    let mut random = Random::new(SEED);
    for tick in 1..=ticks {
        let mut command = |&id: &EntityId| {
            let (yaw, shoots) = (random.bits() as u16, random.one_in(30));
            let buttons = if shoots { Buttons::SECONDARY } else { Buttons::default() };
            (id, Command { forward: 127, yaw, buttons, ..Command::default() })
        };
        let commands: Vec<_> = players.iter().map(&mut command).collect();
        let digests = worlds.each_mut().map(|world| {
            world.step(&commands);
            world.digest()
        });
        assert_eq!(digests, [digests[0]; 4], "seed {SEED}, tick {tick}: 1, 2, 3, 8 threads");
    }
}

#[test]
fn time_is_told_and_changes_nothing() {
    /// A clock for the test, which advances by one at each reading.
    fn reading() -> u64 {
        static READINGS: AtomicU64 = AtomicU64::new(0);
        READINGS.fetch_add(1, Ordering::Relaxed)
    }
    let map = Arc::new(compile(&own_map("arena.map")));
    let (untimed, _) = play(&map, |world| world.set_stages(Stages::ALL));
    let (timed, counters) = play(&map, |world| {
        world.set_stages(Stages::ALL);
        world.set_clock(Some(Clock::new(reading)));
    });
    assert_eq!(untimed, timed);
    for stage in Stage::ALL {
        let counter = counters.cascade[stage as usize];
        assert!(counter.tests > 0, "{} tested nothing", stage.name());
        let mean = counter.mean_nanoseconds().expect("there were tests");
        assert!(mean > 0.0 && mean <= 1.0, "{}: {counter:?}", stage.name());
        assert!(counter.share().is_some_and(|share| (0.0..=1.0).contains(&share)));
    }
}
