//! The jitter buffer: it gives every tick exactly one command, even on a bad network.

use std::num::NonZeroU16;
use std::time::Duration;

use obsp_sim::{Buttons, Command};

use crate::commands::CommandDatagram;
use crate::snapshot::Lead;
use crate::{Tick, Time};

/// Ticks ahead of the present for which a command is kept: half a second at the highest rate. The
/// commands of an honest client are only a few ticks early.
const CAPACITY: u32 = 64;

/// Maximum number of ticks in a row that repeat the last command when none arrives. It is long
/// enough to bridge a burst of losses, and short enough that no player runs far unintentionally.
const MAX_REPEATS: u32 = 8;

/// A measured lead is remembered for at least this many ticks and at most twice as many. That is
/// long enough to see the worst of a jittery connection, and short enough for the client to steer
/// by.
pub(crate) const LEAD_WINDOW: u32 = 16;

/// Ticks after skipped time in which arrivals are not measured, because commands that waited in a
/// socket while the process stood still seem to arrive all at once.
const BACKLOG: u32 = 3;

/// Holds one command per tick for one player, so that each tick finds exactly one. A
/// client gains nothing by sending faster, slower, twice or from the future.
///
/// Call [`JitterBuffer::receive`] for every datagram that arrives, and [`JitterBuffer::take`] once
/// per tick. A command is measured, usable or not, if it arrives for the first time, or if the
/// client has set its clock back and made it again. If unusable commands were not measured, a
/// client would not learn that its clock is far off, and none of its commands would ever be used.
///
/// ```
/// use std::num::NonZeroU16;
///
/// use obsp_proto::commands::{CommandBatch, CommandDatagram};
/// use obsp_proto::server::{CommandSource, JitterBuffer};
/// use obsp_proto::{Tick, Time};
/// use obsp_sim::Command;
///
/// let rate = NonZeroU16::new(60).unwrap();
/// let mut buffer = JitterBuffer::new(rate, Tick(100), Time::ZERO);
/// let run = Command { forward: 127, ..Command::default() };
/// let batch = CommandBatch::new(Tick(101), vec![run]).unwrap();
/// buffer.receive(&CommandDatagram { acknowledgement: None, batch }, Time::ZERO);
/// let at = |milliseconds| Time::since_start(std::time::Duration::from_millis(milliseconds));
/// assert_eq!(buffer.take(Tick(101), at(17)), (run, CommandSource::Client));
/// assert_eq!(buffer.take(Tick(102), at(33)), (run, CommandSource::Repeated));
/// ```
#[derive(Clone, Debug)]
pub struct JitterBuffer {
    tick_length: Duration,
    /// The entry of a tick has the index of the tick's number modulo the capacity.
    entries: [Option<Entry>; CAPACITY as usize],
    last_tick: Tick,
    /// When `last_tick` was simulated.
    last_time: Time,
    /// Arrivals before this time are not measured.
    backlog_until: Time,
    last_command: Command,
    /// Number of ticks in a row without a command of their own.
    missed: u32,
    leads: LeadWindow,
    stats: JitterStats,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tick: Tick,
    command: Command,
    /// The latest snapshot that the client had decoded when it sent the command.
    acknowledged: Option<Tick>,
}

/// The source of a tick's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    /// The client sent the command for this tick.
    Client,
    /// No command for this tick had arrived, so the previous one is repeated.
    Repeated,
    /// No command had arrived for too long, so all keys are released.
    Neutral,
}

/// Counters of a jitter buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitterStats {
    /// Commands that were stored.
    pub accepted: u64,
    /// Number of copies of stored commands. A client sends each command several times.
    pub redundant: u64,
    /// Number of different commands for a tick that already had one, without a later
    /// acknowledgement. They are dropped.
    pub conflicting: u64,
    /// Number of different commands for a future tick, sent after a later snapshot because the
    /// client set its clock back. They replace the first command.
    pub replaced: u64,
    /// Number of commands for a tick that was already simulated. They are dropped.
    pub late: u64,
    /// Number of commands for a tick too far ahead. They are dropped.
    pub early: u64,
    /// Ticks that used the client's command.
    pub in_time: u64,
    /// Ticks that repeated the previous command.
    pub repeated: u64,
    /// Ticks that used a neutral command.
    pub neutral: u64,
}

