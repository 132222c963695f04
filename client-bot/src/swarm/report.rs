//! The report of a swarm: the measurements of all its bots, summed up.

mod text;

use obsp_client::quic::JoinError;
use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;

use super::activity::BotActivity;
use super::bot_record::{BotRecord, JOINING, Outcome};
use super::histogram::Histogram;
use super::observations::{Observations, SECONDS_PER_UNIT};

/// The measurements of a swarm. Rates and times are those of the bots that joined, while they
/// were in the match. Gaps, ages, prediction errors and jumps leave out the first second after
/// joining, which is in [`Report::joining`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Number of bots of the swarm.
    pub bots: u32,
    /// The lines by which the server greeted bots, such as its name and message of the day.
    pub greeting: Vec<String>,
    /// Bots that joined.
    pub joined: u32,
    /// Bots that the server refused.
    pub refused: u32,
    /// Bots that could not join for another reason.
    pub unreachable: u32,
    /// Bots that joined and were disconnected for good before the end.
    pub dropped: u32,
    /// How often a bot lost its connection and rejoined.
    pub reconnects: u64,
    /// The fewest worlds that any bot was in: the first, and each later round or map into which the
    /// bot followed the match.
    pub worlds_min: u64,
    /// Average time of a bot in the match, in seconds.
    pub seconds: f64,
    /// Snapshots a second.
    pub snapshots_per_second: Rates,
    /// The server's ticks per second, by the ticks of its snapshots.
    pub server_ticks_per_second: Rates,
    /// How late the swarm's own timers fired, in milliseconds. If they fired late, the report
    /// says little about the server.
    pub scheduling_delay_ms: Times,
    /// The cause of missing snapshots, if bots received fewer than the server should send.
    pub bottleneck: Option<Bottleneck>,
    /// Milliseconds between two snapshots.
    pub snapshot_gap_ms: Times,
    /// Round-trip times in milliseconds.
    pub rtt_ms: Times,
    /// Ages in milliseconds of the states of visible entities that move, sampled regularly: how
    /// long ago the server was at the tick of the state. The server's clock is estimated from the
    /// snapshots that arrived quickest.
    pub visible_age_ms: Times,
    /// Kilobits per second, averaged over the bots.
    pub kbit_per_second: Bandwidth,
    /// Kilobits per second, the 99th percentile over the bots.
    pub kbit_per_second_p99: Bandwidth,
    /// Distance in units between authoritative and predicted positions.
    pub prediction_error: Errors,
    /// The distance of `prediction_error`, without motions that something unpredictable may have
    /// disturbed: see [`PredictionError::disturbed`](obsp_client::PredictionError::disturbed).
    pub prediction_error_undisturbed: Errors,
    /// Corrections of more than a tenth of a unit, per minute and bot.
    pub corrections_per_minute: f64,
    /// Corrections that moved the predicted position of the latest command by more than four units,
    /// per minute and bot. They are visible unless they are smoothed. The prediction error may be
    /// greater or smaller, because it is measured at an earlier tick.
    pub jumps_per_minute: f64,
    /// Corrections that are visible although they are smoothed, per minute and bot. Smoothing
    /// spreads a correction over a tenth of a second. A visible one still moves the view by more
    /// than four units in a frame at 60 Hz, besides the player's own motion.
    pub smoothed_jumps_per_minute: f64,
    /// The first second after joining and loading the map.
    pub joining: Joining,
    /// Digests that bots checked.
    pub digests: u64,
    /// Digests that did not match.
    pub digest_mismatches: u64,
    /// The fewest entities that the server sent to any bot.
    pub entities_seen_min: usize,
    /// Number of entities that the server sent to all bots together.
    pub entities_seen: usize,
    /// How the bots spent their time.
    pub activity: BotActivity,
    /// Players that bots killed.
    pub kills: u64,
    /// The failures, one line per bot.
    pub failures: Vec<String>,
}

/// The bots' observations in the first second after joining. Each figure is defined as in
/// [`Report`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Joining {
    /// Milliseconds between two snapshots.
    pub snapshot_gap_ms: Times,
    /// Ages in milliseconds of the states of visible entities that move.
    pub visible_age_ms: Times,
    /// Distance in units between authoritative and predicted positions.
    pub prediction_error: Errors,
    /// The distance of `prediction_error`, without motions that something unpredictable may have
    /// disturbed.
    pub prediction_error_undisturbed: Errors,
    /// Corrections, of all bots, that moved a bot's own player by more than four units.
    pub jumps: u64,
}

/// A rate, averaged over bots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// The mean over all bots.
    pub mean: f64,
    /// The lowest rate of any bot.
    pub min: f64,
}

