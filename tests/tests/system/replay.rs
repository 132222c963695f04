//! Recordings: a replayed match is the same bit for bit, alone or beside others. The recording in
//! the repository guards against unintended changes of the simulation.

use std::path::{Path, PathBuf};

use server::recording::{Recording, Writer};
use server::replay::{Outcome, ReplayOptions, replay};
use server::soak::{SoakOptions, soak};
use tests::harness::{own_map, setting};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/arena.obsr")
}

fn run(file: &Path) -> Outcome {
    let map = Some(own_map("arena.obsp").to_string_lossy().into_owned());
    let options = ReplayOptions { map, ..ReplayOptions::new(file) };
    replay(&options).unwrap_or_else(|error| panic!("{error}"))
}

fn temporary(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{test}-{}.obsr", std::process::id()))
}

#[test]
fn the_committed_match_is_still_the_same() {
    if std::env::var_os("RENEW_RECORDING").is_some() {
        let map = own_map("arena.obsp").to_string_lossy().into_owned();
        let (players, objects, ticks, seed) = (12, 60, 900, 4);
        // A soak does not overwrite a recording, so the old one is removed.
        let _ = std::fs::remove_file(committed());
        let record = Some(committed());
        let renew = SoakOptions { players, objects, ticks, seed, record, ..SoakOptions::new(map) };
        soak(&renew).expect("the match can be played and recorded");
    }
    let outcome = run(&committed());
    if let Some(difference) = &outcome.difference {
        panic!(
            "tests/recordings/arena.obsr: {difference}.\n\
             The simulation computes something else than when this was recorded. If no change was \
             intended, this is a defect: look at the changes since the test last passed, and \
             replay with `cargo run --release -p server -- replay tests/recordings/arena.obsr`. A \
             difference at tick 0 comes from the setup (map, models, placing, settling), a later \
             one from a tick. If the change is intended, renew the recording and say so in the \
             commit: {RENEW}"
        );
    }
    assert_eq!((outcome.ticks, outcome.verified), (900, 901));
}

/// The command that renews the recording in the repository.
const RENEW: &str = "RENEW_RECORDING=1 cargo test -p tests --test system still_the_same";

#[test]
fn the_committed_match_is_the_same_on_every_one_of_four_threads() {
    let alone = run(&committed());
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&committed()))).collect();
        for run in runs {
            assert_eq!(run.join().expect("a replay does not panic"), alone);
        }
    });
}

