//! Reading a recording.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp_game::GameFile;

use crate::chunk::{self, Commands};
use crate::format::{
    MAGIC, MAX_DELTAS, PackedKeyframe, VERSION, decode, decode_game_file, decode_header,
    decode_keyframe,
};
use crate::frame::{self, Chain, Found, Kind, read_exact};
use crate::packing::unpack;
use crate::{Beginning, Header, Keyframe, Note, RecordedTick, RecordingError, words};

/// Maximum number of notes that are kept of a recording.
const MAX_NOTES: usize = 1 << 17;

/// The latest tick after which an excerpt may begin. Servers count ticks in 32 bits.
const LAST_BEGINNING: u64 = u32::MAX as u64;

/// A recording, up to its end or to the first damage. It may come from anyone, so every frame is
/// checked against the hashes. A frame stays packed until it is needed, so that memory is used only
/// for the bytes of the file.
///
/// ```
/// # use std::sync::Arc;
/// #
/// # use obsp_game::AnyGame;
/// # use obsp_game::arena::Arena;
/// # use obsp_recording::{Beginning, Recorder, Writer};
/// # use obsp_sim::Config;
/// #
/// # let config = Config { max_players: 2, ..Config::default() };
/// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// # let mut game = Arena.new_match(Arc::clone(&map), config)?;
/// # let (mut bytes, mut recorder) = (Vec::<u8>::new(), Recorder::new());
/// # let beginning = Beginning::of(&*game, config, "");
/// # let mut writer = Writer::begin("match.obsr".into(), &mut bytes, &beginning)?;
/// # for _ in 0..60 {
/// #     game.step(&[]);
/// #     writer.tick(recorder.tick(&[], |_| Default::default(), game.digest()))?;
/// # }
/// # writer.finish()?;
/// #
/// use obsp_recording::{Recording, RecordingError};
///
/// // `bytes` is a recording of 60 ticks.
/// let recording = Recording::read("match.obsr".as_ref(), &bytes[..])?;
/// assert_eq!(recording.ticks(), 60);
/// assert!(recording.incomplete().is_none());
///
/// // A recording without its last byte plays as well, and says that it was cut off.
/// let cut = Recording::read("cut.obsr".as_ref(), &bytes[..bytes.len() - 1])?;
/// assert_eq!(cut.ticks(), 60);
/// assert!(matches!(cut.incomplete(), Some(RecordingError::Truncated { tick: 60, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    path: PathBuf,
    header: Header,
    game_file: GameFile,
    parts: Arc<[Part]>,
    /// Indices of the parts that are keyframes.
    keyframes: Vec<usize>,
    notes: Vec<Note>,
    ticks: u64,
    /// The match at the first keyframe, by which other keyframes are packed.
    reference: Arc<[u8]>,
    incomplete: Option<Arc<RecordingError>>,
}

/// A frame, and the tick before it.
#[derive(Debug)]
struct Part {
    kind: Kind,
    tick: u64,
    body: Vec<u8>,
}

/// The ticks of a recording from a keyframe on.
#[derive(Clone, Debug)]
pub struct Ticks {
    recording: Recording,
    /// The part to read next.
    part: usize,
    commands: Commands,
    ready: std::vec::IntoIter<RecordedTick>,
}

