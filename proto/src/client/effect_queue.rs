//! Effects that have arrived and wait for the caller.

use std::collections::VecDeque;

use crate::Tick;
use crate::commands::Acknowledgement;
use crate::effects::{Effect, TickEffects};

/// Maximum number of effects that wait. If a caller takes none, the oldest are dropped.
const CAPACITY: usize = 1024;

/// Effects in the order of their arrival, each once.
#[derive(Clone, Debug)]
pub(super) struct EffectQueue {
    waiting: VecDeque<(Tick, Effect)>,
    /// The ticks whose effects have arrived. A tick's effects are the same in all datagrams.
    known: Acknowledgement,
    /// The tick of the server's hello. Effects of this tick and before belong to an earlier world.
    hello: Tick,
}

impl EffectQueue {
    /// An empty queue of a client whose server's hello has this tick.
    pub(super) fn new(hello: Tick) -> Self {
        Self { waiting: VecDeque::new(), known: Acknowledgement::of(hello), hello }
    }

    /// Adds the effects of ticks that are new. Returns the number of these effects.
    pub(super) fn push(&mut self, ticks: Vec<TickEffects>) -> u64 {
        let mut added = 0;
        for TickEffects { tick, effects } in ticks {
            let is_new =
                tick > self.hello && !self.known.contains(tick) && !self.known.is_beyond(tick);
            if is_new {
                self.known.add(tick);
                added += effects.len() as u64;
                self.waiting.extend(effects.into_iter().map(|effect| (tick, effect)));
            }
        }
        let surplus = self.waiting.len().saturating_sub(CAPACITY);
        self.waiting.drain(..surplus);
        added
    }

    /// Takes the next effect.
    pub(super) fn pop(&mut self) -> Option<(Tick, Effect)> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(tick: u32) -> TickEffects {
        let effects = vec![Effect::Replaced { entity: tick as u16 }];
        TickEffects { tick: Tick(tick), effects }
    }

    fn taken(queue: &mut EffectQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|(tick, _)| tick.0).collect()
    }

    #[test]
    fn each_tick_is_taken_once_in_the_order_of_arrival() {
        let mut queue = EffectQueue::new(Tick(100));
        assert_eq!(queue.push(vec![tick(101), tick(103)]), 2);
        assert_eq!(queue.push(vec![tick(101), tick(103), tick(104)]), 1);
        // A datagram was overtaken.
        assert_eq!(queue.push(vec![tick(101), tick(102)]), 1);
        assert_eq!(taken(&mut queue), [101, 103, 104, 102]);
    }

    #[test]
    fn effects_of_an_earlier_world_and_late_ones_are_dropped() {
        let mut queue = EffectQueue::new(Tick(100));
        assert_eq!(queue.push(vec![tick(99), tick(100)]), 0);
        assert_eq!(queue.push(vec![tick(140)]), 1);
        assert_eq!(queue.push(vec![tick(107), tick(108)]), 1, "only 107 is too late");
        assert_eq!(taken(&mut queue), [140, 108]);
    }

    #[test]
    fn a_caller_who_takes_nothing_holds_a_bounded_number_of_the_latest() {
        let mut queue = EffectQueue::new(Tick(0));
        (1..5000).for_each(|number| assert_eq!(queue.push(vec![tick(number)]), 1));
        let taken = taken(&mut queue);
        assert_eq!((taken.len(), taken[CAPACITY - 1]), (CAPACITY, 4999));
    }
}
