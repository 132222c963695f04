//! Work shared out over threads. Each share is a range of the same list, and the
//! results are joined in the order of the list, so they do not depend on the number
//! of threads.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Fewest items of a share: to wake a thread takes as long as testing some dozens of
/// pairs.
const MIN_ITEMS: usize = 64;

/// The threads that a simulation works with: a pool that waits between two uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// Threads beside the caller's own.
    others: usize,
    /// Started by the first caller that has work for it, because threads inherit the
    /// priority of the one that starts them: worlds are set up at the lowest. `None`
    /// where the system gives no threads: the caller does all the work.
    pool: OnceLock<Option<Arc<ThreadPool>>>,
}

impl Threads {
    /// At most `count` threads at once; zero counts as one.
    pub(crate) fn new(count: u16) -> Self {
        Self { others: usize::from(count.saturating_sub(1)), pool: OnceLock::new() }
    }

    fn pool(&self) -> Option<&Arc<ThreadPool>> {
        let start = || {
            let name = |index| format!("sim-{}", index + 1);
            ThreadPoolBuilder::new().num_threads(self.others).thread_name(name).build()
        };
        self.pool.get_or_init(|| start().ok().map(Arc::new)).as_ref()
    }

    /// Does `work` for all of `0..count` in shares. Returns the results of the shares
    /// in order.
    pub(crate) fn in_shares<T: Send>(
        &self,
        count: usize,
        work: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let shares = (self.others + 1).min(count / MIN_ITEMS).max(1);
        let share = |index: usize| count * index / shares..count * (index + 1) / shares;
        let pool = if shares > 1 { self.pool() } else { None };
        let Some(pool) = pool else { return vec![work(0..count)] };
        let mut results: Vec<Option<T>> = (0..shares).map(|_| None).collect();
        let work = &work;
        pool.in_place_scope(|scope| {
            let mut places = results.iter_mut().enumerate();
            let own = places.next();
            for (index, place) in places {
                scope.spawn(move |_| *place = Some(work(share(index))));
            }
            if let Some((index, place)) = own {
                *place = Some(work(share(index)));
            }
        });
        results.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_share_and_in_order() {
        for count in [0, 1, MIN_ITEMS, 5 * MIN_ITEMS + 3] {
            for threads in [0, 1, 2, 3, 8] {
                let shares =
                    Threads::new(threads).in_shares(count, |range| range.collect::<Vec<_>>());
                assert_eq!(shares.concat(), (0..count).collect::<Vec<_>>());
                assert!(shares.len() <= usize::from(threads).max(1));
            }
        }
    }

    /// Symptom: late ticks on a busy machine from the second round on. Cause: the
    /// threads were started by the thread that loads levels, and inherited its lowest
    /// priority. Cure: the thread that uses them first starts them.
    #[test]
    fn threads_are_started_by_the_first_caller_with_work() {
        let threads = Threads::new(2);
        threads.in_shares(MIN_ITEMS, |_| ());
        assert!(threads.pool.get().is_none());
        threads.in_shares(2 * MIN_ITEMS, |_| ());
        assert!(threads.pool.get().is_some());
    }
}
