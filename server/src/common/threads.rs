//! The threads of a server. Each ends by itself once it is asked to. A thread that does not end is
//! left behind after a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::stop::Stop;
use crate::common::error::{RunError, StartError};

/// Time that threads get to end, from when they are asked to. It is short enough that service
/// managers need not kill the process.
const END_LIMIT: Duration = Duration::from_millis(4500);

/// Time that the network thread gets. Its goodbyes take 3.5 s at worst, and a busy machine may
/// delay them.
const GOODBYE_LIMIT: Duration = Duration::from_millis(6500);

/// Time between two checks whether a thread has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The threads of a server, in the order in which they were started.
#[derive(Debug, Default)]
pub(crate) struct Threads(Vec<Thread>);

#[derive(Debug)]
struct Thread {
    part: &'static str,
    handle: JoinHandle<Result<(), RunError>>,
    /// Whether nobody waits for the thread. It may hang, or do long work whose result is no longer
    /// needed.
    is_dispensable: Arc<AtomicBool>,
    /// Time that the thread gets to end.
    limit: Duration,
}

impl Threads {
    /// Starts a thread that ends once it is asked to.
    pub(crate) fn spawn(
        &mut self,
        part: &'static str,
        work: impl FnOnce() -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), StartError> {
        self.spawn_until_left(part, &Arc::default(), work)
    }

    /// Starts a thread that has more time to end than others, because it says goodbye to clients.
    pub(crate) fn spawn_patiently(
        &mut self,
        part: &'static str,
        work: impl FnOnce() -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), StartError> {
        self.spawn(part, work)?;
        self.0.last_mut().into_iter().for_each(|thread| thread.limit = GOODBYE_LIMIT);
        Ok(())
    }

    /// Starts a thread that may take long to end, and that nobody waits for.
    pub(crate) fn spawn_dispensable(
        &mut self,
        part: &'static str,
        work: impl FnOnce() -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), StartError> {
        self.spawn_until_left(part, &Arc::new(AtomicBool::new(true)), work)
    }

    /// Starts a thread that nobody waits for once it `is_left_behind`.
    pub(crate) fn spawn_until_left(
        &mut self,
        part: &'static str,
        is_left_behind: &Arc<AtomicBool>,
        work: impl FnOnce() -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), StartError> {
        let handle = Builder::new()
            .name(part.to_owned())
            .spawn(work)
            .map_err(|source| StartError::Thread { part, source })?;
        let (is_dispensable, limit) = (Arc::clone(is_left_behind), END_LIMIT);
        self.0.push(Thread { part, handle, is_dispensable, limit });
        Ok(())
    }

    /// Waits until all threads have ended. The watchdog was started last and has no time limit,
    /// because it never waits for another thread. The other threads have a time limit, which begins
    /// when they are asked to end.
    ///
    /// # Errors
    /// The first thread that failed, crashed or did not end. A thread that does not end is left
    /// behind, and no further one is waited for. Otherwise all are waited for, so that players are
    /// sent a goodbye even after a failure.
    pub(crate) fn join(self, stop: &Stop) -> Result<(), RunError> {
        let mut outcome = Ok(());
        let mut asked = None;
        for Thread { part, handle, is_dispensable, limit } in self.0.into_iter().rev() {
            let is_dispensable = is_dispensable.load(Ordering::Relaxed);
            let ended = match asked {
                None => handle.join().unwrap_or(Err(RunError::Crashed { part })),
                Some(_) if is_dispensable && !handle.is_finished() => Ok(()),
                Some(asked) => join_until(part, handle, asked + limit).and_then(|ended| ended),
            };
            if ended.as_ref().is_err_and(RunError::leaves_threads) {
                return ended;
            }
            outcome = outcome.and(ended);
            // A thread that ends asks all others to end.
            asked = asked.or_else(|| stop.asked_at());
        }
        outcome
    }
}

/// Waits for the result of a thread, but not beyond `deadline`.
///
/// # Errors
/// The thread crashed, or has not ended by then.
pub(crate) fn join_until<T>(
    part: &'static str,
    thread: JoinHandle<T>,
    deadline: Instant,
) -> Result<T, RunError> {
    while !thread.is_finished() {
        if Instant::now() >= deadline {
            return Err(RunError::DoesNotEnd { part });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    thread.join().map_err(|_| RunError::Crashed { part })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_that_does_not_end_is_named_and_left_behind() {
        let (hold, held) = channel::<()>();
        let (stop, mut threads) = (Stop::new(), Threads::default());
        let failed = || Err(RunError::Crashed { part: "first" });
        threads.spawn("first", failed).unwrap();
        threads
            .spawn("second", move || {
                let _ = held.recv();
                Ok(())
            })
            .unwrap();
        threads.spawn("watchdog thread", || Ok(())).unwrap();
        stop.request();
        let begin = Instant::now();
        let ended = threads.join(&stop);
        assert!(matches!(ended, Err(RunError::DoesNotEnd { part: "second" })), "{ended:?}");
        // On a busy machine the wait is longer than the limit, but less than four times as long.
        assert!((END_LIMIT..4 * END_LIMIT).contains(&begin.elapsed()));
        drop(hold);
    }

    #[test]
    fn nobody_waits_for_what_nobody_needs() {
        let (hold, held) = channel::<()>();
        let (stop, mut threads) = (Stop::new(), Threads::default());
        threads.spawn("other", || Err(RunError::Outlived)).unwrap();
        threads
            .spawn_dispensable("compiler", move || {
                let _ = held.recv();
                Ok(())
            })
            .unwrap();
        threads.spawn("watchdog thread", || Ok(())).unwrap();
        stop.request();
        let begin = Instant::now();
        assert!(matches!(threads.join(&stop), Err(RunError::Outlived)));
        assert!(begin.elapsed() < END_LIMIT);
        drop(hold);
    }
}
