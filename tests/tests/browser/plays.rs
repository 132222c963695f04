//! The page as a player: it joins over WebTransport, and predicts with the server's own code.

use std::f64::consts::FRAC_PI_2;
use std::io::Write;
use std::time::{Duration, Instant};

use obsp_proto::control::MatchEvent;
use serde_json::Value;
use server::{JoiningOptions, Options, Server};
use tests::harness::pages::{get, metric};

use crate::chromium::{Chromium, HANG, installed};
use crate::hall::{self, CRATE, CRATE_AT, HALF, PLAYER};
use crate::marksman::Marksman;
use crate::walkers::Walkers;
use crate::{ends, options, page_of, serve};

/// The number of players on the page `/info`.
fn players(running: &Server) -> Value {
    serde_json::from_str::<Value>(&page(running, "/info")).unwrap()["players"].clone()
}

/// The body of a page of the server.
pub(crate) fn page(running: &Server, path: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(get(running.http_addr(), path)).body
}

const POSITION: &str = "arena.play.player.own.position";

/// The player's position.
fn position(browser: &mut Chromium) -> [f64; 3] {
    let position = browser.evaluate(POSITION);
    [0, 1, 2].map(|axis| position[axis].as_f64().unwrap())
}

/// Waits until the player's height stays the same, and returns it.
pub(crate) const AT_REST: &str = "(async () => {
    const height = () => arena.play.player.own.position[2];
    const tick = () => arena.play.player.engine.sentTick;
    let [before, still, since] = [height(), 0, tick()];
    while (still < 10 || tick() - since < 20) {
        await new Promise((next) => requestAnimationFrame(next));
        still += 1;
        if (Math.abs(height() - before) > 0.001) [still, since] = [0, tick()];
        before = height();
    }
    return height();
})()";

/// Waits until the player stands, and returns the distance from the middle of the map. If the page
/// stands still for some pictures, a moving player seems to stand, so [`AT_REST`] counts ticks as
/// well.
fn standing() -> String {
    AT_REST.replace("own.position[2]", "own.position.reduce((sum, x) => Math.hypot(sum, x))")
}

/// A script that notes the titles of the card in the middle, the shown health, and the arcs that
/// point towards the origins of hits.
const NOTE: &str = "(() => {
    globalThis.noted = { words: [], healths: [], arcs: 0 };
    const watch = (selector, note) => new MutationObserver(note).observe(
        document.querySelector(selector), { childList: true, characterData: true, subtree: true });
    const [word, health] = ['#centre strong', '#play [name=health]'];
    const text = (selector) => document.querySelector(selector).textContent;
    watch(word, () => noted.words.push(text(word)));
    watch(health, () => noted.healths.push(Number(text(health))));
    watch('#play .aim', () => {
        noted.arcs = Math.max(noted.arcs, document.querySelectorAll('#play .from').length);
    });
})()";

/// Minimum length of each side of the square that the player walks, in units.
const SIDE: f64 = 100.0;

/// Share of predictions that may be off by more than a tenth of a unit although nobody disturbed
/// the player and its commands came in time. One wrong prediction is always allowed.
const WRONG: f64 = 0.02;

/// Number of predictions that may be wrong if they all are within `TOUCH_TICKS`. The page knows the
/// crate's pose only rounded, so it predicts the first touch wrong, and also the ticks until the
/// correction arrives, a round trip later.
const WRONG_AT_A_TOUCH: f64 = 4.0;
const TOUCH_TICKS: f64 = 12.0;

/// Notes the ticks at which the page finds predictions wrong.
const NOTE_WRONG: &str = "(() => {
    const notes = (globalThis.wrongAt = []);
    let known = arena.play.player.engine.stats().visible;
    (function poll() {
        if (notes !== globalThis.wrongAt || !arena.play) return;
        const { tick, visible } = arena.play.player.engine.stats();
        if (visible > known) notes.push(tick);
        known = visible;
        requestAnimationFrame(poll);
    })();
    return 0;
})()";

/// Maximum number of walks. If the machine lets the page wait in all of them, it is too busy for a
/// judgement.
const WALKS: usize = 3;

/// Counts of compared predictions, of visible corrections, and of ticks in which the server had no
/// command of the page.
struct Predictions {
    compared: f64,
    visible: f64,
    unused: f64,
}

