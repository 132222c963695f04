use std::hint::black_box;
use std::time::Instant;

use crate::contestants::Contestant;
use crate::workloads::Segment;

/// Rounds that medians are taken over. Odd, so that one round is the median.
const ROUNDS: usize = 15;

/// Segments after which the next contestant has its turn: well under the
/// time slice of a scheduler.
const TURN: usize = 512;

/// Nanoseconds per segment, by contestant: the median over the rounds.
pub(crate) fn interleaved(contestants: &[Contestant<'_>], segments: &[Segment]) -> Vec<f64> {
    let mut rounds = vec![Vec::with_capacity(ROUNDS); contestants.len()];
    for _ in 0..ROUNDS {
        let mut spent = vec![0.0; contestants.len()];
        for turn in segments.chunks(TURN) {
            for (contestant, spent) in contestants.iter().zip(&mut spent) {
                let started = Instant::now();
                for segment in turn {
                    black_box(contestant.cast(black_box(segment)));
                }
                *spent += started.elapsed().as_secs_f64();
            }
        }
        for (round, spent) in rounds.iter_mut().zip(spent) {
            round.push(spent * 1e9 / segments.len() as f64);
        }
    }
    rounds.into_iter().map(median).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
