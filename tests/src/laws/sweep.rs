//! Many scenes of a law in an engine.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::oracle::Random;

use super::Law;
use super::case::{Case, Reading};
use super::engine::Start;

/// The result of the scenes of a law.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Number of scenes that were played.
    pub scenes: usize,
    /// Descriptions of the scenes in which the law was missed or that could not be played.
    pub missed: Vec<String>,
    /// For each measured number, the reading that is farthest beyond the law, compared with its
    /// bound.
    pub worst: Vec<Reading>,
}

/// The scene of a law with this seed.
pub fn scene(law: &Law, seed: u64) -> Case {
    (law.scene)(&mut Random::new(seed))
}

impl Outcome {
    /// Plays the scene of this seed in an engine.
    pub fn add(&mut self, law: &Law, seed: u64, start: Start) {
        let case = scene(law, seed);
        self.scenes += 1;
        let played = catch_unwind(AssertUnwindSafe(|| case.play(start)));
        let readings = match played {
            Ok(Ok(readings)) => readings,
            Ok(Err(fault)) => return self.missed.push(format!("seed {seed}: {case}\n    {fault}")),
            Err(_) => {
                return self.missed.push(format!("seed {seed}: {case}\n    playing it panicked"));
            }
        };
        if readings.iter().any(|reading| !reading.holds()) {
            let mut told = format!("seed {seed}: {case}");
            for reading in readings.iter().filter(|reading| !reading.holds()) {
                let _ = write!(told, "\n    {reading}");
            }
            self.missed.push(told);
        }
        for reading in readings {
            match self.worst.iter_mut().find(|worst| worst.what == reading.what) {
                Some(worst) if worst.share() < reading.share() => *worst = reading,
                Some(_) => {}
                None => self.worst.push(reading),
            }
        }
    }
}

/// Plays this many scenes of a law, from this seed on.
pub fn sweep(law: &Law, seed: u64, count: usize, start: Start) -> Outcome {
    let mut outcome = Outcome::default();
    (seed..seed + count as u64).for_each(|seed| outcome.add(law, seed, start));
    outcome
}
