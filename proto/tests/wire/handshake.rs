//! Joining, refusals, leaving, and following into another world.

use std::sync::Arc;
use std::time::Duration;

use obsp_proto::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, MAX_CLIENT_FRAME, MapHash, MapName,
    MatchEvent, MatchName, MatchNames, PlayerName, RefusalReason, ServerMessage, Ticket,
    decode_server_message, encode_client_message, frame,
};
use obsp_proto::quantise::Quantiser;
use obsp_proto::server::{MatchInfo, OwnPlayer};
use obsp_proto::{
    HANDSHAKE_TIMEOUT, IDLE_TIMEOUT, PROTOCOL_VERSION, ProtocolError, Tick, Time, client, server,
};
use obsp_sim::{Command, EntityId, State};

use crate::staged_match::{exchange, match_info};

const PLAYER: EntityId = EntityId { slot: 3, generation: 9 };

fn pair(map: MapHash) -> (server::Session, client::Session) {
    let name = PlayerName::new("tester").unwrap();
    (server::Session::new(match_info(), Time::ZERO), client::Session::new(&name, map, Time::ZERO))
}

/// A server session that has received a hello with these fields.
fn receive_hello(version: u8, name: &str) -> (server::Session, Vec<server::Event>) {
    let mut server = server::Session::new(match_info(), Time::ZERO);
    let mut content = vec![0, version];
    content.extend([0; 32]);
    content.push(name.len() as u8);
    content.extend(name.as_bytes());
    // No token, no ticket, no match, no effects.
    content.extend([0; 1 + 16 + 1 + 1]);
    let events =
        server.receive_stream(Time::ZERO, &frame(&content, MAX_CLIENT_FRAME).unwrap()).unwrap();
    (server, events)
}

fn answer(server: &mut server::Session) -> ServerMessage {
    decode_server_message(&server.stream_output()[2..]).unwrap()
}

