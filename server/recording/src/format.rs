//! The content of a recording, and how each part is stored in its frame.

use std::ops::RangeInclusive;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};
use obsp_game::{GameFile, PlayerInfo, RunningMatch};
use obsp_proto::control::RoundPhase;
use obsp_sim::{Buttons, Command, Config, EntityId, MAX_ENTITIES, PlayerKind};

/// The first bytes of every recording.
pub(crate) const MAGIC: [u8; 4] = *b"OBSR";

/// The version of the format, and the only one that is read. Every change that an older reader
/// would misread raises it.
pub(crate) const VERSION: u16 = 12;

/// Maximum length of a frame's body, in bytes.
pub(crate) const MAX_BODY: usize = 1 << 24;

/// Maximum number of consecutive keyframes that are packed by the previous keyframe. To read the
/// last of them, a reader reads all of them.
pub(crate) const MAX_DELTAS: usize = 3;

/// Tick rates of servers and soak tests, in ticks per second.
const TICK_RATES: RangeInclusive<u32> = 10..=128;

/// The set-up of a match.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// The name of the map.
    pub map_name: String,
    /// BLAKE3 hash of the map.
    pub map_hash: [u8; 32],
    #[bincode(with_serde)]
    config: Config,
    /// Maximum cost of a tick's bodies, as [`obsp_sim::World::budget`].
    pub(crate) budget: Option<u32>,
    /// The name of the game.
    pub game: String,
    /// BLAKE3 hash of the `game.toml` that the match was set up by; zeros if there was none.
    pub game_hash: [u8; 32],
    /// The build of the server that recorded the match; empty if it is not known.
    pub build: String,
}

/// The beginning of a recording: the match before its first tick.
#[derive(Clone, Debug)]
pub struct Beginning {
    pub(crate) header: Header,
    pub(crate) game_file: GameFile,
    /// The match, as [`RunningMatch::save`] returned it.
    pub(crate) saved: Vec<u8>,
}

impl Beginning {
    /// The beginning of an excerpt: the same match at a later moment. `saved` is the match at that
    /// moment, as [`RunningMatch::save`] returned it.
    #[must_use]
    pub fn later(&self, saved: Vec<u8>) -> Self {
        Self { header: self.header.clone(), game_file: self.game_file.clone(), saved }
    }

    /// The beginning of a recording of `game`, a match with this configuration that nobody has
    /// joined yet. `build` names the build that records it.
    pub fn of(game: &dyn RunningMatch, config: Config, build: &str) -> Self {
        let (map, game_file) = (game.world().map(), game.game_file().clone());
        let header = Header {
            map_name: map.name().to_owned(),
            map_hash: map.hash(),
            config,
            budget: game.world().budget(),
            game: game.game_name().to_owned(),
            game_hash: game_file.hash(),
            build: build.to_owned(),
        };
        Self { header, game_file, saved: game.save() }
    }
}

impl Header {
    /// The configuration of the match.
    pub fn config(&self) -> Config {
        self.config
    }
}

/// The input of one tick, as changes from the previous tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTick {
    /// The players who left before the tick, in the order in which they left.
    pub left: Vec<EntityId>,
    /// The players who joined after these had left, in the order in which they joined, with their
    /// kinds.
    pub joined: Vec<(EntityId, PlayerKind)>,
    /// The players in `joined` whose name or number the match was told.
    pub introduced: Vec<(EntityId, PlayerInfo)>,
    /// The lines that players said before the tick and before anybody left or joined, in the order
    /// in which they came.
    pub said: Vec<(EntityId, String)>,
    /// Players whose command differs from their command in the previous tick, in ascending order of
    /// id. A player who has just joined stands idle until the first command.
    pub commands: Vec<(EntityId, Command)>,
    /// Digest of the match after the tick.
    pub digest: u64,
}

impl RecordedTick {
    /// This tick with its names and lines. `game` has just played the tick, and was told them
    /// before.
    #[must_use]
    pub fn with_words(self, game: &dyn RunningMatch) -> Self {
        let info = |&(id, _): &(EntityId, _)| Some((id, game.player(id)?.clone()));
        let introduced = self.joined.iter().filter_map(info).collect();
        Self { introduced, said: game.said().to_vec(), ..self }
    }
}

/// The whole match after a tick. A playback can go on from a keyframe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyframe {
    /// The tick; 0 stands for the match before its first tick.
    pub tick: u64,
    /// The players in the match and their latest commands, in ascending order of id.
    pub commands: Vec<(EntityId, Command)>,
    /// The match, as [`RunningMatch::save`](obsp_game::RunningMatch::save) returns it.
    pub saved: Vec<u8>,
}

/// A note that people look for in a recording, and that no tick contains. Nothing is computed from
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Note {
    /// The tick that the note belongs to.
    pub tick: u64,
    /// The content of the note.
    pub what: Said,
}

