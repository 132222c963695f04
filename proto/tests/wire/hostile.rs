//! Peers that send anything: nothing panics, and a peer that breaks the protocol is distinguished
//! from one on a bad network.

use std::sync::Arc;

use obsp_proto::control::{
    ClosingReason, FrameError, MAX_CLIENT_FRAME, MapHash, PlayerName, RefusalReason,
};
use obsp_proto::quantise::Quantiser;
use obsp_proto::server::OwnPlayer;
use obsp_proto::{DatagramError, ProtocolError, Tick, Time, client, server};
use obsp_sim::EntityId;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::link::Impairments;
use crate::scene::Scene;
use crate::staged_match::{Match, acknowledging, match_info};

/// A match in which each end has received much from the other.
fn played() -> Match {
    let mut game = Match::new(11, Scene::new(11, 4, 40), Impairments::GOOD);
    game.run(40);
    game
}

/// The next snapshot of a match, with its digest if it is due.
fn next_snapshot(game: &mut Match) -> Vec<u8> {
    game.scene.step();
    let mut quantiser = Quantiser::new(Scene::bounds());
    // The revision has to be later than all revisions before.
    let mut state = quantiser.quantise(game.scene.state()).unwrap();
    for _ in 0..100 {
        state = quantiser.quantise(game.scene.state()).unwrap();
    }
    game.server.encode_snapshot(&Arc::new(state), &OwnPlayer::default(), 1200).unwrap()
}

#[test]
fn acknowledging_a_snapshot_that_was_not_sent_is_an_error() {
    let mut game = played();
    assert!(game.server.receive_datagram(Time::ZERO, &acknowledging(40, 0xff)).is_ok());
    let error = game.server.receive_datagram(Time::ZERO, &acknowledging(41, 0)).unwrap_err();
    let expected = DatagramError::UnsentAcknowledged { tick: 41 };
    assert_eq!(error, ProtocolError::Datagram(expected));
    assert_eq!(error.code(), 4);
    assert!(game.server.is_over());
    // A session that is over receives nothing and sends nothing.
    assert_eq!(game.server.receive_datagram(Time::ZERO, &[0xff; 9]), Ok(None));
    assert_eq!(game.server.encode_snapshot(&game.states[40], &OwnPlayer::default(), 1200), None);
}

#[test]
fn a_client_that_never_acknowledges_holds_a_bounded_history() {
    let mut game =
        Match::new(12, Scene::new(12, 4, 100), Impairments { loss: 1.0, ..Impairments::GOOD });
    game.run(1000);
    let held = |game: &Match| game.states.iter().filter(|s| Arc::strong_count(s) > 1).count();
    assert_eq!(held(&game), 128);
    assert_eq!(game.server.stats().acknowledged, 0);
}

#[test]
fn an_oversized_frame_ends_the_session_at_once() {
    let mut server = server::Session::new(match_info(), Time::ZERO);
    let error = server.receive_stream(Time::ZERO, &[0xff, 0xff]).unwrap_err();
    assert_eq!(
        error,
        ProtocolError::Frame(FrameError::TooLong { length: 65_535, limit: MAX_CLIENT_FRAME })
    );
    assert_eq!(error.code(), 2);
}

/// One event that may happen to a server session.
#[derive(Clone, Debug)]
enum Step {
    Stream(Vec<u8>),
    Hello,
    Datagram(Vec<u8>),
    Acknowledge(u32, u32),
    Accept,
    Refuse,
    Close,
    Encode(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => vec(any::<u8>(), 0..40).prop_map(Step::Stream),
        3 => Just(Step::Hello),
        2 => vec(any::<u8>(), 0..90).prop_map(Step::Datagram),
        8 => (0_u32..40, any::<u32>()).prop_map(|(tick, before)| Step::Acknowledge(tick, before)),
        4 => Just(Step::Accept),
        1 => Just(Step::Refuse),
        1 => Just(Step::Close),
        16 => (0_usize..1500).prop_map(Step::Encode),
        2 => (0_u64..3000).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic_a_joined_pair(
        datagrams in vec(vec(any::<u8>(), 0..200), 1..20),
        stream in vec(any::<u8>(), 0..200),
    ) {
        let mut game = played();
        for datagram in &datagrams {
            let _ = game.server.receive_datagram(Time::ZERO, datagram);
            let _ = game.client.receive_datagram(Time::ZERO, datagram);
        }
        let mut game = played();
        let _ = game.server.receive_stream(Time::ZERO, &stream);
        let _ = game.client.receive_stream(Time::ZERO, &stream);
        let _ = game.client.entities().count();
    }

    #[test]
    fn no_change_to_a_real_datagram_panics(
        flips in vec((0_usize..1200 * 8, any::<bool>()), 1..6),
        keep in 0_usize..1300,
    ) {
        let mut game = played();
        let mut snapshot = next_snapshot(&mut game);
        let mut commands = acknowledging(40, 0);
        for datagram in [&mut snapshot, &mut commands] {
            for &(bit, _) in flips.iter().filter(|(_, applies)| *applies) {
                let bit = bit % (datagram.len() * 8);
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
            datagram.truncate(keep.max(1));
        }
        let _ = game.server.receive_datagram(Time::ZERO, &commands);
        let received = game.client.receive_datagram(Time::ZERO, &snapshot);
        prop_assert_eq!(received.is_err(), game.client.is_over());
        // An accepted state can be rendered.
        for entity in game.client.entities() {
            prop_assert!(entity.position.is_finite() && entity.orientation.is_normalized());
        }
    }

    #[test]
    fn no_order_of_events_panics_a_server_session(steps in vec(step(), 1..80)) {
        let mut session = server::Session::new(match_info(), Time::ZERO);
        let name = PlayerName::new("tester").unwrap();
        let hello = client::Session::new(&name, MapHash::ANY, Time::ZERO).stream_output();
        let mut scene = Scene::new(1, 2, 20);
        let mut quantiser = Quantiser::new(Scene::bounds());
        let mut now = Time::ZERO;
        for step in steps {
            let was_over = session.is_over();
            match step {
                Step::Stream(bytes) => drop(session.receive_stream(now, &bytes)),
                Step::Hello => drop(session.receive_stream(now, &hello)),
                Step::Datagram(bytes) => drop(session.receive_datagram(now, &bytes)),
                Step::Acknowledge(tick, before) => {
                    drop(session.receive_datagram(now, &acknowledging(tick, before)));
                }
                Step::Accept => session.accept(EntityId { slot: 1, generation: 1 }, Tick(0)),
                Step::Refuse => session.refuse(RefusalReason::NotReady),
                Step::Close => session.close(ClosingReason::Replaced),
                Step::Encode(limit) => {
                    scene.step();
                    let state = Arc::new(quantiser.quantise(scene.state()).unwrap());
                    if let Some(snapshot) = session.encode_snapshot(&state, &OwnPlayer::default(), limit) {
                        prop_assert!(snapshot.len() <= limit);
                    }
                }
                Step::Wait(milliseconds) => {
                    now = now + std::time::Duration::from_millis(milliseconds);
                    session.advance(now);
                }
            }
            prop_assert!(session.stream_output().len() < 300);
            prop_assert!(!was_over || session.is_over(), "no session resumes after its end");
        }
    }
}
