//! The replay page explains the state of a body, and shows another future that begins with a change
//! to it.

use serde_json::json;

use crate::chromium::{Chromium, installed};
use crate::replays::{RECORDING, offers, recordings};
use crate::visitors::overlaps;
use crate::{ends, page_of, serve};

/// The tick at which the futures part, and the number of ticks from there to a tick soon after. If
/// the lower of two stacked crates is removed, the upper one falls in this time.
const BEGIN: u64 = 280;
const SOON: u64 = 20;

/// Goes to a tick, and asks for the explanation of the body in a slot there.
fn ask_why(browser: &mut Chromium, slot: &str, tick: u64) {
    browser.evaluate(&format!("arena.replay.playing = false; arena.replay.seek({tick}); 0"));
    browser.wait_for(&format!("arena.replay.frames.has({tick})"));
    browser.evaluate("arena.frame(performance.now(), 0); 0");
    browser.evaluate(&format!("arena.replay.why.ask({slot}); 0"));
    browser.wait_for(&format!("arena.replay.why.told?.tick === {tick}"));
}

/// The number of props whose explanations are read.
const ASKED: usize = 64;

/// The slot of the prop with the most contacts, among the first [`ASKED`] props of the picture.
fn most_touching(browser: &mut Chromium) -> u64 {
    let props = "arena.shown.filter(({ isPlayer }) => !isPlayer)";
    let slots = browser.evaluate(&format!("{props}.map(({{ slot }}) => slot)"));
    let slots = slots.as_array().unwrap().iter().map(|slot| slot.as_u64().unwrap());
    let mut touching = |slot: u64| {
        ask_why(browser, &slot.to_string(), BEGIN + SOON);
        let found = browser.evaluate("arena.replay.why.told.found");
        let said = browser.evaluate("document.querySelector('#why').innerText");
        let said = said.as_str().unwrap();
        assert_eq!(said.contains("stopped by"), !found["stopped"].is_null(), "{said}");
        let counted = found["asleep"] != true && !said.contains("missiles do not sleep");
        assert_eq!(said.contains("still for"), counted, "{said}");
        found["touching"].as_array().unwrap().len()
    };
    let (most, slot) = slots.take(ASKED).map(|slot| (touching(slot), slot)).max().unwrap();
    assert!(most > 1, "no prop has more contacts than {most}");
    slot
}

/// Presses the button of a change at the tick where the futures part, and goes on for `ticks`.
fn branch(browser: &mut Chromium, change: u32, ticks: u64) {
    browser.evaluate(&format!("document.querySelector('#why [data-change=\"{change}\"]').click()"));
    browser.wait_for(&format!("arena.replay.branch?.asked.change === {change}"));
    go_on(browser, ticks);
}

/// Goes to the tick that is `ticks` after the parting of the futures.
fn go_on(browser: &mut Chromium, ticks: u64) {
    let tick = BEGIN + ticks;
    browser.evaluate(&format!("arena.replay.playing = false; arena.replay.seek({tick}); 0"));
    browser.wait_for(&format!("arena.replay.frames.get({tick})?.other"));
    browser.evaluate("arena.frame(performance.now(), 0); arena.updateTables(); 0");
    browser.wait_for(&format!("arena.replay.why.told?.tick === {tick}"));
}