#[test]
fn an_accepted_client_joins_plays_and_leaves() {
    for map in [MapHash::ANY, MapHash([7; 32])] {
        let (mut server, mut client) = pair(map);
        let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
        assert!(
            matches!(&events[..], [server::Event::Hello { name, .. }] if name.as_str() == "tester")
        );
        assert_eq!((server.player(), client.player()), (None, None));
        assert_eq!(client.command(Time::ZERO, Command::default(), None), None);
        server.accept(PLAYER, Tick(500));
        let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
        let [client::Event::Joined(hello)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(
            (hello.player, hello.tick, hello.map),
            (Some(PLAYER), Tick(500), match_info().map)
        );
        assert_eq!((hello.map_name.as_str(), hello.bounds), ("arena", match_info().bounds));
        assert_eq!((server.player(), client.player()), (Some(PLAYER), Some(PLAYER)));

        client.leave();
        let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
        assert_eq!(events, [server::Event::Left]);
        assert!(server.is_over() && client.is_over());
    }
}

#[test]
fn a_spectator_is_accepted_without_a_player() {
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
    let (up, down) = exchange(&mut server, &mut client, Time::ZERO);
    let reason =
        RefusalReason::WrongMap { server: match_info().map, name: match_info().map_name.clone() };
    assert_eq!(up, [server::Event::Refused(reason.clone())]);
    assert_eq!(down, [client::Event::Refused(reason)]);
}

#[test]
fn a_wrong_version_is_answered_whatever_follows_it() {
    let reason = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
    let (mut server, events) = receive_hello(200, "tester");
    assert_eq!(events, [server::Event::Refused(reason.clone())]);
    assert_eq!(answer(&mut server), ServerMessage::Refused(reason.clone()));

    let mut server = server::Session::new(match_info(), Time::ZERO);
    let of_the_future = frame(&[0, 200, 0xde, 0xad], MAX_CLIENT_FRAME).unwrap();
    let events = server.receive_stream(Time::ZERO, &of_the_future).unwrap();
    assert_eq!(events, [server::Event::Refused(reason)]);
}

#[test]
fn an_unprintable_name_is_refused() {
    for name in ["", "  ", " padded", "a\u{1b}[2Jb", &"x".repeat(25)] {
        let (mut server, events) = receive_hello(PROTOCOL_VERSION as u8, name);
        assert_eq!(events, [server::Event::Refused(RefusalReason::BadName)], "{name:?}");
        assert_eq!(answer(&mut server), ServerMessage::Refused(RefusalReason::BadName));
    }
}

#[test]
fn a_slow_hello_times_out_however_often_a_byte_arrives() {
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
    panic!("the session did not time out");
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
    assert_eq!(server.stream_output(), [], "the session says goodbye only once");
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
    assert_eq!(server.receive_stream(Time::ZERO, &hello), Ok(vec![]), "the session is over");
}

#[test]
fn token_and_ticket_reach_the_server_and_its_ticket_the_client() {
    let name = PlayerName::new("tester").unwrap();
    let (old, new) = (Ticket([3; 16]), Ticket([4; 16]));
    let mut server = server::Session::new(match_info(), Time::ZERO);
    let token = [1, 2, 3];
    let hello = ClientHello::new(MapHash::ANY, &name).with_token(&token).with_ticket(old);
    let mut client = client::Session::with_hello(hello, Time::ZERO);
    let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
    let (token, match_name) = (token.to_vec(), None);
    assert_eq!(events, [server::Event::Hello { name, token, ticket: old, match_name }]);
    server.set_ticket(new, 30);
    server.accept(PLAYER, Tick(500));
    let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
    let [client::Event::Joined(hello)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((hello.ticket, hello.rejoin_seconds), (new, 30));
}

/// A client with this map that asks for the match `duel`, and the server's end of it.
fn to_a_match(map: MapHash) -> (server::Session, client::Session) {
    let name = PlayerName::new("tester").unwrap();
    let duel: MatchName = "duel".parse().unwrap();
    let mut server = server::Session::new(match_info(), Time::ZERO);
    let hello = ClientHello::new(map, &name).with_match(Some(duel.clone()));
    let mut client = client::Session::with_hello(hello, Time::ZERO);
    let (events, _) = exchange(&mut server, &mut client, Time::ZERO);
    let [server::Event::Hello { match_name, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*match_name, Some(duel));
    (server, client)
}

#[test]
fn a_client_is_taken_into_the_match_that_it_names_if_it_has_that_map() {
    let map = MapHash([8; 32]);
    let elsewhere = Arc::new(MatchInfo { map, ..(*match_info()).clone() });
    for (own, welcome) in [(MapHash::ANY, true), (map, true), (MapHash([7; 32]), false)] {
        let (mut server, mut client) = to_a_match(own);
        assert_eq!(server.enter_match(Arc::clone(&elsewhere)).is_ok(), welcome, "{own}");
        server.accept(PLAYER, Tick(500));
        let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
        match &events[..] {
            [client::Event::Joined(hello)] => assert!(welcome && hello.map == map, "{own}"),
            [client::Event::Refused(RefusalReason::WrongMap { server, .. })] => {
                assert!(!welcome && *server == map, "{own}");
            }
            other => panic!("{own}: {other:?}"),
        }
    }
}

#[test]
fn a_client_of_no_match_is_told_which_there_are() {
    let (mut server, mut client) = to_a_match(MapHash::ANY);
    let matches = MatchNames::new(["main".parse().unwrap()]);
    server.refuse(RefusalReason::NoSuchMatch { matches });
    let (_, events) = exchange(&mut server, &mut client, Time::ZERO);
    let [client::Event::Refused(reason)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(reason.to_string(), "the server has no match of that name; it has: main");
}

#[test]
fn a_client_does_not_leave_its_match_for_another_one() {
    let (mut server, mut client) = pair(MapHash::ANY);
    exchange(&mut server, &mut client, Time::ZERO);
    server.accept(PLAYER, Tick(500));
    server.change_world(Time::ZERO, match_info());
    let name = PlayerName::new("tester").unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name).with_match("duel".parse().ok());
    let hello = encode_client_message(&ClientMessage::Hello(hello));
    let error = server.receive_stream(Time::ZERO, &hello).unwrap_err();
    assert_eq!(error.code(), 3, "{error}");
}

/// Encodes the snapshot of an empty world at `tick`.
fn snapshot(server: &mut server::Session, quantiser: &mut Quantiser, tick: u64) -> Vec<u8> {
    let state = Arc::new(quantiser.quantise(&State { tick, entities: Vec::new() }).unwrap());
    server.encode_snapshot(&state, &OwnPlayer::default(), 1200).unwrap()
}

#[test]
fn a_client_follows_into_another_world_whatever_is_still_on_its_way() {
    let (mut server, mut client) = pair(MapHash([7; 32]));
    exchange(&mut server, &mut client, Time::ZERO);
    server.accept(PLAYER, Tick(500));
    exchange(&mut server, &mut client, Time::ZERO);
    let mut quantiser = Quantiser::new(match_info().bounds);
    let first = snapshot(&mut server, &mut quantiser, 501);
    let overtaken = snapshot(&mut server, &mut quantiser, 502);
    client.receive_datagram(Time::ZERO, &first).unwrap().expect("a snapshot");
    let now = client.next_command_at().unwrap();
    let late = client.command(now, Command::default(), None).unwrap();

    // The session continues in another world. Messages that were sent meanwhile are not errors.
    let elsewhere = Arc::new(MatchInfo { map: MapHash([8; 32]), ..(*match_info()).clone() });
    server.change_world(now, Arc::clone(&elsewhere));
    client.say(ChatLine::new("gg").unwrap());
    let (events, received) = exchange(&mut server, &mut client, now);
    assert_eq!(events, [], "the client is not in the match yet");
    let map_name = MapName::new("arena");
    assert_eq!(received, [client::Event::NewWorld { map: MapHash([8; 32]), name: map_name }]);
    assert_eq!((client.player(), client.next_command_at()), (None, None));
    // Two changes in a row do no harm, because the hello is answered for the last world.
    server.change_world(now, Arc::clone(&elsewhere));
    let (events, _) = exchange(&mut server, &mut client, now);
    assert!(
        matches!(&events[..], [server::Event::Hello { name, .. }] if name.as_str() == "tester")
    );
    server.send_event(Tick(510), &MatchEvent::Left { player: PLAYER });
    let other = EntityId { slot: 0, generation: 0 };
    server.accept(other, Tick(510));
    let (_, events) = exchange(&mut server, &mut client, now);
    let [client::Event::Joined(hello)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((hello.player, hello.tick, hello.map), (Some(other), Tick(510), MapHash([8; 32])));

    // Datagrams of the old world arrive late on both sides.
    assert_eq!(client.receive_datagram(now, &overtaken), Ok(None));
    assert!(server.receive_datagram(now, &late.datagram).is_ok());
    assert_eq!(client.next_event(Tick(u32::MAX)), None, "the event belongs to the old world");
    let mut quantiser = Quantiser::new(elsewhere.bounds);
    let fresh = snapshot(&mut server, &mut quantiser, 511);
    let fresh = client.receive_datagram(now, &fresh).unwrap().expect("a snapshot");
    assert_eq!((fresh.tick, client.stats().stale), (Tick(511), 1));
}

#[test]
fn a_client_that_does_not_follow_into_another_world_times_out() {
    let (mut server, mut client) = pair(MapHash::ANY);
    exchange(&mut server, &mut client, Time::ZERO);
    server.accept(PLAYER, Tick(500));
    let begin = Time::ZERO + Duration::from_secs(60);
    server.change_world(begin, match_info());
    assert_eq!(server.advance(begin + (IDLE_TIMEOUT - Duration::from_millis(1))), None);
    assert_eq!(server.advance(begin + IDLE_TIMEOUT), Some(server::Event::TimedOut));
}
