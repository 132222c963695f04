use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use quinn::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData};
use tests::harness::{base64, pem};

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

        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("signed-{}-{number}", std::process::id()));
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
