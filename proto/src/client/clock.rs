//! The client's clock: for which tick a command is due.
//!
//! [`Clock::take_due`] at [`Clock::next_at`], and [`Clock::steer`] with every report of
//! the server on how early commands arrive.

use std::num::NonZeroU16;
use std::time::Duration;

use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Target of the least lead of recent commands, in ticks: one, so that a command may be
/// a whole tick later than usual, and the quarter that the server rounds away.
const TARGET: f64 = 1.25;

/// Error, in ticks, that is tolerated: the measure is no finer.
const TOLERANCE: f64 = 0.5;

/// Error, in ticks, beyond which the clock jumps instead of changing its speed.
const JUMP: f64 = 4.0;

/// Change of the clock's speed per tick of error. At 60 ticks a second it corrects six
/// tenths of an error each second: slower than the feedback, which takes a round trip
/// and the server's window of half a second, so it does not oscillate.
const GAIN: f64 = 0.01;

/// Most that the clock's speed is changed.
const MAX_SPEED_CHANGE: f64 = 0.05;

/// How long after a jump the server's reports still describe the time before it.
const FEEDBACK_DELAY: Duration = Duration::from_secs(1);

/// How long commands must be late before the clock jumps for it: not one bad moment that
/// the server's window remembers.
const LATE_CONFIRMATION: Duration = Duration::from_secs(1);

/// How long the worst report is remembered, at least and at most twice as long: a
/// connection that was bad a moment ago keeps the margin that it needed.
const MEMORY: Duration = Duration::from_secs(4);

/// Greatest margin, in ticks, that is kept for what was late for a moment only.
const MAX_MARGIN: f64 = 3.0;

/// Error, in ticks, beyond which commands are so early that the server must have skipped
/// time: half the server's window, in which not one command came later. The client then
/// sets its clock back at once and sends commands for the ticks in between again,
/// instead of acting a quarter of a second late for long.
const SET_BACK: f64 = 16.0;

/// How long after the clock was set back the server's reports may still describe
/// commands sent before, beyond a round trip: a few ticks and their jitter.
const SET_BACK_MARGIN: Duration = Duration::from_millis(150);

/// How long reports below the limit do not update the round trip after the clock got
/// ahead of the snapshots by [`SET_BACK`] ticks at once: the server stood still, and its
/// first reports are measurements from before the stall.
const STALL_MEMORY: Duration = Duration::from_secs(1);

/// Initial ticks ahead of what the round trip requires; the first reports correct it.
const INITIAL_LEAD: f64 = 2.0;

/// Decides for which tick a command is due, steered so that commands reach the server a
/// little before they are needed.
///
/// A late command is lost, an early one is only less fresh. So the clock follows the
/// worst report of the last seconds: at once when it gets worse, slowly when it gets
/// better.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    tick_rate: f64,
    /// The clock was at `tick` at the time `since` and has run `speed` times as fast as
    /// the server's from then on.
    since: Time,
    tick: f64,
    speed: f64,
    /// Reports before this time describe the time before a jump.
    ignore_until: Time,
    /// Reports before this time describe the time before the clock was set back.
    outdated_until: Time,
    /// Whether the clock was set back by an estimate that no report has confirmed yet.
    is_estimate: bool,
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
    /// Reports before this time may be from before a stall of the server.
    stalled_until: Time,
    /// Since when commands have arrived far too late.
    late_since: Option<Time>,
    /// The worst and the best lead since `window_start`, and in the window before.
    worst: [f64; 2],
    best: [f64; 2],
    window_start: Time,
    /// The next tick that needs a command.
    next: Tick,
}

impl Clock {
    /// The clock of a client that learns at `now` that the server is at `tick`; the
    /// answer took `elapsed` since the hello.
    pub(super) fn new(tick_rate: NonZeroU16, tick: Tick, elapsed: Duration, now: Time) -> Self {
        let tick_rate = f64::from(tick_rate.get());
        // The answer may have waited a tick or two; too early is better than too late.
        let round_trip = elapsed.as_secs_f64() * tick_rate;
        let tick = f64::from(tick.0) + round_trip + INITIAL_LEAD;
        Self {
            tick_rate,
            since: now,
            tick,
            speed: 1.0,
            ignore_until: now,
            outdated_until: now,
            is_estimate: false,
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
        // Rounded up, so that the command is due at the moment returned.
        let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.since + length + Duration::from_nanos(if seconds > 0.0 { 1_000 } else { 0 })
    }

    /// Takes the tick that is due at `now`, if any; each is due once.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Tick> {
        let due = Tick(self.tick_at(now) as u32);
        if due < self.next {
            return None;
        }
        if due > self.next.after(1) {
            // The client was busy: the lateness of these says nothing about the network.
            self.ignore_until = self.ignore_until.max(now + FEEDBACK_DELAY);
        }
        self.next = due.after(1);
        self.first_sent.get_or_insert(now);
        Some(due)
    }

