//! Recordings of a game that the shipped module does not play, the example `capture_the_flag`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use server::soak::{Report, SoakOptions, soak_game};
use server::{Options, PageOptions, Server};

use crate::capture_the_flag::CaptureTheFlag;
use crate::chromium::{Chromium, installed};
use crate::{colours, ends, options, page_of};

const TICKS: u64 = 600;

/// A new folder with a recording of the game. It is removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn map() -> String {
    let map = Path::new(env!("CARGO_MANIFEST_DIR"));
    map.join("../server/examples/capture_the_flag.map").to_string_lossy().into_owned()
}

fn recorded(name: &str) -> (Folder, Report) {
    let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let record = Some(folder.join("flags.obsr"));
    let soak =
        SoakOptions { players: 8, objects: 0, ticks: TICKS, record, ..SoakOptions::new(map()) };
    let report = soak_game(&CaptureTheFlag, &soak).unwrap();
    (Folder(folder), report)
}

/// The server plays the arena game, and does not have the recording's map either.
#[test]
fn the_page_says_which_game_a_recording_is_of_and_who_plays_it() {
    let Some(program) = installed() else { return };
    let (folder, _) = recorded("other-game");
    let pages = PageOptions { replay_dir: Some(folder.0.clone()), ..options().pages };
    let running = Server::start(&Options { pages, ..options() }).unwrap();
    let mut browser = Chromium::start(&program, "other-game", (960, 600));
    browser.open(&format!("{}?replay=flags.obsr", page_of(&running)), "");
    let said = "It is of the game CaptureTheFlag, but this page plays Arena; the page of a server \
                with the --replay-module of CaptureTheFlag plays it";
    browser.wait_for(&format!("document.body.innerText.includes('{said}')"));
    ends(running);
}

#[test]
fn the_page_replays_a_game_of_its_own_with_the_module_of_the_game() {
    let Some(program) = installed() else { return };
    let Some(module) = std::env::var_os("REPLAY_MODULE") else {
        let skipped = "REPLAY_MODULE is not set; `server/web/wasm/build --game \
                       server/examples/capture_the_flag/module FILE` makes a module in two \
                       minutes, and REPLAY_MODULE=FILE names it";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
        return;
    };
    let (folder, native) = recorded("own-game");
    let pages = PageOptions {
        replay_dir: Some(folder.0.clone()),
        replay_module: Some(module.into()),
        ..options().pages
    };
    let options = Options { pages, map: map(), ..options() };
    let running = Server::start_game(&options, Arc::new(CaptureTheFlag)).unwrap();
    let mut browser = Chromium::start(&program, "own-game", (960, 600));
    browser.open(&format!("{}?replay=flags.obsr", page_of(&running)), "");
    browser.wait_for(&format!("globalThis.arena?.replay?.progress?.tick === {TICKS}"));
    let progress = browser.evaluate("arena.replay.progress");
    assert_eq!(progress["difference"], Value::Null);
    assert_eq!(progress["verified"], TICKS + 1);
    assert_eq!(progress["digest"], native.digest);
    let badge = "document.querySelector('#verdict').textContent";
    browser.wait_for(&format!("{badge} === '601 digests equal, 10 ticks audited'"));
    for tick in [450, 10, 590, 0] {
        browser.evaluate(&format!("arena.replay.playing = false; arena.replay.seek({tick})"));
        browser.wait_for(&format!("arena.replay.frames.has({tick}) && arena.shown.length >= 8"));
        assert!(colours(&mut browser) > 100, "nothing is drawn of tick {tick}");
    }
    browser.keep_picture("own_game");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
    ends(running);
}
