//! The client's clock. It gives the tick for which a command is due.
//!
//! Call [`Clock::take_due`] at [`Clock::next_at`], and [`Clock::steer`] with every report of the
//! server about the lead of commands.

use std::num::NonZeroU16;
use std::time::Duration;

use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Target for the smallest lead of recent commands, in ticks. One tick lets a command arrive a
/// whole tick later than the others. The quarter makes up for the server's rounding down.
const TARGET: f64 = 1.25;

/// Error of the lead, in ticks, up to which the clock is not corrected.
const TOLERANCE: f64 = 0.5;

/// Error of the lead, in ticks, beyond which the clock jumps. Smaller errors change its speed.
const JUMP: f64 = 4.0;

/// Change of the clock's speed per tick of error. At 60 ticks a second the clock corrects six
/// tenths of an error in each second. That is slower than the feedback, which takes a round trip
/// and the server's window of half a second, so the clock does not oscillate.
const GAIN: f64 = 0.01;

/// Largest change of the clock's speed.
const MAX_SPEED_CHANGE: f64 = 0.05;

/// Minimum time for which reports are ignored after a jump, or after the client was busy.
const FEEDBACK_DELAY: Duration = Duration::from_secs(1);

/// Maximum number of ticks for which a command affects the server's reports: two windows of the
/// server.
const REPORT_MEMORY: f64 = 32.0;

/// Time for which commands must be late before the clock jumps. A single bad moment, which the
/// server's window remembers for a while, is not enough.
const LATE_CONFIRMATION: Duration = Duration::from_secs(1);

/// The worst report is remembered for at least this time and at most twice as long, so that a
/// connection that was bad a moment ago keeps its margin.
const MEMORY: Duration = Duration::from_secs(4);

/// Maximum margin, in ticks, that is kept because of commands that were late only for a moment.
const MAX_MARGIN: f64 = 3.0;

/// Error of the lead, in ticks, which shows that the server has skipped time: every command in its
/// window came at least this much too early. The client then sets its clock back at once, and sends
/// commands for the ticks in between once more. Otherwise its player would act a quarter of a
/// second late for a long time.
const SET_BACK: f64 = 16.0;

/// After the clock is set back, the server's reports may describe earlier commands for a round trip
/// plus this time, which is a few ticks and their jitter.
const SET_BACK_MARGIN: Duration = Duration::from_millis(150);

/// Time after a stall of the server in which reports do not update the round trip, because the
/// first reports were measured before the stall. A stall shows as a clock that is suddenly
/// [`SET_BACK`] ticks further ahead of the snapshots.
const STALL_MEMORY: Duration = Duration::from_secs(1);

/// Ticks by which a new clock is further ahead than the round trip requires, until the first
/// reports correct it.
const INITIAL_LEAD: f64 = 2.0;

/// Gives the tick for which a command is due. It is steered so that commands reach the server a
/// little before the server needs them.
///
/// A late command is lost, and an early one is only less fresh. So the clock follows the worst
/// report of the last seconds. It follows at once when the reports get worse, and slowly when they
/// get better.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    tick_rate: f64,
    /// At the time `since` the clock was at `tick`. From then on it has run `speed` times as fast
    /// as the server's clock.
    since: Time,
    tick: f64,
    speed: f64,
    /// Reports that arrive before this time describe the time before a jump, or a client that was
    /// busy.
    ignore_until: Time,
    /// Reports that arrive before this time may still describe the time before a jump. A command
    /// that was late then need not be late now.
    jump_known_at: Time,
    /// Reports that arrive before this time describe the time before the clock was set back.
    outdated_until: Time,
    /// After an estimate set the clock back: the number of ticks by which the clock was put forward
    /// again because commands came too late. `None` after reports have confirmed the estimate.
    estimate: Option<f64>,
    /// Ticks from sending a command to receiving the report about it, as measured by the
    /// latest report.
    round_trip: f64,
    /// When the first command was sent.
    first_sent: Option<Time>,
    /// Whether a report on commands has come.
    is_reported: bool,
    /// Ticks by which the clock was ahead of the snapshot of the latest report; `None`
    /// after a jump.
    ahead: Option<f64>,
    /// Reports that arrive before this time may be from before a stall of the server.
    stalled_until: Time,
    /// The time since which commands have arrived far too late.
    late_since: Option<Time>,
    /// The worst lead since `window_start`, and the worst lead in the window before. `best` has the
    /// best leads.
    worst: [f64; 2],
    best: [f64; 2],
    window_start: Time,
    /// The next tick that needs a command.
    next: Tick,
}

