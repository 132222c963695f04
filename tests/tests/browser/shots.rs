//! The page's own rockets.

use crate::chromium::{Chromium, installed};
use crate::{ends, options, page_of, serve};

/// A script that fires five rockets. It counts the launches that are shown and the launches that
/// are heard, and for each shown launch the frames since the click.
const LAUNCH: &str = "
    (async () => {
        const { play, layers } = arena;
        const sleep = (time) => new Promise((next) => setTimeout(next, time));
        const found = { shown: 0, heard: 0, frames: [] };
        const [draw, seen, sound] = [arena.frame.bind(arena), layers.effects.seen, play.sound.play.bind(play.sound)];
        let frames = null;
        layers.effects.seen = (effect) => {
            if (effect.what === 'fired' && effect.weapon === 'rocket') found.shown++;
            seen(effect);
        };
        play.sound.play = (name, at) => {
            if (name === 'launch') found.heard++;
            sound(name, at);
        };
        arena.frame = (at, passed) => {
            const before = found.shown;
            draw(at, passed);
            if (frames === null) return;
            frames++;
            if (found.shown === before) return;
            found.frames.push(frames);
            frames = null;
        };
        Object.assign(play.keys, { weapon: 1, pitch: 1.2 });
        for (let shot = 0; shot < 5; shot++) {
            while (play.player.engine.sentTick + 1 < play.trigger.loadedAt) await sleep(5);
            frames = 0;
            play.keys.fire(true);
            play.keys.fire(false);
            while (frames !== null) await sleep(3);
        }
        await sleep(1500);
        return found;
    })()";

#[test]
fn a_rocket_is_heard_once_and_at_once() {
    let Some(program) = installed() else { return };
    let running = serve(&options());
    let mut browser = Chromium::start(&program, "rockets", (480, 320));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(
        "globalThis.arena?.play?.player.isThere && arena.play.player.weapons && arena.matrix",
    );
    let found = browser.evaluate(LAUNCH);
    assert_eq!(found, serde_json::json!({ "shown": 5, "heard": 5, "frames": [1, 1, 1, 1, 1] }));
    ends(running);
}
