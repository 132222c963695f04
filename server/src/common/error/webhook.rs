//! Why events cannot be posted.

use std::path::PathBuf;

use thiserror::Error;

/// Why events cannot be posted.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// The value is not an address to which events can be posted. The message does not show it,
    /// because it may hold a secret.
    #[error("--webhook: {reason}; write it like https://example.org/arena")]
    Address {
        /// The reason.
        reason: &'static str,
    },
    /// The file of the key cannot be used.
    #[error("--webhook-key {}: {reason}", .path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system's certificates cannot be used.
    #[error("--webhook: cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The system refuses a thread or an event loop.
    #[error("cannot start the webhook thread: {0}")]
    Thread(std::io::Error),
}
