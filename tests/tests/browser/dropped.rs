//! Files that are dropped on the page. The page checks a file before it closes anything, and asks a
//! player first.

use std::path::PathBuf;

use crate::chromium::{Chromium, installed};
use crate::replays::{RECORDING, offers, recordings};
use crate::{ends, page_of, serve};

/// Defines `drop(name, change)`, which drops the recording with its bytes changed by `change`.
const DROP: &str = "(async () => {
    const answer = await fetch('replays/arena.obsr');
    globalThis.recorded = new Uint8Array(await answer.arrayBuffer());
    globalThis.drop = (name, change = (bytes) => bytes) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([change(recorded)], name));
        dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
        return 0;
    };
})()";

/// Files that cannot be played: the name, the change of a recording's bytes, and a part of the
/// page's message.
const BAD: [(&str, &str, &str); 6] = [
    ("empty.obsr", "() => new Uint8Array()", "not a recording"),
    ("cat.png", "(bytes) => bytes.slice(4)", "not a recording: it does not begin with OBSR"),
    ("short.obsr", "(bytes) => bytes.slice(0, 5)", "cut short"),
    ("cut.obsr", "(bytes) => bytes.slice(0, 500)", "breaks off after tick 0"),
    ("old.obsr", "(bytes) => bytes.with(4, 6)", "of version 6"),
    ("odd.obsr", "(bytes) => bytes.with(700, bytes[700] ^ 1)", "damaged after tick 0"),
];

const SAID: &str = "document.querySelector('#dialogue[open]')?.innerText ?? ''";

/// Drops each bad file. Checks that the page says what is wrong with the file, and that `goes_on`
/// still holds.
fn refuses(browser: &mut Chromium, goes_on: &str) {
    for (name, change, said) in BAD {
        browser.evaluate(&format!("drop('{name}', {change})"));
        browser.wait_for(&format!("({SAID}).includes('{said}') && ({SAID}).includes('{name}')"));
        assert_eq!(browser.evaluate(goes_on), true, "{name}");
        browser.key("Escape", 27, "");
        browser.wait_for(&format!("({SAID}) === ''"));
    }
}

