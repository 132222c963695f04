//! Work shared out over threads. Each share is a range of the same list, and the
//! results are joined in the order of the list, so they do not depend on the number
//! of threads.

use std::ops::Range;

/// Fewest items of a share: starting a thread takes as long as testing some dozens of
/// pairs.
const MIN_ITEMS: usize = 128;

/// Does `work` for all of `0..count` in at most `threads` shares at once. Returns
/// the results of the shares in order.
pub(crate) fn in_shares<T: Send>(
    threads: u16,
    count: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let shares = usize::from(threads).min(count / MIN_ITEMS).max(1);
    let share = |index: usize| count * index / shares..count * (index + 1) / shares;
    if shares == 1 {
        return vec![work(0..count)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> =
            (1..shares).map(|index| scope.spawn(move || work(share(index)))).collect();
        let mut done = vec![work(share(0))];
        for other in others {
            match other.join() {
                Ok(result) => done.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_share_and_in_order() {
        for count in [0, 1, MIN_ITEMS, 5 * MIN_ITEMS + 3] {
            for threads in [0, 1, 2, 3, 8] {
                let shares = in_shares(threads, count, |range| range.collect::<Vec<_>>());
                assert_eq!(shares.concat(), (0..count).collect::<Vec<_>>());
                assert!(shares.len() <= usize::from(threads).max(1));
            }
        }
    }
}
