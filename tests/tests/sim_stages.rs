//! The stages of the cascade cost and save work; they decide nothing: the
//! same match comes out whichever are on, timed or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use obsp::model::shipped;
use obsp_sim::{Buttons, Clock, Command, Config, Counters, EntityId, Stage, Stages, World};
use tests::harness::{Random, compile, own_map};

const TICKS: u64 = 90;
const PLAYERS: u16 = 12;
const SEED: u64 = 11;

/// Digests of a short match of players who run into things.
fn play(map: &Arc<obsp::World>, set_up: impl Fn(&mut World)) -> (Vec<u64>, Counters) {
    let config = Config { tick_rate: 60, seed: SEED, objects: 150, max_players: PLAYERS };
    let mut world = World::new(Arc::clone(map), shipped().into(), config).expect("a match");
    let before = *world.counters();
    set_up(&mut world);
    let players: Vec<EntityId> =
        (0..PLAYERS).map(|_| world.join().expect("there is a place")).collect();
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
    for stage in Stage::ALL.into_iter().filter(|&stage| stage != Stage::BspHard) {
        let counter = counters.cascade[stage as usize];
        assert!(counter.definitive > 0, "{} had no part in it: {counter:?}", stage.name());
        assert_eq!(counter.nanoseconds, 0, "{} was timed by nothing", stage.name());
    }
    let sets = [Stages::ALL, Stages::EXACT, Stages::EXACT.with(Stage::BspHard)];
    let sets = sets.into_iter().chain(Stage::ALL.map(|stage| Stages::ALL.without(stage)));
    for stages in sets {
        let (digests, _) = play(&map, |world| world.set_stages(stages));
        let differs = usual.iter().zip(&digests).position(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {SEED}: the tick that differs, with {stages:?}");
    }
}

#[test]
fn time_is_told_and_changes_nothing() {
    /// A clock without time: every reading is one later.
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
        assert!(counter.tests > 0, "{} was not asked", stage.name());
        let mean = counter.mean_nanoseconds().expect("there were tests");
        assert!(mean > 0.0 && mean <= 1.0, "{}: {counter:?}", stage.name());
        assert!(counter.share().is_some_and(|share| (0.0..=1.0).contains(&share)));
    }
}
