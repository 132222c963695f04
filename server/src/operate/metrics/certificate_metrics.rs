use metrics::{Gauge, gauge};

use super::catalogue;

/// The metric that shows when the current certificate expires.
pub(crate) struct CertificateMetrics(Gauge);

impl CertificateMetrics {
    /// Certificates that the server makes and renews itself have a label of their own, because they
    /// live only for days and need no attention.
    pub(super) fn register(self_signed: bool) -> Self {
        let source = if self_signed { "self_signed" } else { "files" };
        Self(gauge!(catalogue::CERTIFICATE_EXPIRY, "source" => source))
    }

    /// Notes the end of the certificate that clients are shown from now on: in seconds since 1970,
    /// if it is known.
    pub(crate) fn shows(&self, not_after: Option<i64>) {
        self.0.set(not_after.map_or(f64::NAN, |seconds| seconds as f64));
    }
}
