//! Events of the connection, and of the match.

use std::ffi::c_char;

use obsp_client::ConnectionEvent;
use obsp_proto::control::{MapName, MatchEvent, RoundPhase};
use obsp_proto::download::{Download, Receiver};
use obsp_proto::schema::{EventKind, MAX_EVENT_DATA, Schema};
use obsp_sim::EntityId;

use crate::failure::guard;
use crate::handle::ObspClient;
use crate::raw;

/// Bytes of a text, its zero byte included. Longer texts are cut.
pub const OBSP_TEXT_BYTES: usize = 768;

/// Maximum number of bytes in the content of a game's event.
pub const OBSP_EVENT_BYTES: usize = 256;
const _: () = assert!(OBSP_EVENT_BYTES == MAX_EVENT_DATA, "every event fits");

/// Slot of an id that names nobody.
pub const OBSP_NO_SLOT: u16 = 65535;

/// An entity's id. Entities that use a slot one after another differ in their generation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObspId {
    /// The entity's slot; `OBSP_NO_SLOT` in an id of no entity.
    pub slot: u16,
    /// How many times the slot was given to another entity before.
    pub generation: u16,
}

impl ObspId {
    pub(crate) const NOBODY: Self = Self { slot: OBSP_NO_SLOT, generation: 0 };
}

impl From<EntityId> for ObspId {
    fn from(EntityId { slot, generation }: EntityId) -> Self {
        Self { slot, generation }
    }
}

/// The kind of an event of the connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspEventKind {
    /// The client is in the match and controls `player`. The client needs the map called `text`
    /// with the hash `map`. Before the map it needs the data of the game if `has_game` is set. See
    /// `obsp_client_use_map` and `obsp_client_use_game`. A client of `obsp_connect` gets map and
    /// data without these calls.
    Joined,
    /// The match continues in another world, with the map called `text`. Everything known of the
    /// old world is void, and `OBSP_EVENT_KIND_JOINED` follows.
    NewWorld,
    /// The client is no longer in the match; `text` is the reason. If `is_final`, rejoining is
    /// pointless.
    Disconnected,
}

/// An event of the connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspEvent {
    /// The kind of the event.
    pub kind: ObspEventKind,
    /// The own player; nobody for a spectator.
    pub player: ObspId,
    /// Ticks per second.
    pub tick_rate: u16,
    /// Whether rejoining is pointless.
    pub is_final: bool,
    /// Whether the game has data of its own, which a client needs to predict.
    pub has_game: bool,
    /// The hash of the map.
    pub map: [u8; 32],
    /// The hash of the game's data.
    pub game: [u8; 32],
    /// The map's name, or the reason.
    pub text: [c_char; OBSP_TEXT_BYTES],
}

/// Takes the next event of the connection; false if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_poll_event(
    client: *mut ObspClient,
    event: *mut ObspEvent,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some(next) = client.client.poll_event() else { return Ok(false) };
        if let ConnectionEvent::Joined(_) = next {
            // The bytes received so far belong to the previous world.
            client.map_stream = Receiver::new(Download::Map);
            client.game_stream = Receiver::new(Download::Game);
            client.game.clear();
        }
        // SAFETY: the contract of the header.
        unsafe { raw::put(event, connection_event(&next))? };
        Ok(true)
    })
}

fn connection_event(event: &ConnectionEvent) -> ObspEvent {
    let empty = ObspEvent {
        kind: ObspEventKind::Disconnected,
        player: ObspId::NOBODY,
        tick_rate: 0,
        is_final: false,
        has_game: false,
        map: [0; 32],
        game: [0; 32],
        text: [0; OBSP_TEXT_BYTES],
    };
    match event {
        ConnectionEvent::Joined(hello) => ObspEvent {
            kind: ObspEventKind::Joined,
            player: hello.player.map_or(ObspId::NOBODY, ObspId::from),
            tick_rate: hello.tick_rate.get(),
            has_game: hello.game.is_some(),
            map: hello.map.0,
            game: hello.game.map_or([0; 32], |hash| hash.0),
            text: raw::fixed(hello.map_name.as_str()),
            ..empty
        },
        ConnectionEvent::NewWorld { map, name } => ObspEvent {
            kind: ObspEventKind::NewWorld,
            map: map.0,
            text: raw::fixed(name.as_str()),
            ..empty
        },
        ConnectionEvent::Disconnected(cause) => {
            ObspEvent { is_final: cause.is_final(), text: raw::fixed(&cause.to_string()), ..empty }
        }
    }
}

/// The kind of an event of the match.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspMatchEventKind {
    /// `player` joined, or was in the match before; `text` is the name.
    Joined,
    /// `player` left.
    Left,
    /// `player` was killed by `other`, which may be the same player; `text` is the game's name for
    /// the means, such as `rocket`.
    Died,
    /// The health or score of `player` changed.
    Vitals,
    /// `player` said `text` to everybody.
    Said,
    /// The server says `text` to everybody.
    Announced,
    /// The match changed its phase; `text` is the map of the next round during an intermission.
    Round,
    /// An event that the game defines: `text` is the name of its kind, `data` its content.
    Game,
}

