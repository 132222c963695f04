//! The report of a soak, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use obsp_sim::{AwakeReason, Counters, Stage};
use serde::Serialize;

use super::{Outcome, Played};

/// Everything that a soak has found out. The fields have the names of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The map.
    pub map: String,
    /// The seed.
    pub seed: u64,
    /// Ticks played.
    pub ticks: u64,
    /// Players that took part.
    pub players: usize,
    /// Rigid bodies in the match.
    pub objects: usize,
    /// Rigid bodies awake, on average over the ticks.
    pub awake_mean: f64,
    /// Rigid bodies awake, on average over the last half of the ticks, by the reason why they are
    /// awake.
    pub awake_because: BTreeMap<&'static str, f64>,
    /// Share of the props that sleep, on average over the last half of the ticks. Missiles and
    /// kinematic bodies, which never sleep, are not props.
    pub asleep_share: f64,
    /// Islands simulated more cheaply because of overload, on average over the ticks.
    pub degraded_islands: f64,
    /// Bodies of degraded islands that were simulated at half rate, on average over the ticks.
    pub half_rate: f64,
    /// How long a tick takes.
    pub tick_us: TickTimes,
    /// How often all bodies were audited, the beginning included.
    pub audits: u64,
    /// Overlaps found.
    pub interpenetrations: u64,
    /// Bodies found with a number that is not finite, or an orientation that is not of length
    /// one.
    pub unsound: u64,
    /// The depth of the deepest overlap, in units.
    pub deepest: f64,
    /// Paths of bodies that led through something.
    pub tunnelled: u64,
    /// Bodies that are not at the place that their relocation announced, or that moved farther than
    /// a body can without a relocation.
    pub misplaced: u64,
    /// Bodies taken out of an overlap and put back elsewhere.
    pub emergency_replacements: u64,
    /// Bodies that fell out of the map and were put back.
    pub fallen: u64,
    /// Entities waiting for a free place at the end.
    pub limbo: u64,
    /// Players who at some time were stuck, as
    /// [`StuckWatch`](crate::matches::tick_thread::stuck::StuckWatch) defines it.
    pub stuck_players: usize,
    /// Digest of the match at the end.
    pub digest: String,
    /// The filter cascade, cheapest stage first.
    pub cascade: Vec<CascadeStage>,
    /// Searches for the time of impact.
    pub time_of_impact: TimeOfImpact,
    /// The counts of what the map's entities did.
    #[serde(flatten)]
    pub played: Played,
    /// The events, values and scores that the game sent its players.
    pub outcome: Outcome,
    /// The file that the match was recorded to.
    pub recorded: Option<PathBuf>,
    /// Problems of the map or the options that did not keep the match from starting.
    pub warnings: Vec<String>,
    /// The first findings, in order.
    pub findings: Vec<Finding>,
}

/// Percentiles of a tick's duration, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TickTimes {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// How many props slept, and why bodies were awake, summed over ticks.
#[derive(Default)]
pub(super) struct Rest {
    ticks: u64,
    by_reason: [u64; AwakeReason::COUNT],
    asleep: u64,
    props: u64,
}

impl Rest {
    /// Adds a tick with `props`, of which `asleep` sleep.
    pub(super) fn add(&mut self, counters: &Counters, props: usize, asleep: usize) {
        self.ticks += 1;
        self.props += props as u64;
        self.asleep += asleep as u64;
        for (sum, awake) in self.by_reason.iter_mut().zip(counters.awake_because) {
            *sum += awake;
        }
    }

    /// The mean number of awake bodies by reason, over the ticks.
    pub(super) fn awake_because(&self) -> BTreeMap<&'static str, f64> {
        let mean = |sum: u64| sum as f64 / self.ticks.max(1) as f64;
        let reasons = AwakeReason::ALL.into_iter().zip(self.by_reason);
        reasons.map(|(reason, sum)| (reason.name(), mean(sum))).collect()
    }

    /// The share of the props that slept; 1 without props.
    pub(super) fn asleep_share(&self) -> f64 {
        if self.props == 0 { 1.0 } else { self.asleep as f64 / self.props as f64 }
    }
}

/// One stage of the cascade.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CascadeStage {
    /// The name of the stage.
    pub stage: &'static str,
    /// Pairs that the stage tested.
    pub tests: u64,
    /// Pairs that the stage decided.
    pub definitive: u64,
    /// Nanoseconds for one pair, on average. `None` if the stage was not timed.
    pub mean_ns: Option<f64>,
}

/// Searches for the time of impact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeOfImpact {
    /// The number of searches.
    pub queries: u64,
    /// Intervals that one search tested, on average.
    pub mean_iterations: f64,
}

