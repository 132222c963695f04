//! Real servers and real clients over bad lines. The tests limit how much a faulty UDP proxy, a
//! server that stands still, and a killed server may disturb players.
//!
//! Scenarios of one kind run side by side, because they mostly wait.

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

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Longest time for which the machine may let threads wait while time is measured.
const PROMPT: Duration = Duration::from_millis(20);

/// A proxy in front of `server`.
fn proxy(server: SocketAddr, line: Line, seed: u64) -> Proxy {
    let setup = Setup { listen: ANY_PORT, to: server, line, seed, rebinds: Vec::new() };
    Proxy::start(setup).unwrap()
}

/// Starts a server process in the arena, without blocking other scenarios.
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
