//! Work in many short stages. Each stage needs the results of the stage before. The threads stay
//! for all stages, because waking a thread takes longer than a stage.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{Claims, SPINS_BEFORE_YIELD, Threads};

/// The stage that is under way. The threads exchange it as one number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stage {
    /// The task of the stage, for `work`.
    task: u16,
    /// Number of items of the stage.
    count: u16,
    /// Number of stages so far, this one included.
    number: u32,
}

impl Stage {
    /// The value before the first stage.
    const NONE: Self = Self { task: 0, count: 0, number: 0 };

    /// The value after the last stage.
    const END: Self = Self { task: 0, count: 0, number: u32::MAX };

    fn bits(self) -> u64 {
        u64::from(self.task) << 48 | u64::from(self.count) << 32 | u64::from(self.number)
    }

    fn of(bits: u64) -> Self {
        Self { task: (bits >> 48) as u16, count: (bits >> 32) as u16, number: bits as u32 }
    }
}

/// Stages that the caller's thread and others work on.
pub(crate) struct Stages<'a> {
    work: &'a (dyn Fn(u16, usize) + Sync),
    /// The bits of the stage that is under way.
    stage: AtomicU64,
    claims: Claims,
    /// Number of items of the stage that are done.
    done: AtomicUsize,
    threads: usize,
    alone: bool,
}

impl Threads {
    /// Lets `lead` run stages ([`Stages::run`]), in which `work` is called with the stage's
    /// task and the index of an item. `most` is the maximum number of items.
    pub(crate) fn in_stages(
        &self,
        most: usize,
        work: impl Fn(u16, usize) + Sync,
        lead: impl FnOnce(&Stages) + Send,
    ) {
        debug_assert!(most <= usize::from(u16::MAX), "a stage has {most} items, more than 65,535");
        let alone = !self.share(most);
        let stages = Stages {
            work: &work,
            stage: AtomicU64::new(Stage::NONE.bits()),
            claims: Claims::new(if alone { 0 } else { most }),
            done: AtomicUsize::new(0),
            threads: self.count,
            alone,
        };
        if alone {
            return lead(&stages);
        }
        rayon::scope(|scope| {
            for _ in 1..self.count.min(most) {
                scope.spawn(|_| stages.help());
            }
            let _end = End(&stages);
            lead(&stages);
        });
    }
}

impl Stages<'_> {
    /// Does `task` for each item below `count`, and returns when all are done.
    pub(crate) fn run(&self, task: u16, count: usize) {
        if self.alone || count < 2 {
            return (0..count).for_each(|item| (self.work)(task, item));
        }
        self.done.store(0, Ordering::Relaxed);
        debug_assert!(
            count <= self.claims.len(),
            "a stage has {count} items, more than were \
            announced"
        );
        let number = Stage::of(self.stage.load(Ordering::Relaxed)).number + 1;
        let stage = Stage { task, count: count as u16, number };
        self.stage.store(stage.bits(), Ordering::Release);
        self.take(stage);
        wait_until(|| self.done.load(Ordering::Acquire) == count);
    }

    /// Works on the items of a stage that no other thread has taken. No item is left after another
    /// stage has begun.
    fn take(&self, Stage { task, count, number }: Stage) {
        self.claims.each(number, usize::from(count), self.threads, |item| {
            let _done = Done(&self.done);
            (self.work)(task, item);
        });
    }

    /// Works on all stages until the leader ends them.
    fn help(&self) {
        let mut last = Stage::NONE;
        loop {
            let mut stage = last;
            wait_until(|| {
                stage = Stage::of(self.stage.load(Ordering::Acquire));
                stage.number != last.number
            });
            if stage == Stage::END {
                break;
            }
            self.take(stage);
            last = stage;
        }
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let mut spins = 0;
    while !is_so() {
        spins += 1;
        if spins % SPINS_BEFORE_YIELD == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Counts an item as done when dropped, also if the item's work panics. Otherwise the other threads
/// would wait for ever.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Ends the stages when dropped, also if the leader panics.
struct End<'a, 'b>(&'a Stages<'b>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.0.stage.store(Stage::END.bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Each stage sees the results of the stage before, with any number of threads.
    #[test]
    fn stages_follow_one_another() {
        for threads in [0, 1, 2, 3, 8] {
            let numbers: Vec<Mutex<u64>> = (0..7).map(Mutex::new).collect();
            let work = |task: u16, item: usize| {
                let mut number = numbers[item].lock().unwrap();
                *number = if task == 0 { *number + 1 } else { *number * 3 };
            };
            let mut expected: Vec<u64> = (0..7).collect();
            let lead = |stages: &Stages| {
                for _ in 0..15 {
                    for (task, count) in [(0, 7), (1, 5)] {
                        stages.run(task, count);
                        for number in &mut expected[..count] {
                            *number = if task == 0 { *number + 1 } else { *number * 3 };
                        }
                        let now: Vec<u64> = numbers.iter().map(|n| *n.lock().unwrap()).collect();
                        assert_eq!(now, expected);
                    }
                }
            };
            let team = Threads::new(threads);
            team.gathered(|| team.in_stages(7, work, lead));
        }
    }
}