/// The reason why bots did not receive every snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// The swarm's own threads: the machine cannot run this many bots.
    Swarm,
    /// The server, whose ticks come slower than its tick rate says.
    Server,
    /// The network path between server and swarm, or the server's thread that sends.
    Path,
}

/// Percentiles of durations, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

/// Percentiles of prediction errors, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Errors {
    /// Number of predictions that were compared.
    pub compared: u64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

/// The traffic of a bot's connection, in kilobits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bandwidth {
    /// UDP payload from the server.
    pub down: f64,
    /// UDP payload to the server.
    pub up: f64,
    /// Snapshots alone, without QUIC's overhead.
    pub snapshots: f64,
}

/// If at least this share of the expected snapshots or ticks arrived, none counts as missing.
const ENOUGH: f64 = 0.97;

impl Report {
    /// Sums up the records of all bots, and how late their threads were.
    pub(super) fn new(bots: u32, records: Vec<BotRecord>, scheduling_delay: &Histogram) -> Self {
        let is_player = |record: &&BotRecord| !matches!(record.outcome, Outcome::Failed(_));
        let players: Vec<&BotRecord> = records.iter().filter(is_player).collect();
        let mut report = Self {
            bots,
            joined: players.len() as u32,
            scheduling_delay_ms: Times::of([scheduling_delay].into_iter()),
            failures: records.iter().filter_map(failure).collect(),
            ..Self::default()
        };
        report.count_failures(&records);
        report.sum_connections(&players);
        report.sum_observations(&players);
        report.bottleneck = report.find_bottleneck(&players);
        report
    }

    fn count_failures(&mut self, records: &[BotRecord]) {
        let count = |wanted: fn(&Outcome) -> bool| {
            records.iter().filter(|record| wanted(&record.outcome)).count() as u32
        };
        let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
        self.refused = count(|outcome| matches!(outcome, Outcome::Failed(JoinError::Refused(_))));
        self.unreachable = failed - self.refused;
        self.dropped = count(|outcome| matches!(outcome, Outcome::Dropped(_)));
    }

    /// Sums up the traffic of the connections and the rates on them.
    fn sum_connections(&mut self, players: &[&BotRecord]) {
        let sum = |of: fn(&BotRecord) -> u64| players.iter().map(|player| of(player)).sum::<u64>();
        let seconds: f64 = players.iter().map(|player| player.played.as_secs_f64()).sum();
        let kbit = |bytes: u64| ratio(bytes as f64, seconds) * 8.0 / 1000.0;
        let rate =
            |player: &&BotRecord| ratio(player.snapshots as f64, player.played.as_secs_f64());
        let ticks: Vec<f64> = players.iter().filter_map(|player| tick_rate_of(player)).collect();
        self.reconnects = sum(|player| player.reconnects);
        self.worlds_min = players.iter().map(|player| player.worlds).min().unwrap_or(0);
        self.seconds = ratio(seconds, players.len() as f64);
        self.snapshots_per_second = Rates {
            mean: ratio(sum(|player| player.snapshots) as f64, seconds),
            min: players.iter().map(rate).reduce(f64::min).unwrap_or_default(),
        };
        self.server_ticks_per_second = Rates {
            mean: ratio(ticks.iter().sum(), ticks.len() as f64),
            min: ticks.iter().copied().reduce(f64::min).unwrap_or_default(),
        };
        self.rtt_ms = Times::of(players.iter().map(|player| &player.rtts));
        self.kbit_per_second = Bandwidth {
            down: kbit(sum(|player| player.traffic.down)),
            up: kbit(sum(|player| player.traffic.up)),
            snapshots: kbit(sum(|player| player.snapshot_bytes)),
        };
        self.kbit_per_second_p99 = Bandwidth::p99(players);
        self.digests = sum(|player| player.digests);
        self.digest_mismatches = sum(|player| player.digest_mismatches);
        let visible_corrections = sum(|player| player.prediction.visible_corrections) as f64;
        self.corrections_per_minute = ratio(visible_corrections, seconds) * 60.0;
    }

