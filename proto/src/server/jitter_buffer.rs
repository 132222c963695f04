use std::num::NonZeroU16;
use std::time::Duration;

use sim::{Buttons, Command};

use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Ticks ahead of the present that a command is kept for: half a second at
/// the highest rate, where an honest client is early by a few ticks.
const CAPACITY: u32 = 64;

/// Ticks in a row that repeat the last command when none comes: long enough
/// to bridge a burst of losses unnoticed, short enough that nobody runs far
/// without wanting to.
const MAX_REPEATS: u32 = 8;

/// Ticks after which an old measure of the lead is forgotten (at most twice
/// as many): long enough to see the worst of a jittering line, short enough
/// for the client to steer by.
const LEAD_WINDOW: u32 = 16;

/// Holds one command per tick for one player, so that each tick finds exactly
/// one, whatever the line does. Who sends faster, slower, twice or from the
/// future gains nothing by it.
#[derive(Clone, Debug)]
pub struct JitterBuffer {
    tick_length: Duration,
    /// The place of a tick is its number modulo the capacity.
    places: [Option<Entry>; CAPACITY as usize],
    last_tick: Tick,
    last_time: Option<Time>,
    last_command: Command,
    /// Ticks in a row that had no command of their own.
    missed: u32,
    leads: LeadWindow,
    stats: JitterStats,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tick: Tick,
    command: Command,
    arrival: Time,
}

/// Where a tick's command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    /// The client, for this very tick.
    Client,
    /// None had come: the one before, once more.
    Repeated,
    /// None had come for so long that the player lets go of all keys.
    Neutral,
}

/// What became of the commands that arrived, and of the ticks that wanted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitterStats {
    /// Taken in.
    pub accepted: u64,
    /// The same again, as redundancy has it.
    pub redundant: u64,
    /// Another command for a tick that had one: dropped.
    pub conflicting: u64,
    /// For a tick that had been simulated without it: dropped.
    pub late: u64,
    /// For a tick too far ahead: dropped.
    pub early: u64,
    /// Ticks that got the client's command.
    pub in_time: u64,
    /// Ticks that repeated the one before.
    pub repeated: u64,
    /// Ticks that got none at all.
    pub neutral: u64,
}

impl JitterBuffer {
    /// A buffer for a player who joined after `tick` was simulated.
    pub fn new(tick_rate: NonZeroU16, tick: Tick) -> Self {
        Self {
            tick_length: Duration::from_secs(1) / u32::from(tick_rate.get()),
            places: [None; CAPACITY as usize],
            last_tick: tick,
            last_time: None,
            last_command: Command::default(),
            // A player who has not said anything yet stands still.
            missed: MAX_REPEATS,
            leads: LeadWindow::default(),
            stats: JitterStats::default(),
        }
    }

    /// Takes in a command for `tick` that arrived at `arrival`, or counts why
    /// not.
    pub fn insert(&mut self, tick: Tick, command: Command, arrival: Time) {
        let ahead = tick.distance(self.last_tick);
        if ahead > i64::from(CAPACITY) {
            self.stats.early += 1;
            return;
        }
        if ahead <= -i64::from(CAPACITY) {
            self.stats.late += 1;
            return;
        }
        let place = &mut self.places[(tick.0 % CAPACITY) as usize];
        if let Some(known) = place.filter(|entry| entry.tick == tick) {
            if known.command == command {
                self.stats.redundant += 1;
            } else {
                self.stats.conflicting += 1;
            }
            return;
        }
        // One that is late is kept too, so that the copies which follow it
        // are not taken for others that were late; but not instead of one
        // that is yet to be used.
        if place.is_none_or(|entry| entry.tick < tick) {
            *place = Some(Entry { tick, command, arrival });
        }
        if ahead > 0 {
            self.stats.accepted += 1;
        } else {
            self.stats.late += 1;
            if let Some(last_time) = self.last_time {
                let simulated_for = arrival.since(last_time) + self.tick_length * -ahead as u32;
                self.leads.observe(-self.in_ticks(simulated_for));
            }
        }
    }

    /// The one command for `tick`, which is simulated at `now`. Ticks are
    /// taken in ascending order; some may be left out.
    pub fn take(&mut self, tick: Tick, now: Time) -> (Command, CommandSource) {
        self.leads.advance(tick.distance(self.last_tick).max(0) as u32);
        self.last_tick = tick;
        self.last_time = Some(now);
        let place = self.places[(tick.0 % CAPACITY) as usize];
        if let Some(entry) = place.filter(|entry| entry.tick == tick) {
            self.leads.observe(self.in_ticks(now.since(entry.arrival)));
            self.last_command = entry.command;
            self.missed = 0;
            self.stats.in_time += 1;
            return (entry.command, CommandSource::Client);
        }
        if self.missed < MAX_REPEATS {
            self.missed += 1;
            self.stats.repeated += 1;
            return (self.last_command, CommandSource::Repeated);
        }
        self.stats.neutral += 1;
        let neutral =
            Command { forward: 0, right: 0, buttons: Buttons::default(), ..self.last_command };
        (neutral, CommandSource::Neutral)
    }

