//! The page's messages to its player about a shutdown, chat, commands and another name, and the
//! keys that show the scores and reach *Leave*.

use std::time::Duration;

use obsp_proto::control::MatchEvent;
use serde_json::json;
use server::Server;

use crate::chromium::{Chromium, installed};
use crate::hall;
use crate::marksman::Marksman;
use crate::{ends, options, page_of, serve};

const THERE: &str = "globalThis.arena?.play?.player.isThere";

/// A page that plays as Ann.
fn plays(name: &str, running: &Server) -> Option<Chromium> {
    let program = installed()?;
    let mut browser = Chromium::start(&program, name, (1280, 800));
    browser.open(&format!("{}?play=Ann", page_of(running)), "");
    browser.wait_for(THERE);
    browser.wait_for("arena.roster.players.get(arena.play.slot)?.name === 'Ann'");
    Some(browser)
}

/// Types a line into the chat and presses Enter.
fn say(browser: &mut Chromium, line: &str) {
    browser.evaluate(&format!(
        "arena.play.speak(); arena.play.chat.field.value = {}; 0",
        serde_json::to_string(line).unwrap()
    ));
    browser.key("Enter", 13, "\r");
}

const NOTE: &str = "document.querySelector('#chat p').textContent";
const FEED: &str = "document.querySelector('#news').textContent";

#[test]
fn a_shutdown_is_told_once_and_the_own_body_is_not_drawn_around_the_camera() {
    let running = serve(&options());
    let Some(mut browser) = plays("shutdown", &running) else { return };
    let slot = browser.evaluate("arena.play.slot");
    browser.evaluate(
        "globalThis.told = new Set(); setInterval(() => {
            if (!trouble.hidden) told.add(document.querySelector('#trouble strong').textContent);
        }, 50); 0",
    );
    ends(running);
    let title = "document.querySelector('#trouble strong').textContent";
    browser.wait_for(&format!("/^The server shut down; joining again for \\d+ s$/.test({title})"));
    browser.keep_picture("shutdown");
    let left = format!("Number(/\\d+/.exec({title})[0])");
    let first = browser.evaluate(&left).as_f64().unwrap();
    assert!(first > 30.0 && first <= 60.0, "{first} s");
    browser.wait_for(&format!("{left} < {first} - 2"));
    // Attempts to join fail meanwhile, and the message stays the same.
    let messages = browser.evaluate(
        "[...new Set([...told].filter(Boolean).map((text) => text.replace(/\\d+/, 'N')))]",
    );
    assert_eq!(messages, json!(["The server shut down; joining again for N s"]));
    assert_eq!(browser.evaluate("document.querySelector('#status').textContent"), "Rejoining");
    for gone in ["#verdict", "#clock", "#centre", "#play dl", "#play .word", "#play .line"] {
        let seen = format!("document.querySelector('{gone}').checkVisibility()");
        assert_eq!(browser.evaluate(&seen), false, "{gone}");
    }
    assert_eq!(browser.evaluate("arena.play.slot"), slot);
    assert_eq!(browser.evaluate("arena.play.hidden"), slot, "the page draws the player's own body");
}

