//! Requests to the pages of a running server, over HTTP or HTTPS.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The answer of a server's HTTP listener to a `GET`.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Requests one page of a server's HTTP listener.
///
/// # Panics
/// If there is no answer.
pub async fn get(address: SocketAddr, path: &str) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    ask(stream, path).await
}

/// Requests one page of a server's HTTPS listener, which must show the certificate whose
/// SHA-256 is `pin`.
///
/// # Panics
/// If there is no answer, or another certificate.
pub async fn get_encrypted(address: SocketAddr, pin: [u8; 32], path: &str) -> Answer {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { pin, provider }))
        .with_no_client_auth();
    let name = ServerName::IpAddress(address.ip().into());
    let stream = TcpStream::connect(address).await.unwrap();
    ask(TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap(), path).await
}

async fn ask(mut stream: impl AsyncRead + AsyncWrite + Unpin, path: &str) -> Answer {
    // HTTP 1.0, in which an answer ends with its connection.
    let request = format!("GET {path} HTTP/1.0\r\nHost: test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Answer { status: status.unwrap_or_else(|| panic!("{text}")), body: body.to_owned() }
}

/// Trusts one certificate.
#[derive(Debug)]
struct Pinned {
    pin: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _stapled: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().expect("it is TLS 1.3");
        let own = suite.common.hash_provider.hash(certificate);
        match own.as_ref() == self.pin {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::General("it is another certificate".to_owned())),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 is what is spoken".to_owned()))
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

/// The value of one series of the metrics page, labels included in its name.
///
/// # Panics
/// If the page has no such series.
pub fn metric(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
}