impl JitterBuffer {
    /// A buffer for a player who joined after `tick`, which was simulated at `simulated`.
    pub fn new(tick_rate: NonZeroU16, tick: Tick, simulated: Time) -> Self {
        Self {
            tick_length: Duration::from_secs(1) / u32::from(tick_rate.get()),
            entries: [None; CAPACITY as usize],
            last_tick: tick,
            last_time: simulated,
            backlog_until: simulated,
            last_command: Command::default(),
            // A player who has not sent anything yet stands still.
            missed: MAX_REPEATS,
            leads: LeadWindow::default(),
            stats: JitterStats::default(),
        }
    }

    /// Stores the commands of a datagram that arrived at `arrival`, and counts those that it drops.
    /// Of two commands for a future tick, the one with the later acknowledgement is used, so that a
    /// client may set its clock back.
    pub fn receive(&mut self, datagram: &CommandDatagram, arrival: Time) {
        let CommandDatagram { acknowledgement, batch } = datagram;
        let acknowledged = acknowledgement.map(|snapshots| snapshots.latest);
        let newest = batch.newest();
        for (tick, command) in batch.iter() {
            // The client has just made the newest command. The other commands are mostly copies.
            self.insert(Entry { tick, command, acknowledged }, tick == newest, arrival);
        }
    }

    /// Stores a command that arrived at `arrival`, or counts the reason why it is dropped.
    /// `is_newest` says whether it is the last one of its datagram.
    fn insert(&mut self, new: Entry, is_newest: bool, arrival: Time) {
        let Entry { tick, command, acknowledged } = new;
        let ahead = tick.distance(self.last_tick);
        if ahead > i64::from(CAPACITY) {
            self.stats.early += 1;
            self.observe_lead(ahead, arrival);
            return;
        }
        if ahead <= -i64::from(CAPACITY) {
            self.stats.late += 1;
            self.observe_lead(ahead, arrival);
            return;
        }
        let entry = &mut self.entries[(tick.0 % CAPACITY) as usize];
        if let Some(known) = entry.filter(|entry| entry.tick == tick) {
            let is_later = known.acknowledged < acknowledged;
            let replaces = known.command != command && ahead > 0 && is_later;
            if replaces {
                self.stats.replaced += 1;
            } else if known.command == command {
                self.stats.redundant += 1;
            } else {
                self.stats.conflicting += 1;
            }
            // The client has set its clock back and made this command again.
            if replaces || is_newest && is_later {
                let command = if replaces { command } else { known.command };
                *entry = Some(Entry { command, ..new });
                self.observe_lead(ahead, arrival);
            }
            return;
        }
        // A late command is also stored, so that its copies are not counted as late again. It does
        // not replace a command for a future tick.
        if entry.is_none_or(|entry| entry.tick < tick) {
            *entry = Some(new);
        }
        if ahead > 0 {
            self.stats.accepted += 1;
        } else {
            self.stats.late += 1;
        }
        self.observe_lead(ahead, arrival);
    }

    /// Measures how early a command arrived. Its tick is `ahead` ticks after the last one
    /// simulated.
    fn observe_lead(&mut self, ahead: i64, arrival: Time) {
        if arrival < self.backlog_until {
            return;
        }
        // Either `after` or `before` is zero, because a difference of times is never negative.
        let (after, before) = (arrival - self.last_time, self.last_time - arrival);
        self.leads.observe(ahead as f64 - self.in_ticks(after) + self.in_ticks(before));
    }

    /// Records that the match fell behind and skipped the time of this many ticks at `now`. Leads
    /// measured before are wrong from then on.
    pub fn skip_time(&mut self, ticks: u64, now: Time) {
        if ticks > 0 {
            let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
            self.last_time = self.last_time + self.tick_length.saturating_mul(ticks);
            self.backlog_until = now + self.tick_length * BACKLOG;
            self.leads = LeadWindow::default();
        }
    }

