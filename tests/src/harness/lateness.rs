//! The time for which this machine lets a thread wait although the thread is due to run. Tests that
//! measure time also measure this wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time of each sleep of the watching thread.
const STEP: Duration = Duration::from_millis(5);

/// Maximum number of times that a scenario is measured.
const ATTEMPTS: u32 = 5;

/// A thread that watches the machine until this value is dropped.
#[derive(Debug)]
pub struct Lateness {
    /// The longest wait so far, in microseconds.
    worst: Arc<AtomicU64>,
    _alive: Arc<()>,
}

impl Lateness {
    /// Starts the watching thread.
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

    /// The longest time for which the watching thread waited since the last call.
    pub fn take(&self) -> Duration {
        Duration::from_micros(self.worst.swap(0, Ordering::Relaxed))
    }
}

/// Runs a scenario that measures time and returns its failures. A failure means nothing if the
/// machine let a thread wait for longer than `most` meanwhile. Then the scenario is run again, up
/// to five times in all.
pub async fn undisturbed(most: Duration, scenario: impl AsyncFn() -> Vec<String>) -> Vec<String> {
    let machine = Lateness::watch();
    for _ in 1..ATTEMPTS {
        machine.take();
        let failures = scenario().await;
        let late = machine.take();
        if failures.is_empty() || late <= most {
            return failures;
        }
        println!("a thread had to wait for {late:?}, so the test measures again: {failures:#?}");
    }
    scenario().await
}
