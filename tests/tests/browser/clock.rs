//! A whole round as its players see it: warm-up, clock, result and the next map, on a desktop and
//! on a phone.

use std::time::Duration;

use serde_json::Value;
use server::{Options, PageOptions, RoundOptions};
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::visitors::overlaps;
use crate::{ANY_PORT, ends, hall, page_of, serve};

const WARM_UP: Duration = Duration::from_secs(15);
const ROUND: Duration = Duration::from_secs(20);
/// Long enough to look at both pages on a busy machine.
const INTERMISSION: Duration = Duration::from_secs(20);

/// A script that notes every text of the clock.
const NOTE: &str = "addEventListener('DOMContentLoaded', () => {
    globalThis.clocks = new Set();
    setInterval(() => clocks.add(document.querySelector('#clock').textContent), 50);
})";

/// The times in seconds that the page's clock has shown after the text `before`, in the order in
/// which they appeared.
fn seconds(browser: &mut Chromium, before: &str) -> Vec<u64> {
    let clocks = browser.evaluate("[...clocks]");
    let texts = clocks.as_array().unwrap().iter().filter_map(Value::as_str);
    let times = texts.filter_map(|text| text.strip_prefix(before)?.split_once(':'));
    times
        .filter_map(|(minutes, seconds)| {
            Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
        })
        .collect()
}

#[test]
fn a_round_has_a_warm_up_a_clock_a_result_and_a_next_map_on_a_desktop_and_a_phone() {
    let Some(program) = installed() else { return };
    let maps = [hall::write_map("rounds"), own_map("warren.obsp")];
    let maps = maps.map(|map| map.to_string_lossy().into_owned());
    let running = serve(&Options {
        listen: vec![ANY_PORT],
        pages: PageOptions::at(ANY_PORT),
        rounds: RoundOptions {
            maps: maps.into(),
            warm_up: WARM_UP,
            round_time: Some(ROUND),
            intermission: INTERMISSION,
            ..RoundOptions::default()
        },
        ..Options::new(String::new())
    });
    let mut desktop = Chromium::start(&program, "round-desktop", (1280, 800));
    desktop.resize(1280, 800);
    desktop.open(&page_of(&running), "");
    desktop.wait_for("document.querySelector('#clock')?.textContent === 'Waiting for players'");
    let mut phone = Chromium::start(&program, "round-phone", (500, 844));
    phone.resize(390, 844);
    let mut pages = [("desktop", "Ann", desktop), ("phone", "Bob", phone)];
    for (_, name, page) in &mut pages {
        page.open(&format!("{}?play={name}", page_of(&running)), NOTE);
        page.wait_for("globalThis.arena?.play?.player.isThere");
    }
    for (size, _, page) in &mut pages {
        page.wait_for("[...clocks].some((text) => text.startsWith('Warm-up 0:'))");
        page.keep_picture(&format!("round-warm-up-{size}"));
    }
    for (size, _, page) in &mut pages {
        page.wait_for("/^0:[01]/.test(document.querySelector('#clock').textContent)");
        page.keep_picture(&format!("round-clock-{size}"));
        // The clock covers nothing else that a player sees.
        let found = overlaps(page, "#clock, .chip, #score, #play dl, #join");
        assert_eq!(found, serde_json::json!([]), "{size}");
    }
    for (size, name, page) in &mut pages {
        page.wait_for("!document.querySelector('#centre').hidden");
        // Players see through the camera of the map, and also see their own bodies.
        page.wait_for(
            "arena.view.seenFrom.join() === '-300,-300,200' && arena.play.hidden === null",
        );
        let said = page.evaluate("document.querySelector('#centre').innerText");
        page.keep_picture(&format!("round-result-{size}"));
        let said = said.as_str().unwrap();
        // Nobody has fired a shot.
        assert!(said.contains("nobody has scored"), "{size}: {said}");
        assert!(said.contains("Ann") && said.contains("Bob"), "{size}: {said}");
        assert!(said.contains("You are 1st of 2 with 0."), "{name}: {said}");
        assert!(said.contains("Next: warren in "), "{size}: {said}");
        assert!(said.contains("Nobody can move until then."), "{size}: {said}");
        assert_eq!(page.evaluate("document.querySelector('#clock').textContent"), "Round over");
        // The page does not also show the server's own line about the result.
        let said = page.evaluate("document.querySelector('#news').textContent");
        assert_eq!(said, "", "{size}");
        // The whole card is on the screen.
        assert_eq!(overlaps(page, "#centre, .chip, #clock"), serde_json::json!([]), "{size}");
    }
    for (size, _, page) in &mut pages {
        page.wait_for("document.querySelector('h1').textContent === 'warren'");
        page.wait_for("document.querySelector('#centre').hidden && arena.play.player.isThere");
        assert_ne!(page.evaluate("arena.view.seenFrom.join()"), "-300,-300,200", "{size}");
        // The clock of the next round runs.
        page.wait_for("/^0:/.test(document.querySelector('#clock').textContent)");
        let (warm_up, round) = (seconds(page, "Warm-up "), seconds(page, ""));
        assert!(warm_up.iter().all(|&left| left <= WARM_UP.as_secs()), "{size}: {warm_up:?}");
        assert!(round.iter().all(|&left| left <= ROUND.as_secs()), "{size}: {round:?}");
        assert!(warm_up.len() > 1 && round.len() > 3, "{size}: {warm_up:?} {round:?}");
        let complaints = page.complaints();
        assert!(complaints.is_empty(), "{size}: {complaints:?}");
    }
    ends(running);
}
