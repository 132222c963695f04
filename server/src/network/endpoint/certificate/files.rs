//! Reads certificates and keys from PEM files. Errors name the cause of a refusal as exactly as
//! possible.

use std::path::Path;
use std::sync::Arc;

use rustls::InconsistentKeys;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};

use crate::common::error::CertificateError;
use crate::common::regular_file;

/// The first byte of a certificate, a key or a bundle in binary form: the tag of a sequence.
const DER: u8 = 0x30;

/// The label of a section that holds a certificate.
const CERTIFICATE: &str = "CERTIFICATE";

/// Reads the chain and its key from these files, and checks that they belong together.
pub(super) fn read(
    certificate: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CertificateError> {
    let wrong = |what, path: &Path| {
        let path = path.to_owned();
        move |reason| CertificateError::Read { what, path, reason }
    };
    let chain = text(certificate)
        .and_then(|text| chain(&text))
        .map_err(wrong("certificate", certificate))?;
    let private_key =
        text(key).and_then(|text| private_key(&text)).map_err(wrong("private key", key))?;
    let signing = signing_key(&private_key).map_err(wrong("private key", key))?;
    match matching(&chain, &signing).map_err(wrong("certificate", certificate))? {
        Some(0) => Ok((chain, private_key)),
        Some(place) => Err(wrong("certificate", certificate)(format!(
            "the private key in {} belongs to certificate {} of this file; the server's own \
             certificate must come first, and those of its authority behind it",
            key.display(),
            place + 1
        ))),
        None => Err(CertificateError::KeyMismatch {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        }),
    }
}

/// The bytes of a file of PEM sections.
fn text(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = regular_file::read(path, regular_file::LARGEST)
        .map_err(|error| regular_file::explain(path, &error))?;
    // Editors may write a byte order mark, which would hide the first section.
    let bytes = obsp::text::bytes_without_mark(&bytes).map_err(|wide| wide.to_string())?.to_vec();
    if bytes.trim_ascii().is_empty() {
        return Err(
            "the file is empty; it may be written at this moment, or the disk was full when \
                    it was written"
                .to_owned(),
        );
    }
    let labels = labels(&bytes);
    if labels.is_empty() {
        return Err(if bytes.first() == Some(&DER) {
            "it holds binary data instead of text, which may be DER or PKCS#12; `openssl x509`, \
             `openssl pkey` and `openssl pkcs12` turn these into PEM"
                .to_owned()
        } else {
            "it holds no section of PEM: no line begins with -----BEGIN".to_owned()
        });
    }
    Ok(bytes)
}

/// The labels of the sections, such as `CERTIFICATE`, in order.
fn labels(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let label = |line: &str| Some(line.trim().strip_prefix("-----BEGIN ")?.to_owned());
    let labels = text.split(['\n', '\r']).filter_map(label);
    labels.map(|label| label.trim_end_matches('-').to_owned()).collect()
}

/// Labels as a list for people, each once.
fn list(mut labels: Vec<String>) -> String {
    labels.dedup();
    labels.truncate(5);
    labels.join(", ")
}

fn is_private_key(label: &str) -> bool {
    label.ends_with("PRIVATE KEY")
}

fn chain(bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let labels = labels(bytes);
    if !labels.iter().any(|label| label == CERTIFICATE) {
        let hint = if labels.iter().any(|label| is_private_key(label)) {
            "; it may be the file for --key"
        } else if labels.iter().any(|label| label.ends_with("CERTIFICATE REQUEST")) {
            ": a request, which an authority has still to sign"
        } else if labels.iter().any(|label| label == "TRUSTED CERTIFICATE") {
            ", a form of OpenSSL's own; `openssl x509` writes a plain certificate"
        } else {
            ""
        };
        return Err(format!("it holds {} and no CERTIFICATE{hint}", list(labels)));
    }
    let chain = CertificateDer::pem_slice_iter(bytes).collect::<Result<Vec<_>, _>>();
    match chain.map_err(|error| broken(&error))? {
        chain if chain.is_empty() => {
            Err("it has no complete CERTIFICATE section; the file may be cut off".to_owned())
        }
        chain => Ok(chain),
    }
}

fn private_key(bytes: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    let labels = labels(bytes);
    let is_encrypted = labels.iter().any(|label| label == "ENCRYPTED PRIVATE KEY")
        || bytes.windows(22).any(|window| window == b"Proc-Type: 4,ENCRYPTED");
    if is_encrypted {
        return Err(
            "the key is encrypted with a passphrase, which nobody could type when the server \
                    starts; `openssl pkey -in FILE -out PLAIN` writes the key without one"
                .to_owned(),
        );
    }
    let has = |wanted: &str| labels.iter().any(|label| label == wanted);
    if has("OPENSSH PRIVATE KEY") {
        return Err(
            "it holds a key of SSH (OPENSSH PRIVATE KEY); TLS needs the key that belongs to \
                    the certificate"
                .to_owned(),
        );
    }
    if !labels.iter().any(|label| is_private_key(label)) {
        let hint = if has(CERTIFICATE) {
            "; it may be the file for --cert"
        } else if labels.iter().any(|label| label.ends_with("PUBLIC KEY")) {
            ": only the public half"
        } else {
            ""
        };
        return Err(format!("it holds {} and no private key{hint}", list(labels)));
    }
    PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
        pem::Error::NoItemsFound => format!(
            "it holds {}, a kind of key that TLS does not use; use a key of ECDSA, Ed25519 or RSA",
            list(labels)
        ),
        error => broken(&error),
    })
}

