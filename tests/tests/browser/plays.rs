//! The page as a player: it joins over WebTransport, and predicts by the server's own code.

use std::time::{Duration, Instant};

use serde_json::Value;
use server::Server;
use tests::harness::pages::get;

use crate::chromium::{Chromium, HANG, installed};
use crate::walkers::Walkers;
use crate::{ends, options, page_of, serve};

/// Players, as `/info` counts them.
fn players(running: &Server) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(get(running.http_addr(), "/info")).body;
    serde_json::from_str::<Value>(&page).unwrap()["players"].clone()
}

const POSITION: &str = "arena.play.player.own.position";

/// Where the player is.
fn position(browser: &mut Chromium) -> [f64; 3] {
    let position = browser.evaluate(POSITION);
    [0, 1, 2].map(|axis| position[axis].as_f64().unwrap())
}

/// Waits until the player has come to rest, and gives its height.
pub(crate) const AT_REST: &str = "(async () => {
    const height = () => arena.play.player.own.position[2];
    for (let still = 0, before = height(); still < 10; before = height()) {
        await new Promise((next) => requestAnimationFrame(next));
        still = Math.abs(height() - before) < 0.001 ? still + 1 : 0;
    }
    return height();
})()";

/// Notes what the page says to its player.
const NOTE_WORDS: &str = "(() => {
    const word = document.querySelector('#play .word');
    globalThis.words = [];
    new MutationObserver(() => words.push(word.textContent)).observe(word, { childList: true });
})()";

#[test]
fn a_page_plays_walks_jumps_chats_dies_and_comes_back() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "plays", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for("globalThis.arena?.play?.player.isThere");
    assert_eq!(players(&running), 1);
    browser.wait_for("document.querySelector('#score tbody tr .name')?.textContent === 'Ann'");

    // It walks wherever there is room: half a second at least in each direction of a square.
    let (since, begin) = (Instant::now(), position(&mut browser));
    let (mut walked, mut turn): (f64, _) = (0.0, 0);
    while walked <= 60.0 {
        assert!(since.elapsed() < HANG, "it walked {walked} units");
        browser.evaluate(&format!("arena.play.keys.yaw = {turn} * Math.PI / 2; 0"));
        browser.hold("KeyW", true);
        std::thread::sleep(Duration::from_millis(700));
        browser.hold("KeyW", false);
        let now = position(&mut browser);
        walked = walked.max((now[0] - begin[0]).hypot(now[1] - begin[1]));
        turn += 1;
    }
    // It jumps. A page that draws seldom may miss a jump.
    let ground = browser.evaluate(AT_REST).as_f64().unwrap();
    let begin = Instant::now();
    while browser.evaluate(&format!("{POSITION}[2] > {ground} + 10")) == false {
        assert!(begin.elapsed() < HANG, "it does not jump");
        for is_down in [true, false] {
            browser.hold("Space", is_down);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    // All hear what the page says, itself included, and it is text, whatever is in it.
    browser.key("Enter", 13, "\r");
    browser.wait_for("document.activeElement === arena.play.chat");
    browser.evaluate("arena.play.chat.value = '<b>hello</b>'; 0");
    browser.key("Enter", 13, "\r");
    browser.wait_for("document.querySelector('#news').textContent.includes('Ann: <b>hello</b>')");

    // It shoots at the ground before its feet until it dies, and comes back.
    // The word about that is shown until then.
    browser.evaluate(NOTE_WORDS);
    browser.evaluate("Object.assign(arena.play.keys, { pitch: -0.9, weapon: 1 }); 0");
    browser.evaluate("arena.play.keys.fire(true)");
    let begin = Instant::now();
    while browser.evaluate("words.some((word) => word.startsWith('You died'))") == false {
        assert!(begin.elapsed() < HANG, "its rockets do not hurt it");
        // There is no room for a rocket where it faces a wall.
        browser.evaluate("arena.play.keys.yaw += 0.7");
        std::thread::sleep(Duration::from_millis(200));
    }
    browser.evaluate("arena.play.keys.fire(false)");
    browser.wait_for("arena.play.player.isThere");
    browser.evaluate("arena.play.keys.pitch = 0; 0");

    // What was decoded is what the server meant; the picture has a player in it.
    let stats = browser.evaluate("arena.play.player.engine.stats()");
    assert_eq!(stats["mismatches"], 0, "{stats}");
    assert!(stats["snapshots"].as_u64().unwrap() > 60, "{stats}");
    browser.evaluate("new Promise((next) => requestAnimationFrame(next))");
    assert!(crate::colours(&mut browser) > 50);
    // The page remembers a setting, and shows it at once.
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
    // A player who leaves looks on, and nobody plays any more.
    browser.evaluate("document.querySelector('#join').click()");
    browser.wait_for("arena.watcher.connection?.history");
    let begin = Instant::now();
    while players(&running) != 0 {
        assert!(begin.elapsed() < HANG, "its place is not free");
        std::thread::sleep(Duration::from_millis(100));
    }
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
    while !walkers.told().keys().any(|&(seen, _, _)| seen == slot) {
        assert!(begin.elapsed() < HANG, "nobody sees the page's player");
        std::thread::sleep(Duration::from_millis(100));
    }
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
}
