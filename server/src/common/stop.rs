use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The phases of a server, in order. The server never returns to an earlier phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Players come and go.
    Serving,
    /// Players may finish until this moment; nobody else may join.
    Draining(Instant),
    /// All threads have to end. They were asked to end at this moment.
    Stopping(Instant),
}

/// The request to end, shared by all threads of a server. It is never taken back.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<watch::Sender<Phase>>);

impl Stop {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Serving)))
    }

    /// Asks all threads to end.
    pub(crate) fn request(&self) {
        self.0.send_if_modified(|phase| {
            let is_first = !matches!(phase, Phase::Stopping(_));
            if is_first {
                *phase = Phase::Stopping(Instant::now());
            }
            is_first
        });
    }

    /// Asks the server to let nobody join any more. Players have `time` to finish. If this is
    /// called twice, the earlier end counts.
    pub(crate) fn drain(&self, time: Duration) {
        self.0.send_if_modified(|phase| {
            let end = Instant::now() + time;
            let is_earlier = match *phase {
                Phase::Serving => true,
                Phase::Draining(until) => end < until,
                Phase::Stopping(_) => false,
            };
            if is_earlier {
                *phase = Phase::Draining(end);
            }
            is_earlier
        });
    }

    /// Whether all threads were asked to end.
    pub(crate) fn is_requested(&self) -> bool {
        self.asked_at().is_some()
    }

    /// When all threads were first asked to end.
    pub(crate) fn asked_at(&self) -> Option<Instant> {
        match *self.0.borrow() {
            Phase::Stopping(since) => Some(since),
            Phase::Serving | Phase::Draining(_) => None,
        }
    }

    /// The time that is left for players to finish, while the server drains.
    pub(crate) fn draining(&self) -> Option<Duration> {
        match *self.0.borrow() {
            Phase::Draining(until) => Some(until.saturating_duration_since(Instant::now())),
            Phase::Serving | Phase::Stopping(_) => None,
        }
    }

    /// Waits until all threads are asked to end.
    pub(crate) async fn requested(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|phase| matches!(phase, Phase::Stopping(_))).await;
    }

    /// Waits until nobody may join any more, or all threads are asked to end.
    pub(crate) async fn drain_requested(&self) {
        let _ = self.0.subscribe().wait_for(|phase| *phase != Phase::Serving).await;
    }

    /// A guard that asks all threads to end when it is dropped, so that no thread outlives another
    /// that returned or crashed.
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
