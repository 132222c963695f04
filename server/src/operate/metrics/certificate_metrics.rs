use metrics::{Gauge, gauge};

use super::catalogue;

/// The metric that shows when the current certificate ends.
pub(crate) struct CertificateMetrics(Gauge);

impl CertificateMetrics {
    /// Certificates that the server makes and renews itself have a label of their own, because they
    /// live only for days and need no attention.
    pub(super) fn register(self_signed: bool) -> Self {
        let source = if self_signed { "self_signed" } else { "files" };
        Self(gauge!(catalogue::CERTIFICATE_EXPIRY, "source" => source))
    }

    /// Notes that clients are shown another certificate, and when it ends, in seconds since 1970,
    /// if that is known.
    pub(crate) fn shows(&self, not_after: Option<i64>) {
        self.0.set(not_after.map_or(f64::NAN, |seconds| seconds as f64));
    }
}
