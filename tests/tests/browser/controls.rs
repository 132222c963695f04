//! The controls of the page that plays: fingers, a gamepad and settings. Further tests are about
//! its network graph, the feedback of hits, and a hidden or idle page, which gives its place back.

use std::time::{Duration, Instant};

use server::{JoiningOptions, Options, Server};
use tests::harness::pages::get;

use crate::chromium::{Chromium, HANG, installed};
use crate::plays::AT_REST;
use crate::visitors::overlaps;
use crate::{ends, options, page_of, serve};

const THERE: &str = "globalThis.arena?.play?.player.isThere";
const POSITION: &str = "arena.play.player.own.position";

/// The player's position.
fn position(browser: &mut Chromium) -> [f64; 3] {
    let position = browser.evaluate(POSITION);
    [0, 1, 2].map(|axis| position[axis].as_f64().unwrap())
}

/// Calls `steer` again and again until the player has moved. Turns the player each time, in case
/// they are in a corner.
fn moves(browser: &mut Chromium, mut steer: impl FnMut(&mut Chromium)) {
    let (before, begin) = (position(browser), Instant::now());
    loop {
        steer(browser);
        std::thread::sleep(Duration::from_millis(300));
        let now = position(browser);
        if (now[0] - before[0]).hypot(now[1] - before[1]) > 30.0 {
            return;
        }
        assert!(begin.elapsed() < HANG, "the player does not move");
        browser.evaluate("arena.play.keys.yaw += 0.9");
    }
}

/// The number of players on the page `/info`.
fn players(running: &Server) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(get(running.http_addr(), "/info")).body;
    serde_json::from_str::<serde_json::Value>(&page).unwrap()["players"].as_u64().unwrap()
}

#[test]
fn fingers_steer_on_a_phone() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "fingers", (500, 900));
    browser.resize(390, 844);
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(THERE);
    browser.touch("touchStart", &[(300.0, 300.0)]);
    browser.touch("touchEnd", &[]);
    browser.wait_for("!document.querySelector('.touch').hidden");
    for (width, height) in [(390, 844), (844, 390), (360, 640)] {
        browser.resize(width, height);
        browser.wait_for(&format!("innerWidth === {width} && innerHeight === {height}"));
        let found = overlaps(
            &mut browser,
            ".chip, #figures, .panel, #ask, #join, .touch button, .stick, #play dl",
        );
        assert_eq!(found, serde_json::json!([]), "{width} x {height}");
    }
    browser.resize(390, 844);
    browser.wait_for("innerWidth === 390 && innerHeight === 844");
    // A finger on the left half of the screen moves the player.
    browser.touch("touchStart", &[(90.0, 650.0)]);
    moves(&mut browser, |browser| browser.touch("touchMove", &[(90.0, 600.0)]));
    browser.touch("touchEnd", &[]);
    browser.wait_for("arena.play.keys.sticks.size === 0");
    // A finger on the right half turns the view.
    let yaw = "arena.play.keys.yaw";
    let before = browser.evaluate(yaw).as_f64().unwrap();
    browser.touch("touchStart", &[(250.0, 300.0)]);
    browser.touch("touchMove", &[(330.0, 300.0)]);
    browser.touch("touchEnd", &[]);
    browser.wait_for(&format!("{yaw} < {before} - 0.1"));
    // The button on the screen fires.
    let fire = "document.querySelector('.touch [name=fire]').getBoundingClientRect()";
    let [x, y] =
        ["x", "y"].map(|axis| browser.evaluate(&format!("{fire}.{axis} + 20")).as_f64().unwrap());
    browser.touch("touchStart", &[(x, y)]);
    browser.wait_for("arena.play.keys.triggers.has('finger')");
    browser.touch("touchEnd", &[]);
    browser.wait_for("arena.play.keys.triggers.size === 0");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

/// A gamepad whose left stick and right trigger can be held.
const GAMEPAD: &str = "globalThis.pad = { connected: true, mapping: 'standard', axes: [0, 0, 0, 0],
        buttons: Array.from({ length: 17 }, () => ({ pressed: false })) };
    navigator.getGamepads = () => [null, pad];";

