//! The pages of a real server as strangers get them: the answers of a closed match, the headers of
//! every answer, the limits of one address, and the page below any path.

mod below_a_path;
mod budgets;
mod caches;
mod closed;
mod headers;
mod modules;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use server::{Options, PageOptions, Server};
use tests::harness::own_map;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// The loopback address with any free port.
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The address of a stranger, to whom the limits of any address apply.
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// The address of another stranger.
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// Options of a server on free loopback ports, with a public page.
fn options() -> Options {
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    Options {
        listen: vec![ANY_PORT],
        pages: PageOptions { page: Some(ANY_PORT), ..PageOptions::at(ANY_PORT) },
        ..Options::new(map)
    }
}

async fn end(running: Server) {
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

/// The path of a route, with a value for each of its parameters.
fn example(route: &str, map: &str) -> String {
    let filled = route.replace("{*path}", "main.js").replace("{hash}", map);
    filled.replace("{height}", "60").replace("{after}", "0").replace("{name}", "match.obsr")
}