/// Symptom: a dropped file made a player leave the match, and a bad file also ended the replay that
/// was shown.
#[test]
fn a_dropped_file_ends_nothing_unless_it_can_be_played_and_the_player_agrees() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "dropped", (960, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    browser.evaluate(DROP);
    let plays = "arena.play?.player.isJoined === true && arena.replay === null";
    refuses(&mut browser, plays);

    // The player may stay, by Escape or by the button that has the focus.
    for (key, number, text) in [("Escape", 27, ""), ("Enter", 13, "\r")] {
        browser.evaluate(&format!("drop('{RECORDING}')"));
        browser.wait_for(&format!("({SAID}).includes('Leave the match and open {RECORDING}?')"));
        browser.keep_picture("dropped_while_playing");
        browser.key(key, number, text);
        browser.wait_for(&format!("({SAID}) === ''"));
        assert_eq!(browser.evaluate(plays), true, "{key}");
    }
    // A player who agrees leaves.
    browser.evaluate(&format!("drop('{RECORDING}')"));
    browser.wait_for(&format!("({SAID}) !== ''"));
    browser.evaluate("document.querySelector('#dialogue [value=yes]').click(); 0");
    browser.wait_for("arena.replay?.progress?.verified > 0");
    assert_eq!(browser.evaluate("arena.play === null"), true);

    // A bad file does not end a replay. A good file ends it without a question.
    browser.evaluate("globalThis.first = arena.replay; 0");
    refuses(&mut browser, "arena.replay === first");
    browser.evaluate("drop('cut.obsr', (bytes) => bytes.slice(0, -20_000))");
    browser.wait_for("arena.replay !== first && arena.replay.progress?.tick === arena.replay.end");
    let badge = "document.querySelector('#verdict')";
    browser.wait_for(&format!("{badge}.textContent.endsWith('the file is cut short')"));
    assert_eq!(browser.evaluate(&format!("{badge}.title.includes('breaks off after')")), true);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

/// The simulation and the map come from the server. If they cannot be fetched, the page closes
/// nothing.
#[test]
fn a_file_ends_nothing_while_the_server_is_away() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "away", (960, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    browser.evaluate(DROP);
    ends(running);
    browser.evaluate(&format!("drop('{RECORDING}')"));
    browser.wait_for(&format!("({SAID}).includes('{RECORDING} cannot be opened')"));
    browser.wait_for(&format!("({SAID}).includes('cannot be loaded')"));
    assert_eq!(browser.evaluate("arena.play !== null && arena.replay === null"), true);
}

#[test]
fn marks_on_the_timeline_take_clicks_and_keys() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "marks", (960, 600));
    browser.open(&format!("{}?replay={RECORDING}", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.replay?.playersBefore.length > 1");
    // This recording has no deaths, so they are added.
    browser.evaluate(
        "(() => {
            const [one, other] = arena.replay.playersBefore.map(({ slot }) => slot);
            arena.replay.deaths = [[300, one, other], [600, other, one]];
            arena.replay.playing = false;
            arena.replay.seek(0);
        })()",
    );
    let at = |browser: &mut Chromium| browser.evaluate("arena.replay.at");
    // A mark leads to a second before its death.
    for (key, place) in [(">", 240), (">", 540), (">", 540), ("<", 240), ("<", 240)] {
        browser.press(key);
        assert_eq!(at(&mut browser), place, "{key}");
    }
    browser.evaluate("document.querySelector('#timeline [name=after]').click()");
    assert_eq!(at(&mut browser), 540);
    browser.evaluate("document.querySelector('#timeline [name=before]').click()");
    assert_eq!(at(&mut browser), 240);
    // A click near a mark goes to the mark, and a click elsewhere goes to the tick at that place.
    // The text beside the timeline must have changed before the click.
    browser.wait_for("document.querySelector('#timeline output').textContent.includes('tick 240')");
    let place = |share: f64| {
        format!(
            "(() => {{
                const box = document.querySelector('#timeline canvas').getBoundingClientRect();
                return [box.x + box.width * {share}, box.y + box.height / 2];
            }})()"
        )
    };
    for (share, expected) in [(600.0 / 900.0 + 0.005, 540.0), (0.5, 450.0)] {
        let place = browser.evaluate(&place(share));
        browser.click(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
        let shown = at(&mut browser).as_f64().unwrap();
        assert!((shown - expected).abs() < 3.0, "{shown} instead of {expected}");
    }
    let place = browser.evaluate(&place(300.0 / 900.0));
    browser.click(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    let title = browser.evaluate("document.querySelector('#timeline canvas').title");
    let title = title.as_str().unwrap();
    assert!(title.contains('▸') && title.ends_with("0:05"), "{title}");
    ends(running);
}

#[test]
fn the_list_of_recordings_says_map_date_and_length() {
    let Some(program) = installed() else { return };
    let folder = std::env::temp_dir().join(format!("listed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let whole = std::fs::read(recordings().join(RECORDING)).unwrap();
    let size = format!(" · 0:15 · {} kB", whole.len().div_ceil(1000));
    std::fs::write(folder.join("whole.obsr"), &whole).unwrap();
    std::fs::write(folder.join("cut.obsr"), &whole[..whole.len() - 1]).unwrap();
    let running = serve(&offers(PathBuf::from(&folder)));
    let mut browser = Chromium::start(&program, "listed", (960, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    browser.evaluate("document.querySelector('#recordings').showPopover()");
    browser.wait_for("document.querySelectorAll('#recordings li').length === 2");
    let told = |browser: &mut Chromium, name: &str| {
        let line = format!("#recordings li:has([href*=\"{name}\"]) small");
        let told = browser.evaluate(&format!("document.querySelector('{line}').textContent"));
        told.as_str().unwrap().to_owned()
    };
    let [whole, cut] = ["whole.obsr", "cut.obsr"].map(|name| told(&mut browser, name));
    assert!(
        whole.starts_with("arena · ") && whole.ends_with(&size),
        "{whole} does not end in{size}"
    );
    assert!(cut.starts_with("arena · ") && cut.contains(" · no end yet · "), "{cut}");
    let year = browser.evaluate("String(new Date().getFullYear())");
    assert!(whole.contains(year.as_str().unwrap()), "{whole}");
    browser.keep_picture("listed");
    ends(running);
    std::fs::remove_dir_all(folder).unwrap();
}