impl Clock {
    /// The clock of a client that learns at `now` that the server is at `tick`. The answer to the
    /// client's hello took `elapsed`.
    pub(super) fn new(tick_rate: NonZeroU16, tick: Tick, elapsed: Duration, now: Time) -> Self {
        let tick_rate = f64::from(tick_rate.get());
        // The answer may have waited at the server for a tick or two, so the round trip may be
        // shorter. Commands are then early, which is better than being late.
        let round_trip = elapsed.as_secs_f64() * tick_rate;
        let tick = f64::from(tick.0) + round_trip + INITIAL_LEAD;
        Self {
            tick_rate,
            since: now,
            tick,
            speed: 1.0,
            ignore_until: now,
            jump_known_at: now,
            outdated_until: now,
            estimate: None,
            round_trip,
            first_sent: None,
            is_reported: false,
            ahead: None,
            stalled_until: now,
            late_since: None,
            worst: [f64::INFINITY; 2],
            best: [f64::NEG_INFINITY; 2],
            window_start: now,
            next: Tick(tick as u32),
        }
    }

    /// When the next command is due.
    pub(super) fn next_at(&self) -> Time {
        let ticks = f64::from(self.next.0) - self.tick;
        let seconds = (ticks / (self.tick_rate * self.speed)).max(0.0);
        // The time is rounded up, so that the command is due at the moment returned.
        let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.since + length + Duration::from_nanos(if seconds > 0.0 { 1_000 } else { 0 })
    }

