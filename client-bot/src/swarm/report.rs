use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::bot::{Outcome, Record, UNIT_OF_ERROR};
use super::deeds::Doings;
use super::distribution::Distribution;
use crate::client::JoinError;

/// How the server treated a swarm. Rates and times are over the bots that
/// joined, while they were in the match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Bots that were to play.
    pub bots: u32,
    /// Bots that joined.
    pub joined: u32,
    /// Bots that the server did not let in.
    pub refused: u32,
    /// Bots that did not join for another reason.
    pub unreachable: u32,
    /// Bots that joined and were dropped before the end.
    pub dropped: u32,
    /// Seconds that a bot was in the match, on average.
    pub seconds: f64,
    /// Snapshots a second.
    pub snapshots_per_second: Rates,
    /// Ticks a second that the server went on by, as its snapshots tell.
    pub server_ticks_per_second: Rates,
    /// Milliseconds by which the swarm's own threads woke too late.
    pub own_lateness_ms: Times,
    /// What gave out first, if bots did not see the snapshots that the server
    /// was to send.
    pub gave_out: Option<GaveOut>,
    /// Milliseconds between two snapshots.
    pub snapshot_gap_ms: Times,
    /// Milliseconds to the server and back.
    pub rtt_ms: Times,
    /// Milliseconds since the news of what moves in sight, whenever looked at.
    pub visible_age_ms: Times,
    /// Kilobits a second and bot, on average.
    pub kbit_per_second: Bandwidth,
    /// The same of the bot that 99 % are not above.
    pub kbit_per_second_p99: Bandwidth,
    /// Units between where players were and where they had been predicted to be.
    pub prediction_error: Errors,
    /// The same but for answers to players who may have been pushed, as
    /// [`PredictionError::pushed`](crate::client::PredictionError::pushed) has it.
    pub prediction_error_free: Errors,
    /// Visible corrections (above a tenth of a unit) a minute and bot.
    pub corrections_per_minute: f64,
    /// Digests that bots checked.
    pub digests: u64,
    /// Digests that did not agree with what the server meant.
    pub digest_mismatches: u64,
    /// Different entities that the bot which saw the fewest has seen.
    pub entities_seen_least: usize,
    /// Different entities that all bots together have seen.
    pub entities_seen: usize,
    /// What the bots did with their time.
    pub doings: Doings,
    /// Players that died by a bot's doing.
    pub kills: u64,
    /// What went wrong, bot by bot.
    pub failures: Vec<String>,
}

/// A rate over bots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Over all bots.
    pub mean: f64,
    /// Of the bot that had the lowest.
    pub min: f64,
}

/// What was too slow for bots to see every snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GaveOut {
    /// The swarm's own threads: more bots than this machine can play.
    Swarm,
    /// The server's tick.
    Server,
    /// What is between the two: the path, or the thread that sends.
    Path,
}

/// How lengths of time are distributed, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// Half are not longer.
    pub p50: f64,
    /// 99 % are not longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// How prediction errors are distributed, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Errors {
    /// How many predictions could be compared.
    pub compared: u64,
    /// Half are not greater.
    pub p50: f64,
    /// 99 % are not greater.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

/// What a bot's line carried, in kilobits a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bandwidth {
    /// UDP payload from the server.
    pub down: f64,
    /// UDP payload to the server.
    pub up: f64,
    /// Snapshots alone, without what QUIC adds.
    pub snapshots: f64,
}

/// Share of the snapshots, or ticks, there should be that is as good as all.
const ENOUGH: f64 = 0.97;

