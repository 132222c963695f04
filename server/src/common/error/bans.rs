//! Why bans cannot be read or kept.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::common::address_prefix::TooBroad;

/// Maximum number of bans in the list. A longer list belongs in a firewall.
pub(crate) const MOST: usize = 10_000;

/// Why bans cannot be read or kept.
#[derive(Debug, Error)]
pub enum BanError {
    /// The file cannot be read.
    #[error("cannot read the bans or mutes in {}: {source}", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a list of bans.
    #[error("{}: {message}", .path.display())]
    Syntax {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// The file cannot be written.
    #[error("cannot write the bans or mutes to {}: {source}; they hold until the server ends", .path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The list is full.
    #[error("the list is full: it holds {MOST} bans; lift some of them, or ban prefixes instead")]
    TooMany,
    /// A ban of the options covers too many addresses.
    #[error("--ban: {0}")]
    TooBroad(#[from] TooBroad),
}
