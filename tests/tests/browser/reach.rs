//! The page for visitors who use no mouse, see little contrast, want less motion or run no scripts.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::chromium::{Chromium, installed};
use crate::replays::{RECORDING, offers, recordings};
use crate::{ends, options, page_of, serve};

const LIVE: &str = "globalThis.arena && document.querySelector('#status').dataset.state === 'live'";
const PLAYS: &str = "document.body?.classList.contains('play')
    && Number(document.querySelector('#play [name=health]').textContent) > 0";
const REPLAYS: &str = "globalThis.arena?.replay?.progress?.verified > 0";

/// The rules of axe-core, which `npm --prefix tests/web ci` fetches. If they are absent, this
/// prints that the test is skipped and returns `None`.
///
/// # Panics
/// If they are absent and `ARENA_NEED_AXE=1` is set.
fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/node_modules/axe-core/axe.min.js");
    let found = std::fs::read_to_string(&path).ok();
    if found.is_none() {
        let needed = std::env::var_os("ARENA_NEED_AXE").is_some_and(|value| value == "1");
        let skipped = "there is no axe-core; `npm --prefix tests/web ci` brings it";
        assert!(!needed, "{skipped}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    found
}

/// The serious and critical faults that axe finds in the page as it is, each with its place, and
/// the number of rules that the page keeps.
fn judged(browser: &mut Chromium) -> (Vec<String>, u64) {
    let found = browser.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({
            held: passes.length,
            faults: violations
                .filter(({ impact }) => impact === 'serious' || impact === 'critical')
                .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`)),
        }))",
    );
    let faults = found["faults"].as_array().unwrap().iter();
    let faults = faults.map(|fault| fault.as_str().unwrap().to_owned()).collect();
    (faults, found["held"].as_u64().unwrap())
}

#[test]
fn axe_finds_no_serious_fault_on_any_page() {
    let Some(axe) = axe() else { return };
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "axe", (1280, 800));
    let shown = |selector: &str| format!("document.querySelector('{selector}').hidden = false; 0");
    let popover = |selector: &str| format!("document.querySelector('{selector}').showPopover()");
    let dialogue = "document.querySelector('#question').textContent = 'Leave?';
        for (const button of document.querySelectorAll('#dialogue button')) button.textContent = 'x';
        document.querySelector('#dialogue').showModal()";
    let play = ["#chat", ".graph", ".touch", "#centre"].map(shown).join(";");
    let replay = [shown("#why"), shown("#branch")].join(";");
    let mut found = Vec::new();
    for (query, ready, state) in [
        ("", LIVE, ""),
        ("", LIVE, &popover("#help")),
        ("", LIVE, &popover("#recordings")),
        ("", LIVE, dialogue),
        ("?play=Ann", PLAYS, ""),
        ("?play=Ann", PLAYS, &play),
        (&format!("?replay={RECORDING}"), REPLAYS, ""),
        (&format!("?replay={RECORDING}"), REPLAYS, &replay),
    ] {
        browser.open(&format!("{}{query}", page_of(&running)), "");
        browser.wait_for(ready);
        if !state.is_empty() {
            browser.evaluate(state);
        }
        browser.evaluate(&format!("{axe}; 0"));
        let (faults, held) = judged(&mut browser);
        // The number is small because axe judges nothing behind an open dialogue.
        assert!(held > 10, "only {held} rules apply to {query:?}");
        found.extend(faults.into_iter().map(|fault| format!("{query:?}, {state:?}: {fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    // Axe finds a fault if there is one.
    browser.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<button id=nameless></button>'); 0",
    );
    assert_eq!(judged(&mut browser).0, ["button-name: #nameless"]);
    ends(running);
}

/// Presses Tab until the focus leaves the page or comes back to the first stop. Returns the names
/// of the elements that had the focus, in order.
fn stops(browser: &mut Chromium) -> Vec<String> {
    browser.evaluate("document.activeElement.blur()");
    let mut found = Vec::new();
    for _ in 0..60 {
        browser.key("Tab", 9, "");
        let stop = browser.evaluate(
            "(() => {
                const element = document.activeElement;
                if (element === document.body) return null;
                const box = element.getBoundingClientRect();
                const isShown = element.checkVisibility() && box.width > 0 && box.bottom <= innerHeight
                    && box.right <= innerWidth && box.left >= 0 && box.top >= 0;
                const name = element.id || element.name || element.innerText.trim().split('\\n')[0];
                return isShown ? name : `${name}, which is not on the screen`;
            })()",
        );
        match stop {
            Value::String(name) if found.first() != Some(&name) => found.push(name),
            _ => break,
        }
    }
    found
}

/// Symptom: *Play* was the 27th stop of the key Tab, and *Leave* could not be reached.
#[test]
fn the_keyboard_reaches_everything_and_first_what_one_came_for() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "tabs", (1280, 800));
    browser.open(&page_of(&running), "");
    browser.wait_for(LIVE);
    let landing = stops(&mut browser);
    assert_eq!(landing[..3], ["name", "Play", "watch"], "{landing:?}");
    for wanted in ["ask", "open", "rewind", "Orbit", "Follow", "Top", "Layers", "Players"] {
        assert!(landing.iter().any(|stop| stop.starts_with(wanted)), "{wanted}: {landing:?}");
    }

    browser.open(&format!("{}?replay={RECORDING}", page_of(&running)), "");
    browser.wait_for(REPLAYS);
    let replay = stops(&mut browser);
    let at = |name: &str| replay.iter().position(|stop| stop == name);
    let controls = ["before", "back", "play", "on", "after"].map(at);
    assert!(controls.is_sorted() && controls[0].is_some(), "{replay:?}");
    for stops in [landing, replay] {
        assert!(!stops.iter().any(|stop| stop.contains("not on the screen")), "{stops:?}");
    }
    ends(running);
}

/// The contrast between each touch button and its label, over black and over white, in each state
/// of the button.
const CONTRASTS: &str = "(() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, alpha = 1], below) => [r, g, b].map((c) => c * alpha + below * (1 - alpha));
    const light = (rgb) => {
        const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll('.touch button')].flatMap((button) =>
        ['', 'down', 'held'].flatMap((state) => {
            button.className = state;
            const { color, backgroundColor } = getComputedStyle(button);
            button.className = '';
            return [0, 255].map((below) => {
                const lights = [over(parts(color), below), over(parts(backgroundColor), below)].map(light);
                return [`${button.name} ${state} over ${below}`,
                    (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05)];
            });
        }));
})()";

/// Symptom: the labels of the touch controls could not be read on a light picture.
#[test]
fn labels_of_touch_controls_are_legible_on_light_and_dark_pictures() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "contrast", (390, 844));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(PLAYS);
    let measured = browser.evaluate(CONTRASTS);
    let measured = measured.as_array().unwrap();
    assert_eq!(measured.len(), 36);
    let low: Vec<_> = measured.iter().filter(|pair| pair[1].as_f64().unwrap() < 4.5).collect();
    assert!(low.is_empty(), "{low:?}");
    let least = measured.iter().filter_map(|pair| pair[1].as_f64()).fold(f64::MAX, f64::min);
    let _ = writeln!(std::io::stderr(), "the least contrast of a touch label is {least:.1}");
    ends(running);
}

#[test]
fn the_preference_for_less_motion_is_heeded() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "calm", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(PLAYS);
    // The number of a loss of health rises from the player's name, and a hit scales the hit mark.
    let moves = "(() => {
        const loss = document.createElement('em');
        document.querySelector('#labels').append(loss);
        const names = getComputedStyle(loss).animationName;
        loss.remove();
        arena.play.feedback.landed(true);
        const frames = document.querySelector('.hit').getAnimations().at(-1).effect.getKeyframes();
        return [names, frames.some(({ scale }) => scale !== undefined && scale !== '1')];
    })()";
    assert_eq!(browser.evaluate(moves), json!(["loss", true]));
    browser.prefer("prefers-reduced-motion", "reduce");
    assert_eq!(browser.evaluate(moves), json!(["loss-in-place", false]));
    ends(running);
}

#[test]
fn a_browser_without_scripts_and_a_link_elsewhere_say_what_the_page_is() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "scriptless", (800, 600));
    browser.without_scripts();
    browser.open(&page_of(&running), "");
    browser.wait_for("document.readyState === 'complete' && document.querySelector('noscript')");
    let seen = "[...document.querySelectorAll('body > *')].filter((one) => one.checkVisibility())
        .map((one) => one.innerText.trim()).join()";
    let said = browser.evaluate(seen);
    let said = said.as_str().unwrap();
    assert!(said.starts_with("This page plays a match, and needs JavaScript"), "{said}");
    assert!(!said.contains("Connecting"), "{said}");
    for name in ["name=description", "property='og:title'", "property='og:description'"] {
        let content =
            browser.evaluate(&format!("document.querySelector(\"meta[{name}]\").content"));
        assert!(content.as_str().is_some_and(|text| text.len() > 4), "{name}: {content}");
    }
    ends(running);
}
