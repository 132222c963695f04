use metrics::{Counter, counter};

use crate::door::outgoing::Purpose;
use crate::matches::telemetry::catalogue;

/// Metrics of visitors' use of the server besides the match. A server has them once.
pub(crate) struct VisitorMetrics {
    /// Bytes that were sent, by their purpose.
    pub(crate) sent: [Counter; Purpose::ALL.len()],
    /// Connections to the pages that lost their places to others.
    pub(crate) places_lost: Counter,
}

impl VisitorMetrics {
    pub(crate) fn register() -> Self {
        Self {
            sent: Purpose::ALL
                .map(|purpose| counter!(catalogue::OUTGOING_BYTES, "kind" => purpose.label())),
            places_lost: counter!(catalogue::PAGE_PLACES_LOST),
        }
    }
}
