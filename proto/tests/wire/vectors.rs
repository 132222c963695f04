//! The test vectors of `PROTOCOL.md`: what it prints is what the code writes
//! and reads.

use std::num::NonZeroU16;

use glam::Vec3;
use proto::bits::BitWriter;
use proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use proto::control::{
    ClientHello, ClientMessage, ClosingReason, MapHash, MapName, MatchEvent, PlayerName,
    RefusalReason, ServerHello, ServerMessage, decode_client_message, decode_server_message,
    encode_client_message, encode_server_message,
};
use proto::quantise::{QuantisedBody, QuantisedEntity, QuantisedOrientation, WorldBounds};
use proto::snapshot::{
    Baseline, Digest, DigestSample, Header, Lead, Record, Snapshot, SnapshotCodec, write_motion,
};
use proto::{PROTOCOL_VERSION, Tick};
use sim::{Buttons, Command, EntityId, ModelId, PlayerMotion, Posture, Walker};

const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

/// The bytes that `PROTOCOL.md` prints under this name, in a fenced block
/// that begins with "vector NAME".
fn printed(name: &str) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/PROTOCOL.md");
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("```vector {name}\n");
    let block = text.split(&fence).nth(1).unwrap_or_else(|| panic!("no vector {name}"));
    let digits: String = block.split("```").next().unwrap().split_whitespace().collect();
    let byte = |index: usize| u8::from_str_radix(&digits[index..index + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[track_caller]
fn check(name: &str, written: &[u8]) {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
    assert_eq!(hex(&printed(name)), hex(written), "{name}");
}

#[test]
fn client_messages() {
    let hello = ClientHello::new(MapHash::ANY, &PlayerName::new("Bot 1").unwrap());
    for (name, message) in [
        ("client-hello", ClientMessage::Hello(hello)),
        ("leave", ClientMessage::Leave),
        ("mismatch", ClientMessage::Mismatch { tick: 70_000 }),
    ] {
        check(name, &encode_client_message(&message));
        assert_eq!(decode_client_message(&printed(name)[2..]), Ok(message));
    }
}

#[test]
fn server_messages() {
    let hello = ServerHello {
        player: EntityId { slot: 3, generation: 300 },
        tick_rate: RATE,
        snapshot_rate: RATE,
        tick: Tick(70_000),
        map: MapHash([0xab; 32]),
        map_name: MapName::new("arena"),
        bounds: bounds(),
        player_limit: 32,
    };
    let wrong_version = RefusalReason::WrongVersion { server: PROTOCOL_VERSION };
    let player = EntityId { slot: 3, generation: 300 };
    let joined = MatchEvent::Joined { player, name: PlayerName::new("Bot 1").unwrap() };
    let left = MatchEvent::Left { player };
    let died = MatchEvent::Died { player, by: EntityId { slot: 2, generation: 0 } };
    let messages = [
        ("server-hello", ServerMessage::Hello(hello)),
        ("wrong-version", ServerMessage::Refused(wrong_version)),
        ("full", ServerMessage::Refused(RefusalReason::Full { limit: 32 })),
        ("player-joined", ServerMessage::Event { tick: Tick(70_000), event: joined }),
        ("player-died", ServerMessage::Event { tick: Tick(70_002), event: died }),
        ("player-left", ServerMessage::Event { tick: Tick(70_001), event: left }),
        ("shutting-down", ServerMessage::Closing(ClosingReason::ShuttingDown)),
    ];
    for (name, message) in messages {
        check(name, &encode_server_message(&message));
        assert_eq!(decode_server_message(&printed(name)[2..]), Ok(message));
    }
}

#[test]
fn commands() {
    let standing = Command { yaw: 0x4000, ..Command::default() };
    let running = Command { forward: 127, right: -64, pitch: -100, ..standing };
    let buttons = Buttons::JUMP | Buttons::FIRE;
    let jumping = Command { buttons, view_age: 137, ..running };
    let commands = vec![standing, running, running, jumping];
    let datagram = CommandDatagram {
        acknowledgement: Some(Acknowledgement { latest: Tick(70_010), before: 0b1011 }),
        batch: CommandBatch::new(Tick(70_012), commands).unwrap(),
    };
    check("commands", &datagram.encode());
    assert_eq!(CommandDatagram::decode(&printed("commands"), Tick(70_000)), Ok(datagram));
}

fn bounds() -> WorldBounds {
    WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap()
}

const CODEC: fn() -> SnapshotCodec = || SnapshotCodec { bounds: bounds(), tick_rate: RATE };

fn player() -> QuantisedEntity {
    QuantisedEntity {
        generation: 300,
        position: [16_384, 20_000, 9_000],
        velocity: [80, -3, 0],
        asleep: false,
        body: QuantisedBody::Player { posture: Posture::Standing, yaw: 1024 },
    }
}

fn motion() -> PlayerMotion {
    let walker =
        Walker { posture: Posture::Standing, yaw: 16_384, grounded: true, jump_held: false };
    let velocity = Vec3::new(320.0, -12.5, 0.0);
    PlayerMotion { position: Vec3::new(0.0, 113.0, 25.25), velocity, walker }
}

fn prop() -> QuantisedEntity {
    QuantisedEntity {
        generation: 1,
        position: [100, 200, 300],
        velocity: [0; 3],
        asleep: true,
        body: QuantisedBody::Prop {
            model: ModelId(2),
            driven: false,
            orientation: QuantisedOrientation::new(3, [0, -5, 600]).unwrap(),
        },
    }
}

#[test]
fn whole_snapshot() {
    let header = Header {
        tick: Tick(70_001),
        has_digest: false,
        has_motion: true,
        slot_bits: 5,
        lead: Some(Lead::from_ticks(1.5)),
        common_age: 0,
        records: 3,
    };
    let records = vec![
        Record { slot: 3, entity: Some(player()) },
        Record { slot: 17, entity: Some(prop()) },
        Record { slot: 20, entity: None },
    ];
    let mut writer = BitWriter::new();
    header.write(&mut writer);
    write_motion(&mut writer, &motion());
    for record in &records {
        CODEC().write_record(&mut writer, &header, record.slot, record.entity.as_ref(), None);
    }
    check("whole-snapshot", &writer.finish());
    let (tick, lead, motion) = (header.tick, header.lead, Some(motion()));
    let snapshot = Snapshot { tick, lead, motion, records, digest: None };
    let decoded = CODEC().decode(&printed("whole-snapshot"), Tick(70_000), |_, _| None);
    assert_eq!(decoded, Ok(snapshot));
}

#[test]
fn changes_with_a_digest() {
    let header = Header {
        tick: Tick(70_004),
        has_digest: true,
        has_motion: false,
        slot_bits: 5,
        lead: None,
        common_age: 3,
        records: 2,
    };
    // The player has run on, a little to the side of what was predicted; the
    // prop was hit, and its baseline is of tick 69,904.
    let ran = QuantisedEntity {
        position: [16_384 + 512, 20_000 - 19, 9_000],
        velocity: [80, 0, 0],
        body: QuantisedBody::Player { posture: Posture::Crouching, yaw: 1000 },
        ..player()
    };
    let hit = QuantisedEntity {
        position: [101, 190, 340],
        velocity: [10, -40, 75],
        asleep: false,
        body: QuantisedBody::Prop {
            model: ModelId(2),
            driven: false,
            orientation: QuantisedOrientation::new(3, [20, -40, 590]).unwrap(),
        },
        ..prop()
    };
    let (old_player, old_prop) = (player(), prop());
    let mut writer = BitWriter::new();
    header.write(&mut writer);
    for (slot, entity, baseline, age) in [(3, &ran, &old_player, 3), (17, &hit, &old_prop, 100)] {
        let baseline = Some(Baseline { age, entity: baseline });
        CODEC().write_record(&mut writer, &header, slot, Some(entity), baseline);
    }
    // Slot 5 holds what the prop was, slot 20 nothing.
    let mut digest = Digest::new(header.tick);
    digest.add(3, Some(&ran));
    digest.add(17, Some(&hit));
    digest.add(5, Some(&old_prop));
    digest.add(20, None);
    let sample = DigestSample { first: 4, slots: 1 << 1 | 1 << 16, digest: digest.finish() };
    CODEC().write_digest(&mut writer, &header, &sample);
    check("changes", &writer.finish());

    let records =
        vec![Record { slot: 3, entity: Some(ran) }, Record { slot: 17, entity: Some(hit) }];
    let (tick, digest) = (header.tick, Some(sample));
    let snapshot = Snapshot { tick, lead: None, motion: None, records, digest };
    let decoded =
        CODEC().decode(&printed("changes"), Tick(70_001), |slot, tick| match (slot, tick.0) {
            (3, 70_001) => Some(&old_player),
            (17, 69_904) => Some(&old_prop),
            _ => None,
        });
    assert_eq!(decoded, Ok(snapshot));
}
