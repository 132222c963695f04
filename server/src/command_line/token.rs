//! `server token`: connect tokens for tests and tools, as a backend makes them for its
//! players, and the key that seals them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::common::options::parse_duration;
use clap::{Args, value_parser};
use obsp_proto::control::PlayerName;
use obsp_proto::token::{JoinKey, TokenClaims, TokenError};
use thiserror::Error;

use crate::common::clock::unix_time;
use crate::common::error::StartError;
use crate::door::token_gate::LONGEST;
use crate::door::token_gate::join_key::read_join_key;

/// The claims of a token.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct TokenOptions {
    /// Write a new key to FILE, which must not exist, and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "join_key")]
    pub new_key: Option<PathBuf>,

    /// File with the key that server and backend share
    #[arg(long, value_name = "FILE", env = "ARENA_JOIN_KEY", required_unless_present = "new_key")]
    pub join_key: Option<PathBuf>,

    /// The number by which the backend knows the player, not 0
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64).range(1..))]
    pub player: u64,

    /// Name of the player
    #[arg(long, default_value = "player")]
    pub name: String,

    /// How long the token is valid, at most 1h
    #[arg(long, value_name = "D", default_value = "1m", value_parser = parse_expiry)]
    pub expires: Duration,

    /// Server that the token is valid for, HOST:PORT as clients reach it; without it, any server
    #[arg(long, value_name = "ADDR")]
    pub server: Vec<String>,

    /// Let the player take a reserved place
    #[arg(long)]
    pub reserved: bool,

    /// Text for the server
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub user_data: String,
}

/// The way out if a key cannot be written.
fn way_out(error: &std::io::Error) -> &'static str {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        "; an existing file is kept: use its key, or name another file"
    } else {
        ""
    }
}

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenCommandError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] StartError),
    /// The key cannot be written.
    #[error("cannot write a key to {}: {source}{}", .path.display(), way_out(.source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The name is not a valid player's name.
    #[error("--name: {0}")]
    Name(#[from] obsp_proto::control::NameError),
    /// The token cannot be made.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// Parses how long a token is valid: at most [`LONGEST`].
fn parse_expiry(text: &str) -> Result<Duration, String> {
    let expires = parse_duration(text)?;
    if expires.as_secs() > LONGEST {
        return Err("servers refuse a token that is valid for more than 1h".to_owned());
    }
    Ok(expires)
}

/// Makes a token, in hexadecimal, or a key.
///
/// # Errors
/// A file cannot be read or written, or the claims do not fit into a token.
pub fn token(options: &TokenOptions) -> Result<String, TokenCommandError> {
    if let Some(path) = &options.new_key {
        let write = |source| TokenCommandError::Write { path: path.clone(), source };
        let mut file = OpenOptions::new();
        file.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
        let key = JoinKey::generate()?.to_hex() + "\n";
        let mut file = file.open(path).map_err(write)?;
        let written = file.write_all(key.as_bytes()).and_then(|()| file.sync_all());
        // An incomplete file would look like a key that must be kept, so it is removed.
        written.inspect_err(|_| drop(std::fs::remove_file(path))).map_err(write)?;
        return Ok(format!("wrote a new key to {}", path.display()));
    }
    let path = options.join_key.clone().unwrap_or_default();
    let claims = TokenClaims {
        player: options.player,
        name: PlayerName::new(&options.name)?,
        reserved: options.reserved,
        servers: options.server.clone(),
        user_data: options.user_data.clone().into_bytes(),
    };
    let token = read_join_key(&path)?.seal(&claims, unix_time() + options.expires.as_secs())?;
    Ok(token.iter().map(|byte| format!("{byte:02x}")).collect())
}
