//! The cost of a picture: the time of its script, and its calls of WebGL.

use std::io::Write;

use server::Options;

use crate::chromium::{Chromium, alone, installed};
use crate::drawing::{DRAW_ALL, next_second, once_still};
use crate::walkers::Walkers;
use crate::{ends, options, page_of, serve};

/// The numbers of players and props for which the limits are set.
const PLAYERS: u16 = 32;
const OBJECTS: u32 = 200;

/// The time of a frame at 60 Hz, in milliseconds, and the maximum time of the script: a quarter of
/// it, on a machine that also does other work.
const FRAME: f64 = 1000.0 / 60.0;
const SCRIPT: f64 = FRAME / 4.0;

/// Number of seconds whose frame rates are read. The best rate counts, because other work disturbs
/// the rest.
const COUNTED: usize = 8;

/// Draws a picture, and returns the number of its draw calls.
const COUNT_CALLS: &str = "(() => {
    const { gl } = arena.renderer;
    let calls = 0;
    for (const name of ['drawArrays', 'drawArraysInstanced', 'drawElements']) {
        gl[name] = (...rest) => {
            calls++;
            WebGL2RenderingContext.prototype[name].apply(gl, rest);
        };
    }
    arena.frame(performance.now(), 0.02);
    delete gl.drawArrays;
    delete gl.drawArraysInstanced;
    delete gl.drawElements;
    return calls;
})()";

/// Measures how long the page's script takes for each frame.
const TIME_PICTURES: &str = "(() => {
    const draw = arena.frame.bind(arena);
    arena.took = [];
    arena.frame = (at, passed) => {
        const begin = performance.now();
        draw(at, passed);
        arena.took.push(performance.now() - begin);
    };
})()";

/// The time of the script for a picture: the first quartile, because other work on the machine
/// makes pictures take longer.
const TAKEN: &str = "arena.took.sort((a, b) => a - b)[arena.took.length >> 2]";

#[test]
fn a_picture_costs_little_script_and_few_calls() {
    let Some(program) = installed() else { return };
    let _machine = alone();
    let running = serve(&Options { objects: OBJECTS, ..options() });
    let walkers = Walkers::join(running.local_addr(), PLAYERS);
    let mut browser = Chromium::start(&program, "draws", (1280, 800));
    browser.open(&page_of(&running), "");
    let there = format!("globalThis.arena?.shown.length >= {}", OBJECTS + u32::from(PLAYERS));
    browser.wait_for(&there);

    // While nobody moves the camera, the map is not drawn again.
    browser.evaluate(DRAW_ALL);
    browser.wait_for("arena.paint.rate > 0 && arena.renderer.detail === 1");
    browser.wait_for("!document.querySelector('#verdict').hidden");
    let mut rate: f64 = 0.0;
    let times = once_still(&mut browser);
    browser.evaluate(TIME_PICTURES);
    for _ in 0..COUNTED {
        next_second(&mut browser);
        rate = rate.max(browser.evaluate("arena.paint.rate").as_f64().unwrap());
    }
    let script = browser.evaluate(TAKEN).as_f64().unwrap();
    assert_eq!(browser.evaluate("arena.renderer.ground.times"), times, "the map was drawn again");
    browser.evaluate("arena.camera.turn(0.3, 0)");
    browser.wait_for(&format!("arena.renderer.ground.times > {times}"));

    // All bodies of a shape are drawn with one call, however many there are.
    let calls = browser.evaluate(COUNT_CALLS).as_f64().unwrap();
    let shapes = browser.evaluate("arena.renderer.shapes.size").as_f64().unwrap();
    assert!(calls <= 2.0 * shapes + 8.0, "{calls} calls for {shapes} shapes");

    // `println!` would be shown only for tests that fail.
    let _ = writeln!(
        std::io::stderr(),
        "a picture of {PLAYERS} players and {OBJECTS} props: {script:.2} ms of script of \
         {FRAME:.1}, {calls} calls; {rate:.0} frames a second at 1280 x 800, drawn by the processor"
    );
    assert!(script < SCRIPT, "{script} ms of script a frame");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    walkers.leave();
    ends(running);
}
