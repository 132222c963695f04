//! The clock of the scenes, and percentiles of the durations of ticks.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde::Serialize;

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

impl TickTimes {
    /// The percentiles of these durations; zeros without any.
    pub fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        let at = |percent: usize| {
            let index = (durations.len() * percent / 100).min(durations.len().saturating_sub(1));
            durations.get(index).map_or(0.0, |duration| duration.as_secs_f64() * 1e6)
        };
        Self { p50: at(50), p90: at(90), p99: at(99), max: at(100) }
    }
}

/// Nanoseconds since the first call.
pub fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // 64 bits are enough for 584 years.
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
