use dashmap::DashMap;
use dashmap::try_result::TryResult;
use obsp_proto::control::{MatchEvent, PlayerName};
use obsp_proto::snapshot::Lead;
use obsp_sim::{EntityId, Vitals};

/// Who plays: what the tick thread and the tasks of the connections have to
/// tell one another about each player.
///
/// A connection's task puts its player in and takes them out; the tick thread
/// writes how their commands arrive. Nobody holds an entry longer than it
/// takes to copy a few numbers, and the tick thread not even waits for that:
/// what it cannot write now it writes a tick later.
#[derive(Debug, Default)]
pub(crate) struct Sessions(DashMap<EntityId, Entry>);

/// One player.
#[derive(Clone, Debug)]
struct Entry {
    /// What they want to be called.
    name: PlayerName,
    /// How early their commands come, if any came lately.
    lead: Option<Lead>,
    /// Their health and score, as all others know of them.
    vitals: Option<Vitals>,
}

impl Sessions {
    /// Puts a player in.
    pub(crate) fn insert(&self, player: EntityId, name: PlayerName) {
        self.0.insert(player, Entry { name, lead: None, vitals: None });
    }

    /// Takes a player out.
    pub(crate) fn remove(&self, player: EntityId) {
        self.0.remove(&player);
    }

    /// How early the commands of a player come.
    pub(crate) fn lead(&self, player: EntityId) -> Option<Lead> {
        self.0.get(&player)?.lead
    }

    /// Notes how a player's commands arrive and how they stand, unless somebody
    /// else is just looking.
    pub(crate) fn note(&self, player: EntityId, lead: Option<Lead>, vitals: Option<Vitals>) {
        if let TryResult::Present(mut entry) = self.0.try_get_mut(&player) {
            entry.lead = lead;
            entry.vitals = vitals;
        }
    }

    /// What a newcomer is told of those who are there, in order of their slots.
    pub(crate) fn roster(&self) -> Vec<MatchEvent> {
        let mut roster: Vec<_> =
            self.0.iter().map(|entry| (*entry.key(), entry.value().clone())).collect();
        roster.sort_unstable_by_key(|(player, _)| *player);
        let told = roster.into_iter().flat_map(|(player, Entry { name, vitals, .. })| {
            let standing = vitals.map(|vitals| MatchEvent::Vitals { player, vitals });
            [Some(MatchEvent::Joined { player, name }), standing]
        });
        told.flatten().collect()
    }

    /// Who has the highest score, of those who have one.
    pub(crate) fn best(&self) -> Option<(PlayerName, i16)> {
        let scored = |entry: &Entry| Some((entry.name.clone(), entry.vitals?.score));
        let scores = self.0.iter().filter_map(|entry| scored(entry.value()));
        scores.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
    }

    /// The score of the player of this name.
    pub(crate) fn score(&self, name: &PlayerName) -> Option<i16> {
        let entry = self.0.iter().find(|entry| entry.name == *name)?;
        entry.vitals.map(|vitals| vitals.score)
    }

    /// How many players there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