/// A replay needs no `game.toml` beside its map, because the recording has the numbers and models.
#[test]
fn a_match_by_a_game_file_is_replayed_without_it() {
    let folder = std::env::temp_dir().join(format!("replay-game-file-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("models")).expect("the folder can be made");
    let copy = |from: &str, to: &str| std::fs::copy(own_map(from), folder.join(to));
    copy("arena.obsp", "arena.obsp").and(copy("models/star.obj", "models/gem.obj")).expect("files");
    let text = "[movement]\ngravity = 300\njump_speed = 500\n[player]\nhealth = 30\n\
                [weapons.rocket]\nmodel = 'gem'\nblast_radius = 300\n\
                [models]\ngem = 'models/gem.obj'\n[classes.light]\nmodel = 'gem'\n";
    std::fs::write(folder.join("game.toml"), text).expect("a file");
    let file = folder.join("match.obsr");
    let map = folder.join("arena.obsp").to_string_lossy().into_owned();
    let (players, objects, ticks, record) = (6, 10, 300, Some(file.clone()));
    let played = SoakOptions { players, objects, ticks, record, ..SoakOptions::new(map) };
    let report = soak(&played).expect("the arena can be played");
    assert_eq!((report.interpenetrations, report.tunnelled), (0, 0), "{:?}", report.findings);

    let map = Some(own_map("arena.obsp").to_string_lossy().into_owned());
    let options = ReplayOptions { map, audit: true, ..ReplayOptions::new(&file) };
    let outcome = replay(&options).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.passed(), "{outcome}");
    assert_eq!((outcome.verified, &outcome.digest), (301, &report.digest));
    // With the default numbers, the same players go elsewhere.
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let usual =
        soak(&SoakOptions { map, record: None, ..played }).expect("the arena can be played");
    assert_ne!(usual.digest, report.digest);
    std::fs::remove_dir_all(folder).expect("the folder is there");
}

#[test]
fn the_first_tick_that_differs_is_named() {
    let file = temporary("replay-differs");
    let options = SoakOptions {
        players: 4,
        tanks: 1,
        objects: 10,
        ticks: 60,
        audit_every: 0,
        record: Some(file.clone()),
        ..SoakOptions::new(own_map("arena.obsp").to_string_lossy())
    };
    let report = soak(&options).expect("the arena can be played");
    let same = run(&file);
    assert_eq!(same.difference, None);
    assert_eq!((same.ticks, same.verified), (60, 61));
    assert_eq!(same.digest, report.digest);

    // A copy of the recording has one changed command, and all digests unchanged.
    let whole = Recording::open(&file).expect("a recording");
    let changed = temporary("replay-changed");
    let mut writer =
        Writer::create(&changed, &whole.beginning().expect("a keyframe")).expect("a file");
    let mut player = None;
    for (number, tick) in (1..).zip(whole.ticks_after(0).expect("a keyframe")) {
        let mut tick = tick.expect("a whole recording");
        player = player.or(tick.joined.first().map(|(player, _)| *player));
        if number == 41 {
            let player = player.expect("somebody plays");
            tick.commands.retain(|(id, _)| *id != player);
            let command = obsp_sim::Command { forward: -127, right: 127, ..Default::default() };
            tick.commands.push((player, command));
            tick.commands.sort_unstable_by_key(|(id, _)| *id);
        }
        writer.tick(tick).expect("a file");
    }
    writer.finish().expect("a file");
    let outcome = run(&changed);
    assert!(
        outcome.to_string().contains("recorded by this build, 0.1.0 (executable "),
        "{outcome}"
    );
    let elsewhere = Outcome { recorded_by: "0.0.9 (executable 12)".into(), ..outcome.clone() };
    let advice = "recorded by build 0.0.9 (executable 12), and this is 0.1.0";
    assert!(elsewhere.to_string().contains(advice), "{elsewhere}");
    let difference = outcome.difference.expect("the changed command is found");
    assert_eq!((difference.tick, difference.equal_at), (41, Some(40)), "{difference}");
    for file in [file, changed] {
        let _ = std::fs::remove_file(file);
    }
}

/// Symptom: a soak overwrote the file of an earlier recording.
#[test]
fn a_soak_overwrites_no_recording() {
    let file = temporary("kept");
    std::fs::write(&file, "kept").expect("a file");
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let record = Some(file.clone());
    let options =
        SoakOptions { players: 1, objects: 0, ticks: 10, record, ..SoakOptions::new(map) };
    let report = soak(&options).expect("the match can be played and recorded");
    let recorded = report.recorded.expect("the report names the recording");
    assert_eq!(recorded, file.with_extension("obsr.1"));
    assert_eq!(run(&recorded).ticks, 10);
    assert_eq!(std::fs::read(&file).expect("the file"), b"kept");
    for file in [file, recorded] {
        let _ = std::fs::remove_file(file);
    }
}

/// A replay can start at any keyframe, and many threads find the same as one thread.
#[test]
fn a_match_is_verified_from_any_keyframe_and_audited() {
    let map = Some(own_map("arena.obsp").to_string_lossy().into_owned());
    let options = ReplayOptions { map, audit: true, ..ReplayOptions::new(committed()) };
    let whole = replay(&options).unwrap_or_else(|error| panic!("{error}"));
    assert!(whole.passed(), "{whole}");
    assert_eq!(whole.audited, 900, "every tick is audited");
    let one = ReplayOptions { threads: std::num::NonZeroUsize::new(1), ..options.clone() };
    assert_eq!(replay(&one).unwrap_or_else(|error| panic!("{error}")), whole);
    let later = ReplayOptions { from: 700, ..options };
    let later = replay(&later).unwrap_or_else(|error| panic!("{error}"));
    assert!(later.passed(), "{later}");
    assert_eq!((later.from, later.ticks, later.verified), (600, 300, 300));
    assert_eq!(later.digest, whole.digest);
}

/// A keyframe that differs from the match at its tick is found, even if its hashes are right.
#[test]
fn a_keyframe_of_another_match_is_named() {
    let whole = Recording::open(&committed()).expect("a recording");
    let swapped = temporary("replay-swapped");
    let first = whole.keyframe(0).expect("a keyframe");
    let mut writer =
        Writer::create(&swapped, &whole.beginning().expect("a keyframe")).expect("a file");
    for (number, tick) in (1..=200).zip(whole.ticks_after(0).expect("a keyframe")) {
        writer.tick(tick.expect("a whole recording")).expect("a file");
        if number == 100 {
            writer.keyframe(&first.saved).expect("a file");
        }
    }
    writer.finish().expect("a file");
    let outcome = run(&swapped);
    let why = outcome.incomplete.expect("the wrong keyframe is found");
    assert!(why.contains("the keyframe at tick 100 differs from the ticks before it"), "{why}");
    let _ = std::fs::remove_file(swapped);
}

/// The recording of ten minutes with 32 players is no larger than 6 MB. By default, the test
/// records 20 seconds with their keyframes; `RECORDED_TICKS=36000` records ten minutes.
#[test]
fn a_recording_is_small() {
    let ticks = setting("RECORDED_TICKS", 1_200) as u64;
    let file = temporary("replay-size");
    let options = SoakOptions {
        players: 32,
        tanks: 2,
        objects: 60,
        ticks,
        audit_every: 0,
        record: Some(file.clone()),
        ..SoakOptions::new(own_map("arena.obsp").to_string_lossy())
    };
    soak(&options).expect("the arena can be played");
    let bytes = std::fs::metadata(&file).expect("the recording exists").len();
    let _ = std::fs::remove_file(&file);
    let ten_minutes = bytes * 36_000 / ticks;
    println!("{ticks} ticks take {bytes} bytes, ten minutes {ten_minutes}");
    assert!(ten_minutes <= 6_000_000, "{ten_minutes} bytes");
}
