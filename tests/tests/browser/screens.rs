//! The page of a player on small screens, in every state: nothing covers anything else, and nothing
//! is below a notch.

use serde_json::{Value, json};

use crate::chromium::{Chromium, installed};
use crate::{ends, options, page_of, serve};

/// A script that brings the page into its states, and measures it.
pub(crate) const SCREENS: &str = include_str!("screens.js");

/// Sizes of phones, upright and on their sides.
const PHONES: [(u32, u32); 4] = [(390, 844), (844, 390), (360, 640), (640, 360)];

/// A window of 1280 × 800 at a zoom of 200 %, with a mouse.
const ZOOMED: (u32, u32) = (640, 400);

/// The notch and the bar at the bottom of a phone, in pixels: top, right, bottom, left.
const UPRIGHT: [u32; 4] = [47, 0, 34, 0];
const ON_ITS_SIDE: [u32; 4] = [0, 47, 21, 47];

/// Least number of parts on the screen in each state. With fewer, the test would measure nothing.
const PARTS: u64 = 5;

/// Measures all states. Returns all faults, each with its screen and its state.
fn faults(browser: &mut Chromium, screen: &str, by_finger: bool) -> Vec<String> {
    let names = browser.evaluate("screens.names");
    let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.len() > 10, "{names:?}");
    let mut found = Vec::new();
    for name in names {
        let measured = browser.evaluate(&format!("screens.measure('{name}', {by_finger})"));
        let count = measured["count"].as_u64().unwrap();
        assert!(count >= PARTS, "{screen}, {name}: only {count} parts are on the screen");
        let faults = measured["faults"].as_array().unwrap().iter();
        found.extend(faults.map(|fault| format!("{screen}, {name}: {fault}")));
    }
    found
}

/// Symptom: on a phone the warning, the chat, the graph, the table of players and the buttons
/// covered one another.
#[test]
fn nothing_covers_anything_on_a_players_small_screen() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "screens", (500, 900));
    browser.resize(390, 844);
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for("document.body.classList.contains('play')");
    browser.wait_for("Number(document.querySelector('#play [name=health]').textContent) > 0");
    browser.evaluate(SCREENS);
    let mut found = Vec::new();
    for (width, height) in PHONES {
        browser.resize(width, height);
        browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
        let notched = if width < height { UPRIGHT } else { ON_ITS_SIDE };
        for insets in [[0; 4], notched] {
            browser.notch(insets);
            let screen = format!("{width} × {height} with insets {insets:?}");
            found.extend(faults(&mut browser, &screen, true));
        }
    }
    browser.notch([0; 4]);
    let (width, height) = ZOOMED;
    browser.resize(width, height);
    browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
    found.extend(faults(&mut browser, "200 % zoom", false));
    assert!(found.is_empty(), "{}", found.join("\n"));

    // The measurement finds a part that covers others.
    browser.evaluate("document.querySelector('#clock').style.inset = '0'; 0");
    let covered = browser.evaluate("screens.measure('a warning', false)");
    assert_ne!(covered["faults"], json!([]));
    ends(running);
}
