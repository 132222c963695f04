//! The page of a server with several matches: it shows one, and leads to the others.

use serde_json::json;
use server::Options;
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::visitors::overlaps;
use crate::{ends, options, page_of, serve};

/// The parts of the page that must not cover each other.
const PARTS: &str = ".chip, #choose, #views, #figures, .panel, #ask, #open, #join, #rewind";

#[test]
fn a_page_leads_to_another_match_by_the_keyboard_alone() {
    let Some(program) = installed() else { return };
    let other = format!("duel={}", own_map("warren.obsp").display());
    let running = serve(&Options { matches: vec![other.parse().unwrap()], ..options() });
    let mut browser = Chromium::start(&program, "choosing", (1280, 800));
    let live = "globalThis.arena?.status.status.state === 'live'";
    browser.open(&page_of(&running), "");
    browser.wait_for(live);
    assert_eq!(browser.evaluate("document.querySelector('#choose span').textContent"), "main");
    assert_eq!(overlaps(&mut browser, PARTS), json!([]));

    browser.evaluate("document.querySelector('#choose').focus(); 0");
    browser.key("Enter", 13, "\r");
    browser.wait_for("document.activeElement?.getAttribute('aria-current') === 'page'");
    let told = "[...document.querySelectorAll('#matches li')].map((one) => one.textContent)";
    let told = browser.evaluate(told);
    assert_eq!(told, json!(["main arena, 0 of 32 players", "duel warren, 0 of 32 players"]));
    browser.keep_picture("matches");
    browser.key("Tab", 9, "");
    browser.wait_for("document.activeElement?.textContent === 'duel'");
    browser.key("Enter", 13, "\r");
    browser.wait_for(&format!("location.search === '?match=duel' && {live}"));
    browser.wait_for("document.querySelector('h1').textContent === 'warren'");
    assert_eq!(browser.evaluate("document.querySelector('#choose span').textContent"), "duel");

    // The choice must also work on phones, in portrait and in landscape, with a finger.
    for (width, height) in [(390, 844), (844, 390), (320, 568), (568, 320)] {
        browser.resize(width, height);
        browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
        // Panels are folded where there is no room for them.
        browser.wait_for("document.querySelectorAll('.panel[open]').length === 0");
        assert_eq!(overlaps(&mut browser, PARTS), json!([]), "{width} x {height}");
        browser.keep_picture(&format!("matches-{width}-folded"));
        browser.evaluate("document.querySelector('#choose').click(); 0");
        browser.wait_for("document.querySelector('#matches').matches(':popover-open')");
        let inside = "(() => {
            const box = document.querySelector('#matches').getBoundingClientRect();
            return box.left >= 0 && box.top >= 0 && box.right <= innerWidth
                && box.bottom <= innerHeight;
        })()";
        assert_eq!(browser.evaluate(inside), true, "{width} x {height}");
        browser.keep_picture(&format!("matches-{width}"));
        browser.evaluate("document.querySelector('#matches').hidePopover(); 0");
    }
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
