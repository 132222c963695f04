//! Bodies obey the laws of mechanics. Each test plays a sample of the scenes of a law of
//! [`tests::laws`] and judges them by its formula. A scene is made from its seed alone. A test that
//! fails names the seed.
//!
//! `LAW_SEEDS=1000 cargo test -p tests --test simulation physics_laws` plays that many scenes of
//! each law, and `LAW_FIRST=7` begins with that seed. `tests/results/laws.txt` has the table of the
//! full sweep, and beside it the table of `rapier3d`.

mod bouncing;
mod carrying;
mod cases;
mod flight;
mod range;
mod rolling;
mod sliding;
mod standing;

use tests::laws::{LAWS, Law, ours, sweep};

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// The law with this name.
fn law(name: &str) -> &'static Law {
    LAWS.iter().find(|law| law.name == name).expect("the law is in the list")
}

/// The seeds up to 120 with which a law is missed. These scenes are known limits of the simulation,
/// which `LIMITS.md` lists.
const KNOWN: [(&str, &[u64]); 1] = [("conveyors", &[10])];

/// Plays the scenes of a law with these seeds, and fails if the law is missed in one of them.
fn holds_with(name: &str, seeds: &[u64]) {
    let outcomes = seeds.iter().map(|&seed| sweep(law(name), seed, 1, &ours::start));
    let missed: Vec<String> = outcomes.flat_map(|outcome| outcome.missed).collect();
    assert!(missed.is_empty(), "the law \"{name}\" is missed:\n{}", missed.join("\n"));
}

/// Plays this many scenes of a law, and fails if the law is missed in a scene that [`KNOWN`] does
/// not list.
fn holds(name: &str, count: u64) {
    let first = number("LAW_FIRST").unwrap_or(1);
    let count = number("LAW_SEEDS").unwrap_or(count);
    println!("{name}: seeds {first} to {}", first + count - 1);
    let known = KNOWN.iter().find(|(law, _)| *law == name).map_or(&[][..], |(_, seeds)| seeds);
    let mut missed = Vec::new();
    for seed in first..first + count {
        let outcome = sweep(law(name), seed, 1, &ours::start);
        match (outcome.missed.is_empty(), known.contains(&seed)) {
            (false, true) => println!("missed, and listed in KNOWN: {}", outcome.missed.join("\n")),
            (false, false) => missed.extend(outcome.missed),
            (true, true) => {
                println!("{name}: the law holds with seed {seed} now, so KNOWN need not list it")
            }
            (true, false) => {}
        }
    }
    assert!(
        missed.is_empty(),
        "the law \"{name}\" is missed in {} scenes:\n{}",
        missed.len(),
        missed.join("\n")
    );
}
