use std::net::SocketAddr;

use clap::Args;

use crate::common::socket_address::parse_address;

/// Server queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct QueryOptions {
    /// UDP addresses for server browsers' A2S queries, separated by commas; the addresses of
    /// `--listen` then also answer them. Without this option, no query is answered
    #[arg(long, value_name = "ADDR", env = "ARENA_QUERY", value_parser = parse_address,
          value_delimiter = ',')]
    pub query: Vec<SocketAddr>,
}
