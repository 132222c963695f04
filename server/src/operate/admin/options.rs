use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::common::socket_address::parse_address;

/// The admin interface, and server queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct AdminOptions {
    /// Loopback TCP address of the admin interface; without it, there is none
    #[arg(long, value_name = "ADDR", env = "ARENA_ADMIN", requires = "admin_tokens",
          value_parser = parse_address)]
    pub admin: Option<SocketAddr>,

    /// File with the tokens of administrators, a name and a token a line
    #[arg(long, value_name = "FILE", env = "ARENA_ADMIN_TOKENS")]
    pub admin_tokens: Option<PathBuf>,

    /// UDP addresses for server browsers' A2S queries, separated by commas; the addresses of
    /// `--listen` then also answer them. Without this option, no query is answered
    #[arg(long, value_name = "ADDR", env = "ARENA_QUERY", value_parser = parse_address,
          value_delimiter = ',')]
    pub query: Vec<SocketAddr>,
}