#[test]
fn a_gamepad_steers() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "gamepad", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), GAMEPAD);
    browser.wait_for(THERE);
    moves(&mut browser, |browser| {
        browser.evaluate("pad.axes = [0, -1, 0, 0]; 0");
    });
    browser.evaluate("pad.axes = [0, 0, 0, 0]; 0");
    let ground = browser.evaluate(AT_REST).as_f64().unwrap();
    // The test presses and releases the button by turns. A page that draws seldom may miss a press.
    let press = "pad.buttons[0].pressed = !pad.buttons[0].pressed";
    browser.wait_for(&format!("({press}, {POSITION}[2] > {ground} + 8)"));
    let yaw = browser.evaluate("arena.play.keys.yaw").as_f64().unwrap();
    browser.evaluate("pad.axes = [0, 0, 0.8, 0]; 0");
    browser.wait_for(&format!("arena.play.keys.yaw < {yaw} - 0.3"));
    browser.evaluate("pad.axes = [0, 0, 0, 0]; pad.buttons[7].pressed = true; 0");
    browser.wait_for("arena.play.keys.triggers.has('gamepad')");
    // A gamepad that is unplugged releases everything.
    browser.evaluate("pad.axes = [0, -1, 0, 0]; 0");
    browser.wait_for("arena.play.keys.sticks.has('gamepad')");
    browser.evaluate("pad.connected = false; 0");
    browser.wait_for("arena.play.keys.sticks.size + arena.play.keys.triggers.size === 0");
    ends(running);
}

#[test]
fn a_control_with_the_focus_keeps_its_keys() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "focus", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(THERE);
    browser.evaluate("document.querySelector('#help').showPopover()");
    browser.evaluate("document.querySelector('#settings [name=field]').focus()");
    let field = "Number(document.querySelector('#settings [name=field]').value)";
    let before = browser.evaluate(field).as_f64().unwrap();
    browser.key("ArrowRight", 39, "");
    assert_eq!(browser.evaluate(field).as_f64().unwrap(), before + 1.0);
    assert_eq!(browser.evaluate("arena.play.keys.held.size"), 0);
    // A key that was held before is released all the same.
    browser.evaluate("arena.play.keys.key('KeyW', true); 0");
    browser.evaluate(
        "document.activeElement.dispatchEvent(
            new KeyboardEvent('keyup', { code: 'KeyW', altKey: true, bubbles: true })); 0",
    );
    assert_eq!(browser.evaluate("arena.play.keys.held.size"), 0);
    // A setting takes effect and is remembered.
    browser.evaluate(
        "(() => {
            const control = document.querySelector('#settings [name=crosshair]');
            control.value = 'cross';
            control.dispatchEvent(new Event('input'));
        })()",
    );
    browser.wait_for("document.querySelector('#play').dataset.crosshair === 'cross'");
    let kept = browser.evaluate("JSON.parse(localStorage.getItem('arena settings'))");
    assert_eq!(kept["crosshair"], "cross", "{kept}");
    assert_eq!(kept["bob"], false, "{kept}");
    ends(running);
}

#[test]
fn hits_are_seen_and_heard_and_the_line_is_told() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "feedback", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(THERE);
    // A key press allows the page to play sounds. This key also shows the graph.
    browser.hold("KeyN", true);
    browser.hold("KeyN", false);
    browser.wait_for("arena.play.sound.context");
    browser.wait_for("!document.querySelector('.graph').hidden");
    // A rocket that flies for a while is heard at its launch.
    browser.evaluate("Object.assign(arena.play.keys, { pitch: 0.3, weapon: 1 }); 0");
    browser.evaluate("arena.play.keys.fire(true)");
    browser.wait_for("(arena.play.keys.yaw += 0.3, arena.play.sound.made.includes('launch'))");
    browser.evaluate("arena.play.keys.pitch = -0.9; 0");
    let begin = Instant::now();
    while browser.evaluate("arena.play.feedback.counts.suffered") == 0 {
        assert!(begin.elapsed() < HANG, "the player's own rockets do not hurt them");
        browser.evaluate("arena.play.keys.yaw += 0.7");
        std::thread::sleep(Duration::from_millis(200));
    }
    browser.evaluate("arena.play.keys.fire(false)");
    for sound in ["blast", "pain"] {
        browser.wait_for(&format!("arena.play.sound.made.includes('{sound}')"));
    }
    // Every curve of the graph has a value.
    browser.wait_for("arena.play.player.line.samples.length > 8");
    let told =
        browser.evaluate("[...document.querySelectorAll('.graph b')].map((b) => b.textContent)");
    assert!(told.as_array().unwrap().iter().all(|text| text != "–"), "{told}");
    // A page that draws slowly must not measure a longer round trip on loopback. Other tests may
    // hold up the page or the server for a while, so one sample is enough.
    browser.wait_for("arena.play.player.line.samples.some(({ rtt }) => rtt < 60)");
    // In the third person the player's own body is visible, unless a wall is right behind it.
    assert_ne!(browser.evaluate("arena.play.hidden"), serde_json::Value::Null);
    browser.hold("KeyV", true);
    browser.hold("KeyV", false);
    browser.wait_for("(arena.play.keys.yaw += 0.3, arena.play.hidden === null)");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

