//! The page plays recordings with the server's own code, compiled to WebAssembly.

use std::path::{Path, PathBuf};

use serde_json::Value;
use server::recording::{Recording, Writer};
use server::replay::{Outcome, ReplayOptions, replay};
use server::{Options, PageOptions};
use tests::harness::own_map;

use crate::chromium::{Chromium, installed};
use crate::visitors::overlaps;
use crate::{colours, ends, options, page_of, serve};

pub(crate) const RECORDING: &str = "arena.obsr";

/// Ticks of the recording in the repository.
const TICKS: u64 = 900;

/// The tick of the changed command in the changed recording.
const CHANGED: usize = 41;

pub(crate) fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

/// Plays a recording with the native build.
fn natively(file: PathBuf) -> Outcome {
    let map = Some(own_map("arena.obsp").to_string_lossy().into_owned());
    replay(&ReplayOptions { map, ..ReplayOptions::new(file) }).unwrap()
}

pub(crate) fn offers(replay_dir: PathBuf) -> Options {
    let pages = PageOptions { replay_dir: Some(replay_dir), ..options().pages };
    Options { pages, ..options() }
}

#[test]
fn the_page_plays_a_recording_to_the_digests_of_the_server() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "replay", (960, 600));
    browser.open(&format!("{}?replay={RECORDING}", page_of(&running)), "");
    browser.wait_for(&format!("globalThis.arena?.replay?.progress?.tick === {TICKS}"));

    // The digest of each tick agrees with the file, and the last one with the native build.
    let native = natively(recordings().join(RECORDING));
    assert!(native.passed(), "{native}");
    let progress = browser.evaluate("arena.replay.progress");
    assert_eq!(progress["difference"], Value::Null);
    assert_eq!(progress["verified"], TICKS + 1);
    assert_eq!(progress["digest"], native.digest);
    let badge = "document.querySelector('#verdict').textContent";
    browser.wait_for(&format!("{badge} === '901 digests equal, 15 ticks audited'"));
    assert_eq!(browser.evaluate("document.querySelector('#status').textContent"), "Replay");

    // Every view shows the recording at any tick, and a step moves by one tick.
    for (tick, key) in [(450, "1"), (10, "2"), (890, "3")] {
        browser.press(key);
        browser.evaluate(&format!("arena.replay.playing = false; arena.replay.seek({tick})"));
        browser.wait_for(&format!("arena.replay.frames.has({tick}) && arena.shown.length > 60"));
        assert!(colours(&mut browser) > 100, "nothing is drawn of tick {tick}");
        browser.press(".");
        assert_eq!(browser.evaluate("arena.replay.at"), tick + 1);
        browser.press(",");
        assert_eq!(browser.evaluate("arena.replay.at"), tick);
    }
    browser.wait_for("document.querySelectorAll('#score tbody tr').length === 12");
    // The page shows deaths and chat as in a match. This recording has none, so they are added.
    browser.evaluate(
        "(() => {
            const [one, other] = arena.replay.playersBefore.map(({ slot }) => slot);
            arena.replay.deaths = [[895, one, other]];
            arena.replay.recording.chat = [[896, other, '<b>well</b>'], [897, null, 'a vote']];
            arena.replay.playing = true;
        })()",
    );
    let lines = "[...document.querySelectorAll('#kills li, #news li')]
        .map((line) => line.className + ' ' + line.textContent.split(': ').at(-1))";
    browser.wait_for(&format!("{lines}.length === 3"));
    let told = browser.evaluate(lines);
    assert!(told[0].as_str().is_some_and(|line| line.starts_with("died ") && line.contains('▸')));
    assert_eq!([&told[1], &told[2]], ["said <b>well</b>", "announced a vote"]);
    browser.evaluate("arena.replay.playing = false; arena.replay.seek(890); 0");
    browser.wait_for("arena.replay.frames.has(890)");
    // Public pages also have the badge and all layers.
    browser.evaluate(
        "document.body.classList.add('public'); document.querySelector('#layers').open = true; 0",
    );
    assert_eq!(browser.evaluate("document.querySelector('#verdict').checkVisibility()"), true);
    let offered = "[...document.querySelectorAll('#layers input[type=checkbox]')]
        .filter((box) => box.checkVisibility()).map((box) => box.name)";
    let offered = browser.evaluate(offered).to_string();
    for layer in ["contacts", "heat", "onion"] {
        assert!(offered.contains(layer), "{offered}");
    }
    // The layers show data that snapshots never carry, for each shown tick.
    let switch = |browser: &mut Chromium, layer: &str| {
        browser.evaluate(&format!("document.querySelector('#layers [name={layer}]').click(); 0"));
    };
    switch(&mut browser, "heat");
    let [busy, cut] = ["cascade", "cut"].map(|name| format!("arena.layers.answers.{name}"));
    browser.wait_for(&format!("{busy}?.pairs.length > 0"));
    let of_first = browser.evaluate(&format!("JSON.stringify({busy}.pairs)"));
    browser.evaluate("arena.replay.seek(300); 0");
    browser.wait_for("arena.replay.frames.get(300)?.cascade");
    browser.wait_for(&format!("JSON.stringify({busy}?.pairs) !== {of_first}"));
    browser.keep_picture("replay_heat");
    switch(&mut browser, "heat");
    let plain = colours(&mut browser);
    switch(&mut browser, "onion");
    browser.wait_for(&format!("{cut}?.rows.length > 10"));
    browser.keep_picture("replay_onion");
    assert!(colours(&mut browser) > plain / 2, "nothing is drawn with the onion's layer");
    switch(&mut browser, "onion");
    browser.evaluate("arena.replay.seek(890); 0");
    browser.wait_for("arena.replay.frames.has(890)");
    browser.evaluate(
        "document.body.classList.remove('public'); document.querySelector('#layers').open = false; 0",
    );
    // A phone has room for the controls of the replay.
    browser.resize(390, 844);
    browser.wait_for("document.querySelectorAll('.panel[open]').length === 0");
    let found = overlaps(&mut browser, ".chip, #views, #figures, .panel, #ask");
    assert_eq!(found, serde_json::json!([]));
    // The space key plays on.
    browser.press(" ");
    browser.wait_for("arena.replay.at > 892");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn the_page_names_the_tick_at_which_a_recording_differs() {
    let Some(program) = installed() else { return };
    let folder = std::env::temp_dir().join(format!("changed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let changed = folder.join("changed.obsr");
    let whole = Recording::open(&recordings().join(RECORDING)).unwrap();
    let mut writer = Writer::create(&changed, &whole.beginning().unwrap()).unwrap();
    let mut player = None;
    for (number, tick) in (1..).zip(whole.ticks_after(0).unwrap()) {
        let mut tick = tick.unwrap();
        player = player.or(tick.joined.first().map(|&(player, _)| player));
        if number == CHANGED {
            let player = player.unwrap();
            tick.commands.retain(|(id, _)| *id != player);
            let command = obsp_sim::Command { forward: -127, right: 127, ..Default::default() };
            tick.commands.push((player, command));
            tick.commands.sort_unstable_by_key(|(id, _)| *id);
        }
        writer.tick(tick).unwrap();
    }
    writer.finish().unwrap();
    let native = natively(changed).difference.unwrap();
    assert_eq!(native.tick, CHANGED as u64);

    let running = serve(&offers(folder.clone()));
    let mut browser = Chromium::start(&program, "differs", (960, 600));
    browser.open(&format!("{}?replay=changed.obsr", page_of(&running)), "");
    let badge = "document.querySelector('#verdict')?.textContent";
    browser.wait_for(&format!("{badge} === {}", Value::from(native.to_string())));
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Windows and phones on which the badge of a replay is read.
const READ_ON: [(u32, u32); 4] = [(1280, 800), (390, 844), (844, 390), (360, 640)];

/// Symptom: while a long recording was verified, the badge ended in dots and the map had no name.
#[test]
fn the_badge_is_whole_and_leaves_the_map_its_name() {
    let Some(program) = installed() else { return };
    let running = serve(&offers(recordings()));
    let mut browser = Chromium::start(&program, "badge", (1280, 800));
    browser.open(&format!("{}?replay={RECORDING}", page_of(&running)), "");
    browser.wait_for(&format!("globalThis.arena?.replay?.progress?.tick === {TICKS}"));
    browser.evaluate(
        "arena.replay.recording.incomplete = 'it has no end';
         Object.assign(arena.replay.progress, { tick: 890, verified: 1234567, audited: 12345 }); 0",
    );
    let badge = "document.querySelector('#verdict')";
    for (width, height) in READ_ON {
        browser.resize(width, height);
        browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
        browser
            .wait_for(&format!("{badge}.textContent.endsWith('98\u{a0}%; the file is cut short')"));
        let whole = format!(
            "{badge}.scrollWidth <= {badge}.clientWidth && {badge}.scrollHeight <= {badge}.clientHeight"
        );
        assert_eq!(browser.evaluate(&whole), true, "the badge is cut off at {width} × {height}");
        let below = "Math.min(...[...document.querySelectorAll('.panel')]
            .filter((panel) => panel.checkVisibility()).map((panel) => panel.getBoundingClientRect().top))";
        let free = format!("{badge}.getBoundingClientRect().bottom <= {below}");
        assert_eq!(browser.evaluate(&free), true, "the badge is on a panel at {width} × {height}");
    }
    browser.resize(1280, 800);
    browser.wait_for("innerWidth === 1280");
    let named =
        "document.querySelector('h1').clientWidth >= document.querySelector('h1').scrollWidth
        && document.querySelector('h1').clientWidth > 20";
    assert_eq!(browser.evaluate(named), true, "the map's name is cut off");

    // While the page explains a body, it hides the invitation to ask.
    browser.evaluate("arena.store.log.note('an invitation', performance.now() / 1000); 0");
    let invited = "document.querySelector('#news .page')?.checkVisibility()";
    browser.wait_for(&format!("{invited} === true"));
    browser.evaluate("document.querySelector('#why').hidden = false; 0");
    browser.wait_for(&format!("{invited} === false"));
    ends(running);
}
