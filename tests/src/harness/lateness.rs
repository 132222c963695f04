//! How long this machine lets a thread wait that is due: what a test that measures time
//! measures besides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the thread sleeps at a time.
const STEP: Duration = Duration::from_millis(5);

/// Most times that something is measured.
const ATTEMPTS: u32 = 5;

/// Watches the machine for as long as it lives.
#[derive(Debug)]
pub struct Lateness {
    /// Microseconds.
    worst: Arc<AtomicU64>,
    _alive: Arc<()>,
}

impl Lateness {
    /// Begins to watch.
    pub fn watch() -> Self {
        let (worst, alive) = (Arc::new(AtomicU64::new(0)), Arc::new(()));
        let (seen, ends) = (Arc::clone(&worst), Arc::downgrade(&alive));
        std::thread::spawn(move || {
            while ends.strong_count() > 0 {
                let begin = Instant::now();
                std::thread::sleep(STEP);
                let late = begin.elapsed().saturating_sub(STEP);
                seen.fetch_max(late.as_micros() as u64, Ordering::Relaxed);
            }
        });
        Self { worst, _alive: alive }
    }

    /// The longest that a thread waited since the last call.
    pub fn take(&self) -> Duration {
        Duration::from_micros(self.worst.swap(0, Ordering::Relaxed))
    }
}

/// Runs a scenario that measures time, and returns what was wrong. A failure while the
/// machine let a thread wait for longer than `most` says nothing: the scenario is run again
/// then, five times at most.
pub async fn undisturbed(most: Duration, scenario: impl AsyncFn() -> Vec<String>) -> Vec<String> {
    let machine = Lateness::watch();
    for _ in 1..ATTEMPTS {
        machine.take();
        let failures = scenario().await;
        let late = machine.take();
        if failures.is_empty() || late <= most {
            return failures;
        }
        println!("a thread had to wait for {late:?}, so this is measured again: {failures:#?}");
    }
    scenario().await
}
