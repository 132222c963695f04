//! The server's certificate: self-signed or read from files, its fingerprint, and the
//! warning before it expires.

mod files;
#[cfg(test)]
mod pem_text;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use obsp_proto::Fingerprint;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use ring::digest::{SHA256, digest};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::common::error::CertificateError;
use crate::door::public_endpoint::validity::Validity;

/// How long a self-signed certificate is valid. Browsers accept a pinned certificate only if it
/// lives for at most 14 days; one day is left for wrong clocks.
const VALIDITY: Duration = Duration::from_secs(13 * 24 * 3600);
/// The certificate's validity begins this long before the certificate is made, for clients whose
/// clock is a little slow. This time is part of [`VALIDITY`].
const CLOCK_SLACK: Duration = Duration::from_secs(3600);

/// A certificate of the server, and its key.
pub(crate) struct Certificate {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) fingerprint: Fingerprint,
    /// When the certificate is valid. `None` if that cannot be read.
    pub(crate) validity: Option<Validity>,
}

impl Certificate {
    /// Reads the certificate and its key from these files.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Self, CertificateError> {
        let (chain, key) = files::read(certificate, key)?;
        let (fingerprint, validity) = match chain.first() {
            Some(own) => (fingerprint(own), Validity::of(own)),
            None => (fingerprint(&[]), None),
        };
        Ok(Self { chain, key, fingerprint, validity })
    }

    /// The configuration of an HTTPS listener that presents this certificate.
    ///
    /// # Errors
    /// The key cannot be used for the certificate.
    pub(crate) fn https(&self) -> Result<rustls::ServerConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            // Every browser that has WebTransport has TLS 1.3.
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// When the certificate's validity ends, in seconds since 1970. `None` if that cannot be read.
    pub(crate) fn not_after(&self) -> Option<i64> {
        self.validity.map(|validity| validity.end)
    }

    /// The certificate and its key in PEM.
    #[cfg(test)]
    pub(crate) fn pem(&self) -> [String; 2] {
        let certificate = pem_text::pem("CERTIFICATE", &self.chain[0]);
        [certificate, pem_text::pem("PRIVATE KEY", self.key.secret_der())]
    }

    /// A new self-signed ECDSA P-256 certificate, valid from `now`.
    pub(crate) fn self_signed(now: SystemTime) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut parameters =
            CertificateParams::new(["localhost", "127.0.0.1", "::1"].map(String::from).to_vec())?;
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, "arena server");
        // A clock before 1970 is wrong. The certificate then begins in 1970, and clients that pin
        // it go by its fingerprint.
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let begin = rcgen::date_time_ymd(1970, 1, 1) + since_epoch - CLOCK_SLACK;
        parameters.not_before = begin;
        parameters.not_after = begin + VALIDITY;
        let certificate: CertificateDer<'static> = parameters.self_signed(&key)?.into();
        Ok(Self {
            fingerprint: fingerprint(&certificate),
            validity: Validity::of(&certificate),
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
    fn a_certificate_that_ends_is_warned_of_in_its_last_week_and_after() {
        let now = SystemTime::now();
        let certificate = Certificate::self_signed(now).unwrap();
        let warn = |now| certificate.validity.unwrap().warning(now);
        let warning = |hours: u64| warn(now + Duration::from_secs(hours * 3600));
        // The certificate's validity began an hour ago, and lasts for thirteen days.
        assert_eq!(warning(6 * 24 - 2), None);
        assert_eq!(warning(6 * 24).unwrap(), "the certificate expires in 6 days");
        assert_eq!(warning(12 * 24).unwrap(), "the certificate expires in 23 hours");
        let expired = warning(20 * 24).unwrap();
        assert!(expired.starts_with("the certificate expired 7 days ago, by this"), "{expired}");
        let early = warn(now - Duration::from_secs(24 * 3600)).unwrap();
        assert!(early.starts_with("the certificate becomes valid only in 23 hours"), "{early}");
    }

    #[test]
    fn a_fingerprint_reads_as_the_sha_256_of_the_bytes() {
        // FIPS 180-4, the one-block example.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(fingerprint(b"abc").to_string(), expected);
    }
}
