//! The latency from a key to the picture: an action of the page's own player is drawn within two
//! frames of the page and a tick.

use serde_json::Value;

use crate::chromium::{Chromium, alone, installed};
use crate::{ends, options, page_of, serve};

/// The number of key presses.
const PRESSES: usize = 12;

/// Minimum number of presses that must be drawn in time. On a busy machine without a graphics
/// processor, the browser misses a frame now and then.
const IN_TIME: usize = 10;

/// Notes the time at which a key is pressed, before the page gets the event.
const HEAR: &str = "
    globalThis.latency = { seen: [], pressed: null };
    addEventListener('keydown', (event) => {
        if (event.code === 'Space') latency.pressed = { at: event.timeStamp, frames: 0, gap: 0 };
    }, true);";

/// Watches the height of the eyes in each frame, and whether the pixels change with it. The latency
/// of a press is the time in milliseconds from the browser's time of the event to the end of the
/// frame that first shows it. `gap` is the longest time between two frames meanwhile.
const WATCH: &str = "
    (() => {
        const draw = arena.frame.bind(arena);
        const pixels = () => {
            const { gl } = arena.renderer;
            const read = new Uint8Array(gl.drawingBufferWidth * gl.drawingBufferHeight * 4);
            gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA,
                gl.UNSIGNED_BYTE, read);
            return new Uint32Array(read.buffer).reduce((sum, pixel) => (sum * 31 + pixel) >>> 0, 7);
        };
        let [height, picture, last] = [0, 0, performance.now()];
        arena.frame = (at, passed) => {
            const begin = performance.now();
            draw(at, passed);
            const [now, drawn] = [arena.play.eye().eye[2], pixels()];
            const { pressed } = latency;
            if (pressed) {
                pressed.frames++;
                pressed.gap = Math.max(pressed.gap, begin - last);
                if (now > height + 0.01) {
                    const end = performance.now();
                    const gap = Math.max(pressed.gap, end - begin);
                    latency.seen.push({ late: end - pressed.at, frames: pressed.frames, gap,
                        changed: drawn !== picture });
                    latency.pressed = null;
                }
            }
            [height, picture, last] = [now, drawn, begin];
        };
    })(); 0";

#[test]
fn a_key_is_seen_within_two_frames_and_a_tick() {
    let Some(program) = installed() else { return };
    let _machine = alone();
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "latency", (480, 320));
    browser.open(&format!("{}?play=Ann", page_of(&running)), HEAR);
    browser.wait_for("globalThis.arena?.play?.player.isThere && arena.matrix");
    browser.evaluate(WATCH);
    let tick = 1000.0 / browser.evaluate("arena.play.player.line.tickRate").as_f64().unwrap();
    for press in 1..=PRESSES {
        // The player must be on the ground, at rest.
        browser.evaluate(
            "(async () => {
                const height = () => arena.play.eye().eye[2];
                for (let still = 0, before = height(); still < 5; before = height()) {
                    await new Promise((next) => setTimeout(next, 40));
                    still = Math.abs(height() - before) < 0.001 ? still + 1 : 0;
                }
            })()",
        );
        browser.hold("Space", true);
        browser.wait_for(&format!("latency.seen.length === {press}"));
        browser.hold("Space", false);
    }
    let seen = browser.evaluate("latency.seen");
    let number = |one: &Value, name: &str| one[name].as_f64().unwrap();
    let seen = seen.as_array().unwrap();
    for one in seen {
        let (late, gap) = (number(one, "late"), number(one, "gap"));
        println!(
            "drawn {late:.1} ms after the key, in frame {}; the longest frame took {gap:.1} ms",
            one["frames"]
        );
        assert_eq!(one["changed"], true, "the picture did not change: {one}");
    }
    let is_in_time = |one: &&Value| number(one, "late") <= tick + 2.0 * number(one, "gap");
    let in_time = seen.iter().filter(is_in_time).count();
    assert!(in_time >= IN_TIME, "only {in_time} of {PRESSES} presses were drawn in time");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
