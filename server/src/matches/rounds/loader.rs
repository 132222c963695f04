use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::mpsc;

use crate::common::error::StartError;
use crate::matches::level::{LevelMaker, Prepared};

/// Asks a thread to load maps, and receives the outcomes.
pub(crate) struct Loader {
    wanted: Sender<(String, u64)>,
    loaded: mpsc::UnboundedReceiver<Loaded>,
    /// The number of the next level.
    next: u64,
}

/// The outcome of a request for a map.
pub(crate) struct Loaded {
    /// The map, as it was asked for.
    pub(crate) map: String,
    pub(crate) prepared: Result<Prepared, StartError>,
}

/// The thread that loads maps.
pub(crate) struct LoaderThread {
    maker: LevelMaker,
    wanted: Receiver<(String, u64)>,
    loaded: mpsc::UnboundedSender<Loaded>,
}

impl Loader {
    /// A loader, and the work of its thread.
    pub(crate) fn new(maker: LevelMaker) -> (Self, LoaderThread) {
        let (wanted, asked) = channel();
        let (tell, loaded) = mpsc::unbounded_channel();
        let thread = LoaderThread { maker, wanted: asked, loaded: tell };
        (Self { wanted, loaded, next: 1 }, thread)
    }

    /// Asks for a world of this map.
    pub(crate) fn load(&mut self, map: String) {
        // Sending does not fail, because the thread ends after this loader.
        let _ = self.wanted.send((map, self.next));
        self.next += 1;
    }

    /// The outcome of the next request.
    pub(crate) async fn next(&mut self) -> Option<Loaded> {
        self.loaded.recv().await
    }
}

impl LoaderThread {
    /// Loads maps until the loader is dropped.
    pub(crate) fn run(self) {
        yield_to_others();
        while let Ok((map, number)) = self.wanted.recv() {
            let prepared = self.maker.make(&map, number);
            if self.loaded.send(Loaded { map, prepared }).is_err() {
                return;
            }
        }
    }
}

/// Lowers the priority of this thread, and of the threads that it starts. So they use only
/// processor time that the match leaves.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19) {
        tracing::debug!("cannot lower the priority of the thread that loads maps: {error}");
    }
}
