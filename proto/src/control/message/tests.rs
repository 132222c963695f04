use super::super::{MAX_MATCHES, RoundPhase};
use super::*;

/// `count` different names of matches, each as long as a name may be.
fn names(count: usize) -> MatchNames {
    let name = |number| format!("{number:0>32}").parse().unwrap();
    MatchNames::new((0..count).map(name))
}

const PLAYER: EntityId = EntityId { slot: 4095, generation: 65_535 };

fn hello() -> ServerHello {
    ServerHello {
        player: Some(PLAYER),
        tick_rate: NonZeroU16::MAX,
        snapshot_rate: NonZeroU16::MAX,
        tick: Tick(u32::MAX),
        map: MapHash([255; 32]),
        map_name: MapName::new(&"ä".repeat(100)),
        bounds: WorldBounds::new([-(1 << 20); 3], [24; 3]).unwrap(),
        player_limit: u16::MAX,
        ticket: Ticket([255; 16]),
        rejoin_seconds: u16::MAX,
        schema: crate::schema::tests::longest(),
        game: Some(GameHash([255; 32])),
    }
}

#[test]
fn messages_survive_encoding_and_trailing_bytes_are_rejected() {
    let name = PlayerName::new(&"\u{10ffff}".repeat(24)).unwrap();
    let wrong_map =
        RefusalReason::WrongMap { server: MapHash([255; 32]), name: MapName::new("dm4") };
    let server = [
        ServerMessage::Hello(hello()),
        ServerMessage::Refused(wrong_map),
        ServerMessage::Refused(RefusalReason::WrongVersion { server: 7 }),
        ServerMessage::Refused(RefusalReason::Full { limit: 32 }),
        ServerMessage::Refused(RefusalReason::BadName),
        ServerMessage::Refused(RefusalReason::Banned),
        ServerMessage::Refused(RefusalReason::AddressLimit),
        ServerMessage::Refused(RefusalReason::NoSuchMatch { matches: names(MAX_MATCHES) }),
        ServerMessage::Refused(RefusalReason::TokenRequired),
        ServerMessage::Refused(RefusalReason::BadToken),
        ServerMessage::Refused(RefusalReason::NotAllowed),
        ServerMessage::Closing(ClosingReason::Removed(
            ChatLine::new(&"\u{10ffff}".repeat(160)).unwrap(),
        )),
        ServerMessage::Closing(ClosingReason::Replaced),
        ServerMessage::NewWorld { map: MapHash([255; 32]), name: MapName::new(&"ä".repeat(100)) },
        ServerMessage::Event {
            tick: Tick(9),
            event: MatchEvent::Round {
                phase: RoundPhase::Intermission,
                ends: Some(Tick(u32::MAX)),
                next: Some(MapName::new("warren")),
            },
        },
        ServerMessage::Event {
            tick: Tick(9),
            event: MatchEvent::Round { phase: RoundPhase::WarmUp, ends: None, next: None },
        },
        ServerMessage::Event {
            tick: Tick(u32::MAX),
            event: MatchEvent::Joined { player: PLAYER, name: name.clone() },
        },
        ServerMessage::Event {
            tick: Tick(u32::MAX),
            event: MatchEvent::Said {
                player: PLAYER,
                line: ChatLine::new(&"\u{10ffff}".repeat(160)).unwrap(),
            },
        },
        ServerMessage::Event { tick: Tick(0), event: MatchEvent::Left { player: PLAYER } },
        ServerMessage::Event {
            tick: Tick(1),
            event: MatchEvent::Announced { line: ChatLine::new("bye").unwrap() },
        },
    ];
    for message in server {
        let mut content = encode_server_message(&message).split_off(2);
        assert_eq!(decode_server_message(&content), Ok(message));
        content.push(0);
        assert_eq!(decode_server_message(&content), Err(MessageError::Trailing { count: 1 }));
    }
    for message in [
        ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name)),
        ClientMessage::Hello(
            ClientHello::new(MapHash::ANY, &name)
                .with_token(&[255; MAX_TOKEN])
                .with_ticket(Ticket([255; 16]))
                .with_match(names(1).as_slice().first().cloned())
                .with_effects(true),
        ),
        ClientMessage::Leave,
        ClientMessage::Mismatch { tick: 70_000 },
        ClientMessage::Say(ChatLine::new(&"\u{10ffff}".repeat(160)).unwrap()),
    ] {
        let content = encode_client_message(&message).split_off(2);
        assert_eq!(decode_client_message(&content), Ok(message));
    }
}

