use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use quinn::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData};
use tests::harness::{base64, pem};

/// The files of a certificate that an authority has signed.
pub(crate) struct Signed {
    folder: PathBuf,
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    /// The base64 of the SHA-256 of its public key. With it on the command line, Chromium trusts
    /// the certificate.
    pub(crate) public_key: String,
}

impl Signed {
    /// A certificate for `127.0.0.1`, signed by a new authority.
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
    let suite = TLS13_AES_128_GCM_SHA256.tls13().expect("the suite is of TLS 1.3");
    suite.common.hash_provider.hash(bytes).as_ref().to_vec()
}