#[test]
fn the_page_shows_another_future_beside_the_record() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "branch", (1280, 800));
    browser.open(&format!("{}?replay={RECORDING}", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.replay?.recording && arena.scene && arena.shown.length");

    // The prop with the most contacts is chosen, because its removal moves something.
    let seen = BEGIN + SOON;
    browser.evaluate(&format!("arena.replay.playing = false; arena.replay.seek({seen}); 0"));
    browser.wait_for(&format!("arena.replay.frames.has({seen})"));
    // The page shows that tick from the next picture on, so the test draws one. A missile that an
    // older picture shows may be gone at that tick.
    browser.evaluate("arena.frame(performance.now(), 0); 0");
    let prop = most_touching(&mut browser);
    browser.evaluate(&format!("globalThis.chosen = {prop}; 0"));
    ask_why(&mut browser, "chosen", BEGIN);
    // Three of the four changes are for players only, so the page offers one for a prop.
    let offered = "[...document.querySelectorAll('#why form button')]
        .filter((button) => button.checkVisibility()).length";
    assert_eq!(browser.evaluate(offered), 1);
    // The camera shows the prop and its neighbours from near, with no wall in between.
    browser.evaluate(
        "(() => {
            arena.look('orbit');
            const { camera } = arena;
            const target = [...arena.shown.find(({ slot }) => slot === chosen).position];
            Object.assign(camera, { fit: false, aside: { x: 0.1, y: 0.1 }, target });
            Object.assign(camera, { distance: 300, pitch: 0.4 });
            const free = Array.from({ length: 64 }, (_, turn) => {
                camera.yaw = turn / 10;
                return { yaw: camera.yaw, reach: camera.sight.reach(target, camera.place().eye) };
            });
            camera.yaw = free.reduce((a, b) => (b.reach > a.reach ? b : a)).yaw;
            document.querySelector('#layers').open = false;
            Object.assign(arena.detail, { note() {}, share: 1 });
        })()",
    );
    browser.evaluate("arena.frame(performance.now(), 1); 0");
    branch(&mut browser, 1, SOON);
    browser.keep_picture("branch-removed");
    go_on(&mut browser, 120);
    let there = "arena.replay.branch.shown().some(({ slot, generation }) => slot === chosen
        && generation === arena.shown.find((one) => one.slot === chosen).generation)";
    assert_eq!(browser.evaluate(there), false, "the removed body is still in the branch");
    assert_eq!(browser.evaluate("arena.shown.some(({ slot }) => slot === chosen)"), true);
    let said = browser.evaluate("document.querySelector('#branch').innerText");
    let said = said.as_str().unwrap();
    assert!(said.contains(&format!("Branched at tick {BEGIN}: without body")), "{said}");
    assert!(said.contains("Only in the recording: body"), "{said}");
    assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0);
    let found = overlaps(&mut browser, ".chip, #views, #figures, .panel, #ask");
    assert_eq!(found, json!([]));
    // Before the branch there is one future only.
    browser.evaluate(&format!("arena.replay.seek({}); 0", BEGIN - 5));
    browser.wait_for(&format!("arena.replay.frames.has({})", BEGIN - 5));
    assert_eq!(browser.evaluate("arena.replay.branch.shown().length"), 0);
    browser.evaluate("document.querySelector('#branch button').click(); 0");
    browser.wait_for("arena.replay.branch === null && document.querySelector('#branch').hidden");

    // A player who walks in the recording stands still in the branch.
    let walker = "arena.shown.find(({ isPlayer, velocity: [x, y] }) =>
        isPlayer && Math.hypot(x, y) > 200).slot";
    browser.evaluate(&format!("arena.replay.seek({BEGIN}); 0"));
    browser.wait_for(&format!("arena.replay.frames.has({BEGIN})"));
    browser
        .evaluate(&format!("arena.frame(performance.now(), 0); globalThis.chosen = {walker}; 0"));
    ask_why(&mut browser, "chosen", BEGIN);
    assert_eq!(browser.evaluate(offered), 4);
    browser.evaluate("arena.follow(chosen); document.querySelector('#why input').value = 90; 0");
    branch(&mut browser, 2, 60);
    let away = "(() => { const at = (all) => all.find(({ slot }) => slot === chosen).position;
        const [one, other] = [at(arena.shown), at(arena.replay.branch.shown())];
        return Math.hypot(...one.map((value, axis) => value - other[axis])); })()";
    let away = browser.evaluate(away).as_f64().unwrap();
    assert!(away > 40.0, "the player in the branch is only {away} units from the recorded one");
    let said = browser.evaluate("document.querySelector('#branch').innerText");
    assert!(said.as_str().unwrap().contains("stands still for 90 ticks"), "{said}");
    browser.evaluate("arena.look('follow'); arena.frame(performance.now(), 1); 0");
    browser.keep_picture("branch-still");
    browser.resize(390, 844);
    browser.wait_for("document.querySelectorAll('.panel[open]').length === 0");
    browser.evaluate("arena.frame(performance.now(), 1); 0");
    let found = overlaps(&mut browser, ".chip, #views, #figures, .panel, #ask");
    assert_eq!(found, json!([]));
    browser.keep_picture("branch-phone");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
