//! The recordings of a match: one file for each level, each written by a thread of its
//! own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::live::RecordingThread;
use super::options::RetentionOptions;
use super::{Keeper, Latest, LiveRecorder, RecordingError};
use crate::common::error::{RunError, StartError};
use crate::common::threads::join_until;
use crate::matches::level::Prepared;

/// The name of the thread that writes a recording, for messages.
const PART: &str = "recording thread";

/// Time for the disk, at the end of a match, to write the ticks that still wait. A working disk
/// writes a full queue of [`LiveRecorder`] in less time.
const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// Records each level to a file of its own, if the match is recorded.
#[derive(Debug)]
pub(crate) struct LevelRecordings {
    path: Option<PathBuf>,
    latest: Arc<Latest>,
    threads: Mutex<Threads>,
}

/// The threads that write, and the first failure of a thread that has ended.
#[derive(Debug, Default)]
struct Threads {
    running: Vec<JoinHandle<Result<(), RecordingError>>>,
    /// The first failure.
    failure: Option<RunError>,
}

impl LevelRecordings {
    /// Recordings to `path` and numbered files beside it; none without a path.
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, latest: Arc::default(), threads: Mutex::default() }
    }

    /// The status of the recordings.
    pub(crate) fn latest(&self) -> Arc<Latest> {
        Arc::clone(&self.latest)
    }

    /// The keeper of the limits, if these recordings have any.
    pub(crate) fn keeper(&self, limits: &RetentionOptions) -> Option<Keeper> {
        Keeper::new(self.path.as_deref()?, limits, &self.latest)
    }

    /// Begins the recording of the first level. The file is created at once, so that
    /// a server that cannot record says so instead of starting.
    ///
    /// # Errors
    /// The file, or the thread that writes it, cannot be created.
    pub(crate) fn begin_first(&self, first: &Prepared) -> Result<Option<LiveRecorder>, StartError> {
        let Some((recorder, thread)) = self.prepare(first) else { return Ok(None) };
        self.spawn(thread.create()?)?;
        Ok(Some(recorder))
    }

    /// Begins the recording of a later level. The thread that writes the file creates it, because
    /// the caller has players to serve and a disk may be slow. A failure is in the log, in the
    /// metrics and on the pages.
    pub(crate) fn begin(&self, level: &Prepared) -> Option<LiveRecorder> {
        let (recorder, thread) = self.prepare(level)?;
        match self.spawn(thread) {
            Ok(()) => Some(recorder),
            Err(error) => {
                recorder.status().fail(error.to_string());
                None
            }
        }
    }

    /// Waits until all is written, for [`WRITE_LIMIT`] at most.
    ///
    /// # Errors
    /// A recording is not complete.
    pub(crate) fn join(&self) -> Result<(), RunError> {
        let deadline = Instant::now() + WRITE_LIMIT;
        let Threads { running, failure } = std::mem::take(&mut *self.lock());
        let mut outcome = failure.map_or(Ok(()), Err);
        for thread in running {
            let ended = join_until(PART, thread, deadline);
            outcome = outcome.and(ended.and_then(|written| Ok(written?)));
        }
        outcome
    }

    fn prepare(&self, level: &Prepared) -> Option<(LiveRecorder, RecordingThread)> {
        // The replay buffer always receives the events: pages can also rewind a match that is not
        // recorded to a file.
        level.level.replay_buffer.hear(level.level.events.subscribe());
        let path = self.path.as_ref()?;
        let (recorder, thread) = {
            let news = level.level.events.subscribe();
            LiveRecorder::new(path, &*level.simulation, level.config, Some(news))
        };
        self.latest.begin(recorder.status());
        Some((recorder, thread))
    }

    fn spawn(&self, thread: RecordingThread) -> Result<(), StartError> {
        let latest = Arc::clone(&self.latest);
        let record = move || {
            let written = thread.run();
            latest.note_finished();
            written
        };
        let thread = Builder::new()
            .name(PART.to_owned())
            .spawn(record)
            .map_err(|source| StartError::Thread { part: PART, source })?;
        let mut threads = self.lock();
        threads.reap();
        threads.running.push(thread);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    /// Joins the threads that have ended, and keeps the first failure.
    fn reap(&mut self) {
        for thread in self.running.extract_if(.., |thread| thread.is_finished()) {
            let ended = match thread.join() {
                Ok(written) => written.map_err(RunError::Recording),
                Err(_) => Err(RunError::Crashed { part: PART }),
            };
            self.failure = self.failure.take().or(ended.err());
        }
    }
}