impl Recording {
    /// Reads the recording in a file.
    ///
    /// # Errors
    /// The file cannot be read, is not a recording, or is damaged or ends before its first tick.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Read { path: path.to_owned(), source };
        Self::read(path, BufReader::new(File::open(path).map_err(failed)?))
    }

    /// Reads a recording from any source. Errors name the recording by `path`.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn read(path: &Path, mut file: impl Read) -> Result<Self, RecordingError> {
        let mut reading = Reading { path, file: &mut file, chain: Chain::new(), ticks: 0 };
        reading.start()?;
        let body = reading.expect(Kind::Header)?;
        let header = decode_header(&body).map_err(|reason| reading.damaged(reason))?;
        let mut game_file = GameFile::default();
        if header.game_hash != game_file.hash() {
            let body = reading.expect(Kind::GameFile)?;
            let read = decode_game_file(&body, header.game_hash);
            game_file = read.map_err(|reason| reading.damaged(reason))?;
        }
        let first = reading.expect(Kind::Keyframe)?;
        let keyframe = decode_keyframe(&first).map_err(|reason| reading.damaged(reason))?;
        let PackedKeyframe { tick, commands, packed } = keyframe;
        if tick == 0 && !commands.is_empty() {
            return Err(reading.damaged("its first keyframe has players before the first tick"));
        }
        if tick > LAST_BEGINNING {
            return Err(reading.damaged("it begins at a later tick than any match reaches"));
        }
        reading.ticks = tick;
        let reference = unpack(&packed, &[]);
        let reference = reference.ok_or_else(|| reading.damaged("a keyframe cannot be read"))?;
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        parts.push(Part { kind: Kind::Keyframe, tick, body: first });
        let incomplete = reading.rest(&mut parts, &mut notes).err();
        let ticks = reading.ticks;
        let is_keyframe = |(index, part): (usize, &Part)| part.kind.is_keyframe().then_some(index);
        Ok(Self {
            path: path.to_owned(),
            header,
            game_file,
            keyframes: parts.iter().enumerate().filter_map(is_keyframe).collect(),
            parts: parts.into(),
            notes,
            ticks,
            reference: reference.into(),
            incomplete: incomplete.map(Arc::new),
        })
    }

    /// The set-up of the match.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The `game.toml` that the match was set up by; the defaults if there was none.
    pub fn game_file(&self) -> &GameFile {
        &self.game_file
    }

    /// The beginning of the recording, for a copy.
    ///
    /// # Errors
    /// As [`Recording::keyframe`].
    pub fn beginning(&self) -> Result<Beginning, RecordingError> {
        let (header, game_file) = (self.header.clone(), self.game_file.clone());
        Ok(Beginning { header, game_file, saved: self.keyframe(0)?.saved })
    }

    /// The tick after which the recording begins: 0, or a later one for an excerpt.
    pub fn first_tick(&self) -> u64 {
        self.parts[0].tick
    }

    /// The number of the last tick. It is also the number of ticks, unless the recording is an
    /// excerpt.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The reason why the recording ends before its end mark, if it does: it was cut off, or is
    /// damaged. Everything before that place can be trusted.
    pub fn incomplete(&self) -> Option<&RecordingError> {
        self.incomplete.as_deref()
    }

    /// Names, chat and deaths, in ascending order of tick.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The ticks of the keyframes, in ascending order. The first is the tick after which the
    /// recording begins.
    pub fn keyframes(&self) -> impl ExactSizeIterator<Item = u64> {
        self.keyframes.iter().map(|&part| self.parts[part].tick)
    }

    /// The number of the last keyframe at or before a tick.
    pub fn keyframe_before(&self, tick: u64) -> usize {
        self.keyframes.partition_point(|&part| self.parts[part].tick <= tick).saturating_sub(1)
    }

    /// A keyframe by its number, counted from 0. For a number beyond the last keyframe, the result
    /// is the last keyframe.
    ///
    /// # Errors
    /// [`RecordingError::Damaged`] if its body is not a keyframe. In that case somebody made the
    /// body on purpose, because its hash was right.
    pub fn keyframe(&self, number: usize) -> Result<Keyframe, RecordingError> {
        let last = number.min(self.keyframes.len() - 1);
        let is_whole = |&number: &usize| self.parts[self.part_of(number)].kind == Kind::Keyframe;
        // The first keyframe of a recording is packed without another keyframe.
        let whole = (0..=last).rev().find(is_whole).unwrap_or(0);
        let mut keyframe = Keyframe { tick: 0, commands: Vec::new(), saved: Vec::new() };
        for number in whole..=last {
            let part = &self.parts[self.part_of(number)];
            let damaged = |reason| self.damaged(part.tick, reason);
            let PackedKeyframe { tick, commands, packed } =
                decode_keyframe(&part.body).map_err(damaged)?;
            let reference: &[u8] = match part.kind {
                Kind::Delta => &keyframe.saved,
                _ if tick == self.first_tick() => &[],
                _ => &self.reference,
            };
            let saved = unpack(&packed, reference);
            let saved = saved.ok_or_else(|| damaged("a keyframe cannot be read".into()))?;
            keyframe = Keyframe { tick, commands, saved };
        }
        Ok(keyframe)
    }

    /// All ticks after the keyframe with this number.
    ///
    /// # Errors
    /// As [`Recording::keyframe`].
    pub fn ticks_after(&self, number: usize) -> Result<Ticks, RecordingError> {
        let part = self.part_of(number);
        let damaged = |reason| self.damaged(self.parts[part].tick, reason);
        let keyframe = decode_keyframe(&self.parts[part].body).map_err(damaged)?;
        let (commands, ready) = (Commands::of(&keyframe.commands), Vec::new().into_iter());
        Ok(Ticks { recording: self.clone(), part: part + 1, commands, ready })
    }

    fn part_of(&self, number: usize) -> usize {
        // There is at least one keyframe.
        self.keyframes[number.min(self.keyframes.len() - 1)]
    }

    fn damaged(&self, tick: u64, reason: String) -> RecordingError {
        RecordingError::Damaged { path: self.path.clone(), tick, reason }
    }
}

