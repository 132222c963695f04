use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use obsp_sim::{Command, EntityId};

use crate::chunk::{self, Commands};
use crate::format::{MAGIC, MAX_DELTAS, VERSION, encode, encode_game_file, encode_keyframe};
use crate::frame::{self, Chain, Kind};
use crate::packing::pack;
use crate::{Beginning, Note, RecordedTick, RecordingError, words};

/// Number of ticks of a chunk that is not flushed early. They last a second at 60 ticks a second.
const CHUNK: usize = 60;

/// Writes a recording. A writer that is dropped before [`Writer::finish`] leaves an incomplete
/// recording, which a reader notices.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::AnyGame;
/// use obsp_game::arena::Arena;
/// use obsp_recording::{Beginning, Recorder, Recording, Writer};
/// use obsp_sim::{Command, Config, PlayerKind};
///
/// let config = Config { max_players: 2, ..Config::default() };
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Arena.new_match(map, config)?;
///
/// let mut bytes = Vec::<u8>::new();
/// let beginning = Beginning::of(&*game, config, "my server 1.0");
/// let mut writer = Writer::begin("match.obsr".into(), &mut bytes, &beginning)?;
/// let mut recorder = Recorder::new();
/// let player = game.join_as(PlayerKind::Box)?;
/// for _ in 0..60 {
///     let commands = [(player, Command { forward: 127, ..Command::default() })];
///     game.step(&commands);
///     writer.tick(recorder.tick(&commands, |_| PlayerKind::Box, game.digest()))?;
/// }
/// writer.finish()?;
///
/// let recording = Recording::read("match.obsr".as_ref(), &bytes[..])?;
/// assert_eq!(recording.ticks(), 60);
/// assert_eq!(recording.header().build, "my server 1.0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write = File> {
    path: PathBuf,
    file: BufWriter<W>,
    chain: Chain,
    bytes: u64,
    ticks: u64,
    /// Ticks that are in no chunk yet.
    waiting: Vec<RecordedTick>,
    notes: Vec<Note>,
    /// The commands after the last chunk.
    commands: Commands,
    /// The match at the first keyframe.
    reference: Vec<u8>,
    /// The match at the last keyframe, and the number of deltas since the last whole one.
    last: Vec<u8>,
    deltas: usize,
}

impl Writer {
    /// Creates the file, which replaces an existing one, and writes the beginning of the recording.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(path: &Path, beginning: &Beginning) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Write { path: path.to_owned(), source };
        Self::begin(path.to_owned(), File::create(path).map_err(failed)?, beginning)
    }
}

impl<W: Write> Writer<W> {
    /// Writes the beginning of a recording to an empty file and hands it to the system. The file
    /// can be read from then on, even if this process ends.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin(path: PathBuf, file: W, beginning: &Beginning) -> Result<Self, RecordingError> {
        Self::excerpt(path, file, beginning, (0, &[]))
    }

    /// Writes the beginning of an excerpt, which begins later than its match. `from` is the tick
    /// before the excerpt's first, with the players after that tick and their commands. `beginning`
    /// has the match after that tick.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn excerpt(
        path: PathBuf,
        file: W,
        beginning: &Beginning,
        from: (u64, &[(EntityId, Command)]),
    ) -> Result<Self, RecordingError> {
        let mut writer = Self {
            path,
            file: BufWriter::new(file),
            chain: Chain::new(),
            bytes: 0,
            ticks: from.0,
            waiting: Vec::new(),
            notes: Vec::new(),
            commands: Commands::of(from.1),
            reference: Vec::new(),
            last: Vec::new(),
            deltas: 0,
        };
        let start = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
        writer.file.write_all(&start).map_err(|source| writer.failed(source))?;
        writer.bytes = start.len() as u64;
        let Beginning { header, game_file, saved } = beginning;
        writer.frame(Kind::Header, encode(header))?;
        if !game_file.bundle().is_empty() {
            writer.frame(Kind::GameFile, encode_game_file(game_file))?;
        }
        writer.whole(saved)?;
        writer.reference.clone_from(saved);
        writer.last.clone_from(saved);
        writer.flush()?;
        Ok(writer)
    }

    /// Adds the next tick. It may stay in memory until [`Writer::flush`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn tick(&mut self, tick: RecordedTick) -> Result<(), RecordingError> {
        self.waiting.push(tick);
        self.ticks += 1;
        if self.waiting.len() >= CHUNK { self.write_waiting() } else { Ok(()) }
    }

    /// Adds a keyframe: the whole match after the last tick, as
    /// [`RunningMatch::save`](obsp_game::RunningMatch::save) returns it. It is packed by the
    /// keyframe before it. Each fourth keyframe is packed by the first keyframe of the recording
    /// alone, so that no keyframe takes long to read.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keyframe(&mut self, saved: &[u8]) -> Result<(), RecordingError> {
        self.write_waiting()?;
        if self.deltas < MAX_DELTAS {
            let body = self.packed(saved, &self.last);
            self.frame(Kind::Delta, body)?;
            self.deltas += 1;
        } else {
            self.whole(saved)?;
            self.deltas = 0;
        }
        self.last = saved.to_owned();
        Ok(())
    }

    fn whole(&mut self, saved: &[u8]) -> Result<(), RecordingError> {
        let body = self.packed(saved, &self.reference);
        self.frame(Kind::Keyframe, body)
    }

    fn packed(&self, saved: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
        encode_keyframe(self.ticks, &self.commands.list(), pack(saved, reference)?)
    }

    /// Adds a note, which is not part of any tick. Notes come in ascending order of tick.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Hands all ticks so far to the system. A later crash of this process does not lose them, but
    /// a crash of the machine may.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        self.write_waiting()?;
        self.file.flush().map_err(|source| self.failed(source))
    }

    /// Marks the recording as complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.write_waiting()?;
        self.frame(Kind::End, encode(&self.ticks))?;
        self.flush()
    }

    /// Bytes written so far, those in memory included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write_waiting(&mut self) -> Result<(), RecordingError> {
        if !self.notes.is_empty() {
            let notes = encode(&std::mem::take(&mut self.notes));
            self.frame(Kind::Notes, notes)?;
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        if words::are_in(&self.waiting) {
            self.frame(Kind::Words, words::body_of(&self.waiting))?;
        }
        let body = chunk::encode(&std::mem::take(&mut self.waiting), &mut self.commands);
        self.frame(Kind::Chunk, Some(body))
    }

    fn frame(&mut self, kind: Kind, body: Option<Vec<u8>>) -> Result<(), RecordingError> {
        let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, "a frame is over 16 MiB");
        let body = body.ok_or_else(|| self.failed(too_long()))?;
        let written = frame::write(&mut self.file, &mut self.chain, kind, &body);
        self.bytes += written.map_err(|source| self.failed(source))?;
        Ok(())
    }

    fn failed(&self, source: io::Error) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), source }
    }
}
