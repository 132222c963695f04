use std::num::NonZeroU16;
use std::time::Duration;

use crate::snapshot::Lead;
use crate::{Tick, Time};

/// How many ticks early the latest of the latest commands should arrive: one,
/// so that a command may be a whole tick later than usual, and the quarter
/// that the server rounds away.
const TARGET: f64 = 1.25;

/// Error, in ticks, that is left alone: the measure is no finer.
const TOLERANCE: f64 = 0.5;

/// Error, in ticks, beyond which the clock jumps instead of turning its speed.
const JUMP: f64 = 4.0;

/// How much of its speed the clock changes per tick of error. At 60 ticks a
/// second it mends six tenths of an error each second: slower than the news
/// of its effect, which take a round trip and the server's window of half a
/// second, so it does not swing.
const GAIN: f64 = 0.01;

/// Most that the clock's speed is changed.
const MAX_TURN: f64 = 0.05;

/// How long after a jump the server's reports still tell of the time before.
const DEAF: Duration = Duration::from_secs(1);

/// How long commands must have been late for it to be the line, and not one bad
/// moment that the server's window remembers.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the worst report is remembered, at least and at most twice as long:
/// a line that was bad a moment ago is given the room that it needed.
const MEMORY: Duration = Duration::from_secs(4);

/// Most room, in ticks, that is given to what was bad for a moment only.
const MOST_ROOM: f64 = 3.0;

/// Ticks ahead of the server to begin with; the first report corrects it.
const FIRST_LEAD: f64 = 3.0;

/// Tells for which tick a command is due, steered so that commands reach the
/// server a little before they are needed.
///
/// Who is late loses a command, who is early only some freshness: so the clock
/// goes by the worst of the last seconds, follows it at once when it gets worse
/// and slowly when it gets better.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    tick_rate: f64,
    /// The clock showed `shown` ticks at `since` and has gone `speed` times as
    /// fast as the server's from then on.
    since: Time,
    shown: f64,
    speed: f64,
    deaf_until: Time,
    /// Since when commands have been far too late.
    late_since: Option<Time>,
    /// The worst and the best lead of this stretch of time, which began then, and
    /// of the one before.
    worst: [f64; 2],
    best: [f64; 2],
    stretch: Time,
    /// The next tick that wants a command.
    next: Tick,
}

impl Clock {
    /// The clock of a client that learns at `now` that the server is at `tick`.
    pub(super) fn new(tick_rate: NonZeroU16, tick: Tick, now: Time) -> Self {
        let shown = f64::from(tick.0) + FIRST_LEAD;
        Self {
            tick_rate: f64::from(tick_rate.get()),
            since: now,
            shown,
            speed: 1.0,
            deaf_until: now,
            late_since: None,
            worst: [f64::INFINITY; 2],
            best: [f64::NEG_INFINITY; 2],
            stretch: now,
            next: Tick(shown as u32),
        }
    }

    /// When the next command is due.
    pub(super) fn next_at(&self) -> Time {
        let ticks = f64::from(self.next.0) - self.shown;
        let seconds = (ticks / (self.tick_rate * self.speed)).max(0.0);
        // Rounded up, so that the command is due at the moment returned.
        let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.since + length + Duration::from_nanos(if seconds > 0.0 { 1_000 } else { 0 })
    }