/// Predictions that are worse than allowed.
struct Wrong {
    summary: String,
    explained: bool,
}

impl Predictions {
    fn read(browser: &mut Chromium, running: &Server) -> Self {
        let stats = browser.evaluate("arena.play.player.engine.stats()");
        let [compared, visible] = ["compared", "visible"].map(|name| stats[name].as_f64().unwrap());
        let page = page(running, "/metrics");
        let without =
            |source| metric(&page, &format!("game_command_ticks_total{{source=\"{source}\"}}"));
        Self { compared, visible, unused: without("repeated") + without("neutral") }
    }

    /// Judges the predictions since `before`. If a busy machine lets the page wait, its commands
    /// come late. The server plays other commands then, which the page did not predict, so each
    /// such tick explains a correction. `wrong_at` has the ticks of wrong predictions.
    ///
    /// # Errors
    /// The predictions are worse than allowed; `explained` if late commands explain that.
    fn judge_since(&self, before: &Self, wrong_at: &[f64]) -> Result<(), Wrong> {
        let [compared, visible, unused] = [
            self.compared - before.compared,
            self.visible - before.visible,
            self.unused - before.unused,
        ];
        let summary = format!(
            "{visible} of {compared} predictions were wrong, at ticks {wrong_at:?}, \
             {unused} ticks had no command"
        );
        assert!(compared > 50.0, "{summary}");
        let is_touch = match wrong_at {
            [first, .., last] => last - first <= TOUCH_TICKS,
            _ => true,
        };
        let at_a_touch = if is_touch { WRONG_AT_A_TOUCH } else { 1.0 };
        let usual = (compared * WRONG).max(at_a_touch);
        let is_busy = unused > compared / 4.0;
        if visible <= usual && !is_busy {
            return Ok(());
        }
        Err(Wrong { summary, explained: is_busy || visible <= unused + usual })
    }
}

/// Walks in a direction, in radians, until an expression of the position `[x, y]` holds, and still
/// holds at rest: the server may correct the place that a page with late commands has predicted.
fn walk(browser: &mut Chromium, yaw: f64, until: &str) {
    browser.evaluate(&format!("globalThis.drawsOften = true; arena.play.keys.yaw = {yaw}; 0"));
    let begin = Instant::now();
    loop {
        browser.hold("KeyW", true);
        // The page itself checks the position in each frame, so the player does not walk much
        // farther.
        let arrived = browser.evaluate(&format!(
            "(async () => {{
                const since = performance.now();
                for (;;) {{
                    const [x, y] = {POSITION};
                    if ({until}) return true;
                    if (performance.now() - since > {}) return [x, y];
                    await new Promise((next) => requestAnimationFrame(next));
                }}
            }})()",
            HANG.as_millis() / 2
        ));
        browser.hold("KeyW", false);
        assert_eq!(arrived, true, "the player does not reach a place where {until}");
        browser.evaluate(&standing());
        let [x, y, _] = position(browser);
        if browser.evaluate(&format!("(([x, y]) => {until})([{x}, {y}])")) == true {
            return;
        }
        assert!(begin.elapsed() < HANG, "the player rests at {x} {y}, which is not where {until}");
    }
}

/// Walks a square: into the quadrant of positive x and y, and back. Each side is at least [`SIDE`]
/// long.
fn walk_a_square(browser: &mut Chromium) {
    for (side, until) in ["x > 0", "y > 0", "x < -SIDE", "y < -SIDE"].iter().enumerate() {
        let until = until.replace("SIDE", &SIDE.to_string());
        walk(browser, side as f64 * FRAC_PI_2, &until);
    }
}