/// The content of a [`Note`]. Players are named by their slots.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Said {
    /// A player has this name from now on.
    Name(u16, String),
    /// A player has said a line. With `None` the server has said it.
    Chat(Option<u16>, String),
    /// The second player killed the first. The two are equal after a suicide.
    Died(u16, u16),
    /// A death as in [`Said::Died`], and its means.
    DiedOf(u16, u16, String),
    /// The match is in another phase from now on.
    Round {
        /// The phase.
        phase: RoundPhase,
        /// Ticks until the phase ends by time; 0 if it has no time limit.
        left: u32,
        /// The map of the next round; empty unless the phase is an intermission.
        next: String,
    },
}

impl Said {
    /// The note that `by` killed `player`.
    pub fn died(player: EntityId, by: EntityId, means: &str) -> Self {
        match means {
            "" => Self::Died(player.slot, by.slot),
            means => Self::DiedOf(player.slot, by.slot, means.to_owned()),
        }
    }
}

type Wire = Configuration<LittleEndian, Varint, Limit<MAX_BODY>>;

fn wire() -> Wire {
    bincode::config::standard().with_limit::<MAX_BODY>()
}

/// The body of a frame; `None` if it would be longer than a frame may be.
pub(crate) fn encode(value: &impl Encode) -> Option<Vec<u8>> {
    let body = bincode::encode_to_vec(value, bincode::config::standard()).ok()?;
    (body.len() <= MAX_BODY).then_some(body)
}

pub(crate) fn decode<T: Decode<()>>(body: &[u8]) -> Result<T, String> {
    let (value, used) =
        bincode::decode_from_slice(body, wire()).map_err(|error| error.to_string())?;
    if used != body.len() {
        return Err(format!("{} bytes of a frame are left over", body.len() - used));
    }
    Ok(value)
}

/// Decodes a value from the start of a body. The rest of the body may be missing.
pub(crate) fn decode_start<T: Decode<()>>(body: &[u8]) -> Option<T> {
    bincode::decode_from_slice(body, wire()).ok().map(|(value, _)| value)
}

pub(crate) fn decode_header(body: &[u8]) -> Result<Header, String> {
    let header: Header = decode(body)?;
    let Config { objects, max_players, tick_rate, .. } = header.config;
    // The numbers are checked before memory is allocated for them, because a file may come from
    // anyone.
    if objects as usize + usize::from(max_players) > MAX_ENTITIES {
        return Err(format!(
            "it has {objects} objects and {max_players} players, together more than {MAX_ENTITIES}"
        ));
    }
    if !TICK_RATES.contains(&tick_rate) {
        return Err(format!("it has {tick_rate} ticks a second, which is outside {TICK_RATES:?}"));
    }
    Ok(header)
}

/// Encodes a `game.toml` as the body of a frame: its texts, and its numbers for a reader without a
/// TOML parser.
pub(crate) fn encode_game_file(file: &GameFile) -> Option<Vec<u8>> {
    encode(&(file.bundle(), file.to_binary()))
}

/// Decodes the `game.toml` and its models from a body. `hash` is the hash of their bundle, which
/// the header names.
pub(crate) fn decode_game_file(body: &[u8], hash: [u8; 32]) -> Result<GameFile, String> {
    let (bundle, numbers): (Vec<u8>, Vec<u8>) = decode(body)?;
    let refused = |error| format!("its game.toml: {error}");
    #[cfg(not(feature = "text"))]
    let file = GameFile::from_binary(&bundle, &numbers).map_err(refused)?;
    #[cfg(feature = "text")]
    let file = GameFile::from_bundle(&bundle).map_err(refused)?;
    #[cfg(feature = "text")]
    if file.to_binary() != numbers {
        return Err(
            "the numbers of its game.toml are not the numbers that its match is played by".into()
        );
    }
    if file.hash() != hash {
        return Err("its game.toml is not the one that its header names".into());
    }
    Ok(file)
}

/// Encodes a keyframe as the body of a frame. `packed` is the packed match.
pub(crate) fn encode_keyframe(
    tick: u64,
    commands: &[(EntityId, Command)],
    packed: Vec<u8>,
) -> Option<Vec<u8>> {
    encode(&PackedKeyframe { tick, commands: commands.to_vec(), packed })
}

/// A keyframe whose match is packed.
#[derive(Encode, Decode)]
pub(crate) struct PackedKeyframe {
    pub(crate) tick: u64,
    #[bincode(with_serde)]
    pub(crate) commands: Vec<(EntityId, Command)>,
    pub(crate) packed: Vec<u8>,
}

pub(crate) fn decode_keyframe(body: &[u8]) -> Result<PackedKeyframe, String> {
    let keyframe: PackedKeyframe = decode(body)?;
    let commands = &keyframe.commands;
    let exist = |buttons: Buttons| Buttons::from_recorded_bits(buttons.bits()).is_some();
    if !commands.iter().all(|(_, command)| exist(command.buttons)) {
        return Err("a command holds keys that do not exist".into());
    }
    if !commands.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err("the players of a keyframe are not in order".into());
    }
    Ok(keyframe)
}