impl Report {
    /// Sums up what the bots have to tell.
    pub(super) fn new(bots: u32, records: Vec<Record>, lateness: &Distribution) -> Self {
        let count = |wanted: fn(&Outcome) -> bool| {
            records.iter().filter(|record| wanted(&record.outcome)).count() as u32
        };
        let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let refused = count(|outcome| matches!(outcome, Outcome::Failed(JoinError::Refused(_))));
        let dropped = count(|outcome| matches!(outcome, Outcome::Dropped(_)));
        let failures = records.iter().filter_map(failure).collect();

        let players: Vec<&Record> =
            records.iter().filter(|record| !matches!(record.outcome, Outcome::Failed(_))).collect();
        let seconds: f64 = players.iter().map(|player| player.played.as_secs_f64()).sum();
        let sum = |of: fn(&Record) -> u64| players.iter().map(|player| of(player)).sum::<u64>();
        let per_second = |count: u64, seconds: f64| ratio(count as f64, seconds);
        let kbit = |bytes: u64| per_second(bytes, seconds) * 8.0 / 1000.0;
        let rates =
            players.iter().map(|player| per_second(player.snapshots, player.played.as_secs_f64()));
        let snapshots_per_second = Rates {
            mean: per_second(sum(|player| player.snapshots), seconds),
            min: rates.reduce(f64::min).unwrap_or_default(),
        };
        let ticks: Vec<f64> = players.iter().filter_map(|player| ticks_a_second(player)).collect();
        let server_ticks_per_second = Rates {
            mean: ratio(ticks.iter().sum(), ticks.len() as f64),
            min: ticks.iter().copied().reduce(f64::min).unwrap_or_default(),
        };
        let own_lateness_ms = Times::of([lateness].into_iter());
        let tick_rate = players.iter().map(|player| player.tick_rate).fold(0.0, f64::max);
        let snapshot_rate = players.iter().map(|player| player.snapshot_rate).fold(0.0, f64::max);
        let gave_out = (snapshots_per_second.mean < ENOUGH * snapshot_rate).then(|| {
            if own_lateness_ms.p99 > 1000.0 / tick_rate {
                GaveOut::Swarm
            } else if server_ticks_per_second.mean < ENOUGH * tick_rate {
                GaveOut::Server
            } else {
                GaveOut::Path
            }
        });
        let seen: HashSet<_> = players.iter().flat_map(|player| &player.entities).collect();
        Self {
            bots,
            joined: players.len() as u32,
            refused,
            unreachable: failed - refused,
            dropped,
            seconds: ratio(seconds, players.len() as f64),
            snapshots_per_second,
            server_ticks_per_second,
            own_lateness_ms,
            gave_out,
            snapshot_gap_ms: Times::of(players.iter().map(|player| &player.gaps)),
            rtt_ms: Times::of(players.iter().map(|player| &player.rtts)),
            visible_age_ms: Times::of(players.iter().map(|player| &player.ages)),
            kbit_per_second: Bandwidth {
                down: kbit(sum(|player| player.traffic.down)),
                up: kbit(sum(|player| player.traffic.up)),
                snapshots: kbit(sum(|player| player.snapshot_bytes)),
            },
            kbit_per_second_p99: Bandwidth::p99(&players),
            prediction_error: Errors::of(players.iter().map(|player| &player.errors)),
            prediction_error_free: Errors::of(players.iter().map(|player| &player.free_errors)),
            corrections_per_minute: per_second(
                sum(|player| player.prediction.visible_corrections),
                seconds,
            ) * 60.0,
            digests: sum(|player| player.digests),
            digest_mismatches: sum(|player| player.digest_mismatches),
            entities_seen_least: players
                .iter()
                .map(|player| player.entities.len())
                .min()
                .unwrap_or_default(),
            entities_seen: seen.len(),
            doings: Doings::of(players.iter().map(|player| &player.deeds), tick_rate),
            kills: sum(|player| player.kills),
            failures,
        }
    }

    /// Whether every bot joined, stayed, and saw what the server meant.
    pub fn passed(&self) -> bool {
        self.joined == self.bots && self.dropped == 0 && self.digest_mismatches == 0
    }
}

impl Times {
    fn of<'a>(distributions: impl Iterator<Item = &'a Distribution>) -> Self {
        let mut all = Distribution::new();
        distributions.for_each(|distribution| all.merge(distribution));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        Self {
            p50: milliseconds(all.percentile(50)),
            p99: milliseconds(all.percentile(99)),
            max: milliseconds(all.longest()),
        }
    }
}

impl Errors {
    fn of<'a>(distributions: impl Iterator<Item = &'a Distribution>) -> Self {
        let mut all = Distribution::new();
        distributions.for_each(|errors| all.merge(errors));
        let units = |time: Duration| time.as_secs_f64() / UNIT_OF_ERROR;
        let (p50, p99) = (units(all.percentile(50)), units(all.percentile(99)));
        Self { compared: all.count(), p50, p99, max: units(all.longest()) }
    }
}

