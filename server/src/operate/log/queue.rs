//! The queue of formatted log lines, bounded in bytes. A full queue drops lines instead of making
//! its callers wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::lost::LostLine;

/// Bytes that may wait to be written: several thousand lines, more than any burst of a healthy
/// server.
pub(super) const CAPACITY: usize = 1 << 20;

/// Longest time that the writer waits for lines. After that, it checks whether there are lost lines
/// to report.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Lines that wait to be written. Appending never waits for a write: the lock is held only while a
/// line is copied or two buffers are swapped.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// Wakes the writer.
    filled: Condvar,
    /// Wakes the threads that wait for a flush.
    flushed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<u8>,
    /// Lines dropped since the writer last took some.
    dropped: u64,
    /// Numbers of the last requested flush and of the last one that is done.
    flushes: [u64; 2],
}

/// The result of [`Queue::drain`] besides the lines.
pub(super) struct Drained {
    /// Lines that were dropped after the drained lines.
    pub(super) dropped: u64,
    /// The flush to report once the lines are written, if one was asked for.
    pub(super) flush: Option<u64>,
}

impl Queue {
    pub(super) fn new() -> Arc<Self> {
        let (filled, flushed) = (Condvar::new(), Condvar::new());
        Arc::new(Self { waiting: Mutex::default(), filled, flushed })
    }

    /// Appends a line with its line break, or drops and counts it if there is no
    /// room.
    pub(super) fn push(&self, line: &[u8]) {
        let mut waiting = self.lock();
        if waiting.lines.len() + line.len() > CAPACITY {
            waiting.dropped += 1;
            LostLine::QueueFull.count(1);
            return;
        }
        waiting.lines.extend_from_slice(line);
        self.filled.notify_one();
    }

    /// Moves the lines that wait into `batch`, which must be empty. Waits up to a second for lines.
    pub(super) fn drain(&self, batch: &mut Vec<u8>) -> Drained {
        let idle = |waiting: &mut Waiting| {
            waiting.lines.is_empty() && waiting.dropped == 0 && !waiting.is_flush_due()
        };
        let waited = self.filled.wait_timeout_while(self.lock(), MAX_WAIT, idle);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut waiting.lines, batch);
        let flush = waiting.is_flush_due().then_some(waiting.flushes[0]);
        Drained { dropped: std::mem::take(&mut waiting.dropped), flush }
    }

    /// Reports that a flush is done.
    pub(super) fn flushed(&self, flush: u64) {
        self.lock().flushes[1] = flush;
        self.flushed.notify_all();
    }

    /// Waits until the writer has handled everything appended before, but no longer than `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let mut waiting = self.lock();
        waiting.flushes[0] += 1;
        let own = waiting.flushes[0];
        self.filled.notify_one();
        // The result is not needed: the wait is over, whether the flush is done or not.
        let _ = self.flushed.wait_timeout_while(waiting, limit, |waiting| waiting.flushes[1] < own);
    }

    /// The buffer that lines are formatted into.
    pub(super) fn writer(self: Arc<Self>) -> LineWriter {
        LineWriter(self)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn is_flush_due(&self) -> bool {
        self.flushes[1] < self.flushes[0]
    }
}

/// Appends each write to the queue as a line: the formatter writes a whole line at a time. A write
/// never fails.
pub(super) struct LineWriter(Arc<Queue>);

impl io::Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_and_counts_and_keeps_its_order() {
        let queue = Queue::new();
        let long = [b'x'; CAPACITY / 4];
        for _ in 0..6 {
            queue.push(&long);
        }
        let mut batch = Vec::new();
        let drained = queue.drain(&mut batch);
        assert_eq!((batch.len(), drained.dropped), (CAPACITY, 2));
        assert!(drained.flush.is_none());
        queue.push(b"one\n");
        queue.push(b"two\n");
        batch.clear();
        assert_eq!(queue.drain(&mut batch).dropped, 0);
        assert_eq!(batch, b"one\ntwo\n");
    }
}
