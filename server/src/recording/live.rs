use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use sim::{Command, Config, EntityId, World};
use tracing::{info, warn};

use super::{Header, Recorder, RecordingError, Tick, Writer, kind_in};

/// Ticks that may wait for the disk: some four seconds at 60 Hz.
const WAITING_TICKS: usize = 256;

/// Records a match from its tick thread without ever making it wait: ticks go
/// to a thread that writes them. If the disk falls so far behind that the
/// queue is full, the recording ends there, because one with a gap would be
/// worth nothing.
pub(crate) struct LiveRecorder {
    recorder: Recorder,
    ticks: Option<SyncSender<Tick>>,
}

/// What the thread does that writes a recording.
pub(crate) struct RecordingThread {
    writer: Writer,
    ticks: Receiver<Tick>,
}

impl LiveRecorder {
    /// Begins to record a match that has not ticked yet.
    pub(crate) fn start(
        path: &Path,
        world: &World,
        config: Config,
    ) -> Result<(Self, RecordingThread), RecordingError> {
        let writer = Writer::create(path, &Header::new(world, config))?;
        let (sender, ticks) = sync_channel(WAITING_TICKS);
        let recorder = Self { recorder: Recorder::new(), ticks: Some(sender) };
        info!("recording to {}", path.display());
        Ok((recorder, RecordingThread { writer, ticks }))
    }

    /// Records the tick that `world` was just advanced by.
    pub(crate) fn ticked(&mut self, tick: u64, world: &World, commands: &[(EntityId, Command)]) {
        let Some(ticks) = &self.ticks else { return };
        // Every time, so that a replay can name the very tick: some ten
        // microseconds with 500 bodies.
        let recorded = self.recorder.tick(commands, kind_in(world), Some(world.digest()));
        let outcome = ticks.try_send(recorded);
        if let Err(TrySendError::Full(_)) = outcome {
            warn!("the disk cannot keep up: the recording ends before tick {tick}");
        }
        // A writer that failed has said so itself.
        if outcome.is_err() {
            self.ticks = None;
        }
    }
}

impl RecordingThread {
    /// Writes until the match is over.
    pub(crate) fn run(mut self) -> Result<(), RecordingError> {
        while let Ok(tick) = self.ticks.recv() {
            self.writer.tick(&tick)?;
        }
        self.writer.finish()
    }
}