    /// The tick that is due now; none is due twice.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Tick> {
        let due = Tick(self.shows(now) as u32);
        if due < self.next {
            return None;
        }
        if due > self.next.after(1) {
            // This end was busy: the lateness of these says nothing of the line.
            self.deaf_until = self.deaf_until.max(now + DEAF);
        }
        self.next = due.after(1);
        Some(due)
    }

    /// Takes in the server's report of how early commands arrive.
    pub(super) fn steer(&mut self, now: Time, lead: Lead) {
        let lead = lead.ticks();
        let is_late = lead - TARGET < -JUMP;
        let late_since = *self.late_since.get_or_insert(now);
        if !is_late {
            self.late_since = None;
        }
        let is_moment = now.since(late_since) < PATIENCE;
        if now < self.deaf_until && (!is_late || is_moment) {
            return;
        }
        self.shown = self.shows(now);
        self.since = self.since.max(now);
        self.remember(now, lead);
        let error = self.worst[0].min(self.worst[1]) - TARGET;
        // What is early enough at its best is not made earlier.
        let room = (TARGET + MOST_ROOM - self.best[0].max(self.best[1])).max(0.0);
        let error = error.max(-room);
        self.speed = 1.0;
        if is_late && !is_moment {
            self.jump(now, lead - TARGET);
        } else if !(-TOLERANCE..=JUMP).contains(&error) {
            self.jump(now, error);
        } else if error > TOLERANCE {
            self.speed -= (error * GAIN).clamp(-MAX_TURN, MAX_TURN);
        }
    }

    /// Shows a time from now on at which the error would not have been.
    fn jump(&mut self, now: Time, error: f64) {
        self.shown = (self.shown - error).max(0.0);
        self.worst = self.worst.map(|worst| worst - error);
        self.best = self.best.map(|best| best - error);
        self.deaf_until = now + DEAF;
        self.late_since = None;
    }

    /// Notes a report, as far as the clock goes by it.
    fn remember(&mut self, now: Time, lead: f64) {
        if now.since(self.stretch) > MEMORY {
            self.worst = [f64::INFINITY, self.worst[0]];
            self.best = [f64::NEG_INFINITY, self.best[0]];
            self.stretch = now;
        }
        self.worst[0] = self.worst[0].min(lead);
        self.best[0] = self.best[0].max(lead);
    }

    fn shows(&self, now: Time) -> f64 {
        self.shown + now.since(self.since).as_secs_f64() * self.tick_rate * self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of this delay, in ticks, between a clock and a server that
    /// reports the least lead of its last 32 ticks; the lead once settled.
    fn settled_lead(delay: f64, drift: f64) -> (f64, f64) {
        let rate = NonZeroU16::new(60).unwrap();
        let at = |ticks: f64| Time::since_start(Duration::from_secs_f64(ticks / 60.0));
        let mut clock = Clock::new(rate, Tick(1000), at(0.0));
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
            let heard = leads.len().saturating_sub(delay as usize);
            let window = &leads[heard.saturating_sub(32)..heard];
            if let Some(lead) = window.iter().copied().reduce(f64::min) {
                clock.steer(at(now), Lead::from_ticks(lead));
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

    /// A line on which one command in fifty is late by as much as `late` ticks;
    /// how many of the later half come too late.
    fn missed(late: f64) -> u32 {
        let at = |ticks: f64| Time::since_start(Duration::from_secs_f64(ticks / 60.0));
        let mut clock = Clock::new(NonZeroU16::new(60).unwrap(), Tick(1000), at(0.0));
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
                clock.steer(at(now), Lead::from_ticks(lead));
            }
        }
        missed
    }

    #[test]
    fn commands_are_given_the_room_that_a_restless_line_needs() {
        assert_eq!([1.0, 2.0, 3.0].map(missed), [0; 3]);
        // One in fifty of three thousand: not chased, so as not to act late.
        assert!(missed(12.0) > 50);
    }

    #[test]
    fn each_tick_is_due_once_and_when_announced() {
        let mut clock = Clock::new(NonZeroU16::new(60).unwrap(), Tick(50), Time::ZERO);
        assert_eq!(clock.take_due(Time::ZERO), Some(Tick(53)));
        for tick in 54..500 {
            let now = clock.next_at();
            assert_eq!(clock.take_due(now), Some(Tick(tick)));
            assert_eq!(clock.take_due(now), None);
        }
        clock.steer(clock.next_at(), Lead::from_ticks(20.0));
        let wait = clock.next_at() - clock.since;
        assert!(wait > Duration::from_millis(300), "{wait:?}");
    }
}
