use std::path::PathBuf;

use quinn::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData};

/// A certificate that an authority signed, in files of its own.
pub(crate) struct Signed {
    folder: PathBuf,
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    /// The base64 of the SHA-256 of its public key, by which Chromium can be told
    /// to trust who signed it.
    pub(crate) public_key: String,
}

impl Signed {
    /// One for `127.0.0.1`, by an authority of its own.
    pub(crate) fn new() -> Self {
        let authority = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = Issuer::new(parameters, authority);
        let own = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = parameters.signed_by(&own, &issuer).unwrap();

        let folder = std::env::temp_dir().join(format!("signed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
        std::fs::write(&cert, pem("CERTIFICATE", certificate.der())).unwrap();
        std::fs::write(&key, pem("PRIVATE KEY", &own.serialize_der())).unwrap();
        let public_key = base64(&sha256(&own.subject_public_key_info()));
        Self { folder, cert, key, public_key }
    }
}

impl Drop for Signed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().expect("it says so itself");
    suite.common.hash_provider.hash(bytes).as_ref().to_vec()
}

/// As RFC 4648 writes bytes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let word = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - chunk.len()));
        let digit = |n: usize| DIGITS[(bits >> (18 - 6 * n) & 63) as usize].into();
        (0..4).map(move |n| if n > chunk.len() { '=' } else { digit(n) }).collect::<String>()
    };
    bytes.chunks(3).map(word).collect()
}

/// The bytes as RFC 7468 writes them.
fn pem(label: &str, bytes: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(bytes))
}