#[test]
fn a_hello_with_too_long_a_token_is_rejected() {
    let name = PlayerName::new("a").unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name);
    assert_eq!(hello.clone().with_token(&[1; MAX_TOKEN + 1]), hello);
    let long = ClientMessage::Hello(ClientHello { token: vec![1; MAX_TOKEN + 1], ..hello });
    let content = encode_client_message(&long).split_off(2);
    assert!(matches!(decode_client_message(&content), Err(MessageError::Undecodable { .. })));
}

#[test]
fn a_match_that_no_server_can_have_is_rejected() {
    let name = PlayerName::new("a").unwrap();
    let hello = ClientMessage::Hello(ClientHello::new(MapHash::ANY, &name));
    let mut content = encode_client_message(&hello).split_off(2);
    // The name of the match, which is empty, and the wish for effects come last.
    assert_eq!(content.split_off(content.len() - 2), [0, 0]);
    for bad in [&b"a b"[..], b"\"", &[b'x'; 33], &[0xff]] {
        let mut content = content.clone();
        content.push(bad.len() as u8);
        content.extend(bad);
        content.push(0);
        let decoded = decode_client_message(&content);
        assert!(matches!(decoded, Err(MessageError::Undecodable { .. })), "{decoded:?}");
    }
    let matches = names(MAX_MATCHES);
    let refused = ServerMessage::Refused(RefusalReason::NoSuchMatch { matches });
    let mut content = encode_server_message(&refused).split_off(2);
    content[2] += 1;
    content.extend([1, b'a']);
    let decoded = decode_server_message(&content);
    assert!(matches!(decoded, Err(MessageError::Undecodable { .. })), "{decoded:?}");
}

#[test]
fn a_wish_for_effects_that_is_neither_yes_nor_no_is_rejected() {
    let name = PlayerName::new("a").unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name).with_effects(true);
    let mut content = encode_client_message(&ClientMessage::Hello(hello)).split_off(2);
    assert_eq!(content.pop(), Some(1));
    content.push(2);
    let decoded = decode_client_message(&content);
    assert!(matches!(decoded, Err(MessageError::Undecodable { .. })), "{decoded:?}");
}

#[test]
fn the_version_of_a_future_hello_is_readable() {
    assert_eq!(hello_version(&[0, 9, 1, 2, 3]), Some(9));
    assert_eq!(hello_version(&[0, 251, 0x2c, 0x01]), Some(300));
    assert_eq!(hello_version(&[1]), None);
    assert_eq!(hello_version(&[0]), None);
}

#[test]
fn a_hello_with_impossible_fields_is_rejected() {
    let mut slot = hello();
    slot.player = Some(EntityId { slot: 4096, generation: 1 });
    let content = encode_server_message(&ServerMessage::Hello(slot)).split_off(2);
    assert!(matches!(decode_server_message(&content), Err(MessageError::Undecodable { .. })));
}

#[test]
fn a_claimed_length_allocates_nothing() {
    // A hello whose name claims 2^63 bytes.
    let mut content = vec![0, 1];
    content.extend([0; 32]);
    content.extend([253, 0, 0, 0, 0, 0, 0, 0, 128]);
    assert!(matches!(decode_client_message(&content), Err(MessageError::Undecodable { .. })));
}
