use std::path::Path;

use obsp_proto::token::{JoinKey, JoinKeySyntax};

use crate::error::StartError;

/// Reads the key that seals connect tokens.
pub(crate) fn read_join_key(path: &Path) -> Result<JoinKey, StartError> {
    let wrong = |reason: String| StartError::JoinKey { path: path.to_owned(), reason };
    let text = obsp::text::read(path).map_err(|error| wrong(error.to_string()))?;
    text.parse().map_err(|error: JoinKeySyntax| wrong(error.to_string()))
}
