use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A thread has stalled if it gave no beat for this long. For a tick thread that is ten ticks at
/// the slowest tick rate, and much longer than clients can hide.
pub(crate) const STALL: Duration = Duration::from_secs(1);

/// When a thread last did its work: finished a tick, turned its event loop, or sent a snapshot. The
/// thread writes it without ever waiting. Other threads read it to judge whether that thread is
/// alive.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    epoch: Instant,
    /// Nanoseconds from `epoch` to the last beat.
    last: AtomicU64,
    /// The watched thread locks it only when a stall has just ended.
    last_stall: Mutex<Option<Stall>>,
}

/// A stall that has ended: no beat came for [`STALL`] or longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// When the first beat after the stall came.
    pub(crate) ended: Instant,
    /// Time between the two beats.
    pub(crate) lasted: Duration,
}

impl Heartbeat {
    /// The heartbeat of a thread that begins its work at `now`.
    pub(crate) fn new(now: Instant) -> Self {
        Self { epoch: now, last: AtomicU64::new(0), last_stall: Mutex::default() }
    }

    /// Notes that the thread begins its work at `now`. The time before is not a stall.
    pub(crate) fn begin(&self, now: Instant) {
        self.last.store(self.since_epoch(now), Ordering::Relaxed);
    }

    /// Notes that the thread did its work at `now`.
    pub(crate) fn beat(&self, now: Instant) {
        let nanoseconds = self.since_epoch(now);
        let before = self.last.swap(nanoseconds, Ordering::Relaxed);
        let lasted = Duration::from_nanos(nanoseconds.saturating_sub(before));
        if lasted >= STALL {
            let mut last_stall = self.last_stall.lock().unwrap_or_else(PoisonError::into_inner);
            *last_stall = Some(Stall { ended: now, lasted });
        }
    }

    /// Time that has passed at `now` since the last beat.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        let last = self.last.load(Ordering::Relaxed);
        Duration::from_nanos(self.since_epoch(now).saturating_sub(last))
    }

    /// The last stall that has ended, if there was one.
    pub(crate) fn last_stall(&self) -> Option<Stall> {
        *self.last_stall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since_epoch(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.epoch);
        // 64 bits are enough for 584 years.
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_second_without_a_tick_is_a_stall() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let heartbeat = Heartbeat::new(start);
        // Setting up took long; that is not a stall.
        heartbeat.begin(at(5000));
        heartbeat.beat(at(5999));
        assert_eq!(heartbeat.last_stall(), None);
        assert_eq!(heartbeat.age(at(6099)), Duration::from_millis(100));
        heartbeat.beat(at(7299));
        let stall = Stall { ended: at(7299), lasted: Duration::from_millis(1300) };
        assert_eq!(heartbeat.last_stall(), Some(stall));
        heartbeat.beat(at(7316));
        assert_eq!(heartbeat.last_stall(), Some(stall));
    }
}
