use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tracing::{info, warn};

use super::Lobby;
use super::certificate::{Certificate, CertificateError};
use super::endpoint::server_config;

/// How old a certificate of our own gets: a day less than it is valid.
const SELF_SIGNED_AGE: Duration = Duration::from_secs(12 * 24 * 3600);

/// How often certificate files are read again: whoever renews them does so
/// days before the old ones end.
const FILE_AGE: Duration = Duration::from_secs(3600);

/// Where the server's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// The server makes its own.
    SelfSigned,
    /// An operator keeps them in files.
    Files {
        /// The chain, in PEM.
        certificate: PathBuf,
        /// Its key, in PEM.
        key: PathBuf,
    },
}

impl Credentials {
    /// A certificate for the time from now on.
    pub(crate) fn certificate(&self) -> Result<Certificate, CertificateError> {
        match self {
            Self::SelfSigned => Ok(Certificate::self_signed(SystemTime::now())?),
            Self::Files { certificate, key } => Certificate::read(certificate, key),
        }
    }

    fn age(&self) -> Duration {
        match self {
            Self::SelfSigned => SELF_SIGNED_AGE,
            Self::Files { .. } => FILE_AGE,
        }
    }
}

/// Gives the endpoint a new certificate whenever the last one is of age, for
/// as long as it is polled. Who is connected stays so.
pub(crate) async fn renew(endpoint: quinn::Endpoint, credentials: Credentials, lobby: Arc<Lobby>) {
    let max_players = lobby.terms.player_limit;
    loop {
        tokio::time::sleep(credentials.age()).await;
        let renewed =
            credentials.certificate().map_err(|error| error.to_string()).and_then(|new| {
                let fingerprint = new.fingerprint;
                let config = server_config(new, max_players).map_err(|error| error.to_string())?;
                Ok((fingerprint, config))
            });
        match renewed {
            Ok((fingerprint, config)) => {
                endpoint.set_server_config(Some(config));
                lobby.certificate.send_replace(fingerprint);
                info!("certificate renewed, SHA-256 {fingerprint}");
            }
            Err(error) => warn!("the certificate could not be renewed, the old one stays: {error}"),
        }
    }
}
