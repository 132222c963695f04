use std::collections::BTreeMap;

use obsp_proto::control::{MatchEvent, PlayerName, Vitals};
use obsp_sim::EntityId;

/// The players in the match, according to the match events that the caller has taken.
///
/// ```
/// use obsp_client::Roster;
/// use obsp_sim::EntityId;
///
/// // A client has an empty roster until the match events name the players.
/// let roster = Roster::default();
/// assert_eq!(roster.players().count(), 0);
/// assert_eq!(roster.get(EntityId { slot: 0, generation: 0 }), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Roster(BTreeMap<u16, RosterEntry>);

/// A player in the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    /// The entity that the player controls.
    pub player: EntityId,
    /// The player's name.
    pub name: PlayerName,
    /// Health and score; `None` until the server reports them for the first time.
    pub vitals: Option<Vitals>,
}

impl Roster {
    /// The players, in ascending order of their slot.
    pub fn players(&self) -> impl Iterator<Item = &RosterEntry> {
        self.0.values()
    }

    /// The entry of a player; `None` if no player in the match controls this entity.
    pub fn get(&self, player: EntityId) -> Option<&RosterEntry> {
        self.0.get(&player.slot).filter(|entry| entry.player == player)
    }

    /// Updates the roster by a match event.
    pub(crate) fn apply(&mut self, event: &MatchEvent) {
        match event {
            MatchEvent::Joined { player, name } => {
                let entry = RosterEntry { player: *player, name: name.clone(), vitals: None };
                self.0.insert(player.slot, entry);
            }
            MatchEvent::Left { player } => {
                if self.get(*player).is_some() {
                    self.0.remove(&player.slot);
                }
            }
            MatchEvent::Vitals { player, vitals } => {
                if let Some(entry) = self.0.get_mut(&player.slot).filter(|e| e.player == *player) {
                    entry.vitals = Some(*vitals);
                }
            }
            MatchEvent::Died { .. }
            | MatchEvent::Said { .. }
            | MatchEvent::Announced { .. }
            | MatchEvent::Round { .. }
            | MatchEvent::Game(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(slot: u16, generation: u16) -> EntityId {
        EntityId { slot, generation }
    }

    fn joined(player: EntityId, name: &str) -> MatchEvent {
        MatchEvent::Joined { player, name: PlayerName::new(name).unwrap() }
    }

    #[test]
    fn events_of_a_player_who_has_left_do_not_change_the_next_one_in_the_slot() {
        let mut roster = Roster::default();
        let vitals = Vitals { health: 70, score: 3 };
        roster.apply(&joined(id(2, 0), "Ann"));
        roster.apply(&MatchEvent::Vitals { player: id(2, 0), vitals });
        assert_eq!(roster.get(id(2, 0)).unwrap().vitals, Some(vitals));
        roster.apply(&MatchEvent::Left { player: id(2, 0) });
        roster.apply(&joined(id(2, 1), "Bob"));
        roster.apply(&MatchEvent::Vitals { player: id(2, 0), vitals });
        roster.apply(&MatchEvent::Left { player: id(2, 0) });
        let entries: Vec<_> = roster.players().collect();
        let bob = PlayerName::new("Bob").unwrap();
        assert_eq!(entries, [&RosterEntry { player: id(2, 1), name: bob, vitals: None }]);
        assert_eq!(roster.get(id(2, 0)), None);
    }
}
