//! Without the feature `pages`, nobody reads metrics, and none are recorded.

use std::convert::Infallible;

use crate::matches::telemetry::DynRecorder;

/// Writes nothing.
pub(crate) struct Exporter;

pub(crate) fn recorder() -> Result<(DynRecorder, Exporter), Infallible> {
    Ok((Box::new(metrics::NoopRecorder), Exporter))
}

impl Exporter {
    pub(crate) fn render(&self) -> String {
        String::new()
    }

    pub(crate) fn run_upkeep(&self) {}
}
