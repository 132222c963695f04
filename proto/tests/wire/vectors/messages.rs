//! Messages of the control stream, a game's data, connect tokens and datagrams of commands.

use std::sync::Arc;

use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::control::{
    ChatLine, ClientHello, ClientMessage, ClosingReason, GameHash, MapHash, MapName, MatchEvent,
    MatchNames, Means, PlayerName, RefusalReason, RoundPhase, ServerHello, ServerMessage, Ticket,
    Vitals, decode_client_message, decode_server_message, encode_client_message,
    encode_server_message,
};
use obsp_proto::game_data::GameData;
use obsp_proto::schema::GameEvent;
use obsp_proto::token::{JoinKey, TokenClaims};
use obsp_proto::{PROTOCOL_VERSION, Tick};
use obsp_sim::{Buttons, Command, EntityId};

use super::{RATE, bounds, check, printed, schema};

fn ticket() -> Ticket {
    Ticket([0xcd; 16])
}

#[test]
fn client_messages() {
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("Bot 1").unwrap());
    for (name, message) in [
        (
            "client-hello-again",
            ClientMessage::Hello(hello.clone().with_token(&[9, 8, 7]).with_ticket(ticket())),
        ),
        (
            "client-hello-match",
            ClientMessage::Hello(hello.clone().with_match("duel".parse().ok()).with_effects(true)),
        ),
        ("client-hello", ClientMessage::Hello(hello)),
        ("leave", ClientMessage::Leave),
        ("mismatch", ClientMessage::Mismatch { tick: 70_000 }),
        ("say", ClientMessage::Say(ChatLine::new("gg").unwrap())),
    ] {
        check(name, &encode_client_message(&message));
        assert_eq!(decode_client_message(&printed(name)[2..]), Ok(message));
    }
}

#[test]
fn server_messages() {
    let hello = ServerHello {
        player: Some(EntityId { slot: 3, generation: 300 }),
        tick_rate: RATE,
        snapshot_rate: RATE,
        tick: Tick(70_000),
        map: MapHash([0xab; 32]),
        map_name: MapName::new("arena"),
        bounds: bounds(),
        player_limit: 32,
        ticket: ticket(),
        rejoin_seconds: 30,
        schema: schema(),
        game: None,
    };
    let of_game = ServerHello {
        player: None,
        ticket: Ticket::NONE,
        schema: Arc::default(),
        game: Some(GameHash([0xef; 32])),
        ..hello.clone()
    };
    let wrong_version = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
    let player = EntityId { slot: 3, generation: 300 };
    let joined = MatchEvent::Joined { player, name: PlayerName::new("Bot 1").unwrap() };
    let left = MatchEvent::Left { player };
    let by = EntityId { slot: 2, generation: 0 };
    let died = MatchEvent::Died { player, by, means: Means::new("rocket") };
    let said = MatchEvent::Said { player, line: ChatLine::new("gg").unwrap() };
    let vitals = MatchEvent::Vitals { player, vitals: Vitals { health: 80, score: -2 } };
    let announced = MatchEvent::Announced { line: ChatLine::new("bye").unwrap() };
    let round =
        MatchEvent::Round { phase: RoundPhase::Playing, ends: Some(Tick(106_000)), next: None };
    let pause = MatchEvent::Round {
        phase: RoundPhase::Intermission,
        ends: Some(Tick(106_600)),
        next: Some(MapName::new("warren")),
    };
    let taken = MatchEvent::Game(GameEvent::new(1, &("Red", 12_u16)).unwrap());
    let new_world =
        ServerMessage::NewWorld { map: MapHash([0xab; 32]), name: MapName::new("arena") };
    let matches = MatchNames::new(["main", "duel"].map(|name| name.parse().unwrap()));
    let removed = ClosingReason::Removed(ChatLine::new("idle").unwrap());
    let messages = [
        ("round", ServerMessage::Event { tick: Tick(70_006), event: round }),
        ("intermission", ServerMessage::Event { tick: Tick(106_000), event: pause }),
        ("game-event", ServerMessage::Event { tick: Tick(70_007), event: taken }),
        ("new-world", new_world),
        ("no-such-match", ServerMessage::Refused(RefusalReason::NoSuchMatch { matches })),
        ("bad-token", ServerMessage::Refused(RefusalReason::BadToken)),
        ("not-allowed", ServerMessage::Refused(RefusalReason::NotAllowed)),
        ("removed", ServerMessage::Closing(removed)),
        ("server-hello", ServerMessage::Hello(hello)),
        ("server-hello-game", ServerMessage::Hello(of_game)),
        ("wrong-version", ServerMessage::Refused(wrong_version)),
        ("full", ServerMessage::Refused(RefusalReason::Full { limit: 32 })),
        ("player-joined", ServerMessage::Event { tick: Tick(70_000), event: joined }),
        ("player-died", ServerMessage::Event { tick: Tick(70_002), event: died }),
        ("player-said", ServerMessage::Event { tick: Tick(70_003), event: said }),
        ("player-vitals", ServerMessage::Event { tick: Tick(70_004), event: vitals }),
        ("announced", ServerMessage::Event { tick: Tick(70_005), event: announced }),
        ("player-left", ServerMessage::Event { tick: Tick(70_001), event: left }),
        ("shutting-down", ServerMessage::Closing(ClosingReason::ShuttingDown)),
    ];
    for (name, message) in messages {
        check(name, &encode_server_message(&message));
        assert_eq!(decode_server_message(&printed(name)[2..]), Ok(message));
    }
}

#[test]
fn game_data() {
    let data = GameData::parse("[movement]\ngravity = 400\n").unwrap();
    check("game-data", data.bytes());
    assert_eq!(GameData::from_bytes(&printed("game-data")), Ok(data));
}

/// The page's vector was computed with another implementation of the ciphers.
#[test]
fn connect_token() {
    let key = JoinKey::from_bytes(std::array::from_fn(|index| index as u8));
    let claims = TokenClaims {
        player: 7,
        name: PlayerName::new("Ann").unwrap(),
        reserved: true,
        servers: vec!["192.0.2.1:4433".into()],
        user_data: vec![1, 2, 3],
    };
    check("connect-token", &key.seal_with(&claims, 2_000_000_000, [0xaa; 16]).unwrap());
    let opened = key.open(&printed("connect-token")).unwrap();
    assert_eq!((opened.expires, opened.claims), (2_000_000_000, claims));
}

#[test]
fn commands() {
    let standing = Command { yaw: 0x4000, ..Command::default() };
    let running = Command { forward: 127, right: -64, pitch: -100, ..standing };
    let buttons = Buttons::JUMP | Buttons::PRIMARY;
    let jumping = Command { buttons, view_age: 137, ..running };
    let throwing = Buttons::action(3).unwrap() | Buttons::action(15).unwrap();
    let throwing = Command { buttons: throwing, view_age: 5, ..standing };
    let further = CommandDatagram {
        acknowledgement: None,
        batch: CommandBatch::new(Tick(70_012), vec![throwing]).unwrap(),
    };
    check("commands-further", &further.encode());
    assert_eq!(CommandDatagram::decode(&printed("commands-further"), Tick(70_000)), Ok(further));
    let commands = vec![standing, running, running, jumping];
    let datagram = CommandDatagram {
        acknowledgement: Some(Acknowledgement { latest: Tick(70_010), before: 0b1011 }),
        batch: CommandBatch::new(Tick(70_012), commands).unwrap(),
    };
    check("commands", &datagram.encode());
    assert_eq!(CommandDatagram::decode(&printed("commands"), Tick(70_000)), Ok(datagram));
}
