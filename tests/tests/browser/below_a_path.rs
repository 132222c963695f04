//! The page below a path of a reverse proxy.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::mpsc::channel;

use tests::harness::prefix_proxy::{PREFIX, PrefixProxy};
use tokio::runtime::Builder;

use crate::chromium::{Chromium, installed};
use crate::{ends, options, serve};

/// A proxy that runs until the process ends.
fn in_a_thread(server: SocketAddr) -> PrefixProxy {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let _ = tell.send(PrefixProxy::start(server).await);
            pending::<()>().await;
        });
    });
    told.recv().unwrap()
}

/// Symptom: behind a proxy at `/arena/`, the page requested everything from the root, and stayed
/// empty without a message.
#[test]
fn the_page_watches_plays_and_rewinds_below_a_path() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let proxy = in_a_thread(running.http_addr());
    let mut browser = Chromium::start(&program, "below", (800, 600));
    browser.open(&format!("http://{}{PREFIX}/", proxy.address), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    // The simulation, the map and the worker come from below the path, too.
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    browser.open(&format!("http://{}{PREFIX}/", proxy.address), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    browser.wait_for("arena.newestTick() > 180");
    browser.evaluate("document.querySelector('#rewind').click(); 0");
    browser.wait_for("arena.replay?.recording && arena.replay.progress?.verified > 0");
    assert_eq!(proxy.misses(), [] as [&str; 0]);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
