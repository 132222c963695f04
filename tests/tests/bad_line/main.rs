//! Real servers and real clients over bad lines: what a faulty UDP proxy, a server
//! that stands still and one that is killed may cost a player, and what not.
//!
//! Scenarios of one kind run side by side, for most of their time is waiting; those that
//! measure time take turns.

mod blackouts;
mod comebacks;
mod joins;
mod player;
mod poor;
mod restarts;
mod stalls;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tests::badline::{Line, Proxy, Setup};
use tests::harness::{ServerProcess, own_map};
use tokio::sync::Mutex;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Whose turn it is to measure time.
static TURN: Mutex<()> = Mutex::const_new(());

/// How long this machine may let threads wait where time is measured.
const PROMPT: Duration = Duration::from_millis(20);

/// A proxy in front of `server`.
fn proxy(server: SocketAddr, line: Line, seed: u64) -> Proxy {
    let setup = Setup { listen: ANY_PORT, to: server, line, seed, rebinds: Vec::new() };
    Proxy::start(setup).unwrap()
}

/// A server process in the arena, started while other scenarios go on.
async fn start(arguments: &[&str]) -> ServerProcess {
    let mut arguments: Vec<String> = arguments.iter().map(|&argument| argument.into()).collect();
    let map = own_map("arena.obsp");
    arguments.extend(["--map".to_owned(), map.to_string_lossy().into_owned()]);
    let start = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        ServerProcess::start(&arguments)
    };
    tokio::task::spawn_blocking(start).await.unwrap()
}
