//! The certificates that a client accepts as the server's: any on this machine, a pinned one, or
//! one that an authority has issued.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp_proto::Fingerprint;
use ring::digest::{SHA256, digest};
use rustls::RootCertStore;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use thiserror::Error;

use super::server_address::ServerAddress;

/// The server that a client trusts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Any server on this machine, because the connection crosses no network that could be
    /// attacked. A connection to another machine is not opened.
    Loopback,
    /// The server whose certificate has this SHA-256. A server prints the value when it starts.
    Pin(Fingerprint),
    /// A server whose certificate was issued by an authority.
    Authority(Authority),
}

/// Trusted certificate authorities, and the name that the server's certificate must
/// carry.
#[derive(Clone, Debug)]
pub struct Authority {
    pub(super) roots: Arc<RootCertStore>,
    pub(super) name: String,
}

impl Authority {
    /// The authorities whose certificates are in this PEM file, for a server of this
    /// name, which may be an IP address.
    ///
    /// # Errors
    /// The file cannot be read, or holds no certificate.
    pub fn read(path: &Path, name: &str) -> Result<Self, TrustError> {
        let unread = |reason: String| TrustError::Authority { path: path.to_owned(), reason };
        let pem = std::fs::read(path).map_err(|error| unread(error.to_string()))?;
        Self::parse(&pem, name).map_err(unread)
    }

    /// The authorities whose certificates are in this PEM text, for a server of this name, which
    /// may be an IP address.
    ///
    /// # Errors
    /// The text holds no certificate, or one that cannot be read.
    pub fn parse(pem: &[u8], name: &str) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if roots.is_empty() {
            return Err("the text holds no certificate in PEM".to_owned());
        }
        Ok(Self { roots: Arc::new(roots), name: name.to_owned() })
    }
}

impl Trust {
    /// The trust for this server: the pin or the authority if one is given, and otherwise
    /// [`Trust::Loopback`]. A name without pin and authority is of use only if it leads to this
    /// machine.
    ///
    /// # Errors
    /// The server's address is of another machine, and neither pin nor authority is given.
    pub fn new(
        server: &ServerAddress,
        pin: Option<Fingerprint>,
        authority: Option<Authority>,
    ) -> Result<Self, TrustError> {
        match (pin, authority) {
            (Some(pin), _) => Ok(Self::Pin(pin)),
            (None, Some(authority)) => Ok(Self::Authority(authority)),
            (None, None) => match server.address().map(|address| address.ip()) {
                Some(server) if !server.is_loopback() => Err(TrustError::Unverifiable { server }),
                _ => Ok(Self::Loopback),
            },
        }
    }
}

/// Why the server at an address cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrustError {
    /// Neither a pin nor an authority was given.
    #[error(
        "the server at {server} is not on this machine, and cannot be told from an impostor; the \
         server prints the SHA-256 of its certificate when it starts: give that with --pin, or \
         give the authority that issued the certificate with --ca"
    )]
    Unverifiable {
        /// The server's address.
        server: IpAddr,
    },
    /// The file of authorities cannot be used.
    #[error("{}: cannot read certificate authorities: {reason}", .path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// SHA-256 of a certificate.
fn fingerprint(certificate: &[u8]) -> Fingerprint {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
    Fingerprint(bytes)
}

/// Checks certificates only by a pin, for other connections to the same server, such as to its page
/// over HTTPS.
pub fn pinned(pin: Fingerprint) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier { pin: Some(pin), provider: Arc::new(default_provider()) })
}

/// Accepts only the pinned certificate during the TLS handshake, or any if there is no pin. In
/// either case the handshake verifies that the server holds the certificate's key.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) pin: Option<Fingerprint>,
    pub(super) provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _stapled: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let own = fingerprint(certificate);
        match self.pin {
            Some(pin) if pin != own => Err(Error::General(format!(
                "the server's certificate is {own}, not the pinned one"
            ))),
            Some(_) | None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn verify(
        pin: Option<Fingerprint>,
        certificate: &[u8],
    ) -> Result<ServerCertVerified, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let name = ServerName::try_from("localhost").unwrap();
        let certificate = CertificateDer::from(certificate);
        let verifier = Verifier { pin, provider };
        verifier.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now())
    }

    #[test]
    fn only_the_pinned_certificate_is_accepted() {
        let pin = ABC.parse().unwrap();
        assert!(verify(Some(pin), b"abc").is_ok());
        assert!(verify(Some(pin), b"abd").is_err());
        assert!(verify(None, b"abd").is_ok());
    }

    #[test]
    fn a_server_elsewhere_needs_a_pin_or_an_authority() {
        let pin: Fingerprint = ABC.parse().unwrap();
        let [elsewhere, here, name] =
            ["192.0.2.1:1", "127.0.0.1:1", "localhost:1"].map(|server| server.parse().unwrap());
        for here in [here, name] {
            assert!(matches!(Trust::new(&here, None, None), Ok(Trust::Loopback)));
            assert!(matches!(Trust::new(&here, Some(pin), None), Ok(Trust::Pin(p)) if p == pin));
        }
        assert!(matches!(Trust::new(&elsewhere, Some(pin), None), Ok(Trust::Pin(_))));
        let error = Trust::new(&elsewhere, None, None).unwrap_err().to_string();
        assert!(error.contains("--pin") && error.contains("192.0.2.1"), "{error}");
    }

    #[test]
    fn the_error_names_the_file_without_an_authority() {
        let error = Authority::read(Path::new("no-such-file.pem"), "localhost").unwrap_err();
        assert!(error.to_string().contains("no-such-file.pem"), "{error}");
        let error = Authority::read(Path::new(env!("CARGO_MANIFEST_DIR")), "localhost");
        assert!(error.is_err());
    }
}
