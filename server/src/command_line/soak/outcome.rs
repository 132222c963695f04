//! The game's side of a soak: the events, values and scores that its players were sent. They show
//! the author of a rule whether the rule ever applied.

use std::collections::BTreeMap;
use std::fmt;

use obsp_game::{Event, EventKind, Field, RunningMatch, Schema};
use obsp_sim::EntityId;
use serde::Serialize;

/// Values by the names of their fields.
type Values = BTreeMap<String, i32>;

/// The events, values and scores that the game sent its players.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The name of the game.
    pub game: String,
    /// How often each kind of event was sent. The game's own events have their names.
    pub events: BTreeMap<String, u64>,
    /// The line that was announced last.
    pub announced: Option<String>,
    /// The values of the match at the end.
    pub values: Values,
    /// The players at the end, in order of joining.
    pub scores: Vec<PlayerOutcome>,
}

/// A player's score and values at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlayerOutcome {
    /// The slot of the player's entity.
    pub slot: u16,
    /// The score; `None` if the game counts none.
    pub score: Option<i16>,
    /// The values of the player's fields, including those that only the player is sent.
    pub values: Values,
}

impl Outcome {
    /// Counts the events of the last tick.
    pub(super) fn count(&mut self, events: &[Event], schema: &Schema) {
        for event in events {
            let name = name_of(event, schema);
            match self.events.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.events.insert(name.to_owned(), 1)),
            }
            if let Event::Announced { line } = event {
                self.announced = Some(line.clone());
            }
        }
    }

    /// Notes the values and scores at the end of the match.
    pub(super) fn conclude(
        &mut self,
        simulation: &dyn RunningMatch,
        schema: &Schema,
        players: impl Iterator<Item = EntityId>,
    ) {
        let all_values = simulation.values(&simulation.world().state());
        let named = |fields: &[Field], values: &obsp_proto::schema::FieldValues| {
            let pairs = values.iter(fields).map(|(field, value)| (field.name().to_owned(), value));
            pairs.collect::<Values>()
        };
        self.game = simulation.game_name().to_owned();
        self.values = named(schema.of_match(), &all_values.of_match);
        self.scores = players
            .map(|player| {
                let of_all = all_values.of_entities.iter().map(|of| (of, schema.of_players()));
                let of_own =
                    all_values.of_own_players.iter().map(|of| (of, schema.of_own_player()));
                let of_player = of_all.chain(of_own).filter(|((id, _), _)| *id == player);
                PlayerOutcome {
                    slot: player.slot,
                    score: simulation.vitals(player).map(|vitals| vitals.score),
                    values: of_player.flat_map(|((_, own), fields)| named(fields, own)).collect(),
                }
            })
            .collect();
    }
}

fn name_of<'a>(event: &Event, schema: &'a Schema) -> &'a str {
    match event {
        Event::Spawned { .. } => "spawned",
        Event::Teleported { .. } => "teleported",
        Event::Ray { .. } => "ray",
        Event::Blast { .. } => "blast",
        Event::Hurt { .. } => "hurt",
        Event::Died { .. } => "died",
        Event::Replaced { .. } => "replaced",
        Event::Detached { .. } => "detached",
        Event::Exited { .. } => "exited",
        Event::Announced { .. } => "announced",
        Event::Said { .. } => "said",
        // The schema names every event that can be sent.
        Event::Game(event) | Event::Private { event, .. } => {
            schema.events().get(usize::from(event.kind())).map_or("unknown", EventKind::name)
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |pairs: &mut dyn Iterator<Item = (&String, String)>| {
            pairs.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        let events = list(&mut self.events.iter().map(|(name, count)| (name, count.to_string())));
        write!(f, "{:<11} events: {events}", self.game)?;
        if !self.values.is_empty() {
            let values = self.values.iter().map(|(name, value)| (name, value.to_string()));
            write!(f, "\n            match: {}", list(&mut { values }))?;
        }
        if let Some(line) = &self.announced {
            write!(f, "\n            announced last: {line}")?;
        }
        for PlayerOutcome { slot, score, values } in &self.scores {
            let score = score.map_or(String::new(), |score| format!("score {score}"));
            let values = values.iter().map(|(name, value)| (name, value.to_string()));
            write!(f, "\n            player {slot}: {score} {}", list(&mut { values }))?;
        }
        Ok(())
    }
}
