use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use obsp_sim::{Command, Config, EntityId, World};
use tracing::info;

use super::new_file::NewFile;
use super::{Header, Recorder, RecordingError, Status, Tick, Writer, kind_in};

/// Ticks that may wait for the disk: some four seconds at 60 Hz.
const WAITING_TICKS: usize = 256;

/// Time between two flushes: what a killed server loses of its recording.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Records a match from its tick thread without ever making it wait: ticks go
/// to a thread that writes them. If the disk falls so far behind that the
/// queue is full, the recording ends there, because one with a gap would be
/// worth nothing. However it ends, the match goes on.
pub(crate) struct LiveRecorder {
    recorder: Recorder,
    ticks: Option<SyncSender<Tick>>,
    status: Arc<Status>,
}

/// What the thread does that writes a recording.
pub(crate) struct RecordingThread {
    /// Or why there is none.
    writer: Result<Writer, RecordingError>,
    ticks: Receiver<Tick>,
    status: Arc<Status>,
}

impl LiveRecorder {
    /// Begins to record a match that has not ticked yet, to `path` or a numbered
    /// file beside it.
    ///
    /// # Errors
    /// The file cannot be created. If it is the room that is missing, that is no
    /// error here but a failure of the recording, or a server that restarts on a
    /// full disk would not play at all.
    pub(crate) fn start(
        path: &Path,
        world: &World,
        config: Config,
    ) -> Result<(Self, RecordingThread), RecordingError> {
        let cannot = |source| RecordingError::Write { path: path.to_owned(), source };
        let (path, writer) = match NewFile::open(path) {
            Ok(new) => {
                let (path, removal) = (new.path.clone(), new.removal());
                let writer = Writer::begin(new.path, new.file, &Header::new(world, config));
                if writer.is_err() {
                    removal();
                }
                (path, writer)
            }
            Err(error) if is_full(&error) => (path.to_owned(), Err(cannot(error))),
            Err(error) => return Err(cannot(error)),
        };
        let status = Arc::new(Status::new(path));
        let (sender, ticks) = sync_channel(WAITING_TICKS);
        match &writer {
            Ok(writer) => {
                status.flushed(0, writer.bytes());
                info!("recording to {}", status.path().display());
            }
            Err(error) => status.fail(reason(error)),
        }
        let sender = writer.is_ok().then_some(sender);
        let recorder =
            Self { recorder: Recorder::new(), ticks: sender, status: Arc::clone(&status) };
        Ok((recorder, RecordingThread { writer, ticks, status }))
    }

    /// How the recording is doing.
    pub(crate) fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Records the tick that `world` was just advanced by.
    pub(crate) fn ticked(&mut self, world: &World, commands: &[(EntityId, Command)]) {
        let Some(ticks) = &self.ticks else { return };
        // Every time, so that a replay can name the very tick: some ten
        // microseconds with 500 bodies.
        let recorded = self.recorder.tick(commands, kind_in(world), Some(world.digest()));
        let outcome = ticks.try_send(recorded);
        if let Err(TrySendError::Full(_)) = outcome {
            self.status.fail(format!("the disk is more than {WAITING_TICKS} ticks behind"));
        }
        // A writer that failed has said so itself.
        if outcome.is_err() {
            self.ticks = None;
        }
    }
}

impl RecordingThread {
    /// Writes until the match is over.
    ///
    /// # Errors
    /// The recording is not complete. The match has not been disturbed.
    pub(crate) fn run(self) -> Result<(), RecordingError> {
        let Self { writer, ticks, status } = self;
        let written = writer.and_then(|writer| write(writer, &ticks, &status));
        if let Err(error) = &written {
            status.fail(reason(error));
        }
        written
    }
}

fn write(
    mut writer: Writer,
    ticks: &Receiver<Tick>,
    status: &Status,
) -> Result<(), RecordingError> {
    let mut count = 0;
    let mut due = Instant::now() + FLUSH_INTERVAL;
    loop {
        match ticks.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(tick) => {
                writer.tick(&tick)?;
                count += 1;
            }
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
        // Ticks are missing: without the end mark, a reader can tell.
        return Err(RecordingError::Behind { path: status.path().to_owned(), tick: count });
    }
    writer.finish()
}

/// What went wrong, for a message that names the file already.
fn reason(error: &RecordingError) -> String {
    match error {
        RecordingError::Write { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Whether there is no room for a file, rather than no way to create it.
fn is_full(error: &std::io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}
