use client_bot::swarm::Report;

use super::lines::Bars;

const HEADINGS: [&str; 11] = [
    "line",
    "map",
    "snapshots/s",
    "gap p99 ms",
    "gap max ms",
    "age p99 ms",
    "error p99, undisturbed",
    "error p99, all",
    ">4 units/min",
    "seen/min",
    "dropped, mismatches",
];

/// The row of one line on one map.
pub(crate) struct Row {
    cells: [String; 11],
    missed: u32,
}

impl Row {
    pub(crate) fn new(line: &str, map: &str, report: &Report, bars: &Bars) -> Self {
        let mut missed = 0;
        let mut judged = |text: String, is_met: bool| {
            missed += u32::from(!is_met);
            if is_met { text } else { format!("! {text}") }
        };
        let mut at_most = |figure: f64, bar: Option<f64>, digits: usize| match bar {
            Some(bar) => judged(format!("{figure:.digits$} (≤ {bar})"), figure <= bar),
            None => format!("{figure:.digits$}"),
        };
        let gap_max = at_most(report.snapshot_gap_ms.max, bars.gap, 0);
        let age = at_most(report.visible_age_ms.p99, bars.age, 0);
        let error = at_most(report.prediction_error_undisturbed.p99, bars.error, 3);
        let seen = at_most(report.smoothed_jumps_per_minute, bars.jumps, 1);
        let rate = report.snapshots_per_second.mean;
        let snapshots = match bars.snapshots {
            Some(bar) => judged(format!("{rate:.1} (≥ {bar})"), rate >= bar),
            None => format!("{rate:.1}"),
        };
        // Over any line, every bot must stay connected and see the server's state. A bot that
        // reconnected was also dropped.
        let dropped = u64::from(report.bots - report.joined + report.dropped) + report.reconnects;
        let is_met = report.passed() && dropped == 0;
        let faults = judged(format!("{dropped}, {}", report.digest_mismatches), is_met);
        let cells = [
            line.to_owned(),
            map.to_owned(),
            snapshots,
            format!("{:.1}", report.snapshot_gap_ms.p99),
            gap_max,
            age,
            error,
            format!("{:.3}", report.prediction_error.p99),
            format!("{:.1}", report.jumps_per_minute),
            seen,
            faults,
        ];
        Self { cells, missed }
    }

    pub(crate) fn is_within_bars(&self) -> bool {
        self.missed == 0
    }
}

/// Prints rows in columns; `!` marks what misses its bar.
pub(crate) fn print(rows: &[Row]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.cells[column].chars().count());
        cells.chain([HEADINGS[column].len()]).max().unwrap_or_default()
    };
    let widths: [usize; 11] = std::array::from_fn(width);
    let print_line = |cells: [&str; 11]| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
            let padded = match column {
                0 | 1 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            };
            line.push_str(&padded);
            line.push_str("  ");
        }
        println!("{}", line.trim_end());
    };
    print_line(HEADINGS);
    rows.iter().for_each(|row| print_line(std::array::from_fn(|column| &*row.cells[column])));
    let missed: u32 = rows.iter().map(|row| row.missed).sum();
    println!("{missed} figures miss their bar");
}
