use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tracing::{info, warn};

use super::certificate::{Certificate, CertificateError};
use super::endpoint::server_config;
use super::lobby::Lobby;
use super::reset_key::ResetKey;

/// A self-signed certificate is replaced at this age, a day before it expires.
const SELF_SIGNED_AGE: Duration = Duration::from_secs(12 * 24 * 3600);

/// Time after which certificate files are read again. Operators renew them days before the old ones
/// end.
const FILE_AGE: Duration = Duration::from_secs(3600);

/// Where the server's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// The server makes its own.
    SelfSigned,
    /// An operator keeps certificate and key in files.
    Files {
        /// The chain, in PEM.
        certificate: PathBuf,
        /// The certificate's private key, in PEM.
        key: PathBuf,
    },
}

impl Credentials {
    /// Makes or reads a certificate that is valid from now on.
    pub(crate) fn certificate(&self) -> Result<Certificate, CertificateError> {
        match self {
            Self::SelfSigned => Ok(Certificate::self_signed(SystemTime::now())?),
            Self::Files { certificate, key } => Certificate::read(certificate, key),
        }
    }

    /// The key for the server's stateless resets ([`ResetKey`]), which has to outlast a restart. It
    /// comes from `certificate`'s key, unless the server makes a new one at each start.
    pub(crate) fn reset_key(&self, certificate: &Certificate, state: Option<&Path>) -> ResetKey {
        match self {
            Self::SelfSigned => ResetKey::kept_in(state),
            Self::Files { .. } => ResetKey::of_private_key(&certificate.key),
        }
    }

    /// The warning about this certificate, if an operator must renew it.
    pub(crate) fn warning(&self, certificate: &Certificate) -> Option<String> {
        match self {
            Self::SelfSigned => None,
            Self::Files { certificate: path, .. } => {
                let warning = certificate.warning(SystemTime::now())?;
                Some(format!(
                    "{}: {warning}; replace the file, it is read every hour",
                    path.display()
                ))
            }
        }
    }

    fn age(&self) -> Duration {
        match self {
            Self::SelfSigned => SELF_SIGNED_AGE,
            Self::Files { .. } => FILE_AGE,
        }
    }
}

/// Gives the endpoint a new certificate whenever the last one is old enough. Runs for as long as it
/// is polled. Open connections are not affected.
pub(crate) async fn renew(endpoint: quinn::Endpoint, credentials: Credentials, lobby: Arc<Lobby>) {
    loop {
        tokio::time::sleep(credentials.age()).await;
        let renewed =
            credentials.certificate().map_err(|error| error.to_string()).and_then(|new| {
                if let Some(warning) = credentials.warning(&new) {
                    warn!("{warning}");
                }
                let (fingerprint, not_after) = (new.fingerprint, new.not_after());
                let https = new.https().map_err(|error| error.to_string())?;
                let config = server_config(new, lobby.limits).map_err(|error| error.to_string())?;
                Ok((fingerprint, not_after, config, https))
            });
        match renewed {
            // Nobody has replaced the files since.
            Ok((fingerprint, ..)) if fingerprint == *lobby.game.endpoint.certificate.borrow() => {}
            Ok((fingerprint, not_after, config, https)) => {
                endpoint.set_server_config(Some(config));
                lobby.game.endpoint.https.send_replace(Arc::new(https));
                lobby.game.endpoint.certificate.send_replace(fingerprint);
                lobby.game.telemetry.server.certificate.shows(not_after);
                info!("certificate renewed, SHA-256 {fingerprint}");
            }
            Err(error) => warn!("the certificate could not be renewed, the old one stays: {error}"),
        }
    }
}
