//! The page's own shots. The page shows and plays each shot in the frame after the click, only
//! once, and where the server has it.

use serde_json::Value;
use server::Options;
use tests::harness::pages::metric;

use crate::chromium::{Chromium, alone, installed};
use crate::plays::page;
use crate::{ends, options, page_of, serve};

/// Number of shots.
const SHOTS: usize = 60;

/// Units by which the end of a beam may be off.
const NEAR: f64 = 4.0;

/// A script that shoots `SHOTS` times, at moments that have nothing to do with frames or ticks. For
/// each shot it notes the number of frames from the click to the frame that shows the shot, and the
/// milliseconds until that frame was drawn. It also notes each shot that is shown at any time, and
/// the ticks of the shots that the session confirms.
const SHOOT: &str = "
    (async () => {
        const { play, layers } = arena;
        const sleep = (time) => new Promise((next) => setTimeout(next, time));
        const found = { shots: [], shown: [], confirmed: [], sounds: 0 };
        const [draw, seen, sound] = [arena.frame.bind(arena), layers.effects.seen, play.sound.play.bind(play.sound)];
        const { fired } = layers.effects;
        let clicked = null;
        layers.effects.seen = (effect) => {
            if (effect.what === 'ray' && effect.player === play.slot) found.shown.push({ tick: effect.tick, to: effect.to });
            seen(effect);
        };
        layers.effects.fired = (tick) => {
            found.confirmed.push(tick);
            fired(tick);
        };
        play.sound.play = (name, at) => {
            if (name === 'ray') found.sounds++;
            sound(name, at);
        };
        arena.frame = (at, passed) => {
            const before = found.shown.length;
            const sounds = found.sounds;
            draw(at, passed);
            if (!clicked) return;
            clicked.frames++;
            if (found.shown.length === before) return;
            found.shots.push({ frames: clicked.frames, late: performance.now() - clicked.at,
                heard: found.sounds > sounds });
            clicked = null;
        };
        for (let shot = 0; shot < COUNT; shot++) {
            Object.assign(play.keys, { yaw: play.keys.yaw + 0.37 });
            while (play.player.engine.sentTick + 1 < play.trigger.loadedAt) await sleep(5);
            await sleep(Math.random() * 30);
            clicked = { at: performance.now(), frames: 0 };
            play.keys.fire(true);
            play.keys.fire(false);
            while (clicked) await sleep(3);
        }
        await sleep(1500);
        const polled = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/effects/'));
        return { ...found, open: layers.effects.predicted.length, polled: polled.length };
    })()";

#[test]
fn a_shot_is_drawn_and_heard_in_the_frame_after_the_click() {
    let Some(program) = installed() else { return };
    let _machine = alone();
    // The match has only the map's own props. The server judges a shot at a prop by the prop's
    // current place, but the page draws the prop at an earlier place.
    let running = serve(&Options { objects: 0, ..options() });
    let mut browser = Chromium::start(&program, "shots", (640, 480));
    browser.open(&format!("{}?play=Ann", page_of(&running)), "");
    browser.wait_for(
        "globalThis.arena?.play?.player.isThere && arena.play.player.weapons && arena.matrix",
    );
    let found = browser.evaluate(&SHOOT.replace("COUNT", &SHOTS.to_string()));
    let list = |name: &str| found[name].as_array().unwrap().clone();
    let number = |one: &Value, name: &str| one[name].as_f64().unwrap();
    let mut late: Vec<f64> = list("shots").iter().map(|shot| number(shot, "late")).collect();
    late.sort_by(f64::total_cmp);
    println!(
        "{SHOTS} shots: {:.1} ms at the median, {:.1} at most",
        late[SHOTS / 2],
        late[SHOTS - 1]
    );
    for shot in list("shots") {
        assert_eq!(shot["frames"], 1, "a later frame showed the shot: {shot}");
        assert_eq!(shot["heard"], true, "{shot}");
    }
    assert_eq!(found["polled"], 0, "the page asked /effects, although the session brings them");
    // Each shot is shown once, and none is still open: the server confirms all shots that it took.
    assert_eq!((list("shown").len(), &found["open"]), (SHOTS, &Value::from(0)));
    let told: Vec<Value> = serde_json::from_str(&page(&running, "/effects/0")).unwrap();
    let rays: Vec<&Value> = told.iter().filter(|effect| effect["what"] == "ray").collect();
    let ticks: Vec<&Value> = rays.iter().map(|ray| &ray["tick"]).collect();
    assert_eq!(
        ticks,
        Vec::from_iter(&list("confirmed")),
        "the session and /effects have other ticks"
    );
    // On a busy machine commands come late. The server drops the shot of a late command, or takes
    // it in a later tick.
    let late =
        metric(&page(&running, "/metrics"), "game_commands_total{outcome=\"late\"}") as usize;
    assert!(
        SHOTS - rays.len() <= late,
        "the server took {} of {SHOTS} shots, and {late} commands were late",
        rays.len()
    );
    // The beam ends where the server's ray does, in the same tick.
    let mut equal = 0;
    for shown in &list("shown") {
        let ray = rays.iter().find(|ray| shown["tick"] == ray["tick"]);
        let apart = ray.map(|ray| {
            let apart = (0..3).map(|axis| number_at(shown, axis) - number_at(ray, axis));
            apart.map(|apart| apart * apart).sum::<f64>().sqrt()
        });
        if apart.is_some_and(|apart| apart < NEAR) {
            equal += 1;
        } else {
            println!("{apart:?} units apart: {shown} for {ray:?}");
        }
    }
    println!("{equal} beams end where the server's rays do, in their ticks; {late} commands late");
    // A shot that the server took a tick late began elsewhere.
    assert!(
        SHOTS - equal <= SHOTS / 10 + late,
        "only {equal} of {SHOTS} beams end as the server's rays do, and {late} commands were late"
    );
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}

/// A coordinate of the end of a shot.
fn number_at(shot: &Value, axis: usize) -> f64 {
    shot["to"][axis].as_f64().unwrap()
}
