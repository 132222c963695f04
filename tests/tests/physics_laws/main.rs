//! Bodies obey the laws of mechanics: a sample of the scenes of [`tests::laws`], each judged
//! by the formula. A scene is made from its seed alone: a test that fails names it.
//!
//! `LAW_SEEDS=1000 cargo test -p tests --test physics_laws` plays that many scenes of each law,
//! and `LAW_FIRST=7` begins with that seed. The table of the full sweep, with `rapier3d` beside,
//! is kept in `tests/results/laws.txt`.

mod bouncing;
mod carrying;
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

/// The law of a name.
fn law(name: &str) -> &'static Law {
    LAWS.iter().find(|law| law.name == name).expect("there is such a law")
}

/// Plays so many scenes of a law, and fails with those in which it is missed.
fn holds(name: &str, count: u64) {
    let first = number("LAW_FIRST").unwrap_or(1);
    let count = number("LAW_SEEDS").unwrap_or(count);
    println!("{name}: seeds {first} to {}", first + count - 1);
    let outcome = sweep(law(name), first, count as usize, &ours::start);
    let missed = outcome.missed.len();
    assert!(missed == 0, "{name}: missed in {missed} of {count}\n{}", outcome.missed.join("\n"));
}
