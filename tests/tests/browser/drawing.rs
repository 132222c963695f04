//! Drawing: the map stays in view, edges are smooth, and a lost graphics context comes back.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::chromium::{Chromium, HANG, installed};
use crate::walkers::Walkers;
use crate::{ends, options, page_of, serve};

/// Waits until the camera stands still, and returns how often the map has been drawn by then. The
/// camera moves while panels fill, because they cover more of the screen.
pub(super) fn once_still(browser: &mut Chromium) -> Value {
    let begin = Instant::now();
    let mut times = Value::Null;
    loop {
        let before = std::mem::replace(&mut times, browser.evaluate("arena.renderer.ground.times"));
        if times == before {
            return times;
        }
        assert!(begin.elapsed() < HANG, "the camera never stands still");
        next_second(browser);
        next_second(browser);
    }
}

/// Waits until the page has counted another second of frames.
pub(super) fn next_second(browser: &mut Chromium) {
    let before = browser.evaluate("arena.frames.since").to_string();
    browser.wait_for(&format!("arena.frames.since > {before}"));
}

/// Makes the page draw all pixels from now on, however long that takes.
pub(super) const DRAW_ALL: &str =
    "Object.assign(arena.detail, { note() {}, share: 1, isTold: true })";

/// A condition that holds if this is still the page that was told to draw all pixels, and it has
/// its graphics context and has counted a second of frames.
const DRAWS_ALL_STILL: &str = "Boolean(globalThis.arena?.detail.isTold) && arena.paint.rate > 0 && !arena.renderer.gl.isContextLost()";

/// Makes the page draw all pixels, and waits until its camera stands still. A page that loses its
/// graphics context meanwhile reloads itself, and is told again.
fn draw_all(browser: &mut Chromium) {
    let begin = Instant::now();
    loop {
        browser.wait_for(&draws_all(crate::OBJECTS));
        browser.evaluate(DRAW_ALL);
        once_still(browser);
        if browser.evaluate(DRAWS_ALL_STILL) == true {
            return;
        }
        assert!(begin.elapsed() < HANG, "the page loses its graphics context again and again");
    }
}

/// Whether the page has lost its graphics context.
const IS_LOST: &str = "globalThis.arena?.renderer.gl.isContextLost()";

/// A condition that holds once the page draws more than `objects` entities.
fn draws_all(objects: u32) -> String {
    format!("globalThis.arena?.shown.length > {objects} && !{IS_LOST}")
}

/// Pretends that a graphics processor draws. The page smooths edges then.
const CLAIM_GRAPHICS: &str = "const get = WebGL2RenderingContext.prototype.getParameter;
    const renderer = 0x9246;
    WebGL2RenderingContext.prototype.getParameter = function (name) {
        return name === renderer ? 'Some graphics processor' : get.call(this, name);
    };";

#[test]
fn edges_are_smooth_where_a_graphics_processor_draws() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut colours = Vec::new();
    for (before, smooth) in [("", false), (CLAIM_GRAPHICS, true)] {
        let name = format!("edges-{smooth}");
        let mut browser = Chromium::start(&program, &name, (640, 480));
        browser.open(&page_of(&running), before);
        draw_all(&mut browser);
        assert_eq!(browser.evaluate("arena.renderer.ground.samples > 0"), smooth);
        assert_eq!(browser.evaluate("arena.renderer.gl.getError()"), 0);
        let told = browser.evaluate("document.querySelector('#drawing').textContent");
        assert_eq!(told.as_str().unwrap().contains("hardware acceleration"), !smooth, "{told}");
        colours.push(crate::colours(&mut browser));
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{complaints:?}");
    }
    // Smooth edges have colours between those on either side, so there are more colours.
    assert!(colours[1] > colours[0] * 5 / 4, "{colours:?}");
    ends(running);
}

/// The share of the next picture that is brighter than the sky.
const BRIGHT: &str = "(() => {
    arena.frame(performance.now(), 0.02);
    const { gl } = arena.renderer;
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const pixels = new Uint8Array(width * height * 4);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let bright = 0;
    for (let i = 0; i < pixels.length; i += 4) bright += pixels[i] + pixels[i + 1] + pixels[i + 2] > 90;
    return bright / (width * height);
})()";

/// Symptom: without a graphics processor, the map was black in every view whose camera stood still,
/// as soon as the map was copied instead of drawn.
/// Cause: Chromium clears the screen before the first draw call of a frame. A copy does not count
/// as a draw call, so the clear came after the copy.
/// Cure: the screen is cleared explicitly before the copy (`draw/ground.js`).
#[test]
fn the_map_stays_in_view_while_the_sharpness_goes_down_and_up() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let walkers = Walkers::join(running.local_addr(), 2);
    let mut browser = Chromium::start(&program, "sharpness", (800, 600));
    browser.open(&page_of(&running), "");
    browser.wait_for(&draws_all(crate::OBJECTS));
    browser.wait_for("document.querySelectorAll('#score tbody tr').length === 2");
    for (key, mode) in [("1", "orbit"), ("2", "follow"), ("3", "top")] {
        browser.press(key);
        assert_eq!(browser.evaluate("arena.camera.mode"), mode);
        for share in [1.0, 0.8, 0.5, 0.64, 0.8, 1.0] {
            browser.evaluate(&format!(
                "Object.assign(arena.detail, {{ note() {{}}, share: {share} }}); 0"
            ));
            browser.wait_for(&format!("arena.renderer.detail === {share}"));
            // The map is drawn once, and copied into the later pictures.
            std::thread::sleep(Duration::from_millis(600));
            let bright = browser.evaluate(BRIGHT).as_f64().unwrap();
            assert!(
                bright > 0.05,
                "{mode} at sharpness {share}: only a share of {bright} of the picture is not black"
            );
        }
    }
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
}

#[test]
fn a_page_that_loses_its_graphics_context_draws_again() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "context", (640, 480));
    browser.open(&page_of(&running), "");
    browser.wait_for(&draws_all(crate::OBJECTS));
    // The browser restores a context that it lost itself. A script that threw its context away must
    // restore it.
    browser.evaluate(
        "(() => {
            globalThis.isOld = true;
            const context = arena.renderer.gl.getExtension('WEBGL_lose_context');
            arena.picture.addEventListener('webglcontextlost', () => {
                setTimeout(() => context.restoreContext(), 100);
            });
            context.loseContext();
        })()",
    );
    browser.wait_for(&format!("!globalThis.isOld && {}", draws_all(crate::OBJECTS)));
    let colours = crate::colours(&mut browser);
    assert!(colours > 100, "{colours} colours");
    ends(running);
}