/// Something that must not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The tick after which the finding was made.
    pub tick: u64,
    /// A description for people.
    pub what: String,
}

impl Report {
    /// Whether nothing overlapped, passed through anything or was misplaced, all numbers were
    /// sound, and no player was stuck.
    pub fn is_clean(&self) -> bool {
        let misplaced = self.tunnelled + self.misplaced;
        self.interpenetrations + self.unsound + misplaced == 0 && self.stuck_players == 0
    }
}

impl TickTimes {
    /// The percentiles of these durations.
    pub fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        let last = durations.len().saturating_sub(1);
        let at = |percent: usize| {
            let index = (durations.len() * percent / 100).min(last);
            durations.get(index).map_or(0.0, |duration| duration.as_secs_f64() * 1e6)
        };
        Self { p50: at(50), p90: at(90), p99: at(99), max: at(100) }
    }
}

pub(super) fn cascade(counters: &Counters) -> Vec<CascadeStage> {
    let stages = Stage::ALL.iter().zip(&counters.cascade);
    stages
        .map(|(stage, counted)| CascadeStage {
            stage: stage.name(),
            tests: counted.tests,
            definitive: counted.definitive,
            mean_ns: counted.mean_nanoseconds().filter(|_| counted.nanoseconds > 0),
        })
        .collect()
}

pub(super) fn time_of_impact(counters: &Counters) -> TimeOfImpact {
    let queries = counters.impact_queries;
    let mean_iterations = counters.impact_iterations as f64 / queries.max(1) as f64;
    TimeOfImpact { queries, mean_iterations }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, seed {}: {} ticks, {} players, {} objects, {:.1} awake on average",
            self.map, self.seed, self.ticks, self.players, self.objects, self.awake_mean
        )?;
        let asleep = 100.0 * self.asleep_share;
        write!(f, "last half   {asleep:.1} % of the props asleep; mean number awake, by reason:")?;
        for (reason, mean) in &self.awake_because {
            write!(f, " {reason} {mean:.1}")?;
        }
        writeln!(f)?;
        let TickTimes { p50, p90, p99, max } = self.tick_us;
        writeln!(
            f,
            "tick        {p50:.0} µs median, {p90:.0} p90, {p99:.0} p99, {max:.0} longest"
        )?;
        if self.degraded_islands > 0.0 {
            writeln!(
                f,
                "overload    {:.1} islands degraded on average, {:.1} bodies at half rate",
                self.degraded_islands, self.half_rate
            )?;
        }
        match self.audits {
            0 => writeln!(f, "audits      none; {} stuck players", self.stuck_players)?,
            audits => writeln!(
                f,
                "audits      {audits}: {} interpenetrations, deepest {:.6}; {} unsound; {} tunnelled; \
                 {} misplaced; {} stuck players",
                self.interpenetrations,
                self.deepest,
                self.unsound,
                self.tunnelled,
                self.misplaced,
                self.stuck_players
            )?,
        }
        writeln!(
            f,
            "emergency   {} replacements, {} fallen, {} in limbo",
            self.emergency_replacements, self.fallen, self.limbo
        )?;
        for stage in &self.cascade {
            let share = 100.0 * stage.definitive as f64 / stage.tests.max(1) as f64;
            let CascadeStage { stage, tests, mean_ns, .. } = stage;
            write!(f, "  {stage:<9} {tests:>13} tests, {share:5.1} % decided")?;
            match mean_ns {
                Some(mean) => writeln!(f, ", {mean:.0} ns each")?,
                None => writeln!(f)?,
            }
        }
        let TimeOfImpact { queries, mean_iterations } = self.time_of_impact;
        writeln!(f, "impact      {queries} queries, {mean_iterations:.2} intervals each")?;
        writeln!(f, "entities    {}", self.played)?;
        writeln!(f, "{}", self.outcome)?;
        write!(f, "digest      {}", self.digest)?;
        if let Some(file) = &self.recorded {
            write!(f, "\nrecorded    {}", file.display())?;
        }
        for warning in &self.warnings {
            write!(f, "\nwarning: {warning}")?;
        }
        for Finding { tick, what } in &self.findings {
            write!(f, "\ntick {tick}: {what}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_none_and_of_a_hundred() {
        assert_eq!(TickTimes::of(vec![]), TickTimes::default());
        let times = TickTimes::of((1..=100).rev().map(Duration::from_micros).collect());
        assert_eq!(times, TickTimes { p50: 51.0, p90: 91.0, p99: 100.0, max: 100.0 });
    }
}
