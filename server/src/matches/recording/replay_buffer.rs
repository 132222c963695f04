//! Keeps the last half minute of a level in memory, for pages that watch it and want to see it
//! again.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use obsp_game::{Event, RunningMatch};
use obsp_proto::control::MatchEvent;
use obsp_sim::{Command, Config, EntityId};

use super::live::{NewsReceiver, next_said};
use super::{
    Beginning, Note, RecordedTick, Recorder, RecordingError, Said, Writer, beginning_of, kind_in,
};

/// At least this many seconds are kept, once the level has lasted that long.
const KEPT_SECONDS: u64 = 30;

/// Seconds between two keyframes. Up to this much more than [`KEPT_SECONDS`] is kept, because the
/// kept part begins with a keyframe. To jump to a tick, a page plays at most this many seconds,
/// which takes less than 200 ms.
const KEYFRAME_SECONDS: u64 = 3;

/// Limit in bytes of the keyframes that are kept. A keyframe of 32 players and 200 bodies takes
/// about 80 kB. If keyframes are larger, less time is kept.
const MAX_BYTES: usize = 32 << 20;

/// Maximum number of lines of chat that are kept per second, because a flood of short ones would
/// take much memory: 128 of the longest are 90 kB.
const MAX_LINES: usize = 128;

/// The last seconds of a level. The tick thread adds to them. The lock on them is held only to add
/// a piece, or to clone the references to all pieces.
pub(crate) struct ReplayBuffer {
    beginning: Beginning,
    tick_rate: u64,
    /// The second that is not complete yet. Pages do not lock it.
    newest: Mutex<Newest>,
    pieces: Mutex<VecDeque<Arc<Piece>>>,
}

/// The ticks that are in no piece yet.
struct Newest {
    recorder: Recorder,
    count: u64,
    /// The events that bring names, chat and phases.
    news: Option<NewsReceiver>,
    /// The latest name in each slot.
    names: BTreeMap<u16, String>,
    piece: Piece,
}

/// A second of the match.
#[derive(Default)]
struct Piece {
    /// The match before this second, if there is a keyframe.
    keyframe: Option<Saved>,
    ticks: Vec<RecordedTick>,
    /// Names, chat, deaths and phases. There are no more names than joins in the ticks.
    notes: Vec<Note>,
    /// How many of the notes are lines of chat.
    lines: usize,
}

/// The match after a tick, and the commands and names of its players.
struct Saved {
    tick: u64,
    commands: Vec<(EntityId, Command)>,
    names: BTreeMap<u16, String>,
    saved: Vec<u8>,
}

impl Newest {
    /// Keeps the names and the chat that came in since the last tick.
    fn hear(&mut self) {
        let tick = self.count;
        while let Some(what) = self.news.as_mut().and_then(next_said) {
            match &what {
                Said::Name(slot, name) => {
                    self.names.insert(*slot, name.clone());
                }
                Said::Chat(..) if self.piece.lines == MAX_LINES => continue,
                Said::Chat(..) => self.piece.lines += 1,
                Said::Died(..) | Said::DiedOf(..) | Said::Round { .. } => {}
            }
            self.piece.notes.push(Note { tick, what });
        }
    }
}

impl ReplayBuffer {
    /// The buffer of a level that has not ticked yet.
    pub(crate) fn new(simulation: &dyn RunningMatch, config: Config) -> Self {
        let beginning = beginning_of(simulation, config);
        let (commands, names) = (Vec::new(), BTreeMap::new());
        let keyframe = Some(Saved { tick: 0, commands, names, saved: simulation.save() });
        let newest = Newest {
            recorder: Recorder::new(),
            count: 0,
            news: None,
            names: BTreeMap::new(),
            piece: Piece { keyframe, ..Piece::default() },
        };
        Self {
            beginning,
            tick_rate: config.tick_rate.into(),
            newest: Mutex::new(newest),
            pieces: Mutex::default(),
        }
    }

    /// Keeps the names and the chat that `news` brings from now on.
    pub(crate) fn hear(&self, news: NewsReceiver) {
        lock(&self.newest).news = Some(news);
    }

