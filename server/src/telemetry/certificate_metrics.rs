use metrics::{Gauge, gauge};

use super::catalogue;

/// When the certificate that newcomers are shown ends.
pub(crate) struct CertificateMetrics(Gauge);

impl CertificateMetrics {
    /// Certificates that the server makes and renews itself are a source of their
    /// own: they live for days, and nobody has to look after them.
    pub(super) fn register(self_signed: bool) -> Self {
        let source = if self_signed { "self_signed" } else { "files" };
        Self(gauge!(catalogue::CERTIFICATE_EXPIRY, "source" => source))
    }

    /// Another certificate is shown; it ends so many seconds after 1970, if that is
    /// known.
    pub(crate) fn shows(&self, not_after: Option<i64>) {
        self.0.set(not_after.map_or(f64::NAN, |seconds| seconds as f64));
    }
}
