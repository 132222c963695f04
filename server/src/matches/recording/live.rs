//! Recording while the match is served: the tick thread appends to a bounded queue, and
//! another thread writes it to disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use obsp_game::{Event, RunningMatch};
use obsp_proto::control::MatchEvent;
use obsp_sim::{Command, Config, EntityId};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;
use tracing::info;

use super::new_file::NewFile;
use super::{
    Beginning, Note, RecordedTick, Recorder, RecordingError, Said, Schedule, Status, Writer,
    beginning_of, kind_in,
};
use crate::matches::level::News;

/// Ticks that may wait for the disk: about four seconds at 60 Hz.
const WAITING_TICKS: usize = 256;

/// Time between two flushes. A server that is killed loses at most this much of its recording.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// A receiver of the events that players are sent.
pub(crate) type NewsReceiver = broadcast::Receiver<News>;

/// An item for the thread that writes.
enum Item {
    Tick(RecordedTick),
    /// The whole match after the last tick.
    Keyframe(Vec<u8>),
    Note(Note),
}

/// The next name, line of chat or phase that has come in for everybody.
pub(super) fn next_said(news: &mut NewsReceiver) -> Option<Said> {
    loop {
        match news.try_recv().map(|News { event, tick, to }| (event, tick, to)) {
            Ok((.., Some(_))) => {}
            Ok((MatchEvent::Joined { player, name }, ..)) => {
                return Some(Said::Name(player.slot, name.as_str().to_owned()));
            }
            Ok((MatchEvent::Said { player, line }, ..)) => {
                return Some(Said::Chat(Some(player.slot), line.as_str().to_owned()));
            }
            Ok((MatchEvent::Announced { line }, ..)) => {
                return Some(Said::Chat(None, line.as_str().to_owned()));
            }
            Ok((MatchEvent::Round { phase, ends, next }, tick, _)) => {
                let left = ends.map_or(0, |ends| ends.distance(tick));
                return Some(Said::Round {
                    phase,
                    left: u32::try_from(left).unwrap_or_default(),
                    next: next.map_or_else(String::new, |map| map.as_str().to_owned()),
                });
            }
            Ok(_) | Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
        }
    }
}

/// Records a match from its tick thread without ever making it wait: ticks go to a thread that
/// writes them. If the disk falls so far behind that the queue is full, the recording ends there,
/// because a recording with a gap is worthless. The match goes on in any case.
pub(crate) struct LiveRecorder {
    recorder: Recorder,
    schedule: Schedule,
    /// Ticks so far.
    count: u64,
    news: Option<NewsReceiver>,
    items: Option<SyncSender<Item>>,
    status: Arc<Status>,
}

/// The work of the thread that writes a recording.
pub(crate) struct RecordingThread {
    /// The file that was asked for.
    path: PathBuf,
    beginning: Beginning,
    /// The writer of the file, or why there is none. `None` until the thread has tried to create
    /// the file.
    writer: Option<Result<Writer, RecordingError>>,
    items: Receiver<Item>,
    status: Arc<Status>,
}

impl LiveRecorder {
    /// Begins to record a match that has not ticked yet, to `path` or a numbered file beside it.
    /// No disk is touched here: the thread creates the file, and ticks wait in the queue until the
    /// file exists. `news` brings names, chat and phases.
    pub(crate) fn new(
        path: &Path,
        simulation: &dyn RunningMatch,
        config: Config,
        news: Option<NewsReceiver>,
    ) -> (Self, RecordingThread) {
        let status = Arc::new(Status::new(path.to_owned()));
        let (sender, items) = sync_channel(WAITING_TICKS);
        let thread = RecordingThread {
            path: path.to_owned(),
            beginning: beginning_of(simulation, config),
            writer: None,
            items,
            status: Arc::clone(&status),
        };
        let (recorder, schedule) = (Recorder::new(), Schedule::new(config));
        (Self { recorder, schedule, count: 0, news, items: Some(sender), status }, thread)
    }

