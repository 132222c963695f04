//! How soon a page that is opened shows the map.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use server::Server;

use crate::chromium::{Chromium, alone, installed};
use crate::{ends, options, page_of, serve};

/// The bar is three seconds of a machine that does nothing else, for a browser that has never
/// been there and for one that has. Each is judged by the best of a few pages.
const FIRST_FRAME: Duration = Duration::from_secs(3);
const FRESH: usize = 2;
const AGAIN: usize = 2;

/// Notes when the map is drawn: in the page, as asking it takes time of its own.
const NOTE: &str = "addEventListener('DOMContentLoaded', function look() {
    if (globalThis.arena?.scene && arena.renderer.ground?.times > 0) globalThis.drawn ??= performance.now();
    else requestAnimationFrame(look);
});";

/// Opens the page, and gives how long it took until the map was drawn.
fn open(browser: &mut Chromium, running: &Server, query: &str) -> Duration {
    let begin = Instant::now();
    browser.open(&format!("{}{query}", page_of(running)), NOTE);
    browser.wait_for("globalThis.drawn > 0");
    let took = Duration::from_secs_f64(browser.evaluate("drawn").as_f64().unwrap() / 1000.0);
    let _ = writeln!(
        std::io::stderr(),
        "first frame of {query:?} after {took:?} ({:?})",
        begin.elapsed()
    );
    took
}

/// How long it takes at best in a browser that has never been there, and in one that has.
fn bests(program: &Path, running: &Server, query: &str) -> [Duration; 2] {
    let [mut first, mut again] = [Duration::MAX; 2];
    for _ in 0..FRESH {
        // Each has a profile of its own, with nothing in it.
        let mut browser = Chromium::start(program, "first", (800, 600));
        first = first.min(open(&mut browser, running, query));
        for _ in 0..AGAIN {
            again = again.min(open(&mut browser, running, query));
        }
    }
    [first, again]
}

#[test]
fn the_map_is_drawn_within_three_seconds_of_opening_the_page() {
    let Some(program) = installed() else { return };
    let _machine = alone();
    let running = serve(&options());
    for query in ["", "?play=Ann"] {
        let bests = bests(&program, &running, query);
        assert!(bests.iter().all(|best| *best < FIRST_FRAME), "{query:?}: {bests:?}");
    }
    ends(running);
}
