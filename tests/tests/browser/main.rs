//! The page in a real browser, watching a real server: what it shows is what the
//! server plays and a native client sees.

mod branches;
mod certificates;
mod choosing;
mod chromium;
mod controls;
mod corrections;
#[cfg(target_os = "linux")]
mod crowd;
mod drawing;
mod friends;
mod hall;
mod latency;
mod lines;
mod marksman;
mod opening;
mod plays;
mod replays;
mod rewinds;
mod rotation;
mod visitors;
mod walkers;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use chromium::{Chromium, HANG, installed};
use serde_json::Value;
use server::{Options, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use walkers::Walkers;

const PLAYERS: u16 = 6;

/// Scattered beside the props that the map was drawn with.
const OBJECTS: u32 = 40;

/// Coordinates are sent in thirty-seconds of a unit: both clients must have read
/// the same one.
const EXACT: f64 = 1.0 / 64.0;

/// Values of moving entities that both clients must have been told of at the
/// same tick.
const COMPARED: usize = 40;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server on any port of this machine, for a page to look at.
fn options() -> Options {
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    Options { listen: ANY_PORT, http: ANY_PORT, objects: OBJECTS, ..Options::new(map) }
}

fn serve(options: &Options) -> Server {
    // The port may be held a moment longer by the server that was there before.
    let begin = Instant::now();
    loop {
        match Server::start(options) {
            Ok(running) => return running,
            Err(error) => assert!(begin.elapsed() < HANG, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn page_of(running: &Server) -> String {
    format!("http://{}/", running.http_addr())
}

/// Entities in the match, as the server counts them.
fn entities(running: &Server) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(get(running.http_addr(), "/metrics")).body;
    ["player", "prop"]
        .map(|kind| metric(&page, &format!("game_entities{{kind=\"{kind}\"}}")))
        .iter()
        .sum()
}

fn ends(running: Server) -> (SocketAddr, SocketAddr) {
    let addresses = (running.local_addr(), running.http_addr());
    running.shutdown();
    running.join().unwrap();
    addresses
}

/// All positions that the page was told of lately: slot, generation, tick, x,
/// y, z, and whether it moves.
const TOLD: &str = "[...arena.motion.slots].flatMap(([slot, values]) => values
    .filter(({ value }) => value)
    .map(({ tick, value }) => [slot, value.generation, tick, ...value.position,
        Math.hypot(...value.velocity)]))";

#[test]
fn a_browser_shows_what_the_server_plays_and_comes_back_after_a_restart() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let walkers = Walkers::join(running.local_addr(), PLAYERS);
    let mut browser = Chromium::start(&program, "watches", (960, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");

    shows_all(&mut browser, &running, PLAYERS);
    assert!(entities(&running) > f64::from(OBJECTS));

    agree(&mut browser, &walkers);
    draws(&mut browser);
    assert_eq!(browser.evaluate("arena.watcher.connection.history.mismatches.length"), 0);
    browser.wait_for("arena.watcher.connection.history.digests > 3");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");

    // A restart: said plainly, and then over.
    walkers.leave();
    let (listen, http) = ends(running);
    browser.wait_for("!document.querySelector('#trouble').hidden");
    let said = browser.evaluate("document.querySelector('#trouble strong').textContent");
    // The goodbye, or that the connection ended where that came first.
    let said = said.as_str().unwrap();
    assert!(said.contains("server") || said.contains("connection"), "{said}");
    let running = serve(&Options { listen, http, ..options() });
    browser.wait_for("arena.watcher.joins >= 2 && document.querySelector('#trouble').hidden");
    shows_all(&mut browser, &running, 0);
    // That nobody was there is for the browser to say; the page has no fault.
    let faults: Vec<Value> = browser
        .complaints()
        .into_iter()
        .filter(|complaint| complaint["params"]["entry"]["source"] != "network")
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
    ends(running);
}

/// Waits until the page shows as many entities as there are, and names so many players.
fn shows_all(browser: &mut Chromium, running: &Server, players: u16) {
    let begin = Instant::now();
    loop {
        let (shown, there) = (browser.evaluate("arena.shown.length"), entities(running));
        let named = browser.evaluate("document.querySelectorAll('#score tbody tr').length");
        if shown == there as u64 && named == players {
            return;
        }
        assert!(begin.elapsed() < HANG, "{shown} of {there} shown, {named} of {players} named");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Holds what the page was told to what a native client was told at the same
/// ticks.
fn agree(browser: &mut Chromium, walkers: &Walkers) {
    let begin = Instant::now();
    let (mut compared, mut moving) = (0, 0);
    while moving < COMPARED {
        assert!(begin.elapsed() < HANG, "{compared} common values, {moving} of them moving");
        std::thread::sleep(Duration::from_millis(300));
        let page = browser.evaluate(TOLD);
        let told = walkers.told();
        for value in page.as_array().unwrap() {
            let number = |index: usize| value[index].as_f64().unwrap();
            let key = (number(0) as u16, number(1) as u16, number(2) as u32);
            let Some(position) = told.get(&key) else { continue };
            for (axis, &native) in position.iter().enumerate() {
                let shown = number(3 + axis);
                assert!((shown - native).abs() < EXACT, "{key:?}: {shown} is not {native}");
            }
            compared += 1;
            moving += usize::from(number(6) > 0.0);
        }
    }
}

/// How many colours the page's picture has.
fn colours(browser: &mut Chromium) -> u64 {
    // It is lost with the frame, so it is read where it is drawn.
    let count = browser.evaluate(
        "(() => {
            arena.frame(performance.now(), 1);
            const { gl } = arena.renderer;
            const pixels = new Uint8Array(gl.drawingBufferWidth * gl.drawingBufferHeight * 4);
            gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA,
                gl.UNSIGNED_BYTE, pixels);
            return new Set(new Uint32Array(pixels.buffer)).size;
        })()",
    );
    count.as_u64().unwrap()
}

/// Every view and every layer draws something, without an error.
fn draws(browser: &mut Chromium) {
    for key in ["1", "2", "3"] {
        browser.press(key);
        let colours = colours(browser);
        assert!(colours > 100, "view {key}: {colours} colours");
        assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0, "view {key}");
    }
    assert_eq!(browser.evaluate("arena.camera.mode"), "top");
    for key in ["b", "g", "z", "c", "h", "o"] {
        browser.press(key);
        browser.evaluate("arena.frame(performance.now(), 0.02)");
        assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0, "layer {key}");
    }
    // What the server works out when asked has come, and is of this match.
    browser.wait_for("arena.layers.asked.cut.answer?.rows.length > 100");
    browser.wait_for("arena.layers.asked.cascade.answer?.pairs.length > 0");
    browser.wait_for("arena.layers.asked.contacts.answer?.tick > 0");
    browser.evaluate("arena.frame(performance.now(), 0.02)");
    assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0);
    browser.wait_for("document.querySelectorAll('#legend li').length > 8");
}
