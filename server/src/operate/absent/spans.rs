//! Without the feature `otlp`, no spans are exported.

use crate::common::error::OtlpError;
use crate::matches::telemetry::Spans;
use options::OtlpOptions;

/// The options of the feature: none.
pub(crate) mod options {
    /// The collector of spans.
    #[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
    pub struct OtlpOptions {}
}

/// A type without values, in place of the exporter.
#[derive(Debug)]
pub(crate) enum Exporter {}

impl Exporter {
    pub(crate) fn start(_: &OtlpOptions) -> Result<Option<Self>, OtlpError> {
        Ok(None)
    }

    pub(crate) fn spans(&self) -> Spans {
        match *self {}
    }
}
