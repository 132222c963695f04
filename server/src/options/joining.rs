use std::path::PathBuf;
use std::time::Duration;

use super::duration::parse_duration;
use clap::Args;

/// The default of `--rejoin`.
const DEFAULT_REJOIN: &str = "30s";

/// The rules by which players join, come back and stay.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct JoiningOptions {
    /// Require players to have a connect token that was sealed with the key in this file; `server
    /// token --new-key FILE` makes a key. Spectators need no token: see `--max-spectators`
    #[arg(long, value_name = "FILE", env = "ARENA_JOIN_KEY")]
    pub join_key: Option<PathBuf>,

    /// Places that only players may take whose token claims a reserved place
    #[arg(
        long,
        value_name = "N",
        env = "ARENA_RESERVED_SLOTS",
        default_value_t = 0,
        requires = "join_key"
    )]
    pub reserved_slots: u16,

    /// Time for which the body and the score of a player are kept after the connection is
    /// lost; 0 for not at all
    #[arg(long, value_name = "D", env = "ARENA_REJOIN", value_parser = parse_duration,
          default_value = DEFAULT_REJOIN)]
    pub rejoin: Duration,

    /// Protect players from harm while their connection is lost. Without it they can be hurt, so
    /// that nobody gains by dropping the line
    #[arg(long, env = "ARENA_REJOIN_PROTECT")]
    pub rejoin_protect: bool,

    /// Remove players who have done nothing for this long; 0 for never
    #[arg(long, value_name = "D", env = "ARENA_IDLE", value_parser = parse_duration,
          default_value = "0")]
    pub idle: Duration,

    /// TOML file that keeps the bans that administrators make while the server runs
    #[arg(long, value_name = "FILE", env = "ARENA_BANS")]
    pub bans: Option<PathBuf>,
}

impl Default for JoiningOptions {
    fn default() -> Self {
        Self {
            join_key: None,
            reserved_slots: 0,
            rejoin: parse_duration(DEFAULT_REJOIN).unwrap_or_default(),
            rejoin_protect: false,
            idle: Duration::ZERO,
            bans: None,
        }
    }
}
