//! Counters of a running swarm, shared by its threads.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// The counters of all bots together, for the live status.
pub(super) struct Tally {
    bots: u32,
    joined: AtomicU32,
    failed: AtomicU32,
    lost: AtomicU32,
    snapshots: AtomicU64,
    mismatches: AtomicU64,
    waiting: AtomicBool,
    without_answer: AtomicBool,
    settled: Notify,
    last_look: Mutex<(Instant, u64)>,
}

/// The live status of a swarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Number of bots of the swarm.
    pub bots: u32,
    /// Number of bots that are in the match.
    pub playing: u32,
    /// Bots that could not join.
    pub failed: u32,
    /// Bots that joined and were dropped.
    pub lost: u32,
    /// Snapshots per second and bot since the last status.
    pub snapshot_rate: f64,
    /// Snapshots whose digest did not match.
    pub mismatches: u64,
}

impl Tally {
    pub(super) fn new(bots: u32) -> Self {
        Self {
            bots,
            joined: AtomicU32::new(0),
            failed: AtomicU32::new(0),
            lost: AtomicU32::new(0),
            snapshots: AtomicU64::new(0),
            mismatches: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            without_answer: AtomicBool::new(false),
            settled: Notify::new(),
            last_look: Mutex::new((Instant::now(), 0)),
        }
    }

    pub(super) fn joined(&self) {
        self.joined.fetch_add(1, Relaxed);
        self.settled.notify_waiters();
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Relaxed);
        self.settled.notify_waiters();
    }

    pub(super) fn lost(&self) {
        self.lost.fetch_add(1, Relaxed);
    }

    /// Whether the caller is the first whose server did not answer. Only this caller logs it.
    pub(super) fn first_to_wait(&self) -> bool {
        !self.waiting.swap(true, Relaxed)
    }

    /// Whether the caller is the first to give up on a server that did not answer. Only this caller
    /// logs it as a warning.
    pub(super) fn first_without_answer(&self) -> bool {
        !self.without_answer.swap(true, Relaxed)
    }

    pub(super) fn snapshot(&self, agrees: bool) {
        self.snapshots.fetch_add(1, Relaxed);
        self.mismatches.fetch_add(u64::from(!agrees), Relaxed);
    }

    /// Waits until every bot has joined or failed to.
    pub(super) async fn settled(&self) {
        loop {
            // Register before the check, so that no notification is missed.
            let changed = self.settled.notified();
            if self.joined.load(Relaxed) + self.failed.load(Relaxed) >= self.bots {
                return;
            }
            changed.await;
        }
    }

    pub(super) fn status(&self) -> Status {
        let (now, snapshots) = (Instant::now(), self.snapshots.load(Relaxed));
        let mut last_look = self.last_look.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = now.duration_since(last_look.0).as_secs_f64();
        let new = snapshots - last_look.1;
        *last_look = (now, snapshots);
        let lost = self.lost.load(Relaxed);
        let playing = self.joined.load(Relaxed).saturating_sub(lost);
        Status {
            bots: self.bots,
            playing,
            failed: self.failed.load(Relaxed),
            lost,
            snapshot_rate: new as f64 / seconds.max(f64::EPSILON) / f64::from(playing.max(1)),
            mismatches: self.mismatches.load(Relaxed),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bots, playing, failed, lost, snapshot_rate, mismatches } = self;
        write!(
            formatter,
            "{playing} of {bots} bots playing, {failed} failed, {lost} dropped; \
             {snapshot_rate:.1} snapshots/s each, {mismatches} mismatches"
        )
    }
}
