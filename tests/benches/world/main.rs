//! The cost of a trace through the static world, beside other implementations.
//!
//! `cargo bench -p benches --bench world`
//!
//! Every contestant traces the same segments on every map. The contestants are the onion BSP, a BSP
//! for one size alone, `parry3d` and the shifted planes. `parry3d` casts the same box against the
//! same brushes, as a BVH of convex bodies and as a triangle mesh. Through the shifted planes, the
//! same box and other bodies are cast.
//!
//! The contestants take turns of a few hundred segments and medians are kept, so that other load on
//! the machine affects all of them alike. Only the ratios are comparable.
//!
//! More tables follow: the tables of Melax's paper, a table of filters for bodies (alone: `cargo
//! bench -p benches --bench world -- filter`) and a table of large maps (alone: `-- large`).

mod brush_filter;
mod contestants;
mod large;
mod machine;
mod measure;
mod melax;
mod peers;
mod workloads;

use std::path::PathBuf;

use contestants::{Contestant, Subject};
use tests::harness::{foreign_map, own_map};
use workloads::Workload;

fn main() {
    machine::print();
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    if asked("large") {
        return large::print();
    }
    if asked("filter") {
        return brush_filter::print();
    }
    for (i, path) in maps().iter().enumerate() {
        let subject = Subject::read(path);
        println!("\n== {}", subject.description());
        let workloads = Workload::all(&subject);
        for workload in &workloads {
            print_race(workload, &subject.contestants(workload));
        }
        if i == 0 {
            melax::print(path, subject.world(), &workloads[0]);
        }
    }
    brush_filter::print();
    large::print();
}

fn maps() -> Vec<PathBuf> {
    let foreign = ["id-gpl/dm4.map", "librequake/lqdm3.map"];
    let own = ["arena.map", "terrain.map"].map(own_map);
    foreign.into_iter().filter_map(foreign_map).chain(own).collect()
}

fn print_race(workload: &Workload, contestants: &[Contestant<'_>]) {
    println!("\n{} ({} segments)", workload.description(), workload.segments.len());
    println!("  {:42} {:>8} {:>7} {:>7} {:>7}", "", "ns/trace", "ratio", "hits", "agree");
    let timings = measure::interleaved(contestants, &workload.segments);
    let reference = &contestants[0];
    let first = timings[0];
    for (contestant, nanoseconds) in contestants.iter().zip(timings) {
        let agree = 100.0 * contestant.agreement(reference, &workload.segments);
        println!(
            "  {:42} {nanoseconds:8.0} {:6.1}x {:6.1}% {}",
            contestant.name,
            nanoseconds / first,
            100.0 * contestant.share_of_hits(&workload.segments),
            if contestant.other_body { "      –".into() } else { format!("{agree:6.1}%") },
        );
    }
}
