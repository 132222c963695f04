//! Interprets bytes as a course of events between a server and a client session.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use glam::{DQuat, DVec3, Vec3};
use obsp_proto::control::{ClientHello, ClosingReason, MapHash, MapName, MatchEvent, PlayerName};
use obsp_proto::effects::{Effect, TickEffects};
use obsp_proto::quantise::{Quantiser, WorldBounds};
use obsp_proto::schema::{Action, Field, FieldValues, MatchValues, Schema, SchemaParts};
use obsp_proto::server::{MatchInfo, OwnPlayer};
use obsp_proto::snapshot::{AuthoritativeMotion, Lead, MIN_SNAPSHOT};
use obsp_proto::{Tick, Time, client, server};
use obsp_sim::{
    Command, EntityId, EntityState, Kind, ModelId, Moving, PlayerMotion, Posture, State, Traits,
    Walker,
};

fn entity(slot: u16, tick: u64) -> EntityState {
    let kind = match slot {
        0 => Kind::Player { posture: Posture::Standing },
        _ => Kind::Prop { model: ModelId(0) },
    };
    let along = (tick * u64::from(slot + 1) % 1000) as f64;
    EntityState {
        id: EntityId { slot, generation: (tick / 200) as u16 },
        kind,
        position: DVec3::new(along, 10.0 * f64::from(slot), 0.0),
        orientation: DQuat::from_rotation_z(along),
        velocity: DVec3::X * 60.0,
        asleep: slot > 4,
        traits: Traits::default(),
    }
}

/// A client's own player as the bits of `byte` set it: how many bodies it touches, whether they
/// sleep, whether it moves, has a substituted command, was pushed, has a lead and lacks a motion.
fn own(tick: u64, byte: u8) -> OwnPlayer {
    let is = |bit: u8| byte >> bit & 1 == 1;
    let along = if is(3) { (tick % 1000) as f32 / 3.0 } else { 0.0 };
    let motion = PlayerMotion {
        position: Vec3::new(along, -along, 1.0),
        velocity: Vec3::X * along,
        walker: Walker { grounded: !is(3), ..Walker::default() },
    };
    let body = |slot| {
        // A sleeping body has no velocity.
        let speed = if is(2) { 0.0 } else { f64::from(along) };
        let velocity = DVec3::X * speed;
        let state = EntityState { asleep: is(2), velocity, ..entity(slot, tick) };
        Moving::new(state, DVec3::Z * speed)
    };
    let pushed = is(5).then(|| Tick((tick - tick % 40) as u32));
    let motion = AuthoritativeMotion::new(motion, Tick(tick as u32), pushed);
    OwnPlayer {
        lead: is(6).then(|| Lead::from_ticks(tick as f64 % 9.0 - 4.0)),
        motion: (!is(7)).then(|| motion.with_touched(Tick(0), (1..=u16::from(byte & 3)).map(body))),
        command_substituted: is(4),
    }
}

fn match_info(bounds: WorldBounds) -> MatchInfo {
    let rate = NonZeroU16::new(60).unwrap();
    MatchInfo {
        tick_rate: rate,
        snapshot_rate: rate,
        map: MapHash([1; 32]),
        map_name: MapName::new("fuzz"),
        bounds,
        player_limit: 4,
        schema: Arc::new(schema()),
        game: None,
    }
}

const CLOCK: Field = Field::new("clock", 0, 1000);
const TEAM: Field = Field::new("team", -1, 1);

fn schema() -> Schema {
    let parts = SchemaParts {
        of_match: vec![CLOCK],
        of_own_player: vec![CLOCK, TEAM],
        of_players: vec![TEAM],
        models: vec![("crate".to_owned(), vec![CLOCK])],
        events: vec!["bang".into()],
        actions: vec![Action::new("throw", "Throw").key("KeyG")],
    };
    Schema::new(parts).unwrap()
}

/// Values of all fields, which change now and then.
fn values(schema: &Schema, state: &State) -> MatchValues {
    let some = |fields: &[Field], salt: u64| {
        let mut values = FieldValues::default();
        for field in fields {
            values.set(fields, field, ((state.tick / 7 + salt) * 300 % 1000) as i64);
        }
        values
    };
    let of = |entity: &EntityState| some(schema.of_kind(entity.kind), entity.id.slot.into());
    MatchValues {
        of_match: some(schema.of_match(), 50),
        of_entities: state.entities.iter().map(|entity| (entity.id, of(entity))).collect(),
        of_own_players: vec![(state.entities[0].id, some(schema.of_own_player(), 60))],
    }
}

