//! What a trace through the static world costs, beside its peers.
//!
//! `cargo bench -p tests --bench world`
//!
//! Every map is asked the same segments by every contestant: the onion BSP,
//! a tree of that size alone, and `parry3d`, which casts the same box against
//! the same brushes, as a BVH of convex bodies and as a triangle mesh. They
//! take turns, segment by segment in short rounds, and medians over the rounds
//! are kept, so that whatever else the machine does hits all of them alike.
//! The ratios are what counts.

mod contestants;
mod machine;
mod measure;
mod peers;
mod workloads;

use std::path::{Path, PathBuf};

use contestants::{Contestant, Subject};
use tests::harness::{foreign_map, own_map};
use workloads::Workload;

fn main() {
    machine::print();
    for path in maps() {
        race(&path);
    }
}

fn maps() -> Vec<PathBuf> {
    let foreign = ["id-gpl/dm4.map", "librequake/lqdm3.map"];
    let own = ["arena.map", "terrain.map"].map(own_map);
    foreign.into_iter().filter_map(foreign_map).chain(own).collect()
}

/// Sends every contestant over every workload of one map.
fn race(path: &Path) {
    let subject = Subject::read(path);
    println!("\n== {}", subject.description());
    for workload in Workload::all(&subject) {
        let contestants = subject.contestants(&workload);
        print_race(&workload, &contestants);
    }
}

fn print_race(workload: &Workload, contestants: &[Contestant<'_>]) {
    println!("\n{} ({} segments)", workload.description(), workload.segments.len());
    println!("  {:42} {:>8} {:>7} {:>7} {:>7}", "", "ns/trace", "ratio", "hits", "agree");
    let timings = measure::interleaved(contestants, &workload.segments);
    let reference = &contestants[0];
    let fastest = timings[0];
    for (contestant, nanoseconds) in contestants.iter().zip(timings) {
        println!(
            "  {:42} {:8.0} {:6.1}x {:6.1}% {:6.1}%",
            contestant.name,
            nanoseconds,
            nanoseconds / fastest,
            100.0 * contestant.share_of_hits(&workload.segments),
            100.0 * contestant.agreement(reference, &workload.segments),
        );
    }
}
