//! Recordings: a match run again is the same match, bit for bit, alone or
//! beside others; and the one that is committed guards against change that
//! nobody meant.

use std::path::{Path, PathBuf};

use server::recording::{Header, Reader, Recorder, Writer};
use server::replay::{Outcome, ReplayOptions, replay};
use server::soak::{SoakOptions, soak};
use tests::harness::own_map;

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/arena.obsr")
}

fn run(file: &Path) -> Outcome {
    let map = Some(own_map("arena.obsp").to_string_lossy().into_owned());
    let options = ReplayOptions { file: file.to_owned(), map };
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
        let record = Some(committed());
        let renew = SoakOptions { players, objects, ticks, seed, record, ..SoakOptions::new(map) };
        soak(&renew).expect("a match that can be recorded");
    }
    let outcome = run(&committed());
    if let Some(difference) = &outcome.difference {
        panic!(
            "tests/recordings/arena.obsr: {difference}.\n\
             The simulation no longer does what it did. If nothing was to change, this is a \
             defect: see what was touched since it last passed, and replay with `cargo run \
             --release -p server -- replay tests/recordings/arena.obsr`. At tick 0 it is the \
             setup (map, models, placing, settling), later it is a tick. If the change is meant, \
             renew the recording and say so in the commit: {RENEW}"
        );
    }
    assert_eq!((outcome.ticks, outcome.verified), (900, 901));
}

/// Makes the committed recording anew.
const RENEW: &str = "RENEW_RECORDING=1 cargo test -p tests --test replay still_the_same";

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
    assert_eq!(format!("{:016x}", same.digest), report.digest);

    // The same with one key pressed otherwise, and all digests as they were.
    let mut reader = Reader::open(&file).expect("a recording");
    let header: Header = reader.header().clone();
    let changed = temporary("replay-changed");
    let mut writer = Writer::create(&changed, &header).expect("a file");
    let mut number = 0;
    while let Some(mut tick) = reader.next_tick().expect("a whole recording") {
        number += 1;
        if number == 41 {
            let player = header_player(&file);
            tick.commands.retain(|(id, _)| *id != player);
            let command = obsp_sim::Command { forward: -127, right: 127, ..Default::default() };
            tick.commands.push((player, command));
        }
        writer.tick(&tick).expect("a file");
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
    let difference = outcome.difference.expect("one command is another");
    assert_eq!((difference.tick, difference.equal_at), (41, Some(40)), "{difference}");
    for file in [file, changed] {
        let _ = std::fs::remove_file(file);
    }
}

/// The first player who joined.
fn header_player(file: &Path) -> obsp_sim::EntityId {
    let mut reader = Reader::open(file).expect("a recording");
    reader.next_tick().expect("a tick").expect("a tick").joined[0].0
}

#[test]
fn a_recorder_tells_who_comes_and_goes() {
    let id = |slot| obsp_sim::EntityId { slot, generation: 0 };
    let idle = obsp_sim::Command::default();
    let kind = |_| obsp_sim::PlayerKind::Hovertank;
    let mut recorder = Recorder::new();
    assert_eq!(recorder.tick(&[(id(1), idle)], kind, None).joined, [(id(1), kind(id(1)))]);
    let next = recorder.tick(&[(id(2), idle)], kind, None);
    assert_eq!((next.left, next.joined), (vec![id(1)], vec![(id(2), kind(id(2)))]));
}
