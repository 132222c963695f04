use std::sync::Arc;

use tokio::sync::watch;

/// The wish to end, shared by all threads of a server. It is never taken back.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Asks all to end.
    pub(crate) fn request(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody asked.
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody asks.
    pub(crate) async fn requested(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|requested| *requested).await;
    }

    /// A guard that asks all to end when it goes out of scope, so that no
    /// thread outlives another that returned or crashed.
    pub(crate) fn when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(self.clone())
    }
}

/// See [`Stop::when_dropped`].
pub(crate) struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.request();
    }
}