/// The effects of a tick: `count` rays. The list is empty if `count` is 0.
fn effects(tick: u64, count: u8) -> Vec<Arc<TickEffects>> {
    let along = (tick % 1000) as f64;
    let ray = Effect::Ray { player: 0, from: DVec3::ZERO, to: DVec3::X * along };
    let effects = vec![ray; count.into()];
    let of_tick = || Arc::new(TickEffects { tick: Tick(tick as u32), effects });
    (count > 0).then(of_tick).into_iter().collect()
}

/// Runs the bytes. Returns how many motions with no, one and two touched bodies arrived.
///
/// # Panics
/// A session rejects undamaged bytes or decodes them wrongly.
pub(crate) fn play(bytes: &[u8]) -> [u32; AuthoritativeMotion::MAX_TOUCHED + 1] {
    let bounds = WorldBounds::new([-512; 3], [16; 3]).unwrap();
    let match_info = match_info(bounds);
    let schema = Arc::clone(&match_info.schema);
    let player = EntityId { slot: 0, generation: 0 };
    let mut now = Time::ZERO;
    let mut server = server::Session::new(Arc::new(match_info), now);
    let name = PlayerName::new("fuzz").unwrap();
    let hello = ClientHello::new(MapHash::ANY, &name).with_effects(true);
    let mut client = client::Session::with_hello(hello, now);
    let mut quantiser = Quantiser::new(bounds);
    let mut tick = 0_u64;
    let mut damaged = false;
    let mut motions = [0; AuthoritativeMotion::MAX_TOUCHED + 1];
    let mut rest = bytes;
    while let [operation, argument, tail @ ..] = rest {
        rest = tail;
        match operation % 10 {
            0 => drop(server.receive_stream(now, &client.stream_output())),
            1 => drop(client.receive_stream(now, &server.stream_output())),
            2 => server.accept(player, Tick(tick as u32)),
            3..6 => {
                tick += 1 + u64::from(argument % 3);
                let entities = (0..u16::from(argument % 8) + 1).map(|slot| entity(slot, tick));
                let state = State { tick, entities: entities.collect() };
                let values = values(&schema, &state);
                let state = Arc::new(quantiser.quantise_with(&state, &values).unwrap());
                let limit = MIN_SNAPSHOT + usize::from(*argument) * 4;
                let own =
                    rest.split_off_first().map_or_else(OwnPlayer::default, |byte| own(tick, *byte));
                let snapshot = server.encode_snapshot(&state, &own, limit);
                if let Some(mut snapshot) = snapshot.filter(|_| operation % 10 < 5) {
                    assert!(snapshot.len() <= limit);
                    if *argument == 255 {
                        damaged = true;
                        let index = snapshot.len() / 2;
                        snapshot[index] ^= 16;
                    }
                    let received = client.receive_datagram(now, &snapshot);
                    // An undamaged snapshot decodes to what was sent.
                    if let Ok(Some(received)) = &received {
                        assert!(damaged || received.digest_agrees != Some(false));
                        let motion = received.own_motion;
                        assert!(damaged || motion.is_none() || motion == own.motion);
                        if let Some(motion) = motion {
                            motions[motion.touched.iter().flatten().count()] += 1;
                        }
                    }
                    assert!(damaged || received.is_ok(), "{received:?}");
                }
                let shots = effects(tick, argument % 5);
                let datagram = server.encode_effects(&state, &shots, limit - MIN_SNAPSHOT);
                if let Some(datagram) = datagram.filter(|_| argument % 3 > 0) {
                    assert!(datagram.len() <= limit - MIN_SNAPSHOT);
                    let received = client.receive_datagram(now, &datagram);
                    assert!(damaged || received == Ok(None), "{received:?}");
                }
            }
            6 => {
                let length = Duration::from_millis(u64::from(*argument) * 4);
                now = now + length;
                server.advance(now);
                client.advance(now);
            }
            7 => {
                let command = Command { forward: *argument as i8, ..Command::default() };
                if let Some(sent) = client.command(now, command, None) {
                    let heard = server.receive_datagram(now, &sent.datagram);
                    assert!(damaged || heard.is_ok(), "{heard:?}");
                }
            }
            8 => {
                damaged = true;
                let length = usize::from(*argument).min(rest.len());
                let (made_up, tail) = rest.split_at(length);
                rest = tail;
                drop(server.receive_datagram(now, made_up));
                drop(client.receive_datagram(now, made_up));
            }
            _ if *argument == 0 => server.close(ClosingReason::Replaced),
            _ => server.send_event(Tick(u32::from(*argument)), &MatchEvent::Left { player }),
        }
        while client.next_event(Tick(tick as u32)).is_some() {}
        while let Some((of, _)) = client.next_effect() {
            assert!(damaged || u64::from(of.0) <= tick);
        }
        let _ = client.entities().count();
    }
    motions
}
