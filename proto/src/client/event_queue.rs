use std::collections::VecDeque;

use crate::control::MatchEvent;
use crate::{ProtocolError, Tick};

/// Most events that wait to be shown: every player of a full match joining and
/// leaving several times a second.
const CAPACITY: usize = 1024;

/// Events that have arrived and wait until their tick is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(VecDeque<(Tick, MatchEvent)>);

impl EventQueue {
    /// Adds an event that has just arrived.
    ///
    /// # Errors
    /// It is of an earlier tick than the one before, or one too many waits.
    pub(super) fn push(&mut self, tick: Tick, event: MatchEvent) -> Result<(), ProtocolError> {
        let in_order = self.0.back().is_none_or(|&(last, _)| last <= tick);
        if !in_order || self.0.len() >= CAPACITY {
            return Err(ProtocolError::Unexpected {
                message: "event",
                state: if in_order { "too many wait" } else { "a later one was told" },
            });
        }
        self.0.push_back((tick, event));
        Ok(())
    }

    /// Takes the next event that shows at `shown` or showed before.
    pub(super) fn pop(&mut self, shown: Tick) -> Option<(Tick, MatchEvent)> {
        let is_due = self.0.front().is_some_and(|&(tick, _)| tick <= shown);
        if is_due { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::EntityId;

    #[test]
    fn events_wait_for_their_tick_and_keep_their_order() {
        let left = |slot| MatchEvent::Left { player: EntityId { slot, generation: 0 } };
        let mut queue = EventQueue::default();
        for (tick, slot) in [(5, 1), (5, 2), (9, 3)] {
            queue.push(Tick(tick), left(slot)).unwrap();
        }
        assert!(queue.push(Tick(8), left(4)).is_err());
        assert_eq!(queue.pop(Tick(4)), None);
        assert_eq!(queue.pop(Tick(8)), Some((Tick(5), left(1))));
        assert_eq!(queue.pop(Tick(8)), Some((Tick(5), left(2))));
        assert_eq!(queue.pop(Tick(8)), None);
        assert_eq!(queue.pop(Tick(9)), Some((Tick(9), left(3))));
    }

    #[test]
    fn a_flood_of_events_ends() {
        let left = MatchEvent::Left { player: EntityId { slot: 0, generation: 0 } };
        let mut queue = EventQueue::default();
        let held = (0..10_000).take_while(|_| queue.push(Tick(1), left.clone()).is_ok());
        assert_eq!(held.count(), CAPACITY);
    }
}
