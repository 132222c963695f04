//! The seeds of the fuzz targets, run without a fuzzer. They show that defects found by fuzzing
//! stay fixed, and that the seeds reach the code that they are for.

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
fn session_seeds_carry_every_number_of_touched_bodies() {
    let mut motions = [0; 3];
    for seed in seeds("sessions") {
        motions.iter_mut().zip(play::play(&seed)).for_each(|(all, some)| *all += some);
    }
    println!("motions with 0, 1 and 2 bodies: {motions:?}");
    assert!(motions.iter().all(|&count| count > 0), "{motions:?}");
}

#[test]
fn snapshot_seeds_carry_touched_bodies_and_records() {
    let read: Vec<_> = seeds("snapshot").iter().filter_map(|seed| read::read(seed)).collect();
    let touching = |snapshot: &&obsp_proto::snapshot::Snapshot| {
        snapshot.own_motion.is_some_and(|motion| motion.touched[0].is_some())
    };
    assert!(read.iter().any(|snapshot| !snapshot.records.is_empty()));
    assert!(read.iter().any(|snapshot| touching(&snapshot)));
}