/// Jumps onto the crate in the corner of the hall, and waits until the player rests there.
fn jump_onto_the_crate(browser: &mut Chromium) {
    let ground = browser.evaluate(AT_REST).as_f64().unwrap();
    let wall = f64::from(HALF) - PLAYER;
    walk(browser, FRAC_PI_2, &format!("y > {wall} - 1"));
    // The player walks along the wall as far as the crate, and on into the corner.
    let before = CRATE_AT - CRATE / 2.0 - PLAYER;
    walk(browser, 0.3, &format!("x > {before} - 2"));
    browser.hold("KeyW", true);
    let begin = Instant::now();
    loop {
        let risen = browser.evaluate(AT_REST).as_f64().unwrap() - ground;
        if (risen - CRATE).abs() < 0.5 {
            break;
        }
        assert!(
            begin.elapsed() < HANG,
            "the player stands {risen} units above the ground, not on the crate"
        );
        browser.hold("Space", true);
        browser.hold("Space", false);
    }
    browser.hold("KeyW", false);
    browser.evaluate(AT_REST);
    // The crate is below the player's feet and has not moved.
    let [x, y, z] = position(browser);
    let crates = browser.evaluate("arena.shown.filter((one) => !one.isPlayer)");
    let crates = crates.as_array().unwrap();
    assert_eq!(crates.len(), 1, "{crates:?}");
    let [under_x, under_y, under_z] =
        [0, 1, 2].map(|axis| crates[0]["position"][axis].as_f64().unwrap());
    let reach = CRATE / 2.0 + PLAYER;
    assert!((x - under_x).abs() < reach && (y - under_y).abs() < reach, "{x} {y}: {crates:?}");
    assert!((under_z - CRATE / 2.0).abs() < 0.5 && z > CRATE, "{z}: {crates:?}");
}

/// Walks a square and onto the crate until the predictions on the way can be judged, at most
/// [`WALKS`] times.
fn walk_and_judge(browser: &mut Chromium, running: &Server) {
    for left in (0..WALKS).rev() {
        let before = Predictions::read(browser, running);
        browser.evaluate(NOTE_WRONG);
        walk_a_square(browser);
        jump_onto_the_crate(browser);
        let noted = browser.evaluate("wrongAt.splice(0)");
        // No notes are taken after the walk, because the player dies later.
        browser.evaluate("globalThis.wrongAt = null; 0");
        let wrong_at: Vec<f64> =
            noted.as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let judged = Predictions::read(browser, running).judge_since(&before, &wrong_at);
        let Err(Wrong { summary, explained }) = judged else { return };
        assert!(explained || left > 0, "{summary}");
        let what = if left == 0 { "SKIPPED: predictions are not judged" } else { "walking again" };
        // `eprintln!` would be captured, and not shown for tests that pass.
        let _ = writeln!(
            std::io::stderr(),
            "{what}: this machine may let the page wait too often; {summary}"
        );
    }
}

/// All hurts since the match began, from the server: the hurt player, the attacker and the damage.
fn hurts(running: &Server) -> Vec<(u64, u64, u64)> {
    let told: Vec<Value> = serde_json::from_str(&page(running, "/effects/0")).unwrap();
    let hurts = told.iter().filter(|effect| effect["what"] == "hurt");
    hurts
        .map(|hurt| ["player", "by", "damage"].map(|name| hurt[name].as_u64().unwrap()))
        .map(|[player, by, damage]| (player, by, damage))
        .collect()
}

