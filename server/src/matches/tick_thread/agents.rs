//! The agents that a game has named, as clients list them among the players.

use obsp_game::RunningMatch;
use obsp_proto::Tick;
use obsp_proto::control::{MatchEvent, PlayerName, Vitals};
use obsp_sim::EntityId;

use crate::matches::level::roster::Roster;
use crate::matches::seats::standings_are_due;

/// The agents that clients know, in ascending order of id.
#[derive(Debug, Default)]
pub(crate) struct ListedAgents(Vec<Listed>);

#[derive(Debug)]
struct Listed {
    agent: EntityId,
    name: PlayerName,
    vitals: Option<Vitals>,
}

impl ListedAgents {
    /// Follows the game: lists agents that have got a name, and removes those that are gone.
    /// Returns the events by which clients learn of the changes. Vitals are announced at most as
    /// often as those of players at this tick rate.
    pub(crate) fn follow(
        &mut self,
        game: &dyn RunningMatch,
        roster: &Roster,
        (tick, tick_rate): (Tick, u16),
    ) -> Vec<MatchEvent> {
        let named = game.named_agents();
        let named =
            named.into_iter().filter_map(|(id, name)| Some((id, PlayerName::new(name).ok()?)));
        let named: Vec<_> = named.collect();
        let mut events = Vec::new();
        self.0.retain(|&Listed { agent: player, .. }| {
            let stays = named.iter().any(|(id, _)| *id == player);
            if !stays {
                roster.remove(player);
                events.push(MatchEvent::Left { player });
            }
            stays
        });
        for (agent, name) in named {
            let known = self.0.binary_search_by_key(&agent, |listed| listed.agent);
            if known.is_ok_and(|at| self.0[at].name == name) {
                continue;
            }
            roster.insert_agent(agent, name.clone());
            events.push(MatchEvent::Joined { player: agent, name: name.clone() });
            let listed = Listed { agent, name, vitals: None };
            match known {
                Ok(at) => self.0[at] = listed,
                Err(at) => self.0.insert(at, listed),
            }
        }
        for Listed { agent, vitals, .. } in &mut self.0 {
            let now = game.vitals(*agent);
            if now != *vitals && standings_are_due(*agent, tick, tick_rate) {
                *vitals = now;
                roster.note(*agent, now);
                events.extend(now.map(|vitals| MatchEvent::Vitals { player: *agent, vitals }));
            }
        }
        events
    }
}
