use std::path::PathBuf;
use std::time::Duration;

use crate::common::options::{options_of, parse_duration};
use clap::Args;

/// The default of `--combat-time`: the time in which a fight usually ends.
const DEFAULT_COMBAT_TIME: &str = "10s";

/// The rules by which players join, come back and stay.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct JoiningOptions {
    /// Require players to have a connect token that was sealed with the key in this file; `server
    /// token --new-key FILE` makes a key. Spectators need no token: see `--max-spectators`
    #[arg(long, value_name = "FILE", env = "ARENA_JOIN_KEY")]
    pub join_key: Option<PathBuf>,

    /// File with a password that players and spectators need, alone on its line. It cannot be
    /// combined with `--join-key`
    #[arg(long, value_name = "FILE", env = "ARENA_PASSWORD", conflicts_with = "join_key")]
    pub password: Option<PathBuf>,

    /// File that lists who may play, one entry a line: an address, a prefix, `player:NUMBER` of a
    /// connect token, or `player:NUMBER WORD NAME` for a player who presents WORD as password.
    /// Nobody else may play
    #[arg(long, value_name = "FILE", env = "ARENA_ALLOW")]
    pub allow: Option<PathBuf>,

    /// Places for players whose token claims a reserved place; nobody else may take them
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
          default_value = "30s")]
    pub rejoin: Duration,

    /// Protect players from harm while their connection is lost, after a silence of
    /// `--combat-time`. Without this option they can be hurt, so that nobody gains by dropping the
    /// connection
    #[arg(long, env = "ARENA_REJOIN_PROTECT")]
    pub rejoin_protect: bool,

    /// Time after a hit by another player in which a player cannot escape by leaving or by dropping
    /// the connection: the body stays for the rest of this time and can be killed; 0 for none
    #[arg(long, value_name = "D", env = "ARENA_COMBAT_TIME", value_parser = parse_duration,
          default_value = DEFAULT_COMBAT_TIME)]
    pub combat_time: Duration,

    /// Remove players who have done nothing for this long; 0 for never
    #[arg(long, value_name = "D", env = "ARENA_IDLE", value_parser = parse_duration,
          default_value = "0")]
    pub idle: Duration,

    /// TOML file that keeps the bans that administrators make while the server runs
    #[arg(long, value_name = "FILE", env = "ARENA_BANS")]
    pub bans: Option<PathBuf>,

    /// TOML file that keeps the mutes that administrators make while the server runs
    #[arg(long, value_name = "FILE", env = "ARENA_MUTES")]
    pub mutes: Option<PathBuf>,
}

impl Default for JoiningOptions {
    fn default() -> Self {
        options_of(&[])
    }
}
