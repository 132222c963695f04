use std::time::Duration;

use tests::badline::{Blackout, Conditions, Line};

/// A line, and what a match over it must look like.
pub(crate) struct BadLine {
    pub(crate) name: &'static str,
    pub(crate) line: Line,
    /// The bars on a map of this name.
    pub(crate) bars: fn(&str) -> Bars,
}

/// What figures must be; `None` where there is no bar.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bars {
    /// Least snapshots a second.
    pub(crate) snapshots: Option<f64>,
    /// Longest time in milliseconds between two of them.
    pub(crate) gap: Option<f64>,
    /// Age in milliseconds that 99 % are not above.
    pub(crate) age: Option<f64>,
    /// Units that 99 % of the errors of players whom nobody pushed are not above.
    pub(crate) error: Option<f64>,
    /// Corrections a minute and bot that move the view by more than four units in a frame,
    /// after they are smoothed.
    pub(crate) jumps: Option<f64>,
}

/// When the blackout begins: all have joined by then.
const BLACKOUT_AT: Duration = Duration::from_secs(10);
const BLACKOUT: Duration = Duration::from_secs(3);

/// Time until snapshots must come again behind a blackout.
const RECOVERY_MS: f64 = 250.0;

/// The lines of the table. Delays are those of a round trip, half each way; losses
/// are in each direction.
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