    /// Time from sending a command to the report about it, without the time that the
    /// command waited for its tick: the round trip of the line, to within a tick.
    pub(super) fn round_trip(&self) -> Duration {
        Duration::try_from_secs_f64(self.round_trip / self.tick_rate).unwrap_or_default()
    }

    /// Steers by the report, in the latest snapshot, of how early commands arrive;
    /// `tick` is that snapshot's.
    pub(super) fn steer(&mut self, now: Time, tick: Tick, lead: Lead) {
        let ahead = self.tick_at(now) - f64::from(tick.0);
        if self.ahead.replace(ahead).is_some_and(|before| ahead - before > SET_BACK) {
            self.stalled_until = now + STALL_MEMORY;
        }
        self.bound_round_trip(now);
        let lead = if lead.is_at_limit() {
            // The report only says "at least"; how far off the clock is follows from the
            // snapshot's own tick.
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
        if self.is_estimate {
            // Until then commands that are too early do no harm, and more of them are measured.
            if lead < TARGET || now >= self.outdated_until {
                self.rebase(now);
                self.jump(now, lead - TARGET);
            }
            return;
        }
        let is_late = lead - TARGET < -JUMP;
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
        // Commands whose best lead is sufficient are not sent earlier.
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

    /// Bounds the round trip by the time between the first command and the first report,
    /// which the server makes at the next tick. The answer to the hello may have waited at
    /// a server that stood still, and that is no distance.
    fn bound_round_trip(&mut self, now: Time) {
        if let (Some(sent), false) = (self.first_sent, self.is_reported) {
            self.is_reported = true;
            let ticks = now.since(sent).as_secs_f64() * self.tick_rate;
            self.round_trip = self.round_trip.min(ticks);
        }
    }

    /// Sets the clock back by this many ticks, all of which become due once more.
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
        self.is_estimate = true;
    }

    /// Corrects the clock by the error at once.
    fn jump(&mut self, now: Time, error: f64) {
        self.is_estimate = false;
        self.tick = (self.tick - error).max(0.0);
        self.worst = self.worst.map(|worst| worst - error);
        self.best = self.best.map(|best| best - error);
        self.ignore_until = now + FEEDBACK_DELAY;
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
mod tests {
    use super::*;

    /// The least and the greatest lead once settled, over a connection with this delay in
    /// ticks to a server that reports the least lead of its last 32 ticks.
    fn settled_lead(delay: f64, drift: f64) -> (f64, f64) {
        let rate = NonZeroU16::new(60).unwrap();
        let at = |ticks: f64| Time::since_start(Duration::from_secs_f64(ticks / 60.0));
        let mut clock = Clock::new(rate, Tick(1000), Duration::ZERO, at(0.0));
        let mut leads: Vec<f64> = Vec::new();
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        // Time in tenths of a tick; the server is at tick 1000 - delay at 0.
        for step in 0..60_000 {
            let now = f64::from(step) / 10.0;
            let server = 1000.0 + delay + now * (1.0 + drift);
            if let Some(tick) = clock.take_due(at(now)) {
                leads.push(f64::from(tick.0) - (server + delay));
                if now > 3_000.0 {
                    least = least.min(leads[leads.len() - 1]);
                    most = most.max(leads[leads.len() - 1]);
                }
            }
            let reported = leads.len().saturating_sub(delay as usize);
            let window = &leads[reported.saturating_sub(32)..reported];
            if let Some(lead) = window.iter().copied().reduce(f64::min) {
                clock.steer(at(now), Tick(server as u32), Lead::from_ticks(lead));
            }
        }
        (least, most)
    }

    #[test]
    fn commands_come_to_arrive_just_in_time() {
        for (delay, drift) in [(0.0, 0.0), (1.0, 1e-4), (6.0, -1e-4), (12.0, 1e-3), (30.0, 0.0)] {
            let (least, most) = settled_lead(delay, drift);
            assert!(least > 0.3 && most < 3.0, "delay {delay}: lead {least} to {most}");
        }
    }

    /// How many commands come too late in the later half of a run, over a connection that
    /// delays one command in fifty by `late` ticks.
    fn missed(late: f64) -> u32 {
        let at = |ticks: f64| Time::since_start(Duration::from_secs_f64(ticks / 60.0));
        let mut clock =
            Clock::new(NonZeroU16::new(60).unwrap(), Tick(1000), Duration::ZERO, at(0.0));
        let (mut leads, mut missed) = (Vec::new(), 0);
        for step in 0..60_000_u32 {
            let now = f64::from(step) / 10.0;
            if let Some(tick) = clock.take_due(at(now)) {
                let delay = if tick.0 % 50 == 7 { late } else { 0.0 };
                let lead = f64::from(tick.0) - (1000.0 + now) - delay;
                missed += u32::from(now > 3_000.0 && lead < 0.0);
                leads.push(lead);
            }
            let window = &leads[leads.len().saturating_sub(24)..];
            if let Some(lead) = window.iter().copied().reduce(f64::min) {
                clock.steer(at(now), Tick(1000 + now as u32), Lead::from_ticks(lead));
            }
        }
        missed
    }

    #[test]
    fn a_jittery_connection_gets_the_margin_that_it_needs() {
        assert_eq!([1.0, 2.0, 3.0].map(missed), [0; 3]);
        // One in fifty of three thousand: not followed, so as not to act late.
        assert!(missed(12.0) > 50);
    }

    #[test]
    fn each_tick_is_due_once_and_when_announced() {
        let mut clock =
            Clock::new(NonZeroU16::new(60).unwrap(), Tick(50), Duration::ZERO, Time::ZERO);
        assert_eq!(clock.take_due(Time::ZERO), Some(Tick(52)));
        for tick in 53..500 {
            let now = clock.next_at();
            assert_eq!(clock.take_due(now), Some(Tick(tick)));
            assert_eq!(clock.take_due(now), None);
        }
        clock.steer(clock.next_at(), Tick(480), Lead::from_ticks(10.0));
        let wait = clock.next_at() - clock.since;
        assert!(wait > Duration::from_millis(130), "{wait:?}");
    }

    /// The time after this many ticks of 60 Hz.
    fn at(ticks: f64) -> Time {
        Time::since_start(Duration::from_secs_f64(ticks / 60.0))
    }

    /// A clock after a second of 60 Hz over a round trip of 6 ticks.
    fn settled() -> Clock {
        let rate = NonZeroU16::new(60).unwrap();
        let mut clock = Clock::new(rate, Tick(0), Duration::from_millis(100), at(0.0));
        for tick in 0..60 {
            clock.steer(at(f64::from(tick)), Tick(tick), Lead::from_ticks(1.5));
            while clock.take_due(at(f64::from(tick))).is_some() {}
        }
        clock
    }

    #[test]
    fn a_clock_that_is_far_ahead_is_set_back_at_once_and_only_once() {
        // The server then stands still for 200 ticks.
        let mut clock = settled();
        let ahead = |clock: &Clock, now: f64, tick: f64| clock.tick_at(at(now)) - tick;
        let before = ahead(&clock, 59.0, 59.0);
        clock.take_due(at(260.0));
        clock.steer(at(260.0), Tick(60), Lead::from_ticks(201.5));
        assert!((ahead(&clock, 260.0, 60.0) - before).abs() < 1.0);
        assert_eq!(clock.take_due(at(261.0)), Some(Tick(68)), "due once more");
        // The server has not received any of the new commands yet.
        clock.steer(at(262.0), Tick(62), Lead::from_ticks(201.5));
        assert!((ahead(&clock, 262.0, 62.0) - before).abs() < 1.0);
    }

    /// Symptom: all commands of a player whose hello was lost once came 0.1 s too late for a
    /// second. Cause: the first report on a clock that was set back moved it by what was wrong
    /// with the estimate, and a later report, of the time before that, once more.
    #[test]
    fn the_estimate_of_a_clock_that_was_set_back_is_corrected_once() {
        let mut clock = settled();
        clock.take_due(at(260.0));
        clock.steer(at(260.0), Tick(60), Lead::from_ticks(201.5));
        let ahead = |clock: &Clock, now: u32| clock.tick_at(at(now.into())) - f64::from(now);
        let estimate = ahead(&clock, 260);
        for now in 266..310 {
            clock.steer(at(now.into()), Tick(now - 200), Lead::from_ticks(8.0));
        }
        let corrected = estimate - ahead(&clock, 310);
        assert!((corrected - (8.0 - TARGET)).abs() < 0.1, "corrected by {corrected} ticks");
    }

    /// Symptom: after a stall of ten seconds the clock was set back by half a second only.
    /// Cause: the first snapshots after the stall still reported what the server had
    /// measured before it, so the stall was taken for the round trip.
    #[test]
    fn a_stall_is_not_taken_for_a_long_round_trip() {
        let mut clock = settled();
        for now in 60..660 {
            while clock.take_due(at(f64::from(now))).is_some() {}
        }
        for tick in 60..70 {
            clock.steer(at(660.0), Tick(tick), Lead::from_ticks(1.5));
        }
        clock.steer(at(661.0), Tick(70), Lead::from_ticks(600.0));
        let ahead = clock.tick_at(at(661.0)) - 70.0;
        assert!((4.0..13.0).contains(&ahead), "{ahead} ticks ahead");
        // A report of the present state corrects the rest within half a second.
        clock.steer(at(690.0), Tick(99), Lead::from_ticks(ahead - 6.0));
        let ahead = clock.tick_at(at(690.0)) - 99.0;
        assert!((6.0..8.5).contains(&ahead), "{ahead} ticks ahead");
    }

    /// Ticks from the answer to the hello until commands begin to be used for good, over a
    /// line of 6 ticks there and back, to a server that had the hello wait.
    fn unused_after_waiting(wait: f64) -> u32 {
        let elapsed = Duration::from_secs_f64((6.0 + wait) / 60.0);
        let mut clock = Clock::new(NonZeroU16::new(60).unwrap(), Tick(1000), elapsed, at(0.0));
        // At 0 the server is at tick 1003, as the answer took 3 ticks to come.
        let (mut on_the_way, mut window) = (Vec::new(), Vec::new());
        let (mut reports, mut last_unused) = (std::collections::VecDeque::new(), 0);
        for step in 0..6000 {
            let now = f64::from(step) / 10.0;
            let server = 1003.0 + now;
            if let Some(tick) = clock.take_due(at(now)) {
                on_the_way.push((now + 3.0, f64::from(tick.0)));
            }
            on_the_way.retain(|&(arrival, tick): &(f64, f64)| {
                if arrival <= now {
                    let lead = tick - server;
                    window.push((now, lead));
                    // As the jitter buffer keeps them.
                    if !(0.0..64.0).contains(&lead) {
                        last_unused = step / 10;
                    }
                }
                arrival > now
            });
            if step % 10 == 0 {
                window.retain(|&(then, _)| now - then < 32.0);
                let least = window.iter().map(|&(_, lead)| lead).reduce(f64::min);
                reports.push_back((now + 3.0, Tick(server as u32), least));
            }
            while reports.front().is_some_and(|&(arrival, ..)| arrival <= now) {
                if let Some((_, tick, Some(lead))) = reports.pop_front() {
                    clock.steer(at(now), tick, Lead::from_ticks(lead));
                }
            }
        }
        let round_trip = clock.round_trip().as_secs_f64() * 60.0;
        assert!((5.5..8.0).contains(&round_trip), "{round_trip} ticks there and back");
        last_unused
    }

    /// Symptom: a player whose answer had waited for 3 s could not move for 19 s. Cause:
    /// the wait was taken for the round trip, so the clock was set back by half a second
    /// at a time, and only after another such round trip.
    #[test]
    fn an_answer_that_waited_at_the_server_is_not_taken_for_distance() {
        for wait in [0.0, 30.0, 60.0, 180.0, 600.0] {
            let unused = unused_after_waiting(wait);
            assert!(unused < 20, "waited {wait} ticks: unused for {unused}");
        }
    }
}
