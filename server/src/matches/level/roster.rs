use dashmap::DashMap;
use dashmap::try_result::TryResult;
use obsp_proto::control::{MatchEvent, PlayerName, Vitals};
use obsp_sim::EntityId;

/// The players of a level: names from the tasks of their connections, vitals from the
/// tick thread. Agents that the game has named are among them; the tick thread inserts them.
///
/// A connection's task inserts its player and removes it again. An entry is locked no longer than
/// it takes to copy a few numbers. The tick thread does not wait even for that, but writes the
/// vitals a tick later. It waits only to list an agent or to take one off the list.
#[derive(Debug, Default)]
pub(crate) struct Roster(DashMap<EntityId, Entry>);

#[derive(Clone, Debug)]
struct Entry {
    /// The name that the player is shown by.
    name: PlayerName,
    /// The player's health and score, as all clients know them.
    vitals: Option<Vitals>,
    is_agent: bool,
}

impl Roster {
    pub(crate) fn insert(&self, player: EntityId, name: PlayerName) {
        self.0.insert(player, Entry { name, vitals: None, is_agent: false });
    }

    pub(crate) fn insert_agent(&self, agent: EntityId, name: PlayerName) {
        self.0.insert(agent, Entry { name, vitals: None, is_agent: true });
    }

    pub(crate) fn remove(&self, player: EntityId) {
        self.0.remove(&player);
    }

    /// Whether clients have been told, or are about to be told, that a player has left. False if
    /// another thread holds the entry just now.
    pub(crate) fn has_left(&self, player: EntityId) -> bool {
        matches!(self.0.try_get(&player), TryResult::Absent)
    }

    /// Notes a player's vitals, unless another thread holds the entry just now.
    pub(crate) fn note(&self, player: EntityId, vitals: Option<Vitals>) {
        if let TryResult::Present(mut entry) = self.0.try_get_mut(&player) {
            entry.vitals = vitals;
        }
    }

    /// The events that introduce all players to a new client, in order of their slots.
    pub(crate) fn introductions(&self) -> Vec<MatchEvent> {
        let mut players: Vec<_> =
            self.0.iter().map(|entry| (*entry.key(), entry.value().clone())).collect();
        players.sort_unstable_by_key(|(player, _)| *player);
        let events = players.into_iter().flat_map(|(player, Entry { name, vitals, .. })| {
            let standing = vitals.map(|vitals| MatchEvent::Vitals { player, vitals });
            [Some(MatchEvent::Joined { player, name }), standing]
        });
        events.flatten().collect()
    }

    /// The client's player with the highest score, if any has one.
    pub(crate) fn best(&self) -> Option<(PlayerName, i16)> {
        let scored = |entry: &Entry| Some((entry.name.clone(), entry.vitals?.score));
        let players = self.0.iter().filter(|entry| !entry.value().is_agent);
        let scores = players.filter_map(|entry| scored(entry.value()));
        scores.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
    }

    /// The clients' players who have a score, the best first.
    pub(crate) fn standings(&self) -> Vec<(PlayerName, i16)> {
        let scored = |entry: &Entry| Some((entry.name.clone(), entry.vitals?.score));
        let players = self.0.iter().filter(|entry| !entry.value().is_agent);
        let mut all: Vec<_> = players.filter_map(|entry| scored(entry.value())).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// The score of the client's player of this name.
    pub(crate) fn score(&self, name: &PlayerName) -> Option<i16> {
        let entry = self.0.iter().find(|entry| entry.name == *name && !entry.is_agent)?;
        entry.vitals.map(|vitals| vitals.score)
    }

    /// The number of clients' players.
    pub(crate) fn clients(&self) -> usize {
        self.0.iter().filter(|entry| !entry.value().is_agent).count()
    }
}