impl Ticks {
    fn next_chunk(&mut self) -> Option<Result<(), RecordingError>> {
        let mut spoken: &[u8] = &[];
        loop {
            let part = self.recording.parts.get(self.part)?;
            self.part += 1;
            match part.kind {
                Kind::Words => spoken = &part.body,
                Kind::Chunk => {
                    let ticks = chunk::decode(&part.body, &mut self.commands);
                    let ticks = ticks.and_then(|mut ticks| {
                        if !spoken.is_empty() {
                            words::add(spoken, &mut ticks)?;
                        }
                        Ok(ticks)
                    });
                    return Some(match ticks {
                        Ok(ticks) => {
                            self.ready = ticks.into_iter();
                            Ok(())
                        }
                        Err(reason) => {
                            self.part = usize::MAX;
                            Err(self.recording.damaged(part.tick, reason))
                        }
                    });
                }
                _ => {}
            }
        }
    }
}

impl Iterator for Ticks {
    type Item = Result<RecordedTick, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(tick) = self.ready.next() {
                return Some(Ok(tick));
            }
            if let Err(error) = self.next_chunk()? {
                return Some(Err(error));
            }
        }
    }
}

/// A file that is being read.
struct Reading<'a, R> {
    path: &'a Path,
    file: &'a mut R,
    chain: Chain,
    /// The number of ticks so far.
    ticks: u64,
}

impl<R: Read> Reading<'_, R> {
    /// Reads the magic and the version, which have to be those of this format.
    fn start(&mut self) -> Result<(), RecordingError> {
        let path = || self.path.to_owned();
        let mut start = [0; 6];
        let found = read_exact(self.file, &mut start);
        let found = found.map_err(|source| RecordingError::Read { path: path(), source })?;
        let [magic @ .., low, high] = start;
        if !found || magic != MAGIC {
            return Err(RecordingError::Magic { path: path() });
        }
        match u16::from_le_bytes([low, high]) {
            VERSION => Ok(()),
            version => Err(RecordingError::Version { path: path(), version }),
        }
    }

    /// Reads the next frame, which must be of the `expected` kind, and returns its body.
    fn expect(&mut self, expected: Kind) -> Result<Vec<u8>, RecordingError> {
        match self.frame()? {
            (kind, body) if kind == expected => Ok(body),
            _ => Err(self.damaged("a frame has another kind than the one that belongs here")),
        }
    }

    fn frame(&mut self) -> Result<(Kind, Vec<u8>), RecordingError> {
        let path = || self.path.to_owned();
        match frame::read(self.file, &mut self.chain) {
            Ok(Found::Frame(kind, body)) => Ok((kind, body)),
            Ok(Found::End) => Err(RecordingError::Truncated { path: path(), tick: self.ticks }),
            Ok(Found::Damaged(reason)) => Err(self.damaged(reason)),
            Err(source) => Err(RecordingError::Read { path: path(), source }),
        }
    }

    /// Reads to the end mark.
    fn rest(&mut self, parts: &mut Vec<Part>, notes: &mut Vec<Note>) -> Result<(), RecordingError> {
        let mut deltas = 0;
        loop {
            let (kind, body) = self.frame()?;
            let tick = self.ticks;
            match kind {
                Kind::Header => return Err(self.damaged("it has a second header")),
                Kind::GameFile => return Err(self.damaged("it has a second game.toml")),
                Kind::Keyframe | Kind::Delta => {
                    deltas = if kind == Kind::Delta { deltas + 1 } else { 0 };
                    if deltas > MAX_DELTAS {
                        return Err(self
                            .damaged("too many keyframes in a row are packed by the one before"));
                    }
                    let named = decode_keyframe(&body).map_err(|reason| self.damaged(reason))?.tick;
                    if named != tick {
                        return Err(self.damaged(format!(
                            "a keyframe names tick {named} instead of the tick before it"
                        )));
                    }
                    parts.push(Part { kind, tick, body });
                }
                Kind::Chunk => {
                    let count = chunk::count(&body).map_err(|reason| self.damaged(reason))?;
                    parts.push(Part { kind, tick, body });
                    self.ticks += count as u64;
                }
                Kind::Words => parts.push(Part { kind, tick, body }),
                Kind::Notes => {
                    let more: Vec<Note> = decode(&body).map_err(|reason| self.damaged(reason))?;
                    if notes.len() + more.len() > MAX_NOTES {
                        return Err(self.damaged("it has more notes than any match"));
                    }
                    notes.extend(more);
                }
                Kind::End => return self.end(&body),
            }
        }
    }

    fn end(&mut self, body: &[u8]) -> Result<(), RecordingError> {
        let ticks: u64 = decode(body).map_err(|reason| self.damaged(reason))?;
        if ticks != self.ticks {
            return Err(self.damaged(format!(
                "its end mark says that it has {ticks} ticks, but it has {}",
                self.ticks
            )));
        }
        match self.file.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged("something follows the end mark")),
            Err(source) if source.kind() == io::ErrorKind::Interrupted => self.end(body),
            Err(source) => Err(RecordingError::Read { path: self.path.to_owned(), source }),
        }
    }

    fn damaged(&self, reason: impl Into<String>) -> RecordingError {
        let (path, reason) = (self.path.to_owned(), reason.into());
        RecordingError::Damaged { path, tick: self.ticks, reason }
    }
}