/// Waits until a condition holds, which `what` describes.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < HANG, "this never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_page_walks_a_square_stands_on_a_crate_is_shot_dies_comes_back_and_chats() {
    let Some(program) = installed() else { return };
    // The place of a lost client would be held for longer than `HANG`. So a place that is free
    // within `HANG` was given back.
    let joining = JoiningOptions { rejoin: HANG * 2, ..JoiningOptions::default() };
    let running = serve(&Options { joining, ..hall::options("plays") });
    let mut browser = Chromium::start(&program, "plays", (800, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    assert_eq!(players(&running), 1);
    // The player's name comes on a stream, and the position in a datagram.
    browser.wait_for("arena.roster.players.get(arena.play.slot)?.name");
    let name = browser.evaluate("arena.roster.players.get(arena.play.slot).name");
    let name = name.as_str().unwrap();
    browser.wait_for(&format!(
        "document.querySelector('#score tbody tr .name')?.textContent === '{name}'"
    ));

    walk_and_judge(&mut browser, &running);

    // Other players see the player stand a crate higher than they do.
    let marksman = Marksman::join(running.local_addr(), "Bob");
    wait_until("Bob sees the player on the crate", || {
        marksman.state(|state| {
            let above = state.target.zip(state.here).map(|(target, here)| target.z - here.z);
            above.is_some_and(|above| (above - CRATE).abs() < 0.5)
        })
    });
    browser.wait_for("arena.shown.filter(({ isPlayer }) => isPlayer).length === 2");
    assert_eq!(players(&running), 2);

    // The player is shot until they die. Both the page and the server report it.
    browser.evaluate(NOTE);
    let own = browser.evaluate("arena.play.slot").as_u64().unwrap();
    marksman.fire();
    browser.wait_for("noted.words.some((word) => word.startsWith('Bob killed you'))");
    browser.wait_for("arena.play.feedback.counts.suffered > 0 && noted.arcs > 0");
    browser.wait_for("noted.healths.some((health) => health < 100)");
    browser.wait_for(&format!(
        "document.querySelector('#kills').textContent.includes('Bob ▸ {name}')"
    ));
    let by = u64::from(marksman.state(|state| state.own));
    let hurts = hurts(&running);
    assert!(hurts.iter().all(|&(player, source, _)| (player, source) == (own, by)), "{hurts:?}");
    assert!(hurts.iter().map(|&(_, _, damage)| damage).sum::<u64>() >= 100, "{hurts:?}");
    let is_death = |event: &MatchEvent| {
        matches!(event, MatchEvent::Died { player, by: source, .. }
            if (u64::from(player.slot), u64::from(source.slot)) == (own, by))
    };
    wait_until("Bob is told of the death", || {
        marksman.state(|state| state.events.iter().any(is_death))
    });

    // The player comes back, unhurt.
    browser.wait_for("arena.play.player.isThere");
    browser.wait_for("arena.roster.players.get(arena.play.slot).health === 100");

    // Everybody gets the chat line, the page included, and markup in it is shown as text.
    browser.key("Enter", 13, "\r");
    browser.wait_for("document.activeElement === arena.play.chat.field");
    browser.evaluate("arena.play.chat.field.value = '<b>hello</b>'; 0");
    browser.key("Enter", 13, "\r");
    browser.wait_for(&format!(
        "document.querySelector('#news').textContent.includes('{name}: <b>hello</b>')"
    ));
    let is_said = |event: &MatchEvent| matches!(event, MatchEvent::Said { line, .. } if line.as_str() == "<b>hello</b>");
    wait_until("Bob gets the line", || marksman.state(|state| state.events.iter().any(is_said)));
    marksman.leave();

    // The page decoded all snapshots to the server's digests.
    let stats = browser.evaluate("arena.play.player.engine.stats()");
    assert_eq!(stats["mismatches"], 0, "{stats}");
    assert!(stats["snapshots"].as_u64().unwrap() > 60, "{stats}");
    // When the player leaves, the page watches again, and nobody plays.
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("arena.watcher.connection?.history");
    wait_until("the player's place is free", || players(&running) == 0);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn a_page_that_plays_draws_the_match_and_remembers_a_setting() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "setting", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    browser.evaluate("new Promise((next) => requestAnimationFrame(next))");
    assert!(crate::colours(&mut browser) > 50);
    // A change of a setting is shown at once.
    let seen = "arena.matrix[9]";
    let before = browser.evaluate(seen).as_f64().unwrap();
    browser.evaluate(
        "(() => {
            const field = document.querySelector('#settings [name=field]');
            field.value = 95;
            field.dispatchEvent(new Event('input'));
        })()",
    );
    browser.wait_for(&format!("Math.abs({seen} - {before}) > 0.05"));
    let kept = browser.evaluate("JSON.parse(localStorage.getItem('arena settings')).field");
    assert_eq!(kept, 95);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn a_page_that_plays_sees_others_and_is_seen() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let walkers = Walkers::join(running.local_addr(), 3);
    let mut browser = Chromium::start(&program, "among", (800, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for("globalThis.arena?.status.status.state === 'live'");
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    browser.wait_for("document.querySelectorAll('#score tbody tr').length === 4");
    assert_eq!(players(&running), 4);
    browser.wait_for("arena.shown.filter(({ isPlayer }) => isPlayer).length === 4");
    let slot = browser.evaluate("arena.play.slot").as_u64().unwrap() as u16;
    browser.hold("KeyW", true);
    let begin = Instant::now();
    while !walkers.positions().keys().any(|&(seen, _, _)| seen == slot) {
        assert!(begin.elapsed() < HANG, "nobody sees the page's player");
        std::thread::sleep(Duration::from_millis(100));
    }
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
}