    /// The status of the recording.
    pub(crate) fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Records the tick that `simulation` was just advanced by.
    pub(crate) fn ticked(
        &mut self,
        simulation: &dyn RunningMatch,
        commands: &[(EntityId, Command)],
    ) {
        if self.items.is_none() {
            return;
        }
        self.count += 1;
        let tick = self.count;
        while let Some(what) = self.news.as_mut().and_then(next_said) {
            self.send(Item::Note(Note { tick, what }));
        }
        for event in simulation.events() {
            if let Event::Died { player, by, means } = event {
                let what = Said::died(*player, *by, means);
                self.send(Item::Note(Note { tick, what }));
            }
        }
        // The digest is taken every tick, so that a replay can name the very tick that differs. It
        // takes about ten microseconds with 500 bodies.
        let kind = kind_in(simulation.world());
        let recorded = self.recorder.tick(commands, kind, simulation.digest());
        self.send(Item::Tick(recorded.with_words(simulation)));
        if self.schedule.is_due(simulation.world(), commands.len()) {
            // Saving takes about 0.3 ms with 32 players and 300 bodies. The thread that writes
            // compresses the keyframe.
            self.send(Item::Keyframe(simulation.save()));
        }
    }

    fn send(&mut self, item: Item) {
        let Some(items) = &self.items else { return };
        let outcome = items.try_send(item);
        if let Err(TrySendError::Full(_)) = outcome {
            self.status.fail(format!(
                "the disk is more than {WAITING_TICKS} ticks behind; record to a faster disk"
            ));
        }
        // A writer that failed has reported it already.
        if outcome.is_err() {
            self.items = None;
        }
    }
}

impl RecordingThread {
    /// Creates the file now instead of when the thread runs.
    ///
    /// # Errors
    /// The file cannot be created. A full disk is not an error here but a failure of the recording.
    /// Otherwise a server that restarts on a full disk would not play at all.
    pub(crate) fn create(mut self) -> Result<Self, RecordingError> {
        let writer = self.begin();
        if let Err(error) = writer {
            if !error.is_full() {
                return Err(error);
            }
            self.status.fail(reason(&error));
            self.writer = Some(Err(error));
        } else {
            self.writer = Some(writer);
        }
        Ok(self)
    }

    /// Creates the file, unless [`RecordingThread::create`] has created it, and writes until the
    /// match is over.
    ///
    /// # Errors
    /// The recording is not complete. The match has not been disturbed.
    pub(crate) fn run(mut self) -> Result<(), RecordingError> {
        let writer = self.writer.take().unwrap_or_else(|| self.begin());
        let Self { items, status, .. } = self;
        let written = writer.and_then(|writer| write(writer, &items, &status));
        if let Err(error) = &written {
            status.fail(reason(error));
        }
        written
    }

    /// Creates the file and writes its beginning.
    fn begin(&self) -> Result<Writer, RecordingError> {
        let new = NewFile::open(&self.path)
            .map_err(|source| RecordingError::Write { path: self.path.clone(), source })?;
        self.status.created(new.path.clone());
        let removal = new.removal();
        let writer = Writer::begin(new.path, new.file, &self.beginning);
        match &writer {
            Ok(writer) => {
                self.status.flushed(0, writer.bytes());
                info!("recording to {}", self.status.path().display());
            }
            Err(_) => removal(),
        }
        writer
    }
}

fn write(
    mut writer: Writer,
    items: &Receiver<Item>,
    status: &Status,
) -> Result<(), RecordingError> {
    let mut count = 0;
    let mut due = Instant::now() + FLUSH_INTERVAL;
    loop {
        match items.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(Item::Tick(tick)) => {
                writer.tick(tick)?;
                count += 1;
            }
            Ok(Item::Keyframe(saved)) => writer.keyframe(&saved)?,
            Ok(Item::Note(note)) => writer.note(note),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if Instant::now() >= due {
            writer.flush()?;
            status.flushed(count, writer.bytes());
            due = Instant::now() + FLUSH_INTERVAL;
        }
    }
    writer.flush()?;
    status.flushed(count, writer.bytes());
    if status.failure().is_some() {
        // Ticks are missing, so the end mark is left out for readers to notice.
        return Err(RecordingError::Behind { path: status.path().to_owned(), tick: count });
    }
    writer.finish()
}

/// The failure, for a message that already names the file.
fn reason(error: &RecordingError) -> String {
    match error {
        RecordingError::Write { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
