use std::time::Duration;

use tests::badline::{Blackout, Conditions, Line};

/// A line, and the bars for a match over it.
pub(crate) struct BadLine {
    pub(crate) name: &'static str,
    pub(crate) line: Line,
    /// The bars on the map with this name.
    pub(crate) bars: fn(&str) -> Bars,
}

/// Limits of the figures in a row; `None` where a figure has no bar.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bars {
    /// Minimum number of snapshots per second.
    pub(crate) snapshots: Option<f64>,
    /// Longest time between two snapshots, in milliseconds.
    pub(crate) gap: Option<f64>,
    /// 99th percentile of the age of visible state, in milliseconds.
    pub(crate) age: Option<f64>,
    /// 99th percentile of the prediction error of players whom nobody pushed, in units.
    pub(crate) error: Option<f64>,
    /// Corrections per minute and bot that, after smoothing, still move the view by more than
    /// four units in a frame.
    pub(crate) jumps: Option<f64>,
}

/// Start and length of the blackout. All bots have joined before it starts.
const BLACKOUT_AT: Duration = Duration::from_secs(10);
const BLACKOUT: Duration = Duration::from_secs(3);

/// Time after the end of a blackout in which the next snapshot must arrive, in milliseconds.
const RECOVERY_MS: f64 = 250.0;

/// The lines of the table. A delay in a name is that of a round trip: each direction takes half of
/// it. A loss in a name applies to each direction.
pub(crate) fn lines() -> Vec<BadLine> {
    let conditions = Conditions::default;
    let round_trip = |milliseconds| Duration::from_millis(milliseconds) / 2;
    let fair = Conditions { delay: round_trip(40), loss: 0.01, ..conditions() };
    let jitter = Duration::from_millis(20);
    let poor = Conditions { delay: round_trip(100), jitter, loss: 0.05, ..conditions() };
    let blackouts = vec![Blackout { start: BLACKOUT_AT, length: BLACKOUT }];
    let dark = Conditions { blackouts, ..conditions() };
    let narrow = Conditions { bandwidth: Some(64.0), ..conditions() };
    let short = Conditions { mtu: Some(1200), ..conditions() };
    let line = |name, line, bars| BadLine { name, line, bars };
    vec![
        line("clean", Line::default(), |_| Bars::default()),
        line("40 ms, 1 %", Line::both(fair), |map| Bars {
            error: Some(if map == "dm4" { 0.5 } else { 0.3 }),
            ..Bars::default()
        }),
        line("100±20 ms, 5 %", Line::both(poor), |map| Bars {
            error: Some(if map == "dm4" { 2.0 } else { 1.0 }),
            jumps: Some(5.0),
            ..Bars::default()
        }),
        line("3 s blackout", Line::both(dark), |_| Bars {
            gap: Some(BLACKOUT.as_secs_f64() * 1000.0 + RECOVERY_MS),
            ..Bars::default()
        }),
        line("64 kbit/s down", Line { up: conditions(), down: narrow }, |_| Bars {
            snapshots: Some(20.0),
            age: Some(150.0),
            error: Some(2.0),
            ..Bars::default()
        }),
        line("MTU 1200", Line::both(short), |_| Bars::default()),
    ]
}
