//! Why spans cannot be exported.

use thiserror::Error;

/// Why spans cannot be exported.
#[derive(Debug, Error)]
pub enum OtlpError {
    /// The value is not the address of a collector.
    #[error(
        "--otlp {url:?} is not an address of a collector: it must begin with http://, as in \
         http://127.0.0.1:4318"
    )]
    Address {
        /// The value that was given.
        url: String,
    },
    /// The exporter cannot be made.
    #[error("cannot export spans to {url}: {source}")]
    Exporter {
        /// The address of the collector.
        url: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