    /// How early the latest commands came, the least early of them, for the
    /// client to steer by; `None` if none came lately.
    pub fn lead(&self) -> Option<Lead> {
        self.leads.least().map(Lead::from_ticks)
    }

    /// What has been counted.
    pub fn stats(&self) -> &JitterStats {
        &self.stats
    }

    fn in_ticks(&self, length: Duration) -> f64 {
        length.as_secs_f64() / self.tick_length.as_secs_f64()
    }
}

/// The least lead, in ticks, of the latest one to two windows.
#[derive(Clone, Copy, Debug, Default)]
struct LeadWindow {
    current: Option<f64>,
    previous: Option<f64>,
    ticks: u32,
}

impl LeadWindow {
    fn observe(&mut self, ticks: f64) {
        self.current = Some(self.current.map_or(ticks, |least| least.min(ticks)));
    }

    fn advance(&mut self, ticks: u32) {
        self.ticks = self.ticks.saturating_add(ticks);
        if self.ticks >= LEAD_WINDOW {
            self.ticks = 0;
            self.previous = self.current.take();
        }
    }

    fn least(&self) -> Option<f64> {
        match (self.current, self.previous) {
            (Some(current), Some(previous)) => Some(current.min(previous)),
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: NonZeroU16 = NonZeroU16::new(50).unwrap();

    /// Ticks are 20 ms long and tick 0 is simulated at 0.
    fn at(ticks: f64) -> Time {
        Time::since_start(Duration::from_secs_f64(ticks * 0.02))
    }

    fn command(forward: i8) -> Command {
        Command { forward, yaw: 77, ..Command::default() }
    }

    fn buffer() -> JitterBuffer {
        JitterBuffer::new(RATE, Tick(100))
    }

    #[test]
    fn each_tick_gets_its_own_command_whatever_the_order() {
        let mut buffer = buffer();
        for tick in [103, 101, 102, 102, 101] {
            buffer.insert(Tick(tick), command(tick as i8), at(100.5));
        }
        for tick in 101..104 {
            let expected = (command(tick as i8), CommandSource::Client);
            assert_eq!(buffer.take(Tick(tick), at(f64::from(tick))), expected);
        }
        let expected = JitterStats { accepted: 3, redundant: 2, in_time: 3, ..Default::default() };
        assert_eq!(*buffer.stats(), expected);
    }

    #[test]
    fn a_missing_command_is_repeated_and_then_let_go() {
        let mut buffer = buffer();
        assert_eq!(buffer.take(Tick(101), at(101.0)).1, CommandSource::Neutral);
        buffer.insert(Tick(102), command(9), at(101.5));
        assert_eq!(buffer.take(Tick(102), at(102.0)), (command(9), CommandSource::Client));
        for tick in 103..103 + MAX_REPEATS {
            let expected = (command(9), CommandSource::Repeated);
            assert_eq!(buffer.take(Tick(tick), at(f64::from(tick))), expected);
        }
        assert_eq!(buffer.take(Tick(120), at(120.0)), (command(0), CommandSource::Neutral));
    }

    #[test]
    fn speed_hacks_gain_nothing() {
        let mut buffer = buffer();
        buffer.insert(Tick(101), command(1), at(100.0));
        buffer.insert(Tick(101), command(2), at(100.0));
        buffer.insert(Tick(165), command(3), at(100.0));
        buffer.insert(Tick(u32::MAX), command(3), at(100.0));
        assert_eq!(buffer.take(Tick(101), at(101.0)).0, command(1));
        buffer.take(Tick(102), at(102.0));
        buffer.insert(Tick(102), command(4), at(102.5));
        buffer.insert(Tick(102), command(4), at(102.6));
        buffer.insert(Tick(0), command(4), at(102.6));
        let stats = *buffer.stats();
        assert_eq!((stats.accepted, stats.conflicting, stats.early), (1, 1, 2));
        assert_eq!((stats.late, stats.redundant), (2, 1));
        assert_eq!(buffer.take(Tick(103), at(103.0)), (command(1), CommandSource::Repeated));
    }

    #[test]
    fn a_late_command_does_not_push_out_a_future_one() {
        let mut buffer = buffer();
        buffer.insert(Tick(100 + CAPACITY), command(1), at(100.5));
        buffer.insert(Tick(100), command(2), at(100.5));
        let used = buffer.take(Tick(100 + CAPACITY), at(164.0));
        assert_eq!(used, (command(1), CommandSource::Client));
    }

    #[test]
    fn the_lead_is_the_least_of_late_and_fades() {
        let mut buffer = buffer();
        assert_eq!(buffer.lead(), None);
        buffer.insert(Tick(101), command(0), at(99.0));
        buffer.insert(Tick(102), command(0), at(101.5));
        buffer.take(Tick(101), at(101.0));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(2.0)));
        buffer.take(Tick(102), at(102.0));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(0.5)));
        buffer.take(Tick(103), at(103.0));
        buffer.insert(Tick(103), command(0), at(103.25));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(-0.25)));
        for tick in 104..104 + 2 * LEAD_WINDOW {
            buffer.take(Tick(tick), at(f64::from(tick)));
        }
        assert_eq!(buffer.lead(), None);
    }
}
