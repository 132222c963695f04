//! The metrics that a server has once for all its matches, and the page of all metrics
//! (`/metrics`). The metrics of a single match are declared with the matches
//! ([`telemetry`](crate::matches::telemetry)).
//!
//! Each server has a recorder of its own, so the metrics of two servers in one process never mix.
//! Every series is registered at the start: a counter that never moved reads zero instead of being
//! absent. `deploy/METRICS.md` describes each metric, and a test compares the two.

pub(crate) mod admin_metrics;
mod catalogue;
pub(crate) mod certificate_metrics;
pub(crate) mod cost;
#[cfg_attr(not(feature = "pages"), path = "absent/exporter.rs")]
mod exporter;
pub(crate) mod log_metrics;
pub(crate) mod process_metrics;
pub(crate) mod server_telemetry;
pub(crate) mod socket_metrics;
pub(crate) mod status;
#[cfg(test)]
mod tests;
pub(crate) mod webhook_metrics;
