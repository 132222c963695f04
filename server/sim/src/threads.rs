//! Work that is divided among threads. Shares are ranges of one list, and a free thread takes the
//! next share. The results are joined in the order of the list, so they depend neither on the
//! number of threads nor on which thread does which share.

mod stages;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

pub(crate) use stages::Stages;

/// Number of shares for each thread. There are several shares, because they take different times,
/// and some threads start late.
const SHARES_A_THREAD: usize = 8;

/// Number of checks that a waiting thread makes before it yields: about fifty microseconds. On a
/// busy machine a thread that yields waits for the time slice of another process, which takes
/// milliseconds.
const SPINS_BEFORE_YIELD: u32 = 4000;

/// Number of times that a thread without work looks for work before it sleeps: about a millisecond.
/// The parts of a tick that a single thread does seldom take longer.
const MAX_SEARCHES: u32 = 8000;

/// Number of times that a thread without work looks for work before it yields.
const SEARCHES_BEFORE_YIELD: u32 = 1000;

/// Maximum number of threads of a pool. No tick has work for more threads, and each thread takes
/// memory.
const MAX_THREADS: usize = 256;

/// The threads that a simulation works with: the caller's, and others that sleep between two
/// uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// Number of threads that work at once.
    count: usize,
}

impl Default for Threads {
    fn default() -> Self {
        Self { count: 1 }
    }
}

thread_local! {
    /// The pools that this thread has started, one for each number of threads. A thread keeps its
    /// pools, because it can be a member of only one pool in its life, and may run one world after
    /// another. `None` if the system gives no threads. The caller then does all the work.
    static POOLS: RefCell<Vec<(usize, Option<Rc<ThreadPool>>)>> = const { RefCell::new(Vec::new()) };

    /// Whether this thread is within [`Threads::gathered`].
    static GATHERED: Cell<bool> = const { Cell::new(false) };
}

/// The pool of the calling thread. The caller is a member of the first pool that it starts, and
/// works instead of sleeping. So a thread that it wakes gets an idle processor. If the caller
/// slept, it would share one processor with the thread that it woke.
///
/// The pool starts with the first work, not with the world. Threads inherit the priority of the
/// thread that starts them, and worlds are set up at the lowest priority.
fn pool(count: usize) -> Option<Rc<ThreadPool>> {
    let builder = || {
        let name = |index| format!("sim-{index}");
        ThreadPoolBuilder::new().num_threads(count).thread_name(name)
    };
    POOLS.with_borrow_mut(|pools| {
        if let Some((_, pool)) = pools.iter().find(|(threads, _)| *threads == count) {
            return pool.clone();
        }
        let with_caller = builder().use_current_thread().build();
        let pool = with_caller.or_else(|_| builder().build()).ok().map(Rc::new);
        pools.push((count, pool.clone()));
        pool
    })
}

impl Threads {
    /// At most `count` threads at once, and no more than [`MAX_THREADS`]. Zero counts as one.
    pub(crate) fn new(count: u16) -> Self {
        // WebAssembly has one thread, and a module should not contain the code for more.
        let alone = cfg!(target_family = "wasm");
        let count = usize::from(count).clamp(1, MAX_THREADS);
        Self { count: if alone { 1 } else { count } }
    }

    /// Does `work`, which may divide its parts among the threads. The threads work only within this
    /// call. They stay awake during the call as long as work comes, because waking a thread takes
    /// as long as many parts do.
    ///
    /// The thread that leads the work is a member of the pool. So it never waits for a thread that
    /// the system has not let run yet, because any free thread takes that thread's work.
    pub(crate) fn gathered<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if cfg!(target_family = "wasm") || self.count < 2 {
            return work();
        }
        match pool(self.count) {
            Some(pool) => pool.install(|| {
                let _until_done = KeptAwake::begin();
                work()
            }),
            None => work(),
        }
    }

    /// Whether other threads can share the work: the caller is within [`Threads::gathered`].
    #[inline]
    pub(crate) fn are_gathered(&self) -> bool {
        !cfg!(target_family = "wasm") && self.count > 1 && GATHERED.get()
    }

    #[inline]
    fn share(&self, jobs: usize) -> bool {
        jobs > 1 && self.are_gathered()
    }

    /// Does `work` for all of `0..count` in shares of at least `least` items, because waking a
    /// thread takes as long as testing dozens of pairs. Returns the results of the shares in order.
    pub(crate) fn in_shares<T: Send>(
        &self,
        count: usize,
        least: usize,
        work: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let most = if self.count < 2 { 1 } else { SHARES_A_THREAD * self.count };
        let shares = most.min(count / least).max(1);
        if !self.share(shares) {
            return vec![work(0..count)];
        }
        let results: Vec<Mutex<Option<T>>> = (0..shares).map(|_| Mutex::new(None)).collect();
        share_out(self.count, shares, &|index| {
            let result = work(count * index / shares..count * (index + 1) / shares);
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        let result =
            |place: Mutex<Option<T>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().filter_map(result).collect()
    }

    /// Does `work` for each of `items`. Each item is worth a thread.
    pub(crate) fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        if !self.share(items.len()) {
            return items.iter_mut().for_each(work);
        }
        let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
        share_out(self.count, items.len(), &|index| {
            work(&mut items[index].lock().unwrap_or_else(PoisonError::into_inner));
        });
    }
}

