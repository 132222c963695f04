//! Judges one thread by its signs of life, from one check to the next.

use std::time::{Duration, Instant};

use crate::matches::telemetry::{STALL, Stall};

/// At most this much of the time between two checks counts as watched. In the rest, the watchdog
/// itself did not run.
const WATCHED: Duration = Duration::from_millis(500);

/// The finding of a check of the heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The thread hangs. This check is the first to find it.
    Hangs,
    /// The thread hangs for longer than it may.
    HangsForGood,
    /// The thread hung and goes on.
    Recovered(Stall),
    /// There was no sign of life for a while, but the thread goes on.
    Stalled {
        /// The time without a sign of life.
        stall: Stall,
        /// Whether the watchdog did not run either.
        whole_process: bool,
    },
}

/// The watchdog's memory from one check to the next. It reads no clock.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// How long a hang may last. `None` means for ever.
    limit: Option<Duration>,
    /// When the watchdog last checked.
    checked_at: Instant,
    /// Time between the last check and the one before it.
    last_gap: Duration,
    /// How long the watchdog itself has observed no sign of life.
    watched: Duration,
    hangs: bool,
    /// The last stall that was reported.
    reported: Option<Stall>,
}

impl Watchdog {
    pub(super) fn new(now: Instant, limit: Option<Duration>) -> Self {
        let (last_gap, watched) = (Duration::ZERO, Duration::ZERO);
        Self { limit, checked_at: now, last_gap, watched, hangs: false, reported: None }
    }

    /// The finding at `now`. The last sign of life came `age` ago, and `last_stall` is the last
    /// stall that has ended.
    pub(super) fn check(
        &mut self,
        now: Instant,
        age: Duration,
        last_stall: Option<Stall>,
    ) -> Option<Finding> {
        let gap = now.saturating_duration_since(self.checked_at);
        let widest_gap = gap.max(self.last_gap);
        (self.checked_at, self.last_gap) = (now, gap);
        if age >= gap {
            self.watched += gap.min(WATCHED);
            if self.limit.is_some_and(|limit| self.watched >= limit) {
                return Some(Finding::HangsForGood);
            }
            let is_new = !self.hangs && self.watched >= STALL;
            self.hangs |= is_new;
            return is_new.then_some(Finding::Hangs);
        }
        self.watched = Duration::ZERO;
        let hung = std::mem::take(&mut self.hangs);
        let stall = last_stall.filter(|stall| self.reported != Some(*stall))?;
        self.reported = Some(stall);
        // If the whole process stood still, the watchdog made no check meanwhile. Its next check
        // may have come before the first tick, so the gap before the previous check counts, too.
        let whole_process = widest_gap * 2 > stall.lasted;
        Some(if hung {
            Finding::Recovered(stall)
        } else {
            Finding::Stalled { stall, whole_process }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    /// A tick thread and a watchdog in virtual time.
    struct Stage {
        watchdog: Watchdog,
        now: Instant,
        ticked: Instant,
        last_stall: Option<Stall>,
    }

    impl Stage {
        fn new() -> Self {
            let now = Instant::now();
            let watchdog = Watchdog::new(now, Some(LIMIT));
            Self { watchdog, now, ticked: now, last_stall: None }
        }

        fn wait(&mut self, milliseconds: u64) {
            self.now += Duration::from_millis(milliseconds);
        }

        fn tick(&mut self) {
            let lasted = self.now - self.ticked;
            if lasted >= STALL {
                self.last_stall = Some(Stall { ended: self.now, lasted });
            }
            self.ticked = self.now;
        }

        fn check(&mut self) -> Option<Finding> {
            self.watchdog.check(self.now, self.now - self.ticked, self.last_stall)
        }

        /// Checks as often as the watchdog does, for this long.
        fn watch(&mut self, milliseconds: u64) -> Vec<Finding> {
            let mut findings = Vec::new();
            for _ in 0..milliseconds / 250 {
                self.wait(250);
                findings.extend(self.check());
            }
            findings
        }

        /// Checks as often as the watchdog does, for this long, while ticks come.
        fn play(&mut self, milliseconds: u64) -> Vec<Finding> {
            let mut findings = Vec::new();
            for _ in 0..milliseconds / 250 {
                self.wait(245);
                self.tick();
                self.wait(5);
                findings.extend(self.check());
            }
            findings
        }
    }

    #[test]
    fn a_match_that_ticks_is_nothing_to_tell() {
        assert_eq!(Stage::new().play(60_000), []);
    }

    #[test]
    fn a_hang_is_told_once_and_its_end_too() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(4000), [Finding::Hangs]);
        let findings = stage.play(2000);
        let [Finding::Recovered(stall)] = findings[..] else { panic!("{findings:?}") };
        assert_eq!(stall.lasted, Duration::from_millis(4250));
        // The next hang is reported anew.
        assert_eq!(stage.watch(2000), [Finding::Hangs]);
    }

    #[test]
    fn a_hang_beyond_the_limit_is_for_good() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(5250)[..2], [Finding::Hangs, Finding::HangsForGood]);
        stage.watchdog = Watchdog::new(stage.now, None);
        assert_eq!(stage.watch(3_600_000), [Finding::Hangs]);
    }

    #[test]
    fn a_process_that_was_stopped_does_not_hang_however_long() {
        for tick_thread_first in [true, false] {
            let mut stage = Stage::new();
            stage.play(1000);
            stage.wait(3_600_000);
            if tick_thread_first {
                stage.tick();
                stage.wait(1);
            }
            let mut findings: Vec<_> = stage.check().into_iter().collect();
            findings.extend(stage.play(2000));
            let [Finding::Stalled { stall, whole_process: true }] = findings[..] else {
                panic!("tick thread first: {tick_thread_first}: {findings:?}")
            };
            assert!(stall.lasted > Duration::from_secs(3599));
        }
    }

    #[test]
    fn a_stall_that_ends_before_it_is_told_blames_the_tick_thread() {
        let mut stage = Stage::new();
        stage.play(1000);
        assert_eq!(stage.watch(750), []);
        stage.wait(245);
        let findings = stage.play(1000);
        let [Finding::Stalled { stall, whole_process: false }] = findings[..] else {
            panic!("{findings:?}")
        };
        assert!(stall.lasted >= STALL && stall.lasted < Duration::from_millis(1300));
    }
}
