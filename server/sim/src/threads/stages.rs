//! Work in many short stages, each of which needs the results of the one before: threads
//! stay for all of them, because to wake one takes longer than a stage.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{SPINS_BEFORE_YIELD, Threads};

/// The stage that is under way. In one number, so that a thread takes an item together with
/// the stage that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ticket {
    /// The number of the stage's task.
    task: u16,
    /// Items of the stage.
    count: u16,
    /// The next item that nobody has taken.
    next: u32,
}

impl Ticket {
    /// After all stages.
    const END: Self = Self { task: u16::MAX, count: 0, next: 0 };

    fn bits(self) -> u64 {
        u64::from(self.task) << 48 | u64::from(self.count) << 32 | u64::from(self.next)
    }

    fn of(bits: u64) -> Self {
        Self { task: (bits >> 48) as u16, count: (bits >> 32) as u16, next: bits as u32 }
    }
}

/// Stages that the caller's thread and others work on.
pub(crate) struct Stages<'a> {
    work: &'a (dyn Fn(u16, usize) + Sync),
    ticket: AtomicU64,
    /// Items of the stage that are done.
    done: AtomicUsize,
    alone: bool,
}

impl Threads {
    /// Lets `lead` run stages ([`Stages::run`]), in which `work` is called with the stage's
    /// task and the index of an item. `most` is the greatest number of items.
    pub(crate) fn in_stages(
        &self,
        most: usize,
        work: impl Fn(u16, usize) + Sync,
        lead: impl FnOnce(&Stages) + Send,
    ) {
        let alone = !self.share(most);
        let ticket = AtomicU64::new(Ticket { task: 0, count: 0, next: 0 }.bits());
        let stages = Stages { work: &work, ticket, done: AtomicUsize::new(0), alone };
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
        let count = count.min(usize::from(u16::MAX));
        let ticket = Ticket { task, count: count as u16, next: 0 };
        self.ticket.store(ticket.bits(), Ordering::Release);
        while self.take() {}
        wait_until(|| self.done.load(Ordering::Acquire) == count);
    }

    /// Does an item of the stage that is under way. Returns whether there was one.
    fn take(&self) -> bool {
        let now = Ticket::of(self.ticket.load(Ordering::Relaxed));
        if now.next >= u32::from(now.count) {
            return false;
        }
        // Another stage may have begun meanwhile: then it is an item of that one.
        let Ticket { task, count, next } = Ticket::of(self.ticket.fetch_add(1, Ordering::Acquire));
        if next >= u32::from(count) {
            return false;
        }
        let _done = Done(&self.done);
        (self.work)(task, next as usize);
        true
    }

    /// Works on all stages until they end.
    fn help(&self) {
        let ticket = || Ticket::of(self.ticket.load(Ordering::Relaxed));
        while ticket().task != Ticket::END.task {
            if !self.take() {
                wait_until(|| {
                    let Ticket { task, count, next } = ticket();
                    next < u32::from(count) || task == Ticket::END.task
                });
            }
        }
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
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

/// Counts an item as done, even if its work panics: the others would wait for ever.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Ends the stages, even if a panic does.
struct End<'a, 'b>(&'a Stages<'b>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.0.ticket.store(Ticket::END.bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Each stage sees the results of the one before, by any number of threads.
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
