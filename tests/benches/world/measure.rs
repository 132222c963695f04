use std::hint::black_box;
use std::time::Instant;

use crate::contestants::Contestant;
use crate::workloads::Segment;

/// Number of rounds in a median. It is odd, so that the median is one of them.
const ROUNDS: usize = 15;

/// Segments in a turn. They take a fraction of a scheduler's time slice, so most turns are not
/// interrupted.
const TURN: usize = 256;

/// Segments at the start of a turn that are not timed: they refill the cache after the
/// turns of others.
const WARM_UP: usize = 32;

/// Nanoseconds per segment, by contestant. The time of each turn is its median over the rounds,
/// so that interrupted turns do not count.
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
