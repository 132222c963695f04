//! A page that watches a fight rewinds it, asks for an explanation, and returns to it.

use serde_json::json;
use server::Server;
use tests::harness::pages::get;

use crate::chromium::{Chromium, installed};
use crate::visitors::overlaps;
use crate::walkers::Walkers;
use crate::{PLAYERS, ends, options, page_of, serve};

/// The tick that the server finished last.
fn tick(running: &Server) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(get(running.http_addr(), "/info")).body;
    serde_json::from_str::<serde_json::Value>(&page).unwrap()["tick"].as_u64().unwrap()
}

#[test]
fn a_page_that_watches_rewinds_the_match_and_returns_to_it() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let walkers = Walkers::join(running.local_addr(), PLAYERS);
    let mut browser = Chromium::start(&program, "rewind", (1280, 800));
    browser.open(&page_of(&running), "");
    // After 37 seconds, the rewind cannot reach back to the start of the match.
    browser.wait_for(
        "globalThis.arena?.status.status.state === 'live' && arena.newestTick() > 60 * 37",
    );
    let found =
        overlaps(&mut browser, ".chip, #views, #figures, .panel, #ask, #open, #join, #rewind");
    assert_eq!(found, json!([]));
    browser.keep_picture("rewind-button");
    // The button is also there on a phone, and covers nothing.
    browser.resize(390, 844);
    // Panels are folded where there is no room for them.
    browser.wait_for("document.querySelectorAll('.panel[open]').length === 0");
    let parts = ".chip, #views, #figures, .panel, #ask, #open, #join, #rewind";
    assert_eq!(overlaps(&mut browser, parts), json!([]));
    browser.evaluate("new Promise((next) => setTimeout(next, 500))");
    browser.keep_picture("rewind-button-phone");
    browser.resize(1280, 800);
    let before = tick(&running);
    browser.evaluate("document.querySelector('#rewind').click(); 0");
    browser.wait_for("arena.replay?.recording && arena.shown.length > 60");
    let [first, last] = ["first", "end"]
        .map(|edge| browser.evaluate(&format!("arena.replay.{edge}")).as_u64().unwrap());
    let after = tick(&running);
    let expected = before.saturating_sub(90)..=after;
    assert!(expected.contains(&last), "{last} of {expected:?}");
    assert!((1800..=2100).contains(&(last - first)), "from {first} to {last}");
    assert_eq!(browser.evaluate("arena.replay.at"), last, "the rewind is shown from its end");

    // A step back moves by one tick, and all ticks are verified.
    browser.press(",");
    browser.wait_for(&format!("arena.replay.at === {} && arena.replay.frame()", last - 1));
    browser.wait_for(&format!("arena.replay.progress?.tick === {last}"));
    let progress = browser.evaluate("arena.replay.progress");
    assert_eq!(progress["difference"], json!(null));
    assert_eq!(progress["verified"], last - first);
    // The table is updated four times a second, later than the frames.
    browser.wait_for(&format!("document.querySelectorAll('#score tbody tr').length === {PLAYERS}"));
    let named = "[...document.querySelectorAll('#score .name')].every((one) => one.textContent.includes('walker'))";
    let named = browser.evaluate(named);
    assert!(named == true, "{}", browser.evaluate("document.querySelector('#score').innerText"));
    browser.evaluate("arena.replay.why.ask(arena.shown.find((one) => one.isPlayer).slot); 0");
    browser.wait_for(&format!(
        "arena.replay.why.told?.found && arena.replay.why.told.tick === {}",
        last - 1
    ));
    browser.keep_picture("rewind");

    // The same page goes live again.
    browser.evaluate("document.querySelector('#timeline a').click(); 0");
    browser.wait_for("arena.status.status.state === 'live' && arena.shown.length > 60");
    browser.wait_for(&format!("arena.newestTick() > {last}"));
    let hidden =
        "['#timeline', '#why', '#branch'].every((one) => document.querySelector(one).hidden)";
    assert_eq!(browser.evaluate(hidden), true);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
}
