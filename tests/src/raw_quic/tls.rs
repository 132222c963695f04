//! TLS of clients that trust any server.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::reader::write_integer;

/// The TLS configuration of a client that trusts any server and speaks this protocol.
///
/// # Panics
/// Never, as long as ring speaks TLS 1.3.
pub fn credulous(protocol: &[u8]) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring speaks TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Credulous))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    config
}

/// The transport parameters of a client that issues this id (RFC 9000, section 18): every limit is
/// generous.
pub(super) fn transport_parameters(own_id: &[u8]) -> Vec<u8> {
    let integer = |value: u64| {
        let mut bytes = Vec::new();
        write_integer(&mut bytes, value);
        bytes
    };
    let (much, many) = (integer(1 << 24), integer(128));
    let parameters: [(u64, &[u8]); 9] = [
        // initial_max_data, the limits of the three kinds of streams, and the numbers of streams
        (0x04, &much),
        (0x05, &much),
        (0x06, &much),
        (0x07, &much),
        (0x08, &many),
        (0x09, &many),
        // active_connection_id_limit
        (0x0e, &[8]),
        // initial_source_connection_id
        (0x0f, own_id),
        // max_datagram_frame_size
        (0x20, &much),
    ];
    let mut bytes = Vec::new();
    for (id, value) in parameters {
        write_integer(&mut bytes, id);
        write_integer(&mut bytes, value.len() as u64);
        bytes.extend_from_slice(value);
    }
    bytes
}

/// Trusts any server certificate.
#[derive(Debug)]
struct Credulous;

impl ServerCertVerifier for Credulous {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
