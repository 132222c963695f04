//! The seeds of the fuzz targets, played without a fuzzer: what the targets find
//! stays found, and the seeds reach what they are for.

#[path = "../../fuzz/fuzz_targets/sessions/play.rs"]
mod play;
#[path = "../../fuzz/fuzz_targets/snapshot/read.rs"]
mod read;

use std::path::Path;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn sessions_hear_of_any_number_of_bodies_touched() {
    let mut answers = [0; 3];
    for seed in seeds("sessions") {
        answers.iter_mut().zip(play::play(&seed)).for_each(|(all, some)| *all += some);
    }
    println!("motions with 0, 1 and 2 bodies: {answers:?}");
    assert!(answers.iter().all(|&count| count > 0), "{answers:?}");
}

#[test]
fn snapshots_are_read_with_bodies_touched_and_records() {
    let read: Vec<_> = seeds("snapshot").iter().filter_map(|seed| read::read(seed)).collect();
    let touching = |snapshot: &&proto::snapshot::Snapshot| {
        snapshot.answer.is_some_and(|answer| answer.touched[0].is_some())
    };
    assert!(read.iter().any(|snapshot| !snapshot.records.is_empty()));
    assert!(read.iter().any(|snapshot| touching(&snapshot)));
}
