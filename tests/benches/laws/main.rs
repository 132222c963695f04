//! The laws of mechanics over their whole range, here and in `rapier3d`.
//!
//! `cargo bench -p benches --bench laws > tests/results/laws.txt`
//!
//! Both engines play the same scenes: see `tests::laws`. A deviation is given as a multiple of its
//! bound, which is the error that an integration by ticks may have. `-- wheels 200` plays 200
//! scenes of one law, and lists the scenes in which the law is missed.

#[path = "../world/machine.rs"]
mod machine;

mod peer;

use std::time::{Duration, Instant};

use tests::laws::{LAWS, Law, Outcome, Reading, Start, ours};

/// Number of scenes of each law, and the time after which no further scene of the law begins.
const SCENES: u64 = 120;
const TIME: Duration = Duration::from_secs(7);

fn main() {
    machine::print();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let count = wanted.iter().find_map(|word| word.parse().ok());
    let words: Vec<&String> = wanted.iter().filter(|word| word.parse::<u64>().is_err()).collect();
    println!();
    println!(
        "laws, each with its number of scenes and their range. All have 20 to 240 Hz, one or two threads,"
    );
    println!(
        "a floor of one brush, of slabs of 16 or 64 units or of triangles, and are moved by up to 30,000"
    );
    println!(
        "units. Below, each measured number: its greatest deviation from the law, in bounds, here and in"
    );
    println!("rapier3d 0.36, and its values in the scene that is worst here");
    // A scene that panics counts as missed, and its panic needs no message of its own.
    std::panic::set_hook(Box::new(|_| ()));
    let mut missed = 0;
    for law in &LAWS {
        if words.is_empty() || words.iter().any(|word| **word == law.name) {
            missed += judge(law, count, !words.is_empty());
        }
    }
    println!();
    println!("{missed} of {} laws are missed", LAWS.len());
}

/// Plays the scenes of a law. Returns 1 if the law is missed in one of them.
fn judge(law: &Law, count: Option<u64>, tell: bool) -> usize {
    let (mut here, mut peer) = (Outcome::default(), Outcome::default());
    let begin = Instant::now();
    for seed in 1..=count.unwrap_or(SCENES) {
        here.add(law, seed, &ours::start as Start);
        peer.add(law, seed, &peer::start);
        if count.is_none() && begin.elapsed() > TIME {
            break;
        }
    }
    println!();
    println!(
        "{}: {} scenes; missed: {} here, {} by rapier  ({})",
        law.name,
        here.scenes,
        here.missed.len(),
        peer.missed.len(),
        law.range,
    );
    for worst in &here.worst {
        let other = peer.worst.iter().find(|other| other.what == worst.what);
        let verdict = if worst.holds() { "" } else { "MISSED" };
        println!(
            "  {:26} {:>10} {:>10}  {verdict:6}  {}",
            worst.what,
            share(Some(worst)),
            share(other),
            told(worst),
        );
    }
    if tell {
        here.missed.iter().for_each(|missed| println!("{missed}"));
    }
    usize::from(!here.missed.is_empty())
}

fn share(reading: Option<&Reading>) -> String {
    reading.map_or("-".to_owned(), |reading| format!("{:.2}", reading.share()))
}

fn told(reading: &Reading) -> String {
    let text = reading.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, numbers)| numbers.to_owned())
}
