//! Parallel work on many items with a deterministic result.

use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

/// Does `work` on every item and returns the results in the order of the items, no matter which
/// thread finishes which item first. `done` is called on the caller's thread with each result as it
/// arrives.
pub(super) fn in_order<T: Send, R: Send>(
    threads: NonZeroUsize,
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
    mut done: impl FnMut(&R),
) -> Vec<R> {
    let threads = threads.get().min(items.len());
    if threads <= 1 {
        let one = |item| {
            let result = work(item);
            done(&result);
            result
        };
        return items.into_iter().map(one).collect();
    }
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let queue = Mutex::new(items.into_iter().enumerate());
    // A panic of a thread propagates through the scope, so a state that the thread left
    // inconsistent is never used.
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((index, item)) = next() {
                    // This cannot fail, because the receiver outlives the threads.
                    let _ = sender.send((index, work(item)));
                }
            });
        }
        drop(sender);
        for (index, result) in receiver {
            done(&result);
            results[index] = Some(result);
        }
    });
    results.into_iter().flatten().collect()
}
