//! The mouse of a player, as a hand moves and presses it.

use std::time::{Duration, Instant};

use serde_json::Value;
use server::Server;

use crate::chromium::{Chromium, HANG, installed};
use crate::plays::page;
use crate::{ends, options, page_of, serve};

/// The middle of the window, in pixels.
const MIDDLE: (f64, f64) = (320.0, 240.0);

/// A time longer than any weapon takes to load.
const LOADED: Duration = Duration::from_secs(2);

/// The number of rays that the server has seen. The page's player is alone, so all rays are theirs.
fn rays(running: &Server) -> usize {
    let told: Vec<Value> = serde_json::from_str(&page(running, "/effects/0")).unwrap();
    told.iter().filter(|effect| effect["what"] == "ray").count()
}

/// Waits until the server has seen this many rays.
fn wait_for_rays(running: &Server, count: usize) {
    let begin = Instant::now();
    while rays(running) < count {
        assert!(begin.elapsed() < HANG, "{} of {count} rays", rays(running));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Symptom: a click fired nothing. No test noticed it, because all tests called a function of the
/// page instead of pressing the button.
#[test]
fn the_mouse_fires_while_it_is_pressed_and_turns_the_view() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "mouse", (640, 480));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(
        "globalThis.arena?.play?.player.isThere && arena.play.player.weapons && arena.matrix",
    );
    // The first click captures the mouse and does nothing else.
    browser.click(MIDDLE.0, MIDDLE.1);
    browser.wait_for("document.pointerLockElement?.id === 'picture'");
    std::thread::sleep(LOADED);
    assert_eq!(rays(&running), 0);

    browser.click(MIDDLE.0, MIDDLE.1);
    wait_for_rays(&running, 1);
    std::thread::sleep(LOADED);
    assert_eq!(rays(&running), 1, "a click fires once");

    browser.mouse("mousePressed", MIDDLE, "left");
    wait_for_rays(&running, 3);
    browser.mouse("mouseReleased", MIDDLE, "left");
    std::thread::sleep(LOADED);
    let fired = rays(&running);
    std::thread::sleep(LOADED);
    assert_eq!(rays(&running), fired, "the button was released");

    // Only the left button fires.
    browser.mouse("mousePressed", MIDDLE, "right");
    std::thread::sleep(LOADED);
    browser.mouse("mouseReleased", MIDDLE, "right");
    assert_eq!(rays(&running), fired);

    let angle = |browser: &mut Chromium, name: &str| {
        browser.evaluate(&format!("arena.play.keys.{name}")).as_f64().unwrap()
    };
    let before = ["yaw", "pitch"].map(|name| angle(&mut browser, name));
    browser.mouse("mouseMoved", (MIDDLE.0 + 60.0, MIDDLE.1 + 20.0), "none");
    browser.wait_for(&format!("arena.play.keys.yaw !== {}", before[0]));
    let after = ["yaw", "pitch"].map(|name| angle(&mut browser, name));
    // The view turns to the right and down, three times as far to the right as down.
    let turned = [after[0] - before[0], after[1] - before[1]];
    assert!(turned[0] < 0.0 && (turned[0] / turned[1] - 3.0).abs() < 0.2, "{turned:?}");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
