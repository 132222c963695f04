use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::common::options::options_of;
use crate::common::socket_address::{DEFAULT_HTTP, parse_address};

/// The pages of the match.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct PageOptions {
    /// TCP address of `/metrics` and the other pages; port 0 takes any free one
    #[arg(long, value_name = "ADDR", env = "ARENA_HTTP", value_parser = parse_address,
          default_value_t = DEFAULT_HTTP)]
    pub http: SocketAddr,

    /// TCP address of the public page, such as `[::]:8443`: over HTTPS with the certificate of
    /// the match, without the pages for operators
    #[arg(long, value_name = "ADDR", env = "ARENA_PAGE", value_parser = parse_address)]
    pub page: Option<SocketAddr>,

    /// Folder whose recordings the web page offers to play; without it, the page plays only
    /// recordings that a visitor drops on it
    #[arg(long, value_name = "DIR", env = "ARENA_REPLAY_DIR")]
    pub replay_dir: Option<PathBuf>,

    /// Module with which the web page plays recordings of a game of your own, as
    /// `server/web/wasm/build --game` writes it; without it, the page plays recordings of the arena
    /// game
    #[arg(long, value_name = "FILE", env = "ARENA_REPLAY_MODULE")]
    pub replay_module: Option<PathBuf>,

    /// If `--record` writes into `--replay-dir`, offer the recording that is being written to
    /// everybody who may watch the match. Without this option, only operators are offered it
    #[arg(long, env = "ARENA_REPLAY_RUNNING")]
    pub replay_running: bool,
}

impl PageOptions {
    /// The pages for operators at this address, and no public page.
    pub fn at(http: SocketAddr) -> Self {
        Self { http, ..Self::default() }
    }
}

impl Default for PageOptions {
    fn default() -> Self {
        options_of(&[])
    }
}
