//! Signs of life of the threads that run an event loop. Each such thread beats from its own loop,
//! so the beats stop when the loop does. The watchdog, a thread that does nothing else, reads them.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use metrics::{Gauge, gauge};

use super::catalogue;
use super::heartbeat::{Heartbeat, Stall};
use crate::common::labelled;

/// Time between two beats. Many of them fit into the second after which a loop counts as hanging.
const INTERVAL: Duration = Duration::from_millis(100);

labelled! {
    /// The threads that run an event loop.
    pub(crate) enum EventLoop {
        /// All players: QUIC, snapshots, joins.
        Network = "network",
        /// The operator's pages.
        Pages = "pages",
        /// The public page.
        PublicPage = "public_page",
        /// The admin interface.
        Admin = "admin",
    }
}

impl EventLoop {
    /// The name by which logs name the thread.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            Self::Network => "network thread",
            Self::Pages => "pages thread",
            Self::PublicPage => "public page thread",
            Self::Admin => "admin thread",
        }
    }
}

/// The signs of life of all event loops of a server.
pub(crate) struct Pulses([Pulse; EventLoop::ALL.len()]);

/// The sign of life of one event loop.
pub(crate) struct Pulse {
    /// Empty until the thread is about to start.
    heartbeat: OnceLock<Heartbeat>,
    age: Gauge,
}

impl Pulses {
    pub(crate) fn register() -> Self {
        Self(EventLoop::ALL.map(|each| Pulse {
            heartbeat: OnceLock::new(),
            age: gauge!(catalogue::THREAD_AGE, "thread" => each.label()),
        }))
    }

    /// The sign of life of one event loop.
    pub(crate) fn of(&self, which: EventLoop) -> &Pulse {
        &self.0[which as usize]
    }

    /// Brings the metrics up to date.
    pub(crate) fn observe(&self) {
        let now = Instant::now();
        for pulse in &self.0 {
            pulse.age.set(pulse.age(now).unwrap_or_default().as_secs_f64());
        }
    }
}

impl Pulse {
    /// Notes that the thread is about to start. From now on, a loop that does not turn counts as
    /// hanging.
    pub(crate) fn begin(&self) {
        self.heartbeat.get_or_init(|| Heartbeat::new(Instant::now()));
    }

    /// Notes that the event loop turned.
    fn beat(&self) {
        self.heartbeat.get_or_init(|| Heartbeat::new(Instant::now())).beat(Instant::now());
    }

    /// Beats for as long as the event loop polls it. `pass` is called before every beat.
    pub(crate) async fn keep(&self, pass: impl Fn()) -> Infallible {
        loop {
            pass();
            self.beat();
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Time that has passed at `now` since the event loop turned. `None` if no such thread was
    /// started.
    pub(crate) fn age(&self, now: Instant) -> Option<Duration> {
        self.heartbeat.get().map(|heartbeat| heartbeat.age(now))
    }

    /// The last stall that has ended, if there was one.
    pub(crate) fn last_stall(&self) -> Option<Stall> {
        self.heartbeat.get()?.last_stall()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_loops_are_listed_in_their_order() {
        for (index, each) in EventLoop::ALL.into_iter().enumerate() {
            assert_eq!(each as usize, index, "{each:?}");
        }
    }

    #[tokio::test]
    async fn only_a_loop_that_turns_beats() {
        let pulses = Pulses::register();
        let pulse = pulses.of(EventLoop::Pages);
        assert_eq!(pulse.age(Instant::now()), None, "a thread that never started does not hang");
        pulse.begin();
        tokio::select! {
            never = pulse.keep(|| {}) => match never {},
            () = tokio::time::sleep(3 * INTERVAL) => {}
        }
        let stopped = Instant::now();
        assert!(pulse.age(stopped).unwrap() < 3 * INTERVAL);
        let age = pulse.age(stopped + Duration::from_secs(26)).unwrap();
        assert!(age >= Duration::from_secs(26), "{age:?}");
    }
}
