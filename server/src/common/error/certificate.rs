//! Why there is no certificate.

use std::path::PathBuf;

use thiserror::Error;

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// A certificate or a key could not be read.
    #[error("{}: cannot read a {what} in PEM: {reason}", .path.display())]
    Read {
        /// The kind of item that was looked for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason, and what to do if that is known.
        reason: String,
    },
    /// The certificate does not belong to the key.
    #[error(
        "{}: this certificate does not belong to the private key in {}; give both files of one \
         pair with --cert and --key",
        .certificate.display(),
        .key.display()
    )]
    KeyMismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
}
