//! Joining, being turned away, leaving.

use std::time::Duration;

use proto::control::{
    ClosingReason, MapHash, PlayerName, RefusalReason, ServerMessage, decode_server_message, frame,
};
use proto::{HANDSHAKE_TIMEOUT, PROTOCOL_VERSION, ProtocolError, Tick, Time, client, server};
use sim::{Command, EntityId};

use crate::staged_match::{exchange, terms};

const PLAYER: EntityId = EntityId { slot: 3, generation: 9 };

fn pair(map: MapHash) -> (server::Session, client::Session) {
    let name = PlayerName::new("tester").unwrap();
    (server::Session::new(terms(), Time::ZERO), client::Session::new(&name, map, Time::ZERO))
}

/// A server session that hears a hello with these fields.
fn hear(version: u8, name: &str) -> (server::Session, Vec<server::Event>) {
    let mut server = server::Session::new(terms(), Time::ZERO);
    let mut content = vec![0, version];
    content.extend([0; 32]);
    content.push(name.len() as u8);
    content.extend(name.as_bytes());
    let events = server.receive_stream(Time::ZERO, &frame(&content).unwrap()).unwrap();
    (server, events)
}

fn answer(server: &mut server::Session) -> ServerMessage {
    decode_server_message(&server.stream_output()[2..]).unwrap()
}

#[test]
fn a_welcome_client_joins_plays_and_leaves() {
    for map in [MapHash::ANY, MapHash([7; 32])] {
        let (mut server, mut client) = pair(map);
        let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
        assert!(
            matches!(&events[..], [server::Event::Hello { name }] if name.as_str() == "tester")
        );
        assert_eq!((server.player(), client.player()), (None, None));
        assert_eq!(client.command(Time::ZERO, Command::default(), None), None);
        server.accept(PLAYER, Tick(500));
        let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
        let [client::Event::Joined(hello)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((hello.player, hello.tick, hello.map), (Some(PLAYER), Tick(500), terms().map));
        assert_eq!((hello.map_name.as_str(), hello.bounds), ("arena", terms().bounds));
        assert_eq!((server.player(), client.player()), (Some(PLAYER), Some(PLAYER)));

        client.leave();
        let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
        assert_eq!(events, [server::Event::Left]);
        assert!(server.is_over() && client.is_over());
    }
}

#[test]
fn a_spectator_is_let_in_without_a_player() {
    let (mut server, mut client) = pair(MapHash::ANY);
    exchange(&mut server, &mut client, Time::ZERO);
    server.accept_spectator(Tick(500));
    let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
    let [client::Event::Joined(hello)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((hello.player, hello.tick), (None, Tick(500)));
    assert_eq!((server.player(), client.player()), (None, None));
    let sent = client.command(Time::ZERO, Command::default(), None).expect("joined");
    assert!(server.receive_datagram(Time::ZERO, &sent.datagram).unwrap().is_some());
}

#[test]
fn a_full_or_unready_server_says_so() {
    for reason in [RefusalReason::Full { limit: 32 }, RefusalReason::NotReady] {
        let (mut server, mut client) = pair(MapHash::ANY);
        exchange(&mut server, &mut client, Time::ZERO);
        server.refuse(reason.clone());
        let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
        assert_eq!(events, [client::Event::Refused(reason)]);
        assert!(server.is_over() && client.is_over());
        server.accept(PLAYER, Tick(1));
        assert_eq!((server.player(), server.stream_output()), (None, vec![]));
    }
}

#[test]
fn a_client_with_another_map_learns_which_is_played() {
    let (mut server, mut client) = pair(MapHash([8; 32]));
    let (heard, told) = exchange(&mut server, &mut client, Time::ZERO);
    let reason = RefusalReason::WrongMap { server: terms().map, name: terms().map_name.clone() };
    assert_eq!(heard, [server::Event::Refused(reason.clone())]);
    assert_eq!(told, [client::Event::Refused(reason)]);
}

#[test]
fn a_wrong_version_is_answered_whatever_follows_it() {
    let reason = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
    let (mut server, events) = hear(200, "tester");
    assert_eq!(events, [server::Event::Refused(reason.clone())]);
    assert_eq!(answer(&mut server), ServerMessage::Refused(reason.clone()));

    let mut server = server::Session::new(terms(), Time::ZERO);
    let of_the_future = frame(&[0, 200, 0xde, 0xad]).unwrap();
    let events = server.receive_stream(Time::ZERO, &of_the_future).unwrap();
    assert_eq!(events, [server::Event::Refused(reason)]);
}

#[test]
fn a_name_not_fit_to_be_shown_is_refused() {
    for name in ["", "  ", " padded", "a\u{1b}[2Jb", &"x".repeat(25)] {
        let (mut server, events) = hear(PROTOCOL_VERSION as u8, name);
        assert_eq!(events, [server::Event::Refused(RefusalReason::BadName)], "{name:?}");
        assert_eq!(answer(&mut server), ServerMessage::Refused(RefusalReason::BadName));
    }
}

#[test]
fn a_slow_hello_is_cut_off_however_often_a_byte_comes() {
    let (mut server, mut client) = pair(MapHash::ANY);
    let hello = client.stream_output();
    for (seconds, byte) in hello.iter().enumerate().take(10) {
        let now = Time::since_start(Duration::from_secs(seconds as u64));
        let expected = (now.elapsed() >= HANDSHAKE_TIMEOUT).then_some(server::Event::TimedOut);
        assert_eq!(server.advance(now), expected, "after {seconds} s");
        if expected.is_some() {
            return;
        }
        server.receive_stream(now, &[*byte]).unwrap();
    }
    panic!("never cut off");
}

#[test]
fn a_closing_server_tells_its_clients() {
    let (mut server, mut client) = pair(MapHash::ANY);
    exchange(&mut server, &mut client, Time::ZERO);
    server.accept(PLAYER, Tick(1));
    exchange(&mut server, &mut client, Time::ZERO);
    server.close(ClosingReason::ShuttingDown);
    let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
    assert_eq!(events, [client::Event::Closed(ClosingReason::ShuttingDown)]);
    server.close(ClosingReason::ShuttingDown);
    assert_eq!(server.stream_output(), [], "goodbye is said once");
}

#[test]
fn a_second_hello_is_an_error() {
    let (mut server, mut client) = pair(MapHash::ANY);
    let hello = client.stream_output();
    server.receive_stream(Time::ZERO, &hello).unwrap();
    let error = server.receive_stream(Time::ZERO, &hello).unwrap_err();
    assert!(matches!(error, ProtocolError::Unexpected { message: "hello", .. }));
    assert_eq!(error.code(), 3);
    assert!(server.is_over());
    assert_eq!(server.receive_stream(Time::ZERO, &hello), Ok(vec![]), "the dead hear nothing");
}
