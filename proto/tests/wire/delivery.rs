//! Snapshots and commands over good and bad networks.

use std::time::Duration;

use obsp_proto::control::{ChatLine, ClientMessage, MatchEvent, encode_client_message};
use obsp_proto::schema::Schema;
use obsp_proto::server::Event;
use obsp_proto::snapshot::{AuthoritativeMotion, MIN_SNAPSHOT};
use obsp_proto::{IDLE_TIMEOUT, Tick, Time};
use obsp_sim::{EntityId, Kind};

use crate::link::Impairments;
use crate::random::Random;
use crate::scene::Scene;
use crate::staged_match::{Match, acknowledging, exchange};
use crate::values;

/// Maximum length of a header, in bytes, on a network that is not too bad.
const LONGEST_HEADER: usize = 7;

/// Maximum length of a motion, in bytes: 226 bits, and 429 for each of two bodies.
const LONGEST_MOTION: usize = 136;

/// The seeds of a test: `few` of them, or as many as the environment says, for example with
/// `PROTO_SEEDS=1000 cargo test -p obsp-proto`.
pub(crate) fn seeds(few: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("PROTO_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    0..asked.unwrap_or(few)
}

#[test]
fn arrivals_are_right_and_everything_arrives_in_the_end() {
    let (mut digests, mut stale, mut duplicates, mut motions) = (0, 0, 0, 0);
    let mut touched = [0; 3];
    for seed in seeds(150) {
        let mut random = Random::new(seed);
        let scene = Scene::new(seed, 1 + random.below(32), random.below(200));
        let impairments = Impairments::random(&mut random);
        // Every other game has values of its own.
        let schema = if seed.is_multiple_of(2) { Schema::default() } else { values::schema() };
        let mut game = Match::of_game(schema, seed, scene, impairments);
        game.limit = MIN_SNAPSHOT + random.below(1200);
        game.run(300);
        // From now on few packets are lost, so that the match converges in time. The packets that
        // were lost, delayed or duplicated before still have their effect.
        game.down.impairments = Impairments { loss: 0.1, outage: 0.0, ..impairments };
        game.up.impairments = game.down.impairments;
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
        motions += game.motions;
        touched.iter_mut().zip(game.touched).for_each(|(all, some)| *all += some);
        stale += stats.stale;
        duplicates += stats.duplicates;
    }
    // The network did lose and delay packets, and digests were checked.
    assert!(digests > 1000 && stale > 10 && duplicates > 100, "{digests} {stale} {duplicates}");
    assert!(motions > 1000, "{motions}");
    assert!(touched.iter().all(|&motions| motions > 300), "{touched:?}");
}

#[test]
fn at_rest_a_snapshot_is_only_a_header() {
    let mut game = Match::new(1, Scene::new(1, 32, 368), Impairments::GOOD);
    game.run(10);
    game.scene.come_to_rest();
    game.run(60);
    assert!(game.has_converged());
    let before = *game.server.stats();
    game.run(160);
    let after = *game.server.stats();
    assert_eq!(after.records, before.records);
    let digests = 160 / 16 * 10;
    let bytes = after.snapshot_bytes - before.snapshot_bytes;
    assert!(bytes <= 160 * LONGEST_HEADER as u64 + digests, "{bytes}");
}

/// Symptom: bots measured states that were 267 ms old, although 100 ms were promised. Cause: an
/// entity that runs against a wall has a velocity but never changes, and was not sent again.
#[test]
fn an_entity_that_moves_without_changing_is_sent_as_often() {
    let mut game = Match::new(1, Scene::new(1, 8, 20), Impairments::GOOD);
    game.run(10);
    game.scene.frozen = true;
    game.run(60);
    let latest = game.client.latest_tick().unwrap();
    for (observed, entity) in game.client.observed_entities() {
        let age = latest.distance(observed);
        assert!(entity.velocity == glam::DVec3::ZERO || age <= 6, "{entity:?}: {age} ticks");
    }
}

#[test]
fn of_two_snapshots_acknowledged_at_once_the_later_counts() {
    let mut game =
        Match::new(6, Scene::new(6, 1, 0), Impairments { loss: 1.0, ..Impairments::GOOD });
    // The client's own entity is sent in every sixth tick.
    game.run(7);
    game.scene.frozen = true;
    game.server.receive_datagram(Time::ZERO, &acknowledging(7, 1 << 5)).unwrap();
    game.run(1);
    let stats = game.server.stats();
    assert_eq!((stats.snapshots, stats.acknowledged, stats.records), (8, 2, 2));
}

#[test]
fn a_joining_client_sees_everything_within_twenty_ticks() {
    let mut scene = Scene::new(2, 32, 368);
    scene.kicks = 0.0;
    scene.turnover = 0.0;
    (0..600).for_each(|_| scene.step());
    let mut game = Match::new(2, scene, Impairments::GOOD);
    // The match has earlier ticks that the client has not seen.
    let missing = game.scene.state().tick as usize;
    game.states.splice(0..0, vec![game.states[0].clone(); missing]);
    game.run(20);
    assert_eq!(game.client.entities().count(), 400);
}

/// `PROTOCOL.md` states a bound for the time while more entities change than fit. An entity waits
/// for at most 2 (N + W / w) / M snapshots, where N entities of total weight W change, its own
/// weight is w, and at least M records fit. A weight is one over an interval of 1 to 6 ticks. The
/// player touches two bodies all the time, which makes the motion as long as possible. Each
/// snapshot for which something waits carries at least one entity, with a digest or without.
#[test]
fn nothing_starves() {
    const LONGEST_RECORD: usize = 40;
    for limit in [MIN_SNAPSHOT, 400, 1200] {
        let mut scene = Scene::new(3, 32, 368);
        scene.restless = true;
        scene.turnover = 0.0;
        let mut game = Match::new(3, scene, Impairments::GOOD);
        game.limit = limit;
        game.least_touched = AuthoritativeMotion::MAX_TOUCHED;
        let least_records =
            (limit - LONGEST_HEADER - LONGEST_MOTION - 10 - LONGEST_RECORD) / LONGEST_RECORD;
        let bound = 2 * (400 + 400 * 6) / least_records;
        let mut totals = (0, 0);
        let mut worst = [0; 2];
        for tick in 0..bound + 320 {
            game.run(1);
            let (records, postponed) = (game.server.stats().records, game.server.stats().postponed);
            let is_idle = (records, postponed) == totals;
            assert!(records > totals.0 || is_idle, "limit {limit} bytes: a snapshot has no record");
            totals = (records, postponed);
            if tick < bound + 20 {
                continue;
            }
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
        assert!(stats.postponed > 0, "no record was postponed, so nothing is tested");
        let motions = game.touched[AuthoritativeMotion::MAX_TOUCHED];
        assert!(motions > 200 && game.client.stats().digests > 20, "{motions} motions");
        assert!(worst.iter().all(|&worst| worst <= bound), "{worst:?}");
        assert!(game.client.entity(game.client.player().unwrap()).is_some());
    }
}

/// While everything fits, a moving entity is sent within the longest interval.
#[test]
fn nothing_is_stale_within_the_budget() {
    let mut scene = Scene::new(8, 8, 60);
    scene.restless = true;
    scene.turnover = 0.0;
    let mut game = Match::new(8, scene, Impairments::GOOD);
    game.run(60);
    let postponed = game.server.stats().postponed;
    for _ in 0..300 {
        game.run(1);
        let latest = game.client.latest_tick().unwrap();
        for entity in game.client.entities() {
            let (tick, _) = game.client.history(entity.id).last().unwrap();
            let age = latest.distance(tick);
            assert!(age <= 6, "{:?} is {age} ticks old, at 60 Hz more than 100 ms", entity.id);
        }
    }
    assert_eq!(game.server.stats().postponed, postponed);
}

#[test]
fn events_arrive_in_order_and_wait_for_their_tick() {
    let mut game = Match::new(9, Scene::new(9, 2, 0), Impairments::GOOD);
    let player = |slot| EntityId { slot, generation: 0 };
    for slot in 1..4_u16 {
        let left = MatchEvent::Left { player: player(slot) };
        game.server.send_event(Tick(10 * u32::from(slot)), &left);
    }
    exchange(&mut game.server, &mut game.client, Time::ZERO);
    let mut events = Vec::new();
    for _ in 0..40 {
        game.run(1);
        let Some(render_tick) = game.client.latest_tick() else { continue };
        while let Some((tick, event)) = game.client.next_event(render_tick) {
            assert_eq!(render_tick, tick);
            events.push(event);
        }
    }
    let expected = [1, 2, 3].map(|slot| MatchEvent::Left { player: player(slot) });
    assert_eq!(events, expected);
    // A late event is sent with the tick of the event before it.
    game.server.send_event(Tick(50), &expected[0]);
    game.server.send_event(Tick(49), &expected[1]);
    exchange(&mut game.server, &mut game.client, Time::ZERO);
    let late = [0, 1].map(|_| game.client.next_event(Tick(50)).unwrap());
    assert_eq!(late.map(|(tick, _)| tick), [Tick(50); 2]);
}

#[test]
fn excess_mismatch_reports_do_not_count_and_a_flood_is_an_error() {
    let mut game = Match::new(10, Scene::new(10, 2, 0), Impairments::GOOD);
    game.run(3);
    let mismatch = encode_client_message(&ClientMessage::Mismatch { tick: 3 });
    let mut report = || game.server.receive_stream(Time::ZERO, &mismatch);
    // One digest was sent with the first snapshot.
    assert_eq!(report().unwrap(), [Event::Mismatch(Tick(3))]);
    for _ in 0..100 {
        assert_eq!(report().unwrap(), []);
    }
    assert!(report().is_err());
    assert_eq!(game.server.stats().mismatches, 1);
}

#[test]
fn an_unfinished_frame_ends_the_session_whatever_else_arrives() {
    let mut game = Match::new(10, Scene::new(10, 2, 0), Impairments::GOOD);
    game.run(3);
    let heard = game.server.last_received();
    let begun = heard + Duration::from_millis(10);
    assert_eq!(game.server.receive_stream(begun, &[200]).unwrap(), []);
    assert_eq!(game.server.last_received(), heard, "one byte does not count as a message");
    // A byte now and then does not delay the end.
    assert_eq!(game.server.receive_stream(begun + Duration::from_secs(8), &[0]).unwrap(), []);
    assert_eq!(game.server.next_timeout(), Some(heard + IDLE_TIMEOUT));
    game.run(30);
    assert!(game.server.last_received() > begun, "commands count as received");
    assert_eq!(game.server.next_timeout(), Some(begun + IDLE_TIMEOUT));
    assert_eq!(game.server.advance(begun + IDLE_TIMEOUT), Some(Event::TimedOut));
}

#[test]
fn commands_arrive_in_time_on_a_bad_network() {
    for (impairments, least) in [(Impairments::GOOD, 0.999), (Impairments::BAD, 0.93)] {
        let mut game = Match::new(4, Scene::new(4, 1, 0), impairments);
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
fn silence_ends_both_sessions_and_not_earlier() {
    let mut game = Match::new(5, Scene::new(5, 2, 10), Impairments::GOOD);
    game.run(60);
    let until = Time::since_start(Duration::from_secs(1)) + obsp_proto::IDLE_TIMEOUT;
    let late = until + Duration::from_millis(100);
    let early = Time::since_start(Duration::from_secs(10));
    assert_eq!((game.server.advance(early), game.client.advance(early)), (None, None));
    assert!(game.server.next_timeout().unwrap() > early);
    assert_eq!(game.server.advance(late), Some(obsp_proto::server::Event::TimedOut));
    assert_eq!(game.client.advance(late), Some(obsp_proto::client::Event::TimedOut));
    assert_eq!((game.server.advance(late), game.client.advance(late)), (None, None));
    assert!(game.server.is_over() && game.client.is_over());
    assert!(!game.server.stream_output().is_empty(), "the client gets the reason");
}

#[test]
fn chat_lines_are_received_and_floods_are_rejected() {
    let mut game = Match::new(13, Scene::new(13, 2, 0), Impairments::GOOD);
    for number in 0..8 {
        game.client.say(ChatLine::new(&format!("line {number}")).unwrap());
    }
    let (heard, _) = exchange(&mut game.server, &mut game.client, Time::ZERO);
    let said = |number| Event::Said(ChatLine::new(&format!("line {number}")).unwrap());
    assert_eq!(heard, [0, 1, 2, 3, 4].map(said), "not exactly the first five lines were delivered");
    assert_eq!(game.server.stats().excess_lines, 3);
    let line = encode_client_message(&ClientMessage::Say(ChatLine::new("flood").unwrap()));
    let flood = line.repeat(200);
    let error = game.server.receive_stream(Time::ZERO, &flood).unwrap_err();
    assert_eq!(error.code(), 3);
    assert!(game.server.is_over());
}
