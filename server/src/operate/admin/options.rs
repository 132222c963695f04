use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::common::socket_address::parse_address;

/// The admin interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct AdminOptions {
    /// Loopback TCP address of the admin interface; without it, there is none
    #[arg(long, value_name = "ADDR", env = "ARENA_ADMIN", requires = "admin_tokens",
          value_parser = parse_address)]
    pub admin: Option<SocketAddr>,

    /// File with the tokens of administrators, a name and a token a line
    #[arg(long, value_name = "FILE", env = "ARENA_ADMIN_TOKENS")]
    pub admin_tokens: Option<PathBuf>,
}
