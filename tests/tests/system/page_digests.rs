//! The native build plays a fight, and the page's WebAssembly replays it to the same digest at
//! every tick. `ARENA_FIGHT_TICKS=36000` makes the fight last ten minutes, with 32 players. Then
//! the size of the recording and the time of seeks in it are also checked.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use server::soak::{SoakOptions, soak};
use tests::harness::{compile, foreign_map, own_map, setting};

/// The ticks of ten minutes, for which the limits below are set, and the ticks played by default.
const TEN_MINUTES: u64 = 36_000;
const SHORT: usize = 600;

/// Limit in bytes of the recording of ten minutes with 32 players.
const MOST_BYTES: u64 = 6_000_000;

/// Longest time of a seek to anywhere in that recording, in milliseconds, verified or not.
const SEEK_LIMIT: u64 = 200;

/// Whether Node, which runs the WebAssembly, is installed. If not, this prints that the test is
/// skipped.
fn has_node() -> bool {
    let is_there = Command::new("node").arg("--version").output().is_ok();
    if !is_there {
        let needed = std::env::var_os("ARENA_NEED_CHROMIUM").is_some_and(|value| value == "1");
        let skipped = "there is no node; `apt-get install nodejs` brings it";
        assert!(!needed, "{skipped}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    is_there
}

/// Records a fight on `map`, and lets Node replay it.
fn fights(map: &Path, name: &str) {
    let ticks = setting("ARENA_FIGHT_TICKS", SHORT) as u64;
    let is_long = ticks == TEN_MINUTES;
    let folder = std::env::temp_dir().join(format!("digests-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [recording, compiled] = ["fight.obsr", "map.obsp"].map(|file| folder.join(file));
    // Node gets exactly the compiled map whose hash the recording has.
    let bytes = match map.extension().is_some_and(|suffix| suffix == "obsp") {
        true => std::fs::read(map).unwrap(),
        false => compile(map).to_bytes(),
    };
    std::fs::write(&compiled, bytes).unwrap();
    let report = soak(&SoakOptions {
        players: 32,
        objects: 200,
        ticks,
        audit_every: 0,
        record: Some(recording.clone()),
        ..SoakOptions::new(compiled.to_string_lossy())
    })
    .unwrap();
    let bytes = std::fs::metadata(&recording).unwrap().len();
    println!("{name}: {ticks} ticks in {bytes} bytes, digest {}", report.digest);
    assert!(!is_long || bytes <= MOST_BYTES, "{name}: {bytes} bytes");

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/web/replay/bars.test.mjs");
    let pair = format!("{}={}", recording.display(), compiled.display());
    let mut node = Command::new("node");
    node.arg("--test").arg(script).env("RECORDINGS", pair);
    if is_long {
        node.env("SEEK_LIMIT", SEEK_LIMIT.to_string());
    }
    let played = node.output().unwrap();
    let said = String::from_utf8_lossy(&played.stdout);
    println!("{said}");
    assert!(played.status.success(), "{name}: {said}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn webassembly_plays_a_fight_on_the_arena_to_the_digests_of_the_native_build() {
    if has_node() {
        fights(&own_map("arena.obsp"), "arena");
    }
}

#[test]
fn webassembly_plays_a_fight_on_dm4_to_the_digests_of_the_native_build() {
    if let Some(map) = foreign_map("id-gpl/dm4.map").filter(|_| has_node()) {
        fights(&map, "dm4");
    }
}
