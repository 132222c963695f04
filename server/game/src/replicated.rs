//! What a game replicates of its own, beside where everything is.

use obsp::model::Model;
use obsp_proto::schema::{Field, FieldValues, Schema, SchemaError, SchemaParts};
use obsp_sim::EntityId;

/// The fields and events that a game declares, which all clients are told when they join.
/// Each list of fields has at most 16.
#[derive(Clone, Debug, Default)]
pub struct Replicated {
    /// Fields of the match.
    pub of_match: Vec<Field>,
    /// Fields of each player that only the player's own client is sent.
    pub of_own_player: Vec<Field>,
    /// Fields of each player.
    pub of_players: Vec<Field>,
    /// Fields of the bodies of a model, by its name.
    pub of_bodies: Vec<(&'static str, Vec<Field>)>,
    /// Names of the kinds of events that [`WorldMut::send`](crate::WorldMut::send) sends.
    pub events: Vec<&'static str>,
}

/// Whose values a game is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The match.
    Match,
    /// A player, as all clients are sent.
    Player(EntityId),
    /// A player, as only the player's own client is sent.
    OwnPlayer(EntityId),
    /// A body whose model has fields.
    Body(EntityId),
}

/// The values of a subject, for a game to set. Those that it does not set are the least of
/// their range.
#[derive(Debug)]
pub struct Values<'a> {
    fields: &'a [Field],
    values: &'a mut FieldValues,
}

impl<'a> Values<'a> {
    pub(crate) fn new(fields: &'a [Field], values: &'a mut FieldValues) -> Self {
        Self { fields, values }
    }

    /// Sets a value, clamped to the range of its field.
    ///
    /// # Panics
    /// In a debug build, if the subject has no such field: [`Replicated`] does not declare
    /// it.
    pub fn set(&mut self, field: &Field, value: impl Into<i64>) {
        let is_declared = self.values.set(self.fields, field, value.into());
        debug_assert!(is_declared, "the game declares no field {:?} here", field.name());
    }
}

/// The schema of a game with these models.
///
/// # Errors
/// What it declares cannot be sent, or is of a model that there is not.
pub(crate) fn schema(replicated: Replicated, models: &[Model]) -> Result<Schema, SchemaError> {
    let Replicated { of_match, of_own_player, of_players, of_bodies, events } = replicated;
    let no_model = |name: &str| !models.iter().any(|model| model.name() == name);
    if let Some((name, _)) = of_bodies.iter().find(|(name, _)| no_model(name)) {
        return Err(SchemaError::NoSuchModel { name: (*name).to_owned() });
    }
    let of_model = |model: &Model| {
        let fields = of_bodies.iter().find(|(name, _)| *name == model.name());
        (model.name().to_owned(), fields.map_or_else(Vec::new, |(_, fields)| fields.clone()))
    };
    Schema::new(SchemaParts {
        of_match,
        of_own_player,
        of_players,
        models: models.iter().map(of_model).collect(),
        events: events.into_iter().map(str::to_owned).collect(),
    })
}