    /// Adds the tick that `simulation` was just advanced by.
    pub(crate) fn ticked(&self, simulation: &dyn RunningMatch, commands: &[(EntityId, Command)]) {
        let mut newest = lock(&self.newest);
        newest.count += 1;
        let tick = newest.count;
        newest.hear();
        let died = |event: &Event| match event {
            Event::Died { player, by, means } => {
                Some(Note { tick, what: Said::died(*player, *by, means) })
            }
            _ => None,
        };
        newest.piece.notes.extend(simulation.events().iter().filter_map(died));
        let kind = kind_in(simulation.world());
        let recorded = newest.recorder.tick(commands, kind, simulation.digest());
        newest.piece.ticks.push(recorded.with_words(simulation));
        if !tick.is_multiple_of(self.tick_rate) {
            return;
        }
        let keyframe = tick.is_multiple_of(self.tick_rate * KEYFRAME_SECONDS).then(|| {
            let mut commands = commands.to_vec();
            commands.sort_unstable_by_key(|(id, _)| *id);
            let name = |(id, _): &(EntityId, _)| newest.names.remove_entry(&id.slot);
            let names: BTreeMap<_, _> = commands.iter().filter_map(name).collect();
            // The names of players who have left are forgotten.
            newest.names.clone_from(&names);
            Saved { tick, commands, names, saved: simulation.save() }
        });
        let next = Piece { keyframe, ..Piece::default() };
        let piece = std::mem::replace(&mut newest.piece, next);
        drop(newest);
        let mut pieces = lock(&self.pieces);
        pieces.push_back(Arc::new(piece));
        trim(&mut pieces);
    }

    /// The last tick in the excerpt that pages get, which identifies the excerpt.
    pub(crate) fn last_tick(&self) -> u64 {
        let pieces = lock(&self.pieces);
        let first = pieces.front().and_then(|piece| piece.keyframe.as_ref());
        first.map_or(0, |first| first.tick)
            + pieces.iter().map(|piece| piece.ticks.len() as u64).sum::<u64>()
    }

    /// A recording of the kept pieces, with the names and the chat of its ticks. It lacks up to a
    /// second of the latest ticks. If a player's name did not come in, it is taken from
    /// `introductions`. `None` in the first second.
    ///
    /// # Errors
    /// A keyframe is longer than a recording can hold.
    pub(crate) fn excerpt(
        &self,
        introductions: &[MatchEvent],
    ) -> Option<Result<Vec<u8>, RecordingError>> {
        let pieces: Vec<Arc<Piece>> = lock(&self.pieces).iter().cloned().collect();
        let first = pieces.first()?.keyframe.as_ref()?;
        Some(self.write(first, &pieces, introductions))
    }

    fn write(
        &self,
        first: &Saved,
        pieces: &[Arc<Piece>],
        introductions: &[MatchEvent],
    ) -> Result<Vec<u8>, RecordingError> {
        let mut bytes = Vec::new();
        let beginning = self.beginning.later(first.saved.clone());
        let from = (first.tick, &first.commands[..]);
        let mut writer = Writer::excerpt(PathBuf::new(), &mut bytes, &beginning, from)?;
        let mut names = first.names.clone();
        for event in introductions {
            if let MatchEvent::Joined { player, name } = event
                && first.commands.binary_search_by_key(player, |(id, _)| *id).is_ok()
            {
                names.insert(player.slot, name.as_str().to_owned());
            }
        }
        for (slot, name) in names {
            writer.note(Note { tick: first.tick, what: Said::Name(slot, name) });
        }
        for piece in pieces {
            if let Some(keyframe) = piece.keyframe.as_ref().filter(|own| own.tick > first.tick) {
                writer.keyframe(&keyframe.saved)?;
            }
            for note in &piece.notes {
                writer.note(note.clone());
            }
            for tick in &piece.ticks {
                writer.tick(tick.clone())?;
            }
        }
        writer.finish()?;
        Ok(bytes)
    }
}

/// Drops the oldest pieces up to the next keyframe, as long as the rest lasts long enough or the
/// keyframes have too many bytes.
fn trim(pieces: &mut VecDeque<Arc<Piece>>) {
    loop {
        let is_keyframe = |piece: &Arc<Piece>| piece.keyframe.is_some();
        let Some(next) = pieces.iter().skip(1).position(is_keyframe).map(|at| at + 1) else {
            return;
        };
        let keyframes = pieces.iter().filter_map(|piece| piece.keyframe.as_ref());
        let bytes: usize = keyframes.map(|keyframe| keyframe.saved.len()).sum();
        if pieces.len() - next < KEPT_SECONDS as usize && bytes <= MAX_BYTES {
            return;
        }
        pieces.drain(..next);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
