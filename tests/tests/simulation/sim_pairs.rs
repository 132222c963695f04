//! Pairs of the shipped models that just touch or just do not touch. An oracle of exact triangles
//! judges the simulation's verdicts, which must be right outside the simulation's margins.
//!
//! `SIM_PAIRS=1000000 cargo test -p tests --release --test simulation sim_pairs` judges a million
//! pairs. The default is a small sample.

use glam::DVec3;
use obsp_sim::query::{At, MARGIN, are_clear, separation};
use obsp_sim::{Stage, Stages};
use tests::harness::Random;
use tests::harness::near::{Figure, direction, touching_distance, turn};
use tests::oracle::bodies::interpenetrate;

/// Default number of pairs, which take a few seconds.
const SAMPLE: u64 = 20_000;

/// The simulation may take a gap smaller than this, in units, for contact, as [`separation`]
/// states. It is less than an eightieth of the guard's margin.
const TOUCHING: f64 = 1e-4;

#[test]
fn the_verdicts_of_the_simulation_on_near_pairs_are_true() {
    let pairs = std::env::var("SIM_PAIRS").map_or(SAMPLE, |n| n.parse().expect("a number"));
    let seed = std::env::var("SIM_PAIRS_SEED").map_or(7, |n| n.parse().expect("a number"));
    let kinds = Figure::shipped();
    let mut random = Random::new(seed);
    let (mut touching, mut apart) = (0_u64, 0_u64);
    let mut pair = 0;
    while pair < pairs {
        let (a, b) = (&kinds[random.below(kinds.len())], &kinds[random.below(kinds.len())]);
        let home = direction(&mut random) * random.between(0.0, 3_000.0);
        let at_a = (home, turn(&mut random));
        let (turn_b, way) = (turn(&mut random), direction(&mut random));
        let contact = touching_distance((a, at_a), (b, turn_b), way);
        // The distances of the poses from the contact are of any scale, from rounding to a unit.
        for _ in 0..PER_CONTACT {
            let offset = 10.0_f64.powf(random.between(-6.0, 0.0));
            let sign = if random.one_in(2) { -1.0 } else { 1.0 };
            let at_b = (home + way * (contact + offset * sign), turn_b);
            let nudge = direction(&mut random);
            let said = judge(a, at_a, b, at_b, nudge).unwrap_or_else(|wrong| {
                panic!(
                    "{} and {}, seed {seed}, pair {pair}: {wrong}; {at_a:?} {at_b:?}",
                    a.name, b.name
                )
            });
            apart += u64::from(said);
            touching += u64::from(!said);
            pair += 1;
        }
    }
    eprintln!("{pair} pairs, seed {seed}: {touching} touching, {apart} apart");
    assert!(
        touching > pair / 10 && apart > pair / 10,
        "too few or too many pairs touch: {touching} of {pair}"
    );
}

/// Poses tried around each contact.
const PER_CONTACT: u32 = 16;

/// Whether the two are apart for the simulation, or a description of its mistake.
fn judge(a: &Figure, at_a: At, b: &Figure, at_b: At, nudge: DVec3) -> Result<bool, String> {
    let body = a.placed(at_a);
    let meets = |by: DVec3| interpenetrate(&body, &b.placed((at_b.0 + by, at_b.1)));
    let said = separation(&a.solid, at_a, &b.solid, at_b);
    let truly_meet = meets(DVec3::ZERO);
    if let Some(gap) = said.filter(|_| truly_meet) {
        return Err(format!("the simulation finds a gap of {gap}, but the bodies interpenetrate"));
    }
    if said.is_none() && !truly_meet && !nudges().any(|nudge| meets(nudge * TOUCHING)) {
        return Err(format!(
            "the simulation finds an overlap, but the bodies are more than {} apart",
            TOUCHING * 0.5
        ));
    }
    // No motion shorter than the gap may make them meet.
    if let Some(gap) = said.filter(|gap| meets(nudge * (gap * 0.999))) {
        return Err(format!(
            "the simulation finds a gap of {gap}, but the bodies meet after a shorter motion"
        ));
    }
    let clear = said.is_some_and(|gap| gap > MARGIN);
    for stages in [Stages::ALL, Stages::default(), Stages::EXACT.with(Stage::BspHard)] {
        for (order, answer) in [
            ("", are_clear(&a.solid, at_a, &b.solid, at_b, stages)),
            ("swapped ", are_clear(&b.solid, at_b, &a.solid, at_a, stages)),
        ] {
            if answer != clear && !said.is_some_and(|gap| (gap - MARGIN).abs() < 1e-9) {
                return Err(format!(
                    "{order}cascade {stages:?} finds them clear: {answer}; gap {said:?}"
                ));
            }
        }
    }
    Ok(said.is_some())
}

/// Unit vectors in many directions: one of them is within 28 degrees of any direction.
fn nudges() -> impl Iterator<Item = DVec3> {
    (0..27)
        .filter(|i| *i != 13)
        .map(|i: i32| DVec3::from([i % 3, i / 3 % 3, i / 9].map(|c| f64::from(c - 1))).normalize())
}
