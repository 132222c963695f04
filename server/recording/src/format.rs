//! The format of a recording: a header, ticks, an end, each in a frame with a length.

use std::ops::RangeInclusive;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};
use obsp_sim::{Buttons, Command, Config, EntityId, MAX_ENTITIES, PlayerKind};

/// The first bytes of every recording.
pub(crate) const MAGIC: [u8; 4] = *b"OBSR";

/// Raised by any change that an older reader would misread.
pub(crate) const VERSION: u16 = 4;

/// The version before, whose header does not name the build that wrote it.
pub(crate) const WITHOUT_BUILD: u16 = 3;

/// No frame's body is longer: what its length can say.
pub(crate) const MAX_FRAME: usize = u16::MAX as usize;

/// Ticks a second of servers and soaks.
const TICK_RATES: RangeInclusive<u32> = 10..=128;

/// The set-up of a match.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// The name of the map.
    pub map_name: String,
    /// BLAKE3 hash of the map.
    pub map_hash: [u8; 32],
    tick_rate: u32,
    seed: u64,
    objects: u32,
    max_players: u16,
    /// Digest of the match before its first tick.
    pub digest: u64,
    /// The build of the server that recorded the match; empty if it is not known.
    pub build: String,
}

impl Header {
    /// The header of a match on `map` that has not ticked yet: its configuration, its digest,
    /// and the name of the build that records it.
    pub fn new(map: &obsp::World, config: Config, digest: u64, build: &str) -> Self {
        let Config { tick_rate, seed, objects, max_players } = config;
        Self {
            map_name: map.name().to_owned(),
            map_hash: map.hash(),
            tick_rate,
            seed,
            objects,
            max_players,
            digest,
            build: build.to_owned(),
        }
    }

    /// The configuration of the match.
    pub fn config(&self) -> Config {
        Config {
            tick_rate: self.tick_rate,
            seed: self.seed,
            objects: self.objects,
            max_players: self.max_players,
        }
    }
}

/// The input of one tick, as changes from the tick before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// The players who left before it, in that order.
    pub left: Vec<EntityId>,
    /// The players who joined after those had left, in that order, and their kinds.
    pub joined: Vec<(EntityId, PlayerKind)>,
    /// Players whose command is not that of the tick before. Who just joined
    /// stands idle until told otherwise.
    pub commands: Vec<(EntityId, Command)>,
    /// Digest of the match after it, if it was taken.
    pub digest: Option<u64>,
}

/// A [`Tick`] as it is stored, or the mark that the recording is complete.
#[derive(Encode, Decode)]
enum Stored {
    Tick {
        left: Vec<StoredId>,
        joined: Vec<(StoredId, StoredKind)>,
        commands: Vec<StoredCommand>,
        digest: Option<u64>,
    },
    End,
}

type StoredId = (u16, u16);

#[derive(Encode, Decode)]
enum StoredKind {
    Box,
    Hovertank,
}

#[derive(Encode, Decode)]
struct StoredCommand {
    player: StoredId,
    forward: i8,
    right: i8,
    yaw: u16,
    pitch: i16,
    buttons: u8,
    view_age: u16,
}

fn stored_id(id: EntityId) -> StoredId {
    (id.slot, id.generation)
}

fn id((slot, generation): StoredId) -> EntityId {
    EntityId { slot, generation }
}

fn stored_kind(kind: PlayerKind) -> StoredKind {
    match kind {
        PlayerKind::Box => StoredKind::Box,
        PlayerKind::Hovertank => StoredKind::Hovertank,
    }
}

fn kind(stored: StoredKind) -> PlayerKind {
    match stored {
        StoredKind::Box => PlayerKind::Box,
        StoredKind::Hovertank => PlayerKind::Hovertank,
    }
}

fn stored_command(&(player, command): &(EntityId, Command)) -> StoredCommand {
    let Command { forward, right, yaw, pitch, buttons, view_age } = command;
    let (player, buttons) = (stored_id(player), buttons.bits());
    StoredCommand { player, forward, right, yaw, pitch, buttons, view_age }
}

fn command(stored: StoredCommand) -> Option<(EntityId, Command)> {
    let StoredCommand { player, forward, right, yaw, pitch, buttons, view_age } = stored;
    let buttons = Buttons::from_recorded_bits(buttons)?;
    Some((id(player), Command { forward, right, yaw, pitch, buttons, view_age }))
}

type Wire = Configuration<LittleEndian, Varint, Limit<MAX_FRAME>>;

fn wire() -> Wire {
    bincode::config::standard().with_limit::<MAX_FRAME>()
}

/// The body of a frame; `None` if it would be longer than a frame may be.
fn encode(value: &impl Encode) -> Option<Vec<u8>> {
    let body = bincode::encode_to_vec(value, bincode::config::standard()).ok()?;
    (body.len() <= MAX_FRAME).then_some(body)
}

fn decode<T: Decode<()>>(body: &[u8]) -> Result<T, String> {
    let (value, used) =
        bincode::decode_from_slice(body, wire()).map_err(|error| error.to_string())?;
    if used != body.len() {
        return Err(format!("{} bytes of a frame are left over", body.len() - used));
    }
    Ok(value)
}

pub(crate) fn encode_header(header: &Header) -> Option<Vec<u8>> {
    encode(header)
}

pub(crate) fn decode_header(mut body: Vec<u8>, version: u16) -> Result<Header, String> {
    if version == WITHOUT_BUILD {
        // The build was added at the end: that of this header is empty.
        body.push(0);
    }
    let header: Header = decode(&body)?;
    let Header { objects, max_players, tick_rate, .. } = header;
    // Before anything is made of them: a file may come from anyone.
    if objects as usize + usize::from(max_players) > MAX_ENTITIES {
        return Err(format!(
            "{objects} objects and {max_players} players, of which a match holds {MAX_ENTITIES} at most"
        ));
    }
    if !TICK_RATES.contains(&tick_rate) {
        return Err(format!("{tick_rate} ticks a second, outside {TICK_RATES:?}"));
    }
    Ok(header)
}

pub(crate) fn encode_tick(tick: &Tick) -> Option<Vec<u8>> {
    encode(&Stored::Tick {
        left: tick.left.iter().copied().map(stored_id).collect(),
        joined: tick
            .joined
            .iter()
            .map(|&(who, what)| (stored_id(who), stored_kind(what)))
            .collect(),
        commands: tick.commands.iter().map(stored_command).collect(),
        digest: tick.digest,
    })
}

pub(crate) fn encode_end() -> Option<Vec<u8>> {
    encode(&Stored::End)
}

/// A tick, or `None` for the end mark.
pub(crate) fn decode_tick(body: &[u8]) -> Result<Option<Tick>, String> {
    let Stored::Tick { left, joined, commands, digest } = decode(body)? else { return Ok(None) };
    let commands: Option<Vec<_>> = commands.into_iter().map(command).collect();
    Ok(Some(Tick {
        left: left.into_iter().map(id).collect(),
        joined: joined.into_iter().map(|(who, what)| (id(who), kind(what))).collect(),
        commands: commands.ok_or("a command holds keys that do not exist")?,
        digest,
    }))
}
