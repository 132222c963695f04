//! Networks with outages and paths that shrink. All data that arrive are right, everything arrives
//! in the end, and states are as fresh as the network allows.

use std::time::Duration;

use obsp_proto::Time;
use obsp_proto::snapshot::MIN_SNAPSHOT;

use crate::delivery::seeds;
use crate::link::Impairments;
use crate::random::Random;
use crate::scene::Scene;
use crate::staged_match::Match;

/// Bytes of a datagram that the narrowest path and the widest path of this test carry.
const PATH: (usize, usize) = (MIN_SNAPSHOT, 1400);

#[test]
fn outages_heal_and_shrinking_paths_are_followed() {
    let (mut oversized, mut outages) = (0, 0);
    for seed in seeds(120) {
        let mut random = Random::new(seed);
        let scene = Scene::new(seed, 1 + random.below(16), random.below(150));
        let impairments = Impairments { outage: 0.0, ..Impairments::random(&mut random) };
        let mut game = Match::new(seed, scene, impairments);
        for _ in 0..4 {
            game.run(20 + random.below(60) as u32);
            // The outage is too short to end the session. Some outages are in one direction only.
            let length = Duration::from_secs_f64(random.within(0.1, 6.0));
            let (up, down) = [(true, true), (true, false), (false, true)][random.below(3)];
            game.cut(length, up, down);
            outages += 1;
            // From now on the path carries datagrams of another size. The server learns this only
            // later.
            game.down.largest = PATH.0 + random.below(PATH.1 - PATH.0);
            game.run(10 + random.below(30) as u32);
            game.limit = game.down.largest;
        }
        let calm = Impairments { loss: impairments.loss.min(0.1), ..impairments };
        (game.up.impairments, game.down.impairments) = (calm, calm);
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
    assert!(oversized > 100 && outages > 100, "{oversized} {outages}: nothing was tested");
}

/// On the bad network (50 ± 20 ms each way, 5 % lost each way, bursts), with a sufficient
/// budget, 99 % of all samples of moving entities were no older than 200 ms when their snapshot
/// arrived.
#[test]
fn losses_leave_little_stale() {
    let mut ages = Vec::new();
    for seed in 0..12 {
        let mut scene = Scene::new(seed, 8, 60);
        scene.restless = true;
        scene.turnover = 0.0;
        let mut game = Match::new(seed, scene, Impairments { outage: 0.0, ..Impairments::BAD });
        game.run(120);
        for _ in 0..300 {
            game.run(1);
            let latest = game.client.latest_tick().unwrap();
            let observed = game.client.observed_entities();
            ages.extend(observed.map(|(tick, _)| latest.distance(tick)));
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
fn an_outage_longer_than_the_idle_timeout_ends_both_sessions() {
    let mut game = Match::new(3, Scene::new(3, 2, 10), Impairments::GOOD);
    game.run(60);
    game.cut(Duration::from_secs(60), true, true);
    game.run(60 * 9);
    let early = Time::since_start(obsp_proto::IDLE_TIMEOUT);
    let late = early + Duration::from_secs(2);
    assert_eq!((game.server.advance(early), game.client.advance(early)), (None, None));
    assert_eq!(game.server.advance(late), Some(obsp_proto::server::Event::TimedOut));
    assert_eq!(game.client.advance(late), Some(obsp_proto::client::Event::TimedOut));
    assert!(game.server.is_over() && game.client.is_over());
}