/// The fault of the PEM itself.
fn broken(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { .. } => {
            "its last section has no -----END line; the file may be cut off, or be written at this \
             moment"
                .to_owned()
        }
        pem::Error::IllegalSectionStart { .. } => {
            "a -----BEGIN line is damaged; the file may have been edited or copied in part"
                .to_owned()
        }
        pem::Error::Base64Decode(reason) => {
            format!("a section is not base64 ({reason}); the file may be damaged")
        }
        error => error.to_string(),
    }
}

/// The key as TLS signs with it.
fn signing_key(key: &PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, String> {
    let provider = rustls::crypto::ring::default_provider();
    provider.key_provider.load_private_key(key.clone_key()).map_err(|error| {
        format!(
            "TLS cannot use this key: {error}; it may be damaged, or of another kind or length \
             than ECDSA with P-256 or P-384, Ed25519, and RSA of 2048 to 8192 bits"
        )
    })
}

/// The index in the chain of the certificate that belongs to the key. If it is not known whether
/// the first one belongs to the key, the index is 0. `None` if no certificate belongs to the key.
fn matching(
    chain: &[CertificateDer<'static>],
    key: &Arc<dyn SigningKey>,
) -> Result<Option<usize>, String> {
    let fits = |certificate: &CertificateDer<'static>| {
        let pair = CertifiedKey::new(vec![certificate.clone()], Arc::clone(key));
        match pair.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(true),
            Err(rustls::Error::InconsistentKeys(_)) => Ok(false),
            Err(error) => Err(error),
        }
    };
    if let Some(own) = chain.first() {
        let unreadable = |error: rustls::Error| {
            format!("the first CERTIFICATE cannot be read: {error}; the file may be damaged")
        };
        if fits(own).map_err(unreadable)? {
            return Ok(Some(0));
        }
    }
    Ok(chain.iter().position(|certificate| fits(certificate).unwrap_or(false)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;
    use crate::network::endpoint::certificate::pem_text::pem;

    /// A certificate and its key in PEM.
    fn pair() -> [String; 2] {
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["a".to_owned()]).unwrap().self_signed(&key).unwrap();
        [pem(CERTIFICATE, certificate.der()), pem("PRIVATE KEY", &key.serialize_der())]
    }

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("pem-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn refusal(&self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> String {
            let files = ["cert.pem", "key.pem"].map(|name| self.0.join(name));
            fs::write(&files[0], certificate).unwrap();
            fs::write(&files[1], key).unwrap();
            read(&files[0], &files[1]).err().map(|error| error.to_string()).unwrap_or_default()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn each_cause_why_a_certificate_is_refused_is_told_apart() {
        let folder = Folder::new("certificate");
        let [certificate, key] = pair();
        assert_eq!(folder.refusal(&certificate, &key), "");
        // One file may hold both, with other sections and text between them.
        let both = format!("text\n{key}{certificate}").replace('\n', "\r\n");
        assert_eq!(folder.refusal(&both, &both), "");
        // An editor may write a byte order mark.
        assert_eq!(folder.refusal(format!("\u{feff}{certificate}"), format!("\u{feff}{key}")), "");
        let wide = folder.refusal([0xff, 0xfe, b'-', 0], &key);
        assert!(wide.contains("save it as UTF-8"), "{wide}");
        let cut = &certificate[..certificate.len() - 30];
        for (certificate, says) in [
            ("", "the file is empty"),
            (" \n\n", "the file is empty"),
            ("hello", "no section of PEM"),
            ("0\u{3}\u{2}", "DER or PKCS#12"),
            (key.as_str(), "holds PRIVATE KEY and no CERTIFICATE; it may be the file for --key"),
            (&pem("CERTIFICATE REQUEST", b"x"), "has still to sign"),
            (&pem("TRUSTED CERTIFICATE", b"x"), "OpenSSL's own"),
            (&pem("X509 CRL", b"x"), "it holds X509 CRL and no CERTIFICATE"),
            (cut, "cut off"),
            (&certificate.replace("MII", "M!I"), "not base64"),
            (&pem(CERTIFICATE, b"no certificate"), "the first CERTIFICATE cannot be read"),
        ] {
            let error = folder.refusal(certificate, &key);
            assert!(error.contains("cert.pem") && error.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn each_cause_why_a_key_is_refused_is_told_apart() {
        let folder = Folder::new("key");
        let [certificate, key] = pair();
        let ssh = pem("OPENSSH PRIVATE KEY", b"x");
        let old = pem("RSA PRIVATE KEY", b"x")
            .replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n");
        for (key, says) in [
            ("", "the file is empty"),
            ("hello", "no section of PEM"),
            (certificate.as_str(), "no private key; it may be the file for --cert"),
            (&pem("PUBLIC KEY", b"x"), "only the public half"),
            (&pem("EC PARAMETERS", b"x"), "it holds EC PARAMETERS and no private key"),
            (&pem("ENCRYPTED PRIVATE KEY", b"x"), "encrypted with a passphrase"),
            (&old, "encrypted with a passphrase"),
            (&ssh, "a key of SSH"),
            (&pem("DSA PRIVATE KEY", b"x"), "a kind of key that TLS does not use"),
            (&pem("PRIVATE KEY", b"no key"), "TLS cannot use this key"),
            (&key[..60], "cut off"),
        ] {
            let error = folder.refusal(&certificate, key);
            assert!(error.contains("key.pem") && error.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn a_key_of_another_certificate_is_told_with_both_files_and_a_wrong_order_as_such() {
        let folder = Folder::new("pair");
        let [[first, _], [second, key]] = [pair(), pair()];
        let error = folder.refusal(&first, &key);
        assert!(error.contains("does not belong"), "{error}");
        assert!(error.contains("cert.pem") && error.contains("key.pem"), "{error}");
        let error = folder.refusal(format!("{first}{second}"), &key);
        assert!(error.contains("belongs to certificate 2 of this file"), "{error}");
        assert_eq!(folder.refusal(format!("{second}{first}"), &key), "");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_not_there_or_no_file_is_told_apart() {
        let folder = Folder::new("file");
        let [_, key] = pair();
        let key_file = folder.0.join("key.pem");
        fs::write(&key_file, key).unwrap();
        std::os::unix::fs::symlink("gone.pem", folder.0.join("link.pem")).unwrap();
        for (path, says) in [
            (folder.0.join("none.pem"), "there is no such file"),
            (folder.0.join("link.pem"), "it is a link to gone.pem, which is not there"),
            (folder.0.clone(), "it is a folder"),
            ("/dev/zero".into(), "it is a device"),
        ] {
            let error = read(&path, &key_file).unwrap_err().to_string();
            assert!(error.contains(says), "{says}: {error}");
        }
        // If the tests run as root, every file can be read.
        let closed = folder.0.join("closed.pem");
        fs::write(&closed, "x").unwrap();
        fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        if fs::read(&closed).is_err() {
            let error = read(&closed, &key_file).unwrap_err().to_string();
            assert!(error.contains("may not read the file"), "{error}");
        }
    }
}
