//! The round trip of the line, without the delay that a busy client adds. Call
//! [`RoundTrip::sent`] for every datagram of commands, and [`RoundTrip::reported`] for every
//! report of the server on how early commands arrive.
//!
//! The server reports the smallest lead of recent commands. A command has little lead if it was
//! sent late for its tick, or if the line was slow. The report does not say which command had the
//! smallest lead, so the client subtracts the greatest lateness with which it sent any command that
//! the report covers. The rest lies between the round trips of two of these commands: the command
//! sent latest and the command with the smallest lead. The client knows only roughly which commands
//! a report covers. If that makes a difference, the report does not count.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::time::Duration;

use crate::server::LEAD_WINDOW;
use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Minimum and maximum number of ticks whose commands a report covers: one and two windows of the
/// server, with a few ticks of tolerance for commands that are themselves late.
const COVERED: [f64; 2] = [LEAD_WINDOW as f64 - 2.0, 2.0 * LEAD_WINDOW as f64 + 4.0];

/// Number of ticks by which the newest command of a report may be older than the known round trip
/// suggests.
const MARGIN: f64 = 4.0;

/// Largest difference, in ticks, between two values: the greatest lateness of all commands that a
/// report may cover, and the greatest lateness of those that it surely covers. A report with a
/// greater difference does not count, so the round trip is known to within a tick.
const AMBIGUITY: f64 = 1.0;

/// Average difference, in ticks, between a lead and its report, because the server rounds leads
/// down to quarters of a tick.
const ROUNDED: f64 = 0.125;

/// Minimum length of a window. The smallest measurement of this window and the window before is
/// used. A busy client handles snapshots late and measures too much. A window ends with the first
/// report after this time that counts.
const MEMORY: Duration = Duration::from_secs(1);

/// Maximum number of datagrams of commands that are remembered: two seconds of them at 60 ticks a
/// second. So even on the longest lines a report finds its commands.
const MAX_SENT: usize = 128;

/// The round trip of one connection. Numbers are in ticks.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    tick_rate: f64,
    /// For each datagram of commands: the time at which it was sent, and how much later this was
    /// than the tick of its oldest new command, by a clock with an arbitrary origin.
    sent: VecDeque<(f64, f64)>,
    /// The shortest round trip since `window_start`, and the shortest in the window before.
    least: [f64; 2],
    window_start: Time,
    /// The round trip that is used until a report counts. At first it is the time that the answer
    /// to the hello took. Later it is the lower bound that follows from a report that does not
    /// count.
    assumed: f64,
}

impl RoundTrip {
    /// The round trip of a client whose hello was answered at `now`, after `elapsed`.
    pub(super) fn new(tick_rate: NonZeroU16, elapsed: Duration, now: Time) -> Self {
        let tick_rate = f64::from(tick_rate.get());
        Self {
            tick_rate,
            sent: VecDeque::new(),
            least: [f64::INFINITY; 2],
            window_start: now,
            assumed: elapsed.as_secs_f64() * tick_rate,
        }
    }

    /// Records that a datagram of commands was sent at `now`. `oldest` is the first tick without a
    /// command in any earlier datagram.
    pub(super) fn sent(&mut self, now: Time, oldest: Tick) {
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        let now = self.ticks(now);
        self.sent.push_back((now, now - f64::from(oldest.0)));
    }

    /// Records a report that arrived at `now` with the snapshot of `tick`.
    pub(super) fn reported(&mut self, now: Time, tick: Tick, lead: Lead) {
        if lead.is_at_limit() {
            return;
        }
        let (arrival, known) = (self.ticks(now), self.ticks_of_line());
        let newest = (arrival - known).max(0.0);
        let certain = self.latest_sent(newest - COVERED[0], newest - MARGIN);
        let Some(possible) = self.latest_sent(newest - COVERED[1], arrival) else { return };
        let measured = arrival - f64::from(tick.0) - (lead.ticks() + ROUNDED) - possible;
        let measured = measured.max(0.0);
        if certain.is_none_or(|certain| possible - certain > AMBIGUITY) {
            self.assumed = measured;
            return;
        }
        if now.since(self.window_start) > MEMORY {
            self.least = [f64::INFINITY, self.least[0]];
            self.window_start = now;
        }
        self.least[0] = self.least[0].min(measured);
    }

    /// The greatest lateness of the commands that were sent after `after` and not after `until`.
    fn latest_sent(&self, after: f64, until: f64) -> Option<f64> {
        let sent = self.sent.iter().filter(|&&(at, _)| after < at && at <= until);
        sent.map(|&(_, late)| late).reduce(f64::max)
    }

    /// The round trip, to within a tick.
    pub(super) fn get(&self) -> Duration {
        Duration::try_from_secs_f64(self.ticks_of_line() / self.tick_rate).unwrap_or_default()
    }