#[test]
fn a_player_drives_a_tank() {
    let Some(program) = installed() else { return };
    let running = serve(&Options { tanks: 1, ..options() });
    let mut browser = Chromium::start(&program, "drives", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(&format!("{THERE} && arena.play.drives"));
    browser.hold("KeyW", true);
    moves(&mut browser, |_| {});
    browser.hold("KeyW", false);
    // The view is from behind, because the hull would be in the way.
    assert!(browser.evaluate("arena.play.eye().behind").as_f64().unwrap() > 100.0);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

/// Tells the page that it is hidden, or visible again.
fn hide(browser: &mut Chromium, is_hidden: bool) {
    browser.evaluate(&format!(
        "Object.defineProperty(document, 'hidden', {{ configurable: true, value: {is_hidden} }});
        document.dispatchEvent(new Event('visibilitychange')); 0"
    ));
}

#[test]
fn a_hidden_page_gives_its_place_back() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "hidden", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(THERE);
    // The page is made to believe that it has been hidden for more than a minute.
    hide(&mut browser, true);
    browser.wait_for("arena.play.player.hiddenSince");
    browser.evaluate("arena.play.player.hiddenSince -= 61_000; 0");
    let watches = "globalThis.arena.play === null && arena.watcher.connection?.history";
    browser.wait_for(watches);
    hide(&mut browser, false);
    // A hidden page that watches also gives its place back, and watches again once visible.
    browser.evaluate("arena.watcher.hidden = 0; 0");
    hide(&mut browser, true);
    browser.wait_for("arena.watcher.connection === null && arena.watcher.stopped");
    hide(&mut browser, false);
    browser.wait_for(watches);
    ends(running);
}

#[test]
fn a_page_that_does_nothing_gives_its_place_back() {
    let Some(program) = installed() else { return };
    // The place of a lost client would be held for longer than `HANG`. So a place that is free
    // within `HANG` was given back.
    let joining = JoiningOptions { rejoin: HANG * 2, ..JoiningOptions::default() };
    let running = serve(&Options { joining, ..options() });
    let mut browser = Chromium::start(&program, "idle", (800, 600));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(THERE);
    assert_eq!(players(&running), 1);
    // The page is made to believe that nobody has touched its controls for nearly three minutes.
    browser.evaluate("arena.play.keys.usedAt -= 160_000");
    browser
        .wait_for("document.querySelector('#play .word').textContent.startsWith('Still there?')");
    browser.hold("KeyW", true);
    browser.hold("KeyW", false);
    browser
        .wait_for("!document.querySelector('#play .word').textContent.startsWith('Still there?')");
    browser.evaluate("arena.play.keys.usedAt -= 180_000");
    browser.wait_for("arena.play === null && arena.watcher.connection?.history");
    browser.wait_for("document.querySelector('#news').textContent.includes('three minutes')");
    let begin = Instant::now();
    while players(&running) > 0 {
        assert!(begin.elapsed() < HANG, "the idle page's place is not free");
        std::thread::sleep(Duration::from_millis(100));
    }
    ends(running);
}
