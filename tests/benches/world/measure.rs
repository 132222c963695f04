use std::hint::black_box;
use std::time::Instant;

use crate::contestants::Contestant;
use crate::workloads::Segment;

/// Number of rounds of which the median counts. Odd, so that one round is the median.
const ROUNDS: usize = 15;

/// Segments after which the next contestant has its turn: a fraction of a
/// scheduler's time slice, so that most turns are not interrupted.
const TURN: usize = 256;

/// Segments at the start of a turn that are not timed: they refill the cache after the
/// turns of others.
const WARM_UP: usize = 32;

/// Nanoseconds per segment, by contestant. Of every turn the median over the
/// rounds counts, so that interrupted turns do not.
pub(crate) fn interleaved(contestants: &[Contestant<'_>], segments: &[Segment]) -> Vec<f64> {
    let mut total = vec![0.0; contestants.len()];
    for turn in segments.chunks(TURN) {
        let mut rounds = vec![Vec::with_capacity(ROUNDS); contestants.len()];
        for _ in 0..ROUNDS {
            for (contestant, rounds) in contestants.iter().zip(&mut rounds) {
                for segment in turn.iter().take(WARM_UP) {
                    black_box(contestant.cast(black_box(segment)));
                }
                let started = Instant::now();
                for segment in turn {
                    black_box(contestant.cast(black_box(segment)));
                }
                rounds.push(started.elapsed().as_secs_f64());
            }
        }
        for (total, rounds) in total.iter_mut().zip(rounds) {
            *total += median(rounds);
        }
    }
    total.into_iter().map(|seconds| seconds * 1e9 / segments.len() as f64).collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
