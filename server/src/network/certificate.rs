use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proto::Fingerprint;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use ring::digest::{SHA256, digest};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;

/// How long a certificate is good for. Browsers accept a pinned certificate
/// only if it lives for at most 14 days; one day is left for wrong clocks.
const VALIDITY: Duration = Duration::from_secs(13 * 24 * 3600);
/// How far the certificate's beginning is put back, for clients whose clock is
/// a little slow. It is part of [`VALIDITY`].
const CLOCK_SLACK: Duration = Duration::from_secs(3600);

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// None could be made.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// None could be read.
    #[error("{}: no {what} in PEM: {source}", .path.display())]
    Read {
        /// What was looked for.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What is wrong.
        source: pem::Error,
    },
}

/// A certificate of the server, and its key.
pub(crate) struct Certificate {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) fingerprint: Fingerprint,
}

impl Certificate {
    /// The certificate that these files hold.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, CertificateError> {
        let unread = |what, path: &Path| {
            let path = path.to_owned();
            move |source| CertificateError::Read { what, path, source }
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(unread("certificate", certificate))?;
        let own = chain
            .first()
            .ok_or_else(|| unread("certificate", certificate)(pem::Error::NoItemsFound))?;
        let fingerprint = fingerprint(own);
        let key = PrivateKeyDer::from_pem_file(key).map_err(unread("private key", key))?;
        Ok(Self { chain, key, fingerprint })
    }

    /// A new self-signed ECDSA P-256 certificate, valid from `now`.
    pub(crate) fn self_signed(now: SystemTime) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut parameters =
            CertificateParams::new(["localhost", "127.0.0.1", "::1"].map(String::from).to_vec())?;
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, "arena server");
        // A clock before 1970 is as good as none; clients pin and do not mind.
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let begin = rcgen::date_time_ymd(1970, 1, 1) + since_epoch - CLOCK_SLACK;
        parameters.not_before = begin;
        parameters.not_after = begin + VALIDITY;
        let certificate: CertificateDer<'static> = parameters.self_signed(&key)?.into();
        Ok(Self {
            fingerprint: fingerprint(&certificate),
            chain: vec![certificate],
            key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        })
    }
}

fn fingerprint(certificate: &[u8]) -> Fingerprint {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
    Fingerprint(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_certificate_is_its_own_and_fits_its_key() {
        let now = SystemTime::now();
        let first = Certificate::self_signed(now).unwrap();
        let second = Certificate::self_signed(now).unwrap();
        assert_ne!(first.fingerprint, second.fingerprint);
        rustls::ServerConfig::builder_with_provider(
            rustls::crypto::ring::default_provider().into(),
        )
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(first.chain, first.key)
        .unwrap();
    }

    #[test]
    fn a_fingerprint_reads_as_the_sha_256_of_the_bytes() {
        // FIPS 180-4, the one-block example.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(fingerprint(b"abc").to_string(), expected);
    }
}