    /// Sums up what the bots observed and did.
    fn sum_observations(&mut self, players: &[&BotRecord]) {
        let sum = |of: fn(&BotRecord) -> u64| players.iter().map(|player| of(player)).sum::<u64>();
        let play_time = |player: &&BotRecord| player.played.saturating_sub(JOINING).as_secs_f64();
        let play_seconds: f64 = players.iter().map(play_time).sum();
        let per_minute = |count: u64| ratio(count as f64, play_seconds) * 60.0;
        let play = players.iter().map(|player| &player.play);
        self.snapshot_gap_ms = Times::of(play.clone().map(|play| &play.gaps));
        self.visible_age_ms = Times::of(play.clone().map(|play| &play.ages));
        self.prediction_error = Errors::of(play.clone().map(|play| &play.errors));
        self.prediction_error_undisturbed = Errors::of(play.map(|play| &play.undisturbed_errors));
        self.jumps_per_minute = per_minute(sum(|player| player.play.jumps));
        self.smoothed_jumps_per_minute = per_minute(sum(|player| player.play.smoothed_jumps));
        self.joining = Joining::of(players.iter().map(|player| &player.joining));
        let entities = players.iter().map(|player| player.entities.len());
        self.entities_seen_min = entities.min().unwrap_or_default();
        let all: HashSet<_> = players.iter().flat_map(|player| &player.entities).collect();
        self.entities_seen = all.len();
        let activities = players.iter().map(|player| &player.activity);
        self.activity = BotActivity::of(activities, expected_tick_rate(players));
        self.kills = sum(|player| player.kills);
        for line in players.iter().flat_map(|player| &player.greeting) {
            if !self.greeting.contains(line) {
                self.greeting.push(line.clone());
            }
        }
    }

    /// The cause of missing snapshots, if any are missing.
    fn find_bottleneck(&self, players: &[&BotRecord]) -> Option<Bottleneck> {
        let tick_rate = expected_tick_rate(players);
        let snapshot_rate = players.iter().map(|player| player.snapshot_rate).fold(0.0, f64::max);
        (self.snapshots_per_second.mean < ENOUGH * snapshot_rate).then(|| {
            if self.scheduling_delay_ms.p99 > 1000.0 / tick_rate {
                Bottleneck::Swarm
            } else if self.server_ticks_per_second.mean < ENOUGH * tick_rate {
                Bottleneck::Server
            } else {
                Bottleneck::Path
            }
        })
    }

    /// Whether every bot joined, stayed, and decoded what the server sent.
    pub fn passed(&self) -> bool {
        self.joined == self.bots && self.dropped == 0 && self.digest_mismatches == 0
    }
}

impl Joining {
    fn of<'a>(joining: impl Iterator<Item = &'a Observations> + Clone) -> Self {
        Self {
            snapshot_gap_ms: Times::of(joining.clone().map(|joining| &joining.gaps)),
            visible_age_ms: Times::of(joining.clone().map(|joining| &joining.ages)),
            prediction_error: Errors::of(joining.clone().map(|joining| &joining.errors)),
            prediction_error_undisturbed: Errors::of(
                joining.clone().map(|joining| &joining.undisturbed_errors),
            ),
            jumps: joining.map(|joining| joining.jumps).sum(),
        }
    }
}

impl Times {
    fn of<'a>(distributions: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut all = Histogram::new();
        distributions.for_each(|distribution| all.merge(distribution));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        Self {
            p50: milliseconds(all.percentile(50)),
            p99: milliseconds(all.percentile(99)),
            max: milliseconds(all.max()),
        }
    }
}

impl Errors {
    fn of<'a>(distributions: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut all = Histogram::new();
        distributions.for_each(|errors| all.merge(errors));
        let units = |time: Duration| time.as_secs_f64() / SECONDS_PER_UNIT;
        let (p50, p99) = (units(all.percentile(50)), units(all.percentile(99)));
        Self { compared: all.count(), p50, p99, max: units(all.max()) }
    }
}

impl Bandwidth {
    fn p99(players: &[&BotRecord]) -> Self {
        let of = |bytes: fn(&BotRecord) -> u64| {
            let rate = |player: &&BotRecord| {
                ratio(bytes(player) as f64 * 8.0 / 1000.0, player.played.as_secs_f64())
            };
            let mut rates: Vec<f64> = players.iter().map(rate).collect();
            rates.sort_by(f64::total_cmp);
            let rank = (rates.len() * 99).div_ceil(100);
            rank.checked_sub(1).map_or(0.0, |index| rates[index])
        };
        Self {
            down: of(|player| player.traffic.down),
            up: of(|player| player.traffic.up),
            snapshots: of(|player| player.snapshot_bytes),
        }
    }
}

/// The server's tick rate, measured from the first snapshot of a bot to the last.
fn tick_rate_of(player: &BotRecord) -> Option<f64> {
    let [(first, began), (last, ended)] = player.arrivals?;
    let seconds = ended.duration_since(began).as_secs_f64();
    (seconds > 0.0).then(|| last.distance(first) as f64 / seconds)
}

/// The tick rate that the server announced.
fn expected_tick_rate(players: &[&BotRecord]) -> f64 {
    players.iter().map(|player| player.tick_rate).fold(0.0, f64::max)
}

/// `a / b`, or 0 if `b` is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