/// The phase of a match.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspPhase {
    /// Waiting for players.
    WarmUp,
    /// The round is played.
    Playing,
    /// The round is over, and the next one is about to begin.
    Intermission,
}

/// An event of the match.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspMatchEvent {
    /// The kind of the event.
    pub kind: ObspMatchEventKind,
    /// The tick in which the event happened.
    pub tick: u32,
    /// The player of the event: the one who joined, left, died, or said a line.
    pub player: ObspId,
    /// The player who killed `player`; nobody in events of other kinds.
    pub other: ObspId,
    /// Health left; zero while dead.
    pub health: u16,
    /// Number of other players killed, less the number of suicides.
    pub score: i16,
    /// The phase that has begun.
    pub phase: ObspPhase,
    /// The tick in which the phase ends; 0 if the phase has no time limit.
    pub ends: u32,
    /// The player's name, the line that was said, the means of a death, the map of the next round,
    /// or the name of the kind of a game's event.
    pub text: [c_char; OBSP_TEXT_BYTES],
    /// Bytes of the content of a game's event.
    pub data_length: u16,
    /// The content of a game's event. `obsp_client_event_fields` reads it.
    pub data: [u8; OBSP_EVENT_BYTES],
}

/// Takes the next event of the match, up to the moment that is shown at `now`; false if there is
/// none. The call updates `obsp_client_players`, so take all events in every frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_next_match_event(
    client: *mut ObspClient,
    now: f64,
    event: *mut ObspMatchEvent,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some((tick, next)) = client.client.next_match_event(raw::time(now)) else {
            return Ok(false);
        };
        let schema = client.client.session().hello().map(|hello| &*hello.schema);
        // SAFETY: the contract of the header.
        unsafe { raw::put(event, match_event(tick.0, &next, schema))? };
        Ok(true)
    })
}

impl ObspMatchEvent {
    fn new(kind: ObspMatchEventKind, tick: u32, player: ObspId, text: &str) -> Self {
        Self {
            kind,
            tick,
            player,
            other: ObspId::NOBODY,
            health: 0,
            score: 0,
            phase: ObspPhase::Playing,
            ends: 0,
            text: raw::fixed(text),
            data_length: 0,
            data: [0; OBSP_EVENT_BYTES],
        }
    }
}

impl ObspMatchEvent {
    /// An event of the game with this content.
    pub(crate) fn game(name: &str, data: &[u8]) -> Self {
        let mut event = Self::new(ObspMatchEventKind::Game, 0, ObspId::NOBODY, name);
        let length = data.len().min(OBSP_EVENT_BYTES);
        event.data[..length].copy_from_slice(&data[..length]);
        event.data_length = length as u16;
        event
    }
}

fn match_event(tick: u32, event: &MatchEvent, schema: Option<&Schema>) -> ObspMatchEvent {
    use ObspMatchEventKind as Kind;
    let of = |kind, player: &EntityId| ObspMatchEvent::new(kind, tick, (*player).into(), "");
    match event {
        MatchEvent::Joined { player, name } => {
            ObspMatchEvent::new(Kind::Joined, tick, (*player).into(), name.as_str())
        }
        MatchEvent::Left { player } => of(Kind::Left, player),
        MatchEvent::Died { player, by, means } => ObspMatchEvent {
            other: (*by).into(),
            text: raw::fixed(means.as_str()),
            ..of(Kind::Died, player)
        },
        MatchEvent::Vitals { player, vitals } => ObspMatchEvent {
            health: vitals.health,
            score: vitals.score,
            ..of(Kind::Vitals, player)
        },
        MatchEvent::Said { player, line } => {
            ObspMatchEvent::new(Kind::Said, tick, (*player).into(), line.as_str())
        }
        MatchEvent::Announced { line } => {
            ObspMatchEvent::new(Kind::Announced, tick, ObspId::NOBODY, line.as_str())
        }
        MatchEvent::Round { phase, ends, next } => {
            let phase = match phase {
                RoundPhase::WarmUp => ObspPhase::WarmUp,
                RoundPhase::Playing => ObspPhase::Playing,
                RoundPhase::Intermission => ObspPhase::Intermission,
            };
            let ends = ends.map_or(0, |tick| tick.0);
            let next = next.as_ref().map_or("", MapName::as_str);
            let round = ObspMatchEvent::new(Kind::Round, tick, ObspId::NOBODY, next);
            ObspMatchEvent { phase, ends, ..round }
        }
        MatchEvent::Game(event) => {
            let name = schema.and_then(|schema| schema.events().get(usize::from(event.kind())));
            ObspMatchEvent {
                tick,
                ..ObspMatchEvent::game(name.map_or("", EventKind::name), event.data())
            }
        }
    }
}
