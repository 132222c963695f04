//! A page that watches a match, through a restart of the server.

use serde_json::Value;
use server::{Options, PageOptions};

use crate::chromium::{Chromium, installed};
use crate::walkers::Walkers;
use crate::{OBJECTS, PLAYERS, agree, colours, ends, entities, options, page_of, serve, shows_all};

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

    // The page reports a restart, and goes on after it.
    walkers.leave();
    let (listen, http) = ends(running);
    browser.wait_for("!document.querySelector('#trouble').hidden");
    let said = browser.evaluate("document.querySelector('#trouble strong').textContent");
    // The page shows the server's goodbye, or the loss of the connection if that came first.
    let said = said.as_str().unwrap();
    assert!(said.contains("server") || said.contains("connection"), "{said}");
    let running =
        serve(&Options { listen: vec![listen], pages: PageOptions::at(http), ..options() });
    browser.wait_for("arena.watcher.joins >= 2 && document.querySelector('#trouble').hidden");
    shows_all(&mut browser, &running, 0);
    // The browser itself reports failed connections. The page must have no other errors.
    let faults: Vec<Value> = browser
        .complaints()
        .into_iter()
        .filter(|complaint| complaint["params"]["entry"]["source"] != "network")
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
    ends(running);
}

/// Checks that every view draws something, and every view and layer draws without an error.
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
    // The layers that the server computes on request arrive.
    browser.wait_for("arena.layers.answers.cut?.rows.length > 100");
    browser.wait_for("arena.layers.answers.cascade?.pairs.length > 0");
    browser.wait_for("arena.layers.answers.contacts?.tick > 0");
    browser.evaluate("arena.frame(performance.now(), 0.02)");
    assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0);
    browser.wait_for("document.querySelectorAll('#legend li').length > 8");
}
