use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use thiserror::Error;

/// Whom a client believes to be the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whoever answers on this machine: there is no way between to guard.
    Loopback,
    /// Who holds the certificate with this SHA-256, which the server prints
    /// when it starts.
    Pin(Pin),
}

impl Trust {
    /// Whom to believe at this address: a pin if there is one, and without
    /// one only this machine itself.
    ///
    /// # Errors
    /// Without a pin, nobody elsewhere can be trusted.
    pub fn new(server: IpAddr, pin: Option<Pin>) -> Result<Self, NoTrust> {
        match pin {
            Some(pin) => Ok(Self::Pin(pin)),
            None if server.is_loopback() => Ok(Self::Loopback),
            None => Err(NoTrust { server }),
        }
    }
}

/// Nothing says who the server at an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the server at {server} is not on this machine and cannot be told from an impostor; \
     give the certificate's SHA-256, which it prints when it starts, with --pin"
)]
pub struct NoTrust {
    /// Where it is.
    pub server: IpAddr,
}

/// SHA-256 of the one certificate that is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin([u8; 32]);

impl Pin {
    fn of(certificate: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(bytes)
    }
}

/// A text is no SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a SHA-256 is written as 64 hexadecimal digits")]
pub struct PinSyntax;

impl FromStr for Pin {
    type Err = PinSyntax;

    /// Reads 64 hexadecimal digits, upper or lower case; colons between bytes
    /// are allowed, since many tools print them.
    fn from_str(text: &str) -> Result<Self, PinSyntax> {
        let digits: Vec<u8> = text
            .chars()
            .filter(|character| *character != ':')
            .map(|character| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()
            .ok_or(PinSyntax)?;
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        let whole = digits.len() == 64;
        bytes.try_into().ok().filter(|_| whole).map(Self).ok_or(PinSyntax)
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// Holds a server to [`Trust`] during the TLS handshake. That the server has
/// the certificate's key is checked in either case.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) trust: Trust,
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
        let own = Pin::of(certificate);
        match self.trust {
            Trust::Pin(pin) if pin != own => Err(Error::General(format!(
                "the server's certificate is not the pinned one but {own}"
            ))),
            Trust::Pin(_) | Trust::Loopback => Ok(ServerCertVerified::assertion()),
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

    fn verify(trust: Trust, certificate: &[u8]) -> Result<ServerCertVerified, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let name = ServerName::try_from("localhost").unwrap();
        let certificate = CertificateDer::from(certificate);
        let verifier = Verifier { trust, provider };
        verifier.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now())
    }

    #[test]
    fn only_the_pinned_certificate_is_believed() {
        let pin = Trust::Pin(ABC.parse().unwrap());
        assert!(verify(pin, b"abc").is_ok());
        assert!(verify(pin, b"abd").is_err());
        assert!(verify(Trust::Loopback, b"abd").is_ok());
    }

    #[test]
    fn elsewhere_a_pin_is_needed() {
        let pin: Pin = ABC.parse().unwrap();
        let elsewhere = IpAddr::from([192, 0, 2, 1]);
        let here = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(Trust::new(here, None), Ok(Trust::Loopback));
        assert_eq!(Trust::new(here, Some(pin)), Ok(Trust::Pin(pin)));
        assert_eq!(Trust::new(elsewhere, Some(pin)), Ok(Trust::Pin(pin)));
        let error = Trust::new(elsewhere, None).unwrap_err().to_string();
        assert!(error.contains("--pin") && error.contains("192.0.2.1"), "{error}");
    }

    #[test]
    fn pins_are_read_as_tools_print_them() {
        let pin: Pin = ABC.parse().unwrap();
        assert_eq!(pin.to_string(), ABC);
        let colons: Vec<_> = ABC.as_bytes().chunks(2).map(|b| String::from_utf8_lossy(b)).collect();
        assert_eq!(colons.join(":").to_uppercase().parse(), Ok(pin));
        for bad in ["", "abc", &ABC[1..], &format!("{ABC}00"), &ABC.replace('b', "g")] {
            assert_eq!(bad.parse::<Pin>(), Err(PinSyntax), "{bad}");
        }
    }
}
