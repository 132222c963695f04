//! Match events that have arrived and wait until their tick is rendered.

use std::collections::{HashSet, VecDeque};

use crate::control::MatchEvent;
use crate::{ProtocolError, Tick};

/// Maximum number of events that wait: enough for every player of a full match to join and leave
/// several times within a second.
const CAPACITY: usize = 1024;

/// Events in the order of their ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(VecDeque<(Tick, MatchEvent)>);

impl EventQueue {
    /// Adds an event that has just arrived. If too many already wait, some are dropped: deaths,
    /// chat, the game's events, and vitals that a later event replaces. This happens to a client
    /// that loads the map for a minute.
    ///
    /// # Errors
    /// The event's tick is earlier than that of the last event, or too many events wait.
    pub(super) fn push(&mut self, tick: Tick, event: MatchEvent) -> Result<(), ProtocolError> {
        let in_order = self.0.back().is_none_or(|&(last, _)| last <= tick);
        if self.0.len() >= CAPACITY {
            self.drop_superseded();
        }
        if !in_order || self.0.len() >= CAPACITY {
            return Err(ProtocolError::Unexpected {
                message: "event",
                state: if in_order { "too many events wait" } else { "a later event has arrived" },
            });
        }
        self.0.push_back((tick, event));
        Ok(())
    }

    /// Keeps the events that say which players are in the match, their latest vitals, the server's
    /// announcements, and the phases of the match. Drops all others.
    fn drop_superseded(&mut self) {
        let mut later = HashSet::new();
        for (tick, event) in std::mem::take(&mut self.0).into_iter().rev() {
            let is_kept = match event {
                MatchEvent::Joined { .. }
                | MatchEvent::Announced { .. }
                | MatchEvent::Round { .. } => true,
                MatchEvent::Left { player } => {
                    later.insert(player);
                    true
                }
                MatchEvent::Vitals { player, .. } => later.insert(player),
                MatchEvent::Died { .. } | MatchEvent::Said { .. } | MatchEvent::Game(_) => false,
            };
            if is_kept {
                self.0.push_front((tick, event));
            }
        }
    }

    /// Takes the next event of a tick up to `render_tick`.
    pub(super) fn pop(&mut self, render_tick: Tick) -> Option<(Tick, MatchEvent)> {
        let is_due = self.0.front().is_some_and(|&(tick, _)| tick <= render_tick);
        if is_due { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Means, PlayerName, Vitals};
    use obsp_sim::EntityId;

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

    /// Symptom: a client fetched dm4 at 192 kbit/s during a match of 32 players. After half a
    /// minute it ended the session with a protocol error. Cause: vitals filled the queue.
    #[test]
    fn a_client_that_renders_nothing_for_minutes_keeps_the_latest_vitals() {
        let player = |slot| EntityId { slot, generation: 0 };
        let mut queue = EventQueue::default();
        queue.push(Tick(0), MatchEvent::Joined { player: player(7), name: name() }).unwrap();
        for tick in 0..20_000 {
            let slot = (tick % 32) as u16;
            let vitals = Vitals { health: tick as u16, score: 0 };
            let event = MatchEvent::Vitals { player: player(slot), vitals };
            queue.push(Tick(tick), event).unwrap();
            queue
                .push(
                    Tick(tick),
                    MatchEvent::Died {
                        player: player(slot),
                        by: player(0),
                        means: Means::default(),
                    },
                )
                .unwrap();
        }
        let mut waiting = Vec::new();
        while let Some(event) = queue.pop(Tick(u32::MAX)) {
            waiting.push(event);
        }
        assert!(waiting.is_sorted_by_key(|(tick, _)| *tick));
        let (_, first) = &waiting[0];
        assert!(matches!(first, MatchEvent::Joined { player, .. } if player.slot == 7));
        for slot in 0..32_u16 {
            let health = waiting.iter().rev().find_map(|(_, event)| match event {
                MatchEvent::Vitals { player, vitals } if player.slot == slot => Some(vitals.health),
                _ => None,
            });
            assert_eq!(health, Some(19_968 + slot));
        }
    }

    fn name() -> PlayerName {
        PlayerName::new("tester").unwrap()
    }

    #[test]
    fn a_flood_of_events_is_bounded() {
        let left = MatchEvent::Left { player: EntityId { slot: 0, generation: 0 } };
        let mut queue = EventQueue::default();
        let held = (0..10_000).take_while(|_| queue.push(Tick(1), left.clone()).is_ok());
        assert_eq!(held.count(), CAPACITY);
    }
}
