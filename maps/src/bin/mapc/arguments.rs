//! Arguments and checks that subcommands share.

use std::path::Path;

use thiserror::Error;

/// An argument that parses but turns out to be wrong, such as a name that is not in a file.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Refuses to overwrite the input file.
pub(crate) fn keep_apart(read: &Path, written: &Path) -> Result<(), Usage> {
    let same = read.canonicalize().is_ok_and(|a| written.canonicalize().is_ok_and(|b| a == b));
    let refused =
        || Usage(format!("the input {} would be overwritten: name another output", read.display()));
    if same { Err(refused()) } else { Ok(()) }
}
