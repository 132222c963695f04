//! Exports spans to an OpenTelemetry collector: how long single joins, transfers, ticks and
//! requests took.
//!
//! Spans are exported by OTLP over HTTP (`--otlp`) from a thread of their own, whose queue is
//! bounded: a slow or missing collector costs spans, but never disturbs the match.

pub(crate) mod options;

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::warn;

use crate::common::error::OtlpError;
use crate::matches::telemetry::Spans;
use options::OtlpOptions;

/// The path, beneath a collector's address, that takes traces (OTLP, "OTLP/HTTP Request").
const TRACES: &str = "/v1/traces";

/// How long the collector may take to answer, and how long the end of the server waits
/// for the last spans.
const PATIENCE: Duration = Duration::from_secs(2);

/// Exports spans for as long as it lives; dropping it waits up to two seconds for the
/// last ones.
#[derive(Debug)]
pub(crate) struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// Exports to the collector that the options name, if they name one.
    pub(crate) fn start(options: &OtlpOptions) -> Result<Option<Self>, OtlpError> {
        options.otlp.as_deref().map(Self::to).transpose()
    }

    /// Exports to the collector at `url`, such as `http://127.0.0.1:4318`.
    fn to(url: &str) -> Result<Self, OtlpError> {
        if url.strip_prefix("http://").is_none_or(str::is_empty) {
            return Err(OtlpError::Address { url: url.to_owned() });
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(format!("{}{TRACES}", url.trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .build()
            .map_err(|source| OtlpError::Exporter { url: url.to_owned(), source: source.into() })?;
        let resource = Resource::builder()
            .with_service_name("arena-server")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        Ok(Self { provider })
    }

    /// The recorder of the spans that are exported.
    pub(crate) fn spans(&self) -> Spans {
        Spans::to(self.provider.tracer("server"))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(PATIENCE) {
            warn!("the last spans were not exported: {error}");
        }
    }
}