    fn ticks_of_line(&self) -> f64 {
        let least = self.least[0].min(self.least[1]);
        if least.is_finite() { least } else { self.assumed }
    }

    fn ticks(&self, time: Time) -> f64 {
        time.elapsed().as_secs_f64() * self.tick_rate
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use obsp_sim::Command;

    use super::super::clock::Clock;
    use super::*;
    use crate::commands::{Acknowledgement, CommandBatch, CommandDatagram};
    use crate::server::JitterBuffer;

    const RATE: NonZeroU16 = NonZeroU16::new(60).unwrap();

    fn at(ticks: f64) -> Time {
        Time::since_start(Duration::from_secs_f64(ticks / 60.0))
    }

    /// The smallest and the largest estimate in ticks, after three seconds, over a line that takes
    /// `delay` ticks each way and sometimes `jitter` more. The client neither sends nor receives
    /// for `stall` ticks of every `period`, and was stalled while it joined.
    fn estimates(delay: f64, jitter: f64, stall: f64, period: f64) -> (f64, f64) {
        let (join, wait) = (1000.0, 30.0);
        let mut clock = Clock::new(RATE, Tick(1000), at(2.0 * delay + wait).elapsed(), at(join));
        let mut round_trip = RoundTrip::new(RATE, at(2.0 * delay + wait).elapsed(), at(join));
        // The server's tick 1000 was at the moment 1000 - delay - wait.
        let mut buffer = JitterBuffer::new(RATE, Tick(1000), at(join - delay - wait));
        let (mut newest, mut simulated, mut seen) = (Tick(1000), 1000, 1000);
        let mut commands: VecDeque<(f64, u32, u32, u32)> = VecDeque::new();
        let mut snapshots: VecDeque<(f64, u32, Option<Lead>)> = VecDeque::new();
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for step in 0..24_000 {
            let now = join + f64::from(step) / 20.0;
            let late = |tick: u32| jitter * f64::from(tick * 7919 % 10) / 9.0;
            while commands.front().is_some_and(|&(arrival, ..)| arrival <= now) {
                let Some((arrival, first, last, seen)) = commands.pop_front() else { break };
                let commands = (first..=last).map(|_| Command::default()).collect();
                let batch = CommandBatch::new(Tick(first), commands).unwrap();
                let acknowledgement = Some(Acknowledgement::of(Tick(seen)));
                buffer.receive(&CommandDatagram { acknowledgement, batch }, at(arrival));
            }
            let tick = (now - join + 1000.0 + delay + wait) as u32;
            if tick > simulated {
                simulated = tick;
                buffer.take(Tick(tick), at(now));
                snapshots.push_back((now + delay + late(tick), tick, buffer.lead()));
            }
            if now % period < stall {
                continue;
            }
            while snapshots.front().is_some_and(|&(arrival, ..)| arrival <= now) {
                if let Some((_, tick, Some(lead))) = snapshots.pop_front() {
                    seen = tick;
                    clock.steer(at(now), Tick(tick), lead);
                    round_trip.reported(at(now), Tick(tick), lead);
                }
            }
            if let Some(tick) = clock.take_due(at(now)) {
                let oldest = Tick(tick.0.min(newest.0 + 1).max(tick.0.saturating_sub(7)));
                commands.push_back((now + delay + late(tick.0), oldest.0, tick.0, seen));
                round_trip.sent(at(now), oldest);
                newest = tick;
            }
            if now > join + 180.0 {
                let ticks = round_trip.get().as_secs_f64() * 60.0;
                (least, most) = (least.min(ticks), most.max(ticks));
            }
        }
        (least, most)
    }

    /// Symptom: a page that drew eight frames a second said "Far away: 497 ms" on a line of one
    /// millisecond. Cause: the page's own lateness was counted as distance.
    #[test]
    fn a_client_that_is_late_itself_is_not_far_away() {
        for delay in [0.0, 1.5, 6.0, 15.0] {
            for (stall, period) in [(0.0, 60.0), (6.0, 8.0), (12.0, 15.0), (30.0, 90.0)] {
                let (least, most) = estimates(delay, 0.0, stall, period);
                let there_and_back = 2.0 * delay;
                assert!(
                    there_and_back - 1.0 < least && most < there_and_back + 1.5,
                    "{least} to {most} ticks of {there_and_back}, stalled {stall} of {period}"
                );
            }
        }
    }

    #[test]
    fn a_line_that_jitters_is_between_its_best_and_its_worst() {
        for delay in [0.0, 3.0, 12.0] {
            let (least, most) = estimates(delay, 2.0, 0.0, 60.0);
            let best = 2.0 * delay;
            assert!(best - 1.0 < least && most < best + 4.0, "{least} to {most} ticks of {best}");
        }
    }
}