/// The items of all shares in order.
pub(crate) fn joined<T>(shares: Vec<Vec<T>>) -> Vec<T> {
    let mut shares = shares.into_iter();
    let mut all = shares.next().unwrap_or_default();
    all.reserve(shares.as_slice().iter().map(Vec::len).sum());
    shares.for_each(|share| all.extend(share));
    all
}

/// Calls `work` with each number below `count`, on up to `threads` threads of the pool, the
/// caller's included.
fn share_out(threads: usize, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let (claims, done) = (Claims::new(count), AtomicUsize::new(0));
    let take = || {
        claims.each(1, count, threads, |index| {
            work(index);
            done.fetch_add(1, Ordering::Relaxed);
        });
    };
    rayon::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(|_| take());
        }
        take();
        // At its end the scope would yield at once, so the thread spins before that. If a share
        // panics, `done` stays below `count`, and the scope waits.
        let mut spins = 0;
        while done.load(Ordering::Relaxed) < count && spins < SPINS_BEFORE_YIELD {
            spins += 1;
            std::hint::spin_loop();
        }
    });
}

/// Records which items of a list are taken in each round. Each thread begins every round with the
/// same part of the list, because its cache still holds that part. Then it helps the other threads,
/// from the backs of their parts.
struct Claims {
    /// The last round in which an item was taken.
    rounds: Vec<AtomicU32>,
}

impl Claims {
    /// A record of `count` items, none of which is taken yet. Rounds count from one.
    fn new(count: usize) -> Self {
        Self { rounds: (0..count).map(|_| AtomicU32::new(0)).collect() }
    }

    fn len(&self) -> usize {
        self.rounds.len()
    }

    /// Calls `work` with each item below `count` that the calling thread, one of `threads`, takes
    /// in a round. The earlier rounds must be over.
    fn each(&self, round: u32, count: usize, threads: usize, mut work: impl FnMut(usize)) {
        let own = rayon::current_thread_index().unwrap_or(0) % threads;
        let part = |thread: usize| count * thread / threads..count * (thread + 1) / threads;
        let others = (1..threads).map(|ahead| (own + ahead) % threads);
        for item in part(own).chain(others.flat_map(|other| part(other).rev())) {
            let mark = &self.rounds[item];
            let is_free = mark.load(Ordering::Relaxed) < round;
            if is_free && mark.fetch_max(round, Ordering::Acquire) < round {
                work(item);
            }
        }
    }
}

/// Keeps the other threads of the pool awake while it lives.
struct KeptAwake {
    ended: Arc<AtomicBool>,
}

impl KeptAwake {
    /// Wakes the other threads. The caller is the thread of the pool that leads the work.
    fn begin() -> Self {
        GATHERED.set(true);
        let ended = Arc::new(AtomicBool::new(false));
        let (leader, until) = (rayon::current_thread_index(), Arc::clone(&ended));
        rayon::spawn_broadcast(move |own| {
            // The leader comes here only while it waits for other threads, so it returns at once.
            if Some(own.index()) != leader {
                look_for_work(&until);
            }
        });
        Self { ended }
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        GATHERED.set(false);
        self.ended.store(true, Ordering::Relaxed);
        // The broadcast has a call for the leader as well, which may not have run yet. Such calls
        // would pile up, and would stop the pool from ending with its thread.
        while let Some(Yield::Executed) = rayon::yield_local() {}
    }
}

/// Does the divided work until `ended` is set, or until no work has come for a long time.
fn look_for_work(ended: &AtomicBool) {
    let mut searches = 0;
    while searches < MAX_SEARCHES && !ended.load(Ordering::Relaxed) {
        searches = match rayon::yield_now() {
            Some(Yield::Executed) => 0,
            _ => searches + 1,
        };
        if searches % SEARCHES_BEFORE_YIELD == SEARCHES_BEFORE_YIELD - 1 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_share_and_in_order() {
        for count in [0, 1, 32, 163, 3200] {
            for threads in [0, 1, 2, 3, 8] {
                let team = Threads::new(threads);
                let share = |range: Range<usize>| range.collect::<Vec<_>>();
                let shares = team.gathered(|| team.in_shares(count, 32, share));
                assert_eq!(shares.concat(), (0..count).collect::<Vec<_>>());
                let most = usize::from(threads).max(1) * SHARES_A_THREAD;
                assert!(shares.len() <= if threads < 2 { 1 } else { most });
            }
        }
    }

    #[test]
    fn each_item_is_worked_on_once() {
        for threads in [0, 1, 2, 8] {
            let mut items = vec![0; 50];
            let team = Threads::new(threads);
            team.gathered(|| team.for_each(&mut items, |item| *item += 1));
            assert_eq!(items, [1; 50]);
        }
    }

    /// Symptom: late ticks on a busy machine from the second round on. Cause: the
    /// threads were started by the thread that loads levels, and inherited its lowest
    /// priority. Cure: the first thread that has work for them starts them.
    #[test]
    fn threads_are_started_by_the_first_caller_with_work() {
        let threads = Threads::new(2);
        threads.in_shares(64, 32, |_| ());
        let started = || POOLS.with_borrow(Vec::len);
        assert_eq!(started(), 0);
        threads.gathered(|| ());
        assert_eq!(started(), 1);
    }
}
