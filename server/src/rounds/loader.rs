use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::mpsc;
use tracing::debug;

use crate::error::StartError;
use crate::level::{LevelMaker, Prepared};

/// The way to have maps loaded, and to hear of them.
pub(crate) struct Loader {
    wanted: Sender<(String, u64)>,
    loaded: mpsc::UnboundedReceiver<Loaded>,
    /// The number of the next level.
    next: u64,
}

/// The outcome of a request for a map.
pub(crate) struct Loaded {
    /// As it was asked for.
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
    /// A loader, and what its thread does.
    pub(crate) fn new(maker: LevelMaker) -> (Self, LoaderThread) {
        let (wanted, asked) = channel();
        let (tell, loaded) = mpsc::unbounded_channel();
        let thread = LoaderThread { maker, wanted: asked, loaded: tell };
        (Self { wanted, loaded, next: 1 }, thread)
    }

    /// Asks for a world of this map.
    pub(crate) fn load(&mut self, map: String) {
        // The thread ends after this does.
        let _ = self.wanted.send((map, self.next));
        self.next += 1;
    }

    /// The outcome of the next request.
    pub(crate) async fn next(&mut self) -> Option<Loaded> {
        self.loaded.recv().await
    }
}

impl LoaderThread {
    /// Loads what is asked for until nobody can ask any more.
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

/// Gives this thread, and those that it starts, what the match leaves over.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19) {
        debug!("maps are loaded at the match's priority: {error}");
    }
}