impl Bandwidth {
    fn p99(players: &[&Record]) -> Self {
        let of = |bytes: fn(&Record) -> u64| {
            let rate = |player: &&Record| {
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

/// Ticks a second that the server went on by while a bot listened.
fn ticks_a_second(player: &Record) -> Option<f64> {
    let [(first, began), (last, ended)] = player.heard?;
    let seconds = ended.duration_since(began).as_secs_f64();
    (seconds > 0.0).then(|| last.distance(first) as f64 / seconds)
}

/// `a / b`, or nothing of nothing.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

fn failure(record: &Record) -> Option<String> {
    match &record.outcome {
        Outcome::Failed(error) => Some(format!("{} could not join: {error}", record.name)),
        Outcome::Dropped(lost) => Some(format!("{} was dropped: {lost}", record.name)),
        Outcome::Played if record.digest_mismatches > 0 => {
            Some(format!("{} saw {} mismatches", record.name, record.digest_mismatches))
        }
        Outcome::Played => None,
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bots, joined, refused, unreachable, dropped, seconds, .. } = self;
        let (rates, gaps, rtt) = (&self.snapshots_per_second, &self.snapshot_gap_ms, &self.rtt_ms);
        let line = &self.kbit_per_second;
        writeln!(
            out,
            "bots              {joined} of {bots} joined, {refused} refused, \
             {unreachable} unreachable, {dropped} dropped, {seconds:.1} s"
        )?;
        writeln!(out, "snapshots/s       mean {:.2}, min {:.2}", rates.mean, rates.min)?;
        writeln!(out, "server            {:.2} ticks a second", self.server_ticks_per_second.mean)?;
        match self.gave_out {
            Some(GaveOut::Swarm) => writeln!(out, "gave out first    this swarm's own threads")?,
            Some(GaveOut::Server) => writeln!(out, "gave out first    the server's tick")?,
            Some(GaveOut::Path) => writeln!(out, "gave out first    the path, or who sends")?,
            None => {}
        }
        for (what, times) in [
            ("own lateness", &self.own_lateness_ms),
            ("snapshot gap", gaps),
            ("round trip", rtt),
            ("age in sight", &self.visible_age_ms),
        ] {
            let Times { p50, p99, max } = times;
            writeln!(out, "{what:<18}p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms")?;
        }
        writeln!(
            out,
            "kbit/s per bot    down {:.1} (snapshots {:.1}), up {:.1}",
            line.down, line.snapshots, line.up
        )?;
        let most = &self.kbit_per_second_p99;
        writeln!(
            out,
            "      p99         down {:.1} (snapshots {:.1}), up {:.1}",
            most.down, most.snapshots, most.up
        )?;
        for (what, errors) in [
            ("prediction error", self.prediction_error),
            ("  not pushed", self.prediction_error_free),
        ] {
            let Errors { compared, p50, p99, max } = errors;
            writeln!(
                out,
                "{what:<18}p50 {p50:.3}, p99 {p99:.3}, max {max:.2} units of {compared} compared"
            )?;
        }
        let corrections = self.corrections_per_minute;
        writeln!(out, "corrections       {corrections:.1} a minute and bot")?;
        writeln!(
            out,
            "digests           {} checked, {} mismatches",
            self.digests, self.digest_mismatches
        )?;
        let doings = &self.doings;
        writeln!(
            out,
            "deeds             {:.0} units a minute, hindered {:.1} % (at most {} s), ducking {:.0} %, \
             shoving {:.0} %, {} pads ridden, driving {:.0} %, {} boxes dropped, {} kills",
            doings.units_per_minute,
            doings.hindered_share * 100.0,
            doings.longest_hindered_seconds,
            doings.crouched_share * 100.0,
            doings.shoving_share * 100.0,
            doings.pads_ridden,
            doings.driving_share * 100.0,
            doings.cargo_dropped,
            self.kills
        )?;
        write!(
            out,
            "entities seen     {} by all, {} by the bot that saw the fewest",
            self.entities_seen, self.entities_seen_least
        )?;
        self.failures.iter().try_for_each(|failure| write!(out, "\n{failure}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proto::Tick;
    use proto::control::PlayerName;

    use super::*;

    /// Ten seconds of a bot that saw so many snapshots and ticks a second of the
    /// sixty that there should be of each.
    fn record(snapshots: u64, ticks: u32) -> Record {
        let mut record = Record::new(PlayerName::new("tester").unwrap());
        let (seconds, began) = (10, Instant::now());
        record.played = Duration::from_secs(seconds);
        record.snapshots = snapshots * seconds;
        let ended = (Tick(ticks * seconds as u32), began + record.played);
        record.heard = Some([(Tick(0), began), ended]);
        (record.tick_rate, record.snapshot_rate) = (60.0, 60.0);
        record
    }

    fn gave_out(records: Vec<Record>, late: Duration) -> Option<GaveOut> {
        let mut lateness = Distribution::new();
        (0..100).for_each(|_| lateness.record(late));
        Report::new(records.len() as u32, records, &lateness).gave_out
    }

    #[test]
    fn what_gives_out_first_is_named() {
        const IN_TIME: Duration = Duration::from_millis(1);
        const LATE: Duration = Duration::from_millis(20);
        for (snapshots, ticks, late, expected) in [
            (60, 60, IN_TIME, None),
            (59, 59, IN_TIME, None),
            // Who is late and yet sees everything has no cause to complain.
            (60, 60, LATE, None),
            (40, 60, LATE, Some(GaveOut::Swarm)),
            // A swarm that is late itself cannot tell how the server is.
            (40, 40, LATE, Some(GaveOut::Swarm)),
            (40, 40, IN_TIME, Some(GaveOut::Server)),
            (40, 60, IN_TIME, Some(GaveOut::Path)),
        ] {
            let case = format!("{snapshots} snapshots, {ticks} ticks, {late:?} late");
            assert_eq!(gave_out(vec![record(snapshots, ticks)], late), expected, "{case}");
        }
        assert_eq!(gave_out(Vec::new(), LATE), None, "nobody played");
        let two = vec![record(60, 60), record(40, 60)];
        assert_eq!(gave_out(two, IN_TIME), Some(GaveOut::Path), "one of two");
    }

    #[test]
    fn who_could_not_join_says_nothing_of_snapshots() {
        let server = "127.0.0.1:1".parse().unwrap();
        let mut failed = record(0, 0);
        failed.outcome = Outcome::Failed(JoinError::NoAnswer { server });
        assert_eq!(gave_out(vec![failed], Duration::from_millis(20)), None);
    }
}
