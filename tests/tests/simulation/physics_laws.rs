//! Bodies obey the laws of mechanics. Each test plays a sample of the scenes of a law of
//! [`tests::laws`] and judges them by its formula. A scene is made from its seed alone. A test that
//! fails names the seed.
//!
//! `LAW_SEEDS=1000 cargo test -p tests --test simulation physics_laws` plays that many scenes of
//! each law, and `LAW_FIRST=7` begins with that seed. `tests/results/laws.txt` has the table of the
//! full sweep, beside that of `rapier3d`.

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

/// Plays the scenes of a law with these seeds, and fails if the law is missed in one of them.
fn holds_with(name: &str, seeds: &[u64]) {
    let outcomes = seeds.iter().map(|&seed| sweep(law(name), seed, 1, &ours::start));
    let missed: Vec<String> = outcomes.flat_map(|outcome| outcome.missed).collect();
    assert!(
        missed.is_empty(),
        "the law \"{name}\" is missed in {} scenes:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

/// Plays this many scenes of a law, and fails if the law is missed in one of them.
fn holds(name: &str, count: u64) {
    let first = number("LAW_FIRST").unwrap_or(1);
    let count = number("LAW_SEEDS").unwrap_or(count);
    println!("{name}: seeds {first} to {}", first + count - 1);
    holds_with(name, &(first..first + count).collect::<Vec<_>>());
}
