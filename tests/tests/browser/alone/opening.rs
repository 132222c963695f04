//! The time from opening the page to its first picture of the map.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use server::Server;

use crate::chromium::{Chromium, alone, installed};
use crate::{ends, options, page_of, serve};

/// The time limit, on a machine that does nothing else. It holds for browsers that open the page
/// for the first time and for browsers that open it again. The best time of each kind is judged:
/// `FRESH` browsers open the page for the first time, and each of them opens it `AGAIN` times more.
const FIRST_FRAME: Duration = Duration::from_secs(3);
const FRESH: usize = 2;
const AGAIN: usize = 2;

/// A script that notes the time at which the map is first drawn. It runs in the page, because
/// asking the page from outside would also take time.
const NOTE: &str = "addEventListener('DOMContentLoaded', function poll() {
    if (globalThis.arena?.scene && arena.renderer.ground?.times > 0) globalThis.drawn ??= performance.now();
    else requestAnimationFrame(poll);
});";

/// Opens the page, and returns the time until the map was drawn.
fn open(browser: &mut Chromium, running: &Server, query: &str) -> Duration {
    let begin = Instant::now();
    browser.open(&format!("{}{query}", page_of(running)), NOTE);
    browser.wait_for("globalThis.drawn > 0");
    let took = Duration::from_secs_f64(browser.evaluate("drawn").as_f64().unwrap() / 1000.0);
    let _ = writeln!(
        std::io::stderr(),
        "first frame of {query:?} after {took:?} ({:?} as seen from the test)",
        begin.elapsed()
    );
    took
}

/// The best times of browsers that open the page for the first time, and again.
fn bests(program: &Path, running: &Server, query: &str) -> [Duration; 2] {
    let [mut first, mut again] = [Duration::MAX; 2];
    for _ in 0..FRESH {
        // Each browser starts with an empty profile.
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