fn failure(record: &BotRecord) -> Option<String> {
    match &record.outcome {
        Outcome::Failed(error) => Some(format!("{} could not join: {error}", record.name)),
        Outcome::Dropped(lost) => Some(format!("{} was dropped: {lost}", record.name)),
        Outcome::Played if record.digest_mismatches > 0 => {
            Some(format!("{} saw {} digest mismatches", record.name, record.digest_mismatches))
        }
        Outcome::Played => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use obsp_client::quic::ServerAddress;
    use obsp_proto::Tick;
    use obsp_proto::control::PlayerName;

    use super::*;

    /// The record of a bot that received this many snapshots and ticks a second for ten
    /// seconds, of the sixty expected of each.
    fn record(snapshots: u64, ticks: u32) -> BotRecord {
        let mut record = BotRecord::new(PlayerName::new("tester").unwrap());
        let (seconds, began) = (10, Instant::now());
        record.played = Duration::from_secs(seconds);
        record.snapshots = snapshots * seconds;
        let ended = (Tick(ticks * seconds as u32), began + record.played);
        record.arrivals = Some([(Tick(0), began), ended]);
        (record.tick_rate, record.snapshot_rate) = (60.0, 60.0);
        record
    }

    fn bottleneck(records: Vec<BotRecord>, late: Duration) -> Option<Bottleneck> {
        let mut delays = Histogram::new();
        (0..100).for_each(|_| delays.record(late));
        Report::new(records.len() as u32, records, &delays).bottleneck
    }

    #[test]
    fn the_bottleneck_is_named() {
        const IN_TIME: Duration = Duration::from_millis(1);
        const LATE: Duration = Duration::from_millis(20);
        for (snapshots, ticks, late, expected) in [
            (60, 60, IN_TIME, None),
            (59, 59, IN_TIME, None),
            // A late swarm that received every snapshot has no bottleneck.
            (60, 60, LATE, None),
            (40, 60, LATE, Some(Bottleneck::Swarm)),
            // A swarm that is late itself cannot measure the server.
            (40, 40, LATE, Some(Bottleneck::Swarm)),
            (40, 40, IN_TIME, Some(Bottleneck::Server)),
            (40, 60, IN_TIME, Some(Bottleneck::Path)),
        ] {
            let case = format!("{snapshots} snapshots, {ticks} ticks, {late:?} late");
            assert_eq!(bottleneck(vec![record(snapshots, ticks)], late), expected, "{case}");
        }
        assert_eq!(bottleneck(Vec::new(), LATE), None, "nobody played");
        let two = vec![record(60, 60), record(40, 60)];
        assert_eq!(bottleneck(two, IN_TIME), Some(Bottleneck::Path), "one of two");
    }

    #[test]
    fn observations_while_joining_are_reported_separately() {
        let (mut one, mut other) = (record(60, 60), record(60, 60));
        for (record, milliseconds) in [(&mut one, 17), (&mut other, 18)] {
            record.joining.gaps.record(Duration::from_millis(400));
            record.joining.jumps = 1;
            record.play.gaps.record(Duration::from_millis(milliseconds));
            record.play.ages.record(Duration::from_millis(3000));
            record.play.jumps = 3;
        }
        let report = Report::new(2, vec![one, other], &Histogram::new());
        assert_eq!((report.snapshot_gap_ms.max, report.joining.snapshot_gap_ms.max), (18.0, 400.0));
        assert_eq!((report.visible_age_ms.p99, report.joining.visible_age_ms.p99), (3000.0, 0.0));
        // Each bot played for ten seconds. The first of them counts as joining.
        assert_eq!((report.jumps_per_minute, report.joining.jumps), (20.0, 2));
    }

    #[test]
    fn a_bot_that_could_not_join_says_nothing_about_snapshots() {
        let server: ServerAddress = "127.0.0.1:1".parse().unwrap();
        let mut failed = record(0, 0);
        failed.outcome = Outcome::Failed(JoinError::NoAnswer { server });
        assert_eq!(bottleneck(vec![failed], Duration::from_millis(20)), None);
    }

    #[test]
    fn the_same_failure_of_many_bots_is_told_once() {
        let server: ServerAddress = "127.0.0.1:1".parse().unwrap();
        let failed = || {
            let mut failed = record(0, 0);
            failed.outcome = Outcome::Failed(JoinError::NoAnswer { server: server.clone() });
            failed
        };
        let report = Report::new(3, vec![failed(), failed(), failed()], &Histogram::new());
        let text = report.to_string();
        assert_eq!(text.matches("no server answers").count(), 1, "{text}");
        assert!(text.contains("(and 2 more bots)") && !text.contains("snapshots/s"), "{text}");
        assert_eq!(report.failures.len(), 3);
    }
}
