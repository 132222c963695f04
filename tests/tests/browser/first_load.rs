//! The bytes of the first load: all that a new visitor's browser fetches to show the match and to
//! play in it.

use std::io::Write;

use server::{Options, PageOptions};

use crate::chromium::{Chromium, installed};
use crate::{ANY_PORT, ends, options, serve};

/// Maximum number of bytes on the wire for everything except the map, whose size differs.
const MOST: u64 = 450_000;

/// A condition that holds once the map is drawn and the simulation is fetched. The page fetches the
/// simulation after its first picture, so that Play begins at once.
const SHOWN: &str = "globalThis.arena?.scene && arena.renderer.ground?.times > 0
    && performance.getEntriesByType('resource').some(({ name, responseEnd }) => name.endsWith('/play.wasm') && responseEnd > 0)";

const PLAYS: &str = "globalThis.arena?.play?.player.isThere";

/// Sums the bytes of all answers so far, without the map and with it. A browser counts 300 bytes
/// for the head of each answer. `files` lists the page's own files.
const FETCHED: &str = "(() => {
    const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const sum = (answers) => answers.reduce((bytes, answer) => bytes + answer.transferSize, 0);
    const isMap = ({ name }) => /\\/(scene|maps)(\\/|$)/.test(new URL(name).pathname);
    const files = all.map(({ name }) => name.match(/\\/web\\/[0-9a-f]+\\/(.*)/)?.[1]).filter(Boolean);
    return { page: sum(all.filter((answer) => !isMap(answer))), all: sum(all), files };
})()";

#[test]
fn the_first_load_is_small_and_play_needs_no_other() {
    let Some(program) = installed() else { return };
    let running = serve(&Options {
        pages: PageOptions { page: Some(ANY_PORT), ..options().pages },
        ..options()
    });
    let page = format!("https://{}/", running.page_addr().unwrap());
    // The visitor has told the browser to go on in spite of the unknown certificate.
    let go_on = ["--ignore-certificate-errors".to_owned()];
    for (query, is_ready) in [("", SHOWN), ("?play=Ann", PLAYS)] {
        // Each browser starts with an empty profile, and so without any file of the page.
        let mut browser = Chromium::start_with(&program, "load", (800, 600), &go_on);
        browser.open(&format!("{page}{query}"), "");
        browser.wait_for(is_ready);
        let fetched = browser.evaluate(FETCHED);
        let bytes = |what: &str| fetched[what].as_u64().unwrap();
        let _ = writeln!(
            std::io::stderr(),
            "the first load of {query:?}: {} bytes, {} with the map",
            bytes("page"),
            bytes("all")
        );
        assert!(bytes("page") <= MOST, "{query:?}: {fetched}");
        assert!(bytes("page") > MOST / 2, "only a part was counted: {fetched}");

        let files = fetched["files"].clone();
        if query.is_empty() {
            browser.evaluate("document.querySelector('#welcome').requestSubmit(); 0");
            browser.wait_for(PLAYS);
            assert_eq!(browser.evaluate(FETCHED)["files"], files, "Play fetched more of the page");
        }
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{complaints:?}");
    }
    ends(running);
}
