//! Blow's table of costs beside that of this simulation.

use std::fmt;

use obsp_sim::{Counters, Stage};
use serde::Serialize;

/// The cost of Blow's hovertank run beside that of this simulation: one row for each filter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The rows of the filters, the cheapest first.
    pub rows: Vec<Row>,
}

/// One filter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The stage of this simulation's cascade.
    pub stage: &'static str,
    /// Pairs that the stage tested.
    pub tests: u64,
    /// Pairs that the stage decided.
    pub definitive: u64,
    /// The stage's share of all pairs that were decided. The grid is not counted, so it has no
    /// share.
    pub share: Option<f64>,
    /// Mean time of a test in nanoseconds. `None` if stages were not timed.
    pub mean_ns: Option<f64>,
    /// The filter of the paper that comes nearest to the stage.
    pub paper: Option<Paper>,
}

/// A row of the paper's table (Blow 1997, "Let's Rock").
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paper {
    /// The filter's name in the paper.
    pub test: &'static str,
    /// Pairs that the filter decided.
    pub definitive: u64,
    /// The filter's share of all pairs that were decided.
    pub share: f64,
    /// Mean time in microseconds on a Pentium 166. `None` where the paper says "tiny".
    pub mean_us: Option<f64>,
}

/// All definitive answers of the paper's table.
const PAPER_TOTAL: f64 = 3800.0 + 1911.0 + 93.0 + 842.0;

const fn paper(test: &'static str, definitive: u64, mean_us: Option<f64>) -> Option<Paper> {
    Some(Paper { test, definitive, share: definitive as f64 / PAPER_TOTAL, mean_us })
}

/// The row of the paper's table that a stage corresponds to.
const fn in_paper(stage: Stage) -> Option<Paper> {
    match stage {
        Stage::Spheres => paper("bounding spheres", 3800, None),
        Stage::Boxes => paper("bounding box safety", 1911, Some(26.13)),
        Stage::Plane => paper("plane divides entities", 93, Some(231.94)),
        Stage::BspHard => paper("BSP hard case", 842, Some(450.98)),
        Stage::Grid | Stage::BspBox | Stage::Exact => None,
    }
}

impl Table {
    /// The counts between two moments of a match.
    pub fn between(before: &Counters, after: &Counters) -> Self {
        let stages = Stage::ALL.iter().zip(before.cascade.iter().zip(&after.cascade));
        let counted: Vec<_> = stages
            .map(|(&stage, (before, after))| {
                let tests = after.tests - before.tests;
                let nanoseconds = (after.nanoseconds - before.nanoseconds) as f64;
                (stage, tests, after.definitive - before.definitive, nanoseconds)
            })
            .collect();
        let pairs = counted.iter().filter(|(stage, ..)| *stage != Stage::Grid);
        let decided: u64 = pairs.map(|(_, _, definitive, _)| definitive).sum();
        let row = |&(stage, tests, definitive, nanoseconds): &(Stage, u64, u64, f64)| Row {
            stage: stage.name(),
            tests,
            definitive,
            share: (stage != Stage::Grid).then(|| definitive as f64 / decided.max(1) as f64),
            mean_ns: (nanoseconds > 0.0).then(|| nanoseconds / tests.max(1) as f64),
            paper: in_paper(stage),
        };
        Self { rows: counted.iter().map(row).collect() }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<9} {:>10} {:>10} {:>7} {:>9}   {:<22} {:>10} {:>7} {:>9}",
            "stage",
            "tests",
            "definitive",
            "share",
            "mean",
            "Blow 1997",
            "definitive",
            "share",
            "mean"
        )?;
        for row in &self.rows {
            let Row { stage, tests, definitive, share, mean_ns, paper } = row;
            let percent = |share: f64| format!("{:.1} %", share * 100.0);
            let share = share.map_or(String::from("-"), percent);
            let microseconds = |mean: f64| format!("{:.3} µs", mean / 1000.0);
            let mean = mean_ns.map_or(String::from("-"), microseconds);
            write!(f, "\n{stage:<9} {tests:>10} {definitive:>10} {share:>7} {mean:>9}")?;
            if let Some(Paper { test, definitive, share, mean_us }) = *paper {
                let mean = mean_us.map_or(String::from("tiny"), |mean| format!("{mean:.2} µs"));
                write!(f, "   {test:<22} {definitive:>10} {:>7} {mean:>9}", percent(share))?;
            }
        }
        Ok(())
    }
}
