//! Why nobody can be let in by a password or a list.

use std::path::PathBuf;

use thiserror::Error;

/// Why a file of secrets or a list of players cannot be used.
#[derive(Debug, Error)]
#[error("{option} {}: {reason}", .path.display())]
pub struct DoorError {
    /// The option that names the file.
    pub option: &'static str,
    /// The path of the file.
    pub path: PathBuf,
    /// The reason. It shows no secret.
    pub reason: String,
}
