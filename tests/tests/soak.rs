//! The soak, as an operator runs it: clean on the arena, repeatable, and
//! open to anybody's own audit.

use serde_json::Value;
use server::soak::{SoakOptions, soak};
use server::{ModelsOptions, write_models};
use tests::harness::own_map;

fn short(seed: u64) -> SoakOptions {
    SoakOptions {
        players: 16,
        objects: 100,
        ticks: 600,
        seed,
        audit_every: 10,
        audit_first: 120,
        ..SoakOptions::new(own_map("arena.obsp").to_string_lossy())
    }
}

#[test]
fn a_soak_on_the_arena_is_clean_and_repeats_itself() {
    let seed = 7;
    let report = soak(&short(seed)).expect("the arena can be played");
    assert!(report.is_clean(), "seed {seed}: {report}");
    assert_eq!((report.ticks, report.players, report.limbo), (600, 16, 0));
    // Before the first tick, 120 of the first, and every tenth after.
    assert_eq!(report.audits, 1 + 120 + 48);
    assert!(report.awake_mean > 1.0 && report.toi.queries > 1_000, "{report}");
    let again = soak(&short(seed)).expect("the arena can be played");
    assert_eq!((&again.digest, again.toi), (&report.digest, report.toi));
    let other = soak(&short(seed + 1)).expect("the arena can be played");
    assert_ne!(other.digest, report.digest);
}

#[test]
fn a_dump_and_the_models_are_all_that_a_stranger_needs() {
    let folder = std::env::temp_dir().join(format!("soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let dump = folder.join("dump.jsonl");
    let options = SoakOptions { ticks: 30, dump: Some(dump.clone()), dump_every: 10, ..short(1) };
    soak(&options).expect("the arena can be played");
    write_models(&ModelsOptions { obj: folder.clone() }).expect("the models can be written");

    let text = std::fs::read_to_string(&dump).expect("the dump");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let ticks: Vec<_> = lines.iter().map(|line| line["tick"].as_u64()).collect();
    assert_eq!(ticks, [Some(10), Some(20), Some(30)]);
    for entity in lines.iter().flat_map(|line| line["entities"].as_array().expect("entities")) {
        let numbers = |key: &str| entity[key].as_array().map_or(0, Vec::len);
        assert_eq!((numbers("position"), numbers("quaternion"), numbers("velocity")), (3, 4, 3));
        match entity["kind"].as_str() {
            Some("player") => assert_eq!(numbers("box"), 3, "{entity}"),
            Some("prop") => {
                let model = entity["model"].as_str().expect("a model's name");
                assert!(folder.join(format!("{model}.obj")).is_file(), "{model}");
            }
            other => panic!("{other:?}"),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}
