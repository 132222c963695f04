//! Lines that break for a while and paths that shrink: what arrives is right,
//! all arrives in the end, and what is shown is not older than it must be.

use std::time::Duration;

use proto::Time;
use proto::snapshot::MIN_SNAPSHOT;

use crate::delivery::seeds;
use crate::line::Habits;
use crate::random::Random;
use crate::scene::Scene;
use crate::staged_match::Match;

/// Fewest bytes that QUIC promises a datagram on any path, and most on a usual
/// one.
const PATH: (usize, usize) = (MIN_SNAPSHOT, 1400);

#[test]
fn partitions_heal_and_shrinking_paths_are_followed() {
    let (mut oversized, mut dead) = (0, 0);
    for seed in seeds(120) {
        let mut random = Random::new(seed);
        let scene = Scene::new(seed, 1 + random.below(16), random.below(150));
        let habits = Habits { outage: 0.0, ..Habits::random(&mut random) };
        let mut game = Match::new(seed, scene, habits);
        for _ in 0..4 {
            game.run(20 + random.below(60) as u32);
            // Shorter than what ends a session; sometimes one way only.
            let length = Duration::from_secs_f64(random.within(0.1, 6.0));
            let (up, down) = [(true, true), (true, false), (false, true)][random.below(3)];
            game.cut(length, up, down);
            dead += 1;
            // The path takes less from now on, and the server learns it late.
            game.down.largest = PATH.0 + random.below(PATH.1 - PATH.0);
            game.run(10 + random.below(30) as u32);
            game.limit = game.down.largest;
        }
        let calm = Habits { loss: habits.loss.min(0.1), ..habits };
        (game.up.habits, game.down.habits) = (calm, calm);
        game.scene.frozen = true;
        let mut waited = 0;
        while !game.has_converged() {
            waited += 1;
            assert!(waited < 150, "seed {seed}: not converged 50 seconds after the last change");
            game.run(20);
        }
        assert_eq!(game.client.stats().digest_mismatches, 0, "seed {seed}");
        assert!(!game.server.is_over() && !game.client.is_over(), "seed {seed}");
        oversized += game.down.oversized;
    }
    assert!(oversized > 100 && dead > 100, "{oversized} {dead}: nothing was tested");
}

/// On the bad line (50 ± 20 ms each way, 5 % lost each way, bursts), with a
/// budget that holds: 99 of 100 looks at what moves find news that were no
/// older than 200 ms when they came.
#[test]
fn losses_make_little_stale() {
    let mut ages = Vec::new();
    for seed in 0..12 {
        let mut scene = Scene::new(seed, 8, 60);
        scene.restless = true;
        scene.turnover = 0.0;
        let mut game = Match::new(seed, scene, Habits { outage: 0.0, ..Habits::BAD });
        game.run(120);
        for _ in 0..300 {
            game.run(1);
            let latest = game.client.latest_tick().unwrap();
            ages.extend(game.client.told().map(|(told, _)| latest.distance(told)));
        }
    }
    ages.sort_unstable();
    let at = |share: f64| ages[(ages.len() as f64 * share) as usize] as f64 / 60.0 * 1000.0;
    println!(
        "p50 {} ms, p99 {} ms, p99.9 {} ms, max {} ms",
        at(0.5),
        at(0.99),
        at(0.999),
        at(0.999_999)
    );
    assert!(at(0.99) <= 200.0, "p99 {} ms", at(0.99));
    assert!(at(0.999) <= 350.0 && at(0.999_999) <= 1000.0);
}

#[test]
fn a_partition_longer_than_patience_ends_both_sessions() {
    let mut game = Match::new(3, Scene::new(3, 2, 10), Habits::GOOD);
    game.run(60);
    game.cut(Duration::from_secs(60), true, true);
    game.run(60 * 9);
    let now = |seconds| Time::since_start(Duration::from_secs(seconds));
    assert_eq!((game.server.advance(now(10)), game.client.advance(now(10))), (None, None));
    assert_eq!(game.server.advance(now(12)), Some(proto::server::Event::TimedOut));
    assert_eq!(game.client.advance(now(12)), Some(proto::client::Event::TimedOut));
    assert!(game.server.is_over() && game.client.is_over());
}