#[test]
fn commands_are_answered_by_the_page_and_lines_that_cannot_be_sent_stay() {
    let running = serve(&hall::options("commands"));
    let Some(mut browser) = plays("commands", &running) else { return };
    let bob = Marksman::join(running.local_addr(), "Bob");
    browser.wait_for("arena.roster.players.size === 2");

    // While a command is typed, the page lists the commands. This server has no votes, so the page
    // lists no commands for votes.
    browser.evaluate("arena.play.speak(); 0");
    for letter in ["/", "n"] {
        browser.key(letter, letter.as_bytes()[0].into(), letter);
    }
    browser.wait_for(&format!("{NOTE}.startsWith('/name NAME')"));
    browser.key("Escape", 27, "");
    browser.wait_for("document.querySelector('#chat').hidden");

    say(&mut browser, "/help");
    browser.wait_for(&format!("{FEED}.includes('/leave: leaves the match')"));
    assert_eq!(browser.evaluate(&format!("{FEED}.includes('/votemap')")), false);

    say(&mut browser, "/foo bar");
    browser.wait_for(&format!("{NOTE}.includes('/foo is unknown')"));
    assert_eq!(browser.evaluate("arena.play.chat.field.value"), "/foo bar");
    browser.keep_picture("unknown-command");

    // A line that is too long is kept, with the reason.
    let long = "x".repeat(161);
    say(&mut browser, &long);
    browser.wait_for(&format!("{NOTE}.includes('at most 160 characters')"));
    assert_eq!(browser.evaluate("arena.play.chat.field.value"), long.as_str());

    // A long line without blanks wraps within its box.
    let wide = "w".repeat(160);
    say(&mut browser, &wide);
    browser.wait_for(&format!("{FEED}.includes('{wide}')"));
    let fits = "[...document.querySelectorAll('#news li')].every((line) =>
        line.scrollWidth <= line.clientWidth && line.getBoundingClientRect().right <= 640)";
    assert_eq!(browser.evaluate(fits), true);

    // After many quick lines, the page holds back the first line that the server would drop.
    for number in 0..6 {
        say(&mut browser, &format!("quick {number}"));
        if browser.evaluate("document.querySelector('#chat').hidden") == false {
            break;
        }
    }
    browser.wait_for(&format!("{NOTE}.startsWith('Too fast')"));
    let held = browser.evaluate("arena.play.chat.field.value");
    let held = held.as_str().unwrap().to_owned();
    assert!(held.starts_with("quick"), "{held}");
    std::thread::sleep(Duration::from_millis(1200));
    browser.key("Enter", 13, "\r");
    browser.wait_for(&format!("{FEED}.includes('Ann: {held}')"));

    // The page sent no command to the other player as a chat line.
    let said = bob.state(|state| {
        let lines = state.events.iter().filter_map(|event| match event {
            MatchEvent::Said { line, .. } => Some(line.as_str().to_owned()),
            _ => None,
        });
        lines.collect::<Vec<_>>()
    });
    assert!(said.contains(&wide) && said.iter().all(|line| !line.starts_with('/')), "{said:?}");
    bob.leave();
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn another_name_counts_from_the_next_time_and_a_bad_one_is_refused() {
    let running = serve(&options());
    let Some(mut browser) = plays("renames", &running) else { return };
    say(&mut browser, &format!("/name {}", "x".repeat(25)));
    browser.wait_for(&format!("{NOTE}.includes('at most 24 characters')"));
    browser.key("Escape", 27, "");
    say(&mut browser, "/name Bea");
    browser.wait_for(&format!("{FEED}.includes('You are Bea when you join next')"));
    assert_eq!(browser.evaluate("document.querySelector('#settings [name=name]').value"), "Bea");
    browser.evaluate("document.querySelector('#help').showPopover(); 0");
    browser.wait_for("document.querySelector('#renaming').checkVisibility()");
    let note = browser.evaluate("document.querySelector('#renaming').textContent");
    assert!(note.as_str().unwrap().starts_with("You are Ann until you join again"), "{note}");
    browser.keep_picture("renaming");
    browser.evaluate("document.querySelector('#renaming button').click(); 0");
    browser.wait_for(&format!("{THERE} && arena.store.own.name === 'Bea'"));
    browser.wait_for("arena.roster.players.get(arena.play.slot)?.name === 'Bea'");
    browser.wait_for("document.querySelector('#renaming').hidden");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn keys_show_the_scores_and_reach_leave() {
    let running = serve(&options());
    let Some(mut browser) = plays("keys-of-a-player", &running) else { return };
    let scores = "document.querySelector('#score').open";
    assert_eq!(browser.evaluate(scores), false);
    browser.hold("Tab", true);
    browser.wait_for(scores);
    browser.keep_picture("scores");
    browser.hold("Tab", false);
    browser.wait_for(&format!("!{scores}"));
    // Players do not see the figures for operators, even on the operators' page.
    for hidden in ["#figures", "#verdict", "#charts"] {
        let seen = format!("document.querySelector('{hidden}').checkVisibility()");
        assert_eq!(browser.evaluate(&seen), false, "{hidden}");
    }
    browser.hold("Escape", true);
    browser.hold("Escape", false);
    browser.wait_for("document.activeElement === document.querySelector('#join')");
    // Escape also leads back to the match.
    browser.hold("Escape", true);
    browser.hold("Escape", false);
    browser.wait_for("document.activeElement === arena.picture");
    browser.hold("Escape", true);
    browser.hold("Escape", false);
    browser.key("Enter", 13, "\r");
    browser.wait_for("arena.play === null && arena.watcher.connection?.history");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