    /// Takes the command for `tick`, which is simulated at `now`. Ticks must ascend, and some may
    /// be skipped.
    pub fn take(&mut self, tick: Tick, now: Time) -> (Command, CommandSource) {
        self.leads.advance(tick.distance(self.last_tick).max(0) as u32);
        self.last_tick = tick;
        self.last_time = now;
        let entry = self.entries[(tick.0 % CAPACITY) as usize];
        if let Some(entry) = entry.filter(|entry| entry.tick == tick) {
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

    /// The smallest lead of the latest commands; `None` if none arrived lately. The client adjusts
    /// its clock by this lead.
    pub fn lead(&self) -> Option<Lead> {
        self.leads.least().map(Lead::from_ticks)
    }

    /// The buffer's counters.
    pub fn stats(&self) -> &JitterStats {
        &self.stats
    }

    fn in_ticks(&self, length: Duration) -> f64 {
        length.as_secs_f64() / self.tick_length.as_secs_f64()
    }
}

/// The smallest lead, in ticks, within the latest one to two windows.
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
    use crate::commands::{Acknowledgement, CommandBatch};

    const RATE: NonZeroU16 = NonZeroU16::new(50).unwrap();

    /// Ticks are 20 ms long and tick 0 is simulated at 0.
    fn at(ticks: f64) -> Time {
        Time::since_start(Duration::from_secs_f64(ticks * 0.02))
    }

    fn command(forward: i8) -> Command {
        Command { forward, yaw: 77, ..Command::default() }
    }

    fn buffer() -> JitterBuffer {
        JitterBuffer::new(RATE, Tick(100), at(100.0))
    }

    impl JitterBuffer {
        /// Receives a datagram of one command.
        fn receive_one(&mut self, tick: u32, command: Command, latest: Option<u32>, now: Time) {
            let acknowledgement = latest.map(|tick| Acknowledgement::of(Tick(tick)));
            let batch = CommandBatch::new(Tick(tick), vec![command]).unwrap();
            self.receive(&CommandDatagram { acknowledgement, batch }, now);
        }
    }

    #[test]
    fn each_tick_gets_its_own_command_in_any_order() {
        let mut buffer = buffer();
        for tick in [103, 101, 102, 102, 101] {
            buffer.receive_one(tick, command(tick as i8), None, at(100.5));
        }
        for tick in 101..104 {
            let expected = (command(tick as i8), CommandSource::Client);
            assert_eq!(buffer.take(Tick(tick), at(f64::from(tick))), expected);
        }
        let expected = JitterStats { accepted: 3, redundant: 2, in_time: 3, ..Default::default() };
        assert_eq!(*buffer.stats(), expected);
    }

    #[test]
    fn a_missing_command_is_repeated_and_then_released() {
        let mut buffer = buffer();
        assert_eq!(buffer.take(Tick(101), at(101.0)).1, CommandSource::Neutral);
        buffer.receive_one(102, command(9), None, at(101.5));
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
        buffer.receive_one(101, command(1), None, at(100.0));
        buffer.receive_one(101, command(2), None, at(100.0));
        buffer.receive_one(165, command(3), None, at(100.0));
        buffer.receive_one(u32::MAX, command(3), None, at(100.0));
        assert_eq!(buffer.take(Tick(101), at(101.0)).0, command(1));
        buffer.take(Tick(102), at(102.0));
        buffer.receive_one(102, command(4), None, at(102.5));
        buffer.receive_one(102, command(4), None, at(102.6));
        buffer.receive_one(0, command(4), None, at(102.6));
        let stats = *buffer.stats();
        assert_eq!((stats.accepted, stats.conflicting, stats.early), (1, 1, 2));
        assert_eq!((stats.late, stats.redundant), (2, 1));
        assert_eq!(buffer.take(Tick(103), at(103.0)), (command(1), CommandSource::Repeated));
    }

    #[test]
    fn a_late_command_does_not_push_out_a_future_one() {
        let mut buffer = buffer();
        buffer.receive_one(100 + CAPACITY, command(1), None, at(100.5));
        buffer.receive_one(100, command(2), None, at(100.5));
        let used = buffer.take(Tick(100 + CAPACITY), at(164.0));
        assert_eq!(used, (command(1), CommandSource::Client));
    }

    #[test]
    fn the_lead_is_the_least_of_the_latest_and_expires() {
        let mut buffer = buffer();
        assert_eq!(buffer.lead(), None);
        buffer.receive_one(102, command(0), None, at(100.0));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(2.0)));
        buffer.take(Tick(101), at(101.0));
        buffer.receive_one(103, command(0), None, at(102.5));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(0.5)));
        buffer.take(Tick(102), at(102.0));
        buffer.take(Tick(103), at(103.0));
        buffer.take(Tick(104), at(104.0));
        buffer.receive_one(104, command(0), None, at(104.25));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(-0.25)));
        for tick in 105..105 + 2 * LEAD_WINDOW {
            buffer.take(Tick(tick), at(f64::from(tick)));
        }
        assert_eq!(buffer.lead(), None);
    }

    /// Symptom: after a server had stalled for 1.3 s and skipped that time, no command was
    /// used any more. Cause: commands arrived 78 ticks early and were dropped without
    /// being measured, so no client learned that its clock was off.
    #[test]
    fn commands_out_of_range_still_report_their_lead() {
        let mut buffer = buffer();
        buffer.receive_one(180, command(1), None, at(101.0));
        assert_eq!((buffer.stats().early, buffer.lead()), (1, Some(Lead::from_ticks(79.0))));
        let mut buffer = self::buffer();
        buffer.receive_one(30, command(1), None, at(101.0));
        assert_eq!((buffer.stats().late, buffer.lead()), (1, Some(Lead::from_ticks(-71.0))));
    }

    #[test]
    fn after_skipped_time_the_lead_is_measured_at_once() {
        let mut buffer = buffer();
        for tick in 101..140 {
            let now = f64::from(tick);
            buffer.receive_one(tick + 1, command(1), None, at(now - 0.5));
            buffer.take(Tick(tick), at(now));
        }
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(1.5)));
        // The match stands still for 20 ticks and continues with the next tick. The client does not
        // know this, and its commands keep arriving.
        for tick in 140..159 {
            buffer.receive_one(tick + 1, command(1), None, at(f64::from(tick) - 0.5));
        }
        buffer.skip_time(20, at(159.0));
        // A command that had waited in the socket is not measured.
        buffer.receive_one(160, command(1), None, at(159.1));
        assert_eq!(buffer.lead(), None);
        for tick in 140..143 {
            buffer.take(Tick(tick), at(f64::from(tick) + 20.0));
        }
        buffer.receive_one(164, command(1), None, at(162.5));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(21.5)));
    }

    #[test]
    fn a_client_that_sets_its_clock_back_replaces_future_commands() {
        let mut buffer = buffer();
        let (before, after) = (Some(90), Some(100));
        for tick in 101..110 {
            buffer.receive_one(tick, command(1), before, at(100.5));
        }
        buffer.receive_one(102, command(2), after, at(100.6));
        // The first command arrives again, from a datagram that was delayed.
        buffer.receive_one(102, command(1), before, at(100.7));
        assert_eq!((buffer.stats().replaced, buffer.stats().conflicting), (1, 1));
        assert_eq!(buffer.take(Tick(101), at(101.0)).0, command(1));
        assert_eq!(buffer.take(Tick(102), at(102.0)).0, command(2));
        // A tick that has been simulated is not changed.
        buffer.receive_one(102, command(3), Some(101), at(102.5));
        assert_eq!((buffer.stats().replaced, buffer.stats().conflicting), (1, 2));
    }

    /// Symptom: an idle client that set its clock back did so once more, and its commands came too
    /// late for a second. Cause: a command equal to the first one for its tick was not measured, so
    /// the server reported an old lead.
    #[test]
    fn a_command_that_is_sent_again_is_measured() {
        let mut buffer = buffer();
        let datagram = |newest: u32, latest: u32| CommandDatagram {
            acknowledgement: Some(Acknowledgement::of(Tick(latest))),
            batch: CommandBatch::new(Tick(newest - 3), vec![command(0); 4]).unwrap(),
        };
        for newest in 124..130 {
            buffer.receive(&datagram(newest, 90), at(100.5));
        }
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(20.5)));
        for now in 101..110 {
            buffer.take(Tick(now), at(f64::from(now)));
        }
        // The copies of the commands for ticks 127 to 129 are not measured.
        buffer.receive(&datagram(130, 95), at(109.5));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(20.5)));
        buffer.receive(&datagram(124, 100), at(109.5));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(14.5)));
        // The first datagram, delayed until now.
        buffer.receive(&datagram(124, 90), at(115.0));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(14.5)));
        assert_eq!(buffer.stats().conflicting, 0);
        // The client sends another command, which is too late to be used.
        buffer.receive_one(109, command(0), Some(90), at(109.6));
        buffer.receive_one(109, command(1), Some(101), at(110.5));
        assert_eq!(buffer.lead(), Some(Lead::from_ticks(-1.5)));
        assert_eq!(buffer.stats().conflicting, 1);
    }
}