    /// Takes the tick that is due at `now`, if any. A tick is due again only if the clock is set
    /// back.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Tick> {
        let due = Tick(self.tick_at(now) as u32);
        if due < self.next {
            return None;
        }
        if due > self.next.after(1) {
            // The client was busy, so the lateness of its commands says nothing about the network.
            self.ignore_until = self.ignore_until.max(now + FEEDBACK_DELAY);
        }
        self.next = due.after(1);
        self.first_sent.get_or_insert(now);
        Some(due)
    }

    /// Time from sending a command to the report about it, without the time that the command waited
    /// for its tick. This is the round trip of the line, to within a tick.
    pub(super) fn round_trip(&self) -> Duration {
        Duration::try_from_secs_f64(self.round_trip / self.tick_rate).unwrap_or_default()
    }

    /// Steers by the latest snapshot's report of how early commands arrive. `tick` is the tick of
    /// that snapshot.
    pub(super) fn steer(&mut self, now: Time, tick: Tick, lead: Lead) {
        let ahead = self.tick_at(now) - f64::from(tick.0);
        if self.ahead.replace(ahead).is_some_and(|before| ahead - before > SET_BACK) {
            self.stalled_until = now + STALL_MEMORY;
        }
        self.bound_round_trip(now);
        let lead = if lead.is_at_limit() {
            // The report says only that the lead is at least this great. The tick of the snapshot
            // shows how far off the clock is.
            let (least, known) = (lead.ticks(), ahead - self.round_trip);
            if least > 0.0 { known.max(least) } else { least }
        } else {
            if now >= self.ignore_until.max(self.outdated_until).max(self.stalled_until) {
                self.round_trip = (ahead - lead.ticks()).max(0.0);
            }
            lead.ticks()
        };
        if lead - TARGET > SET_BACK {
            if now >= self.outdated_until {
                self.set_back(now, lead - TARGET);
            }
            return;
        }
        if let Some(added) = self.estimate {
            self.correct_estimate(now, lead, added);
            return;
        }
        let is_late = lead - TARGET < -JUMP && now >= self.jump_known_at;
        let late_since = *self.late_since.get_or_insert(now);
        if !is_late {
            self.late_since = None;
        }
        let is_brief = now.since(late_since) < LATE_CONFIRMATION;
        if now < self.ignore_until && (!is_late || is_brief) {
            return;
        }
        self.rebase(now);
        self.record_lead(now, lead);
        let error = self.worst[0].min(self.worst[1]) - TARGET;
        // Commands are not sent so early that the best lead exceeds the greatest margin.
        let margin = (TARGET + MAX_MARGIN - self.best[0].max(self.best[1])).max(0.0);
        let error = error.max(-margin);
        self.speed = 1.0;
        if is_late && !is_brief {
            self.jump(now, lead - TARGET);
        } else if !(-TOLERANCE..=JUMP).contains(&error) {
            self.jump(now, error);
        } else if error > TOLERANCE {
            self.speed -= (error * GAIN).clamp(-MAX_SPEED_CHANGE, MAX_SPEED_CHANGE);
        }
    }

    /// Corrects the estimate by which the clock was set back. It does so after many commands have
    /// been measured, or at once if commands come too late. `added` is the correction so far.
    /// Reports repeat the smallest lead for a while, so only the part that is still missing is
    /// added.
    fn correct_estimate(&mut self, now: Time, lead: f64, added: f64) {
        let missing = TARGET - lead - added;
        let is_known = now >= self.outdated_until;
        if is_known && added == 0.0 || missing > 0.0 && (is_known || lead < 0.0) {
            self.rebase(now);
            self.jump(now, -missing);
        }
        self.estimate =
            (!is_known).then_some(if lead < 0.0 { added + missing.max(0.0) } else { added });
    }

    /// Bounds the round trip by the time between the first command and the first report,
    /// which the server makes at the next tick. The answer to the hello may have waited at
    /// a server that stood still, and that wait is not part of the round trip.
    fn bound_round_trip(&mut self, now: Time) {
        if let (Some(sent), false) = (self.first_sent, self.is_reported) {
            self.is_reported = true;
            let ticks = now.since(sent).as_secs_f64() * self.tick_rate;
            self.round_trip = self.round_trip.min(ticks);
        }
    }

    /// Sets the clock back by `error` ticks. These ticks become due once more.
    fn set_back(&mut self, now: Time, error: f64) {
        self.rebase(now);
        self.speed = 1.0;
        self.tick = (self.tick - error).max(0.0);
        self.next = self.next.min(Tick(self.tick.ceil() as u32));
        self.ahead = None;
        self.worst = [f64::INFINITY; 2];
        self.best = [f64::NEG_INFINITY; 2];
        self.window_start = now;
        self.late_since = None;
        self.outdated_until = now + self.round_trip() + SET_BACK_MARGIN;
        self.estimate = Some(0.0);
    }

    /// Corrects the clock by the error at once.
    fn jump(&mut self, now: Time, error: f64) {
        self.tick = (self.tick - error).max(0.0);
        self.worst = self.worst.map(|worst| worst - error);
        self.best = self.best.map(|best| best - error);
        let memory = Duration::try_from_secs_f64(REPORT_MEMORY / self.tick_rate);
        self.jump_known_at = now + self.round_trip() + memory.unwrap_or_default();
        self.ignore_until = self.jump_known_at.max(now + FEEDBACK_DELAY);
        self.late_since = None;
        self.ahead = None;
    }

    /// Records the lead of a report in the worst and best of the window.
    fn record_lead(&mut self, now: Time, lead: f64) {
        if now.since(self.window_start) > MEMORY {
            self.worst = [f64::INFINITY, self.worst[0]];
            self.best = [f64::NEG_INFINITY, self.best[0]];
            self.window_start = now;
        }
        self.worst[0] = self.worst[0].min(lead);
        self.best[0] = self.best[0].max(lead);
    }

    /// Makes `now` the time from which the clock counts.
    fn rebase(&mut self, now: Time) {
        self.tick = self.tick_at(now);
        self.since = self.since.max(now);
    }

    fn tick_at(&self, now: Time) -> f64 {
        self.tick + now.since(self.since).as_secs_f64() * self.tick_rate * self.speed
    }
}

#[cfg(test)]
mod tests;
