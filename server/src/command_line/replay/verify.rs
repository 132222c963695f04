//! Verifies a recording, with its stretches shared out over threads.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use obsp_game::AnyGame;

use super::stretch::{Found, Runner};
use super::{Outcome, ReplayError};
use crate::matches::recording::Recording;

/// How a recording is verified.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Begins at the last keyframe that is not after this tick.
    pub from: u64,
    /// Whether every tick is audited.
    pub audit: bool,
    /// Maximum number of threads that are used.
    pub threads: NonZeroUsize,
}

/// Runs a recording on `map`, up to the first difference or to the place where the recording breaks
/// off. Compares every digest in the recording, and the ids of all players who join.
///
/// # Errors
/// The match cannot be set up.
pub fn verify(
    game: &dyn AnyGame,
    recording: &Recording,
    map: &Arc<obsp::Map>,
    plan: Plan,
) -> Result<Outcome, ReplayError> {
    let (first, count) = (recording.keyframe_before(plan.from), recording.keyframes().len());
    let runner = Runner { game, recording, map, audits: plan.audit };
    let found = run_all(&runner, first..count, plan.threads)?;
    let mut outcome = Outcome {
        from: recording.keyframes().nth(first).unwrap_or_default(),
        ticks: 0,
        verified: 0,
        digest: String::new(),
        audited: 0,
        finding: None,
        difference: None,
        incomplete: recording.incomplete().map(ToString::to_string),
        recorded_by: recording.header().build.clone(),
    };
    for found in found {
        outcome.ticks += found.ticks;
        outcome.verified += found.verified;
        outcome.audited += found.audited;
        outcome.digest = format!("{:016x}", found.digest);
        outcome.finding = outcome.finding.or_else(|| found.finding.clone());
        if found.ends() {
            outcome.difference = found.difference;
            outcome.incomplete = found.damage.or(outcome.incomplete);
            break;
        }
    }
    Ok(outcome)
}

/// Runs the stretches, and returns their outcomes in order, up to the first that found a difference
/// or damage.
fn run_all(
    runner: &Runner,
    stretches: std::ops::Range<usize>,
    threads: NonZeroUsize,
) -> Result<Vec<Found>, ReplayError> {
    let next = AtomicUsize::new(stretches.start);
    let last = AtomicUsize::new(stretches.end);
    let work = || {
        let mut own = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= last.load(Ordering::Relaxed) {
                return own;
            }
            let found = runner.run(number);
            if !found.as_ref().is_ok_and(|found| !found.ends()) {
                // No later stretch is worth running, but all earlier ones are.
                last.fetch_min(number + 1, Ordering::Relaxed);
            }
            own.push((number, found));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads.get().min(stretches.len())).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .flat_map(|own| own.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Vec<_>>()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, found)| found).collect()
}
