//! Snapshots and commands over lines good and bad.

use std::time::Duration;

use proto::snapshot::{HEADER_BYTES, MIN_SNAPSHOT};
use sim::Kind;

use crate::line::Habits;
use crate::random::Random;
use crate::scene::Scene;
use crate::staged_match::{Match, acknowledging};

/// Seeds beside those of a normal run: `PROTO_SEEDS=1000 cargo test -p proto`.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("PROTO_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    0..asked.unwrap_or(few)
}

#[test]
fn what_arrives_is_right_and_all_arrives_in_the_end() {
    let (mut digests, mut stale, mut duplicates) = (0, 0, 0);
    for seed in seeds(150) {
        let mut random = Random::new(seed);
        let scene = Scene::new(seed, 1 + random.below(32), random.below(200));
        let habits = Habits::random(&mut random);
        let mut game = Match::new(seed, scene, habits);
        game.limit = MIN_SNAPSHOT + random.below(1200);
        game.run(300);
        // With less loss, so that the end can be awaited, but with what was
        // lost, delayed and doubled so far.
        game.down.habits = Habits { loss: 0.1, outage: 0.0, ..habits };
        game.up.habits = game.down.habits;
        game.scene.frozen = true;
        let mut waited = 0;
        while !game.has_converged() {
            waited += 1;
            assert!(waited < 100, "seed {seed}: not converged 33 seconds after the last change");
            game.run(20);
        }
        let stats = game.client.stats();
        assert_eq!(stats.digest_mismatches, 0, "seed {seed}");
        digests += stats.digests;
        stale += stats.stale;
        duplicates += stats.duplicates;
    }
    // The lines did misbehave and the digests were checked.
    assert!(digests > 1000 && stale > 100 && duplicates > 100, "{digests} {stale} {duplicates}");
}

#[test]
fn at_rest_a_snapshot_is_a_header() {
    let mut game = Match::new(1, Scene::new(1, 32, 368), Habits::GOOD);
    game.run(10);
    game.scene.frozen = true;
    game.run(60);
    assert!(game.has_converged());
    let before = *game.server.stats();
    game.run(160);
    let after = *game.server.stats();
    assert_eq!(after.records, before.records);
    let digests = 160 / 16 * 10;
    let bytes = after.snapshot_bytes - before.snapshot_bytes;
    assert!(bytes <= 160 * HEADER_BYTES as u64 + digests, "{bytes}");
}

#[test]
fn the_later_of_two_snapshots_acknowledged_at_once_counts() {
    let mut game = Match::new(6, Scene::new(6, 1, 0), Habits { loss: 1.0, ..Habits::GOOD });
    game.run(2);
    game.scene.frozen = true;
    game.server.receive_datagram(proto::Time::ZERO, &acknowledging(2, 1)).unwrap();
    game.run(1);
    let stats = game.server.stats();
    assert_eq!((stats.snapshots, stats.acknowledged, stats.records), (3, 2, 2));
}

#[test]
fn a_joining_client_sees_everything_within_twenty_ticks() {
    let mut scene = Scene::new(2, 32, 368);
    scene.kicks = 0.0;
    scene.turnover = 0.0;
    (0..600).for_each(|_| scene.step());
    let mut game = Match::new(2, scene, Habits::GOOD);
    // The match has ticks from its beginning, which the client has not seen.
    let missing = game.scene.state().tick as usize;
    game.states.splice(0..0, vec![game.states[0].clone(); missing]);
    game.run(20);
    assert_eq!(game.client.entities().count(), 400);
}

/// The bound that `PROTOCOL.md` states: while more changes than fits, an
/// entity waits for at most 2 (N + W / w) / M snapshots, where N entities of
/// total weight W change, its own weight is w, and at least M records fit.
#[test]
fn nothing_starves() {
    const LONGEST_RECORD: usize = 40;
    for limit in [200, 400, 1200] {
        let mut scene = Scene::new(3, 32, 368);
        scene.restless = true;
        scene.turnover = 0.0;
        let mut game = Match::new(3, scene, Habits::GOOD);
        game.limit = limit;
        let least_records = (limit - HEADER_BYTES - 10 - LONGEST_RECORD) / LONGEST_RECORD;
        let bound = |weight: usize| 2 * (400 + (32 * 4 + 368) / weight) / least_records;
        game.run(bound(1) as u32 + 20);
        let mut worst = [0; 2];
        for _ in 0..300 {
            game.run(1);
            let latest = game.client.latest_tick().unwrap();
            for entity in game.client.entities() {
                let (tick, _) = game.client.history(entity.id).last().unwrap();
                let is_prop = matches!(entity.kind, Kind::Prop { .. });
                let worst = &mut worst[usize::from(is_prop)];
                *worst = (*worst).max(latest.distance(tick) as usize);
            }
        }
        assert_eq!(game.client.entities().count(), 400);
        let stats = game.server.stats();
        let records = stats.records as f64 / stats.snapshots as f64;
        println!(
            "{limit} bytes: {records:.1} records, players wait {} snapshots, props {}",
            worst[0], worst[1]
        );
        assert!(stats.postponed > 0, "all fits: nothing is tested");
        assert!(worst[0] <= bound(4) && worst[1] <= bound(1), "{worst:?}");
        assert!(game.client.entity(game.client.player().unwrap()).is_some());
    }
}

#[test]
fn commands_arrive_in_time_on_a_bad_line() {
    for (habits, least) in [(Habits::GOOD, 0.999), (Habits::BAD, 0.93)] {
        let mut game = Match::new(4, Scene::new(4, 1, 0), habits);
        game.run(600);
        game.in_time = (0, 0);
        game.run(6000);
        let share = f64::from(game.in_time.0) / f64::from(game.in_time.1);
        let stats = game.jitter_buffer.stats();
        println!("{share:.4} in time; {stats:?}");
        assert!(share >= least, "{share}: {stats:?}");
        assert_eq!((stats.conflicting, stats.early), (0, 0));
    }
}

#[test]
fn a_silent_line_ends_both_sessions_and_not_sooner() {
    let mut game = Match::new(5, Scene::new(5, 2, 10), Habits::GOOD);
    game.run(60);
    let until = proto::Time::since_start(Duration::from_secs(1)) + proto::IDLE_TIMEOUT;
    let late = until + Duration::from_millis(100);
    let early = proto::Time::since_start(Duration::from_secs(10));
    assert_eq!((game.server.advance(early), game.client.advance(early)), (None, None));
    assert!(game.server.next_timeout().unwrap() > early);
    assert_eq!(game.server.advance(late), Some(proto::server::Event::TimedOut));
    assert_eq!(game.client.advance(late), Some(proto::client::Event::TimedOut));
    assert_eq!((game.server.advance(late), game.client.advance(late)), (None, None));
    assert!(game.server.is_over() && game.client.is_over());
    assert!(!game.server.stream_output().is_empty(), "the client is told");
}
