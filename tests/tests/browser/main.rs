//! The page in a real browser, watching a real server. It shows the match that the server plays,
//! with the positions that a native client gets.
//!
//! Tests begin in the order of their names, a few at a time. The tests in `alone` begin early, when
//! no long test keeps them waiting. So does the test in `clock`, which takes about a minute.

mod actions;
mod alone;
mod below_a_path;
mod branches;
#[path = "../../../server/examples/capture_the_flag/rules.rs"]
mod capture_the_flag;
mod certificates;
mod choosing;
mod chromium;
mod clock;
mod controls;
#[cfg(target_os = "linux")]
mod crowd;
mod drawing;
mod dropped;
mod first_load;
mod friends;
mod hall;
mod lines;
mod marksman;
mod mouse;
mod own_game;
mod plays;
mod presence;
mod reach;
mod replays;
mod rewinds;
mod rotation;
mod screens;
mod shots;
mod told;
mod visitors;
mod walkers;
mod watches;
mod welcome;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use chromium::{Chromium, HANG};
use server::{Options, PageOptions, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use walkers::Walkers;

const PLAYERS: u16 = 6;

/// Objects scattered over the map, in addition to the map's own props.
const OBJECTS: u32 = 40;

/// Two coordinates closer than this, in units, count as equal. They are sent in thirty-seconds of a
/// unit.
const EXACT: f64 = 1.0 / 64.0;

/// Number of positions of moving entities to compare. A position is compared if the page and a
/// native client got it for the same tick.
const COMPARED: usize = 40;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Options of a server on free loopback ports.
fn options() -> Options {
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    Options {
        listen: vec![ANY_PORT],
        pages: PageOptions::at(ANY_PORT),
        objects: OBJECTS,
        ..Options::new(map)
    }
}

fn serve(options: &Options) -> Server {
    // An earlier server may hold the port for a moment longer.
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

/// The number of entities in the match, by the server's metrics.
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

/// All positions that the page got lately: slot, generation, tick, x, y, z, and speed.
const PAGE_POSITIONS: &str = "[...arena.motion.slots].flatMap(([slot, { values }]) => values
    .filter(({ value }) => value)
    .map(({ tick, value }) => [slot, value.generation, tick, ...value.position,
        Math.hypot(...value.velocity)]))";

/// Waits until the page shows all entities of the match, and names `players` players.
fn shows_all(browser: &mut Chromium, running: &Server, players: u16) {
    let begin = Instant::now();
    loop {
        let (shown, there) = (browser.evaluate("arena.shown.length"), entities(running));
        let named = browser.evaluate("document.querySelectorAll('#score tbody tr').length");
        if shown == there as u64 && named == players {
            return;
        }
        assert!(
            begin.elapsed() < HANG,
            "the page shows {shown} of {there} entities and names {named} of {players} players"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Compares positions on the page with those that native clients got for the same ticks.
fn agree(browser: &mut Chromium, walkers: &Walkers) {
    let begin = Instant::now();
    let (mut compared, mut moving) = (0, 0);
    while moving < COMPARED {
        assert!(
            begin.elapsed() < HANG,
            "only {compared} positions in common, {moving} of them of moving entities"
        );
        std::thread::sleep(Duration::from_millis(300));
        let page = browser.evaluate(PAGE_POSITIONS);
        let positions = walkers.positions();
        for value in page.as_array().unwrap() {
            let number = |index: usize| value[index].as_f64().unwrap();
            let key = (number(0) as u16, number(1) as u16, number(2) as u32);
            let Some(position) = positions.get(&key) else { continue };
            for (axis, &native) in position.iter().enumerate() {
                let shown = number(3 + axis);
                assert!(
                    (shown - native).abs() < EXACT,
                    "{key:?}: the page has {shown}, the native client {native}"
                );
            }
            compared += 1;
            moving += usize::from(number(6) > 0.0);
        }
    }
}

/// The number of colours in the page's picture.
fn colours(browser: &mut Chromium) -> u64 {
    // The pixels are lost with the frame, so the script that draws the frame also reads them.
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
