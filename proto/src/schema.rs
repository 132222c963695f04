//! The values that a game defines: the fields of its players, bodies and matches, and its events.
//! The server's hello carries the [`Schema`]. So both ends code the fields by the same ranges, and
//! a client can show them by name even if it does not know the game.

mod action;
mod encoding;
mod event_kind;
mod event_value;
mod field;
mod game_event;
mod hint;
mod values;

use std::collections::BTreeSet;

use obsp_sim::{Kind, ModelId};

use crate::quantise::QuantisedBody;

pub use action::{Action, GAMEPAD_BUTTONS, MAX_ACTIONS, MAX_KEY_NAME, MAX_KEYS, MAX_LABEL};
pub use event_kind::{EventKind, EventType, MAX_TOAST};
pub use event_value::EventValue;
pub use field::{Field, MAX_FIELD_NAME, MAX_FIELDS};
pub use game_event::{EventError, GameEvent, MAX_EVENT_DATA};
pub use hint::Hint;
pub use values::{FieldValues, MatchValues};

/// Maximum length of an encoded schema, in bytes. It is enough for about two hundred fields.
pub const MAX_SCHEMA: usize = 4096;

/// Maximum number of kinds of events per game.
pub const MAX_EVENT_KINDS: usize = 64;

/// The values and events that a game replicates besides poses. They have been checked, so every
/// schema can be sent.
///
/// ```
/// use obsp_proto::schema::{Field, FieldValues, Schema, SchemaParts};
///
/// const TEAM: Field = Field::new("team", 0, 1);
/// let schema = Schema::new(SchemaParts { of_players: vec![TEAM], ..SchemaParts::default() })?;
/// let mut values = FieldValues::default();
/// assert!(values.set(schema.of_players(), &TEAM, 7));
/// assert_eq!(values.get(schema.of_players(), "team"), Some(1), "7 is clamped to the range");
/// # Ok::<(), obsp_proto::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    of_match: Vec<Field>,
    of_own_player: Vec<Field>,
    of_players: Vec<Field>,
    models: Vec<(String, Vec<Field>)>,
    events: Vec<EventKind>,
    actions: Vec<Action>,
}

/// The parts of a [`Schema`] before they have been checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaParts {
    /// Fields of the whole match.
    pub of_match: Vec<Field>,
    /// Fields of each player that the server sends only to the player's own client.
    pub of_own_player: Vec<Field>,
    /// Fields of each player, on foot or driving.
    pub of_players: Vec<Field>,
    /// The models of bodies in the order of their ids. Each has its name and the fields of its
    /// bodies, except bodies that are players.
    pub models: Vec<(String, Vec<Field>)>,
    /// The kinds of events.
    pub events: Vec<EventKind>,
    /// The actions of players, in the order of their numbers.
    pub actions: Vec<Action>,
}

/// Why parts do not make a [`Schema`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// More fields than one subject may have.
    #[error("{of} has {count} fields; at most {MAX_FIELDS} are allowed")]
    TooManyFields {
        /// The subject of the fields.
        of: String,
        /// The number of fields.
        count: usize,
    },
    /// A name that is empty, too long, or has a character that is not allowed.
    #[error(
        "the name {name:?} is not allowed: names have 1 to {MAX_FIELD_NAME} of the characters \
         a-z, A-Z, 0-9, `_`, `-` and `.`, and names of models may begin with `*`"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// Two fields of one subject, or two kinds of events, have one name.
    #[error("the name {name:?} occurs twice in {of}")]
    RepeatedName {
        /// The name.
        name: String,
        /// The list in which the name occurs twice.
        of: String,
    },
    /// A range that is empty, or too wide for a field.
    #[error(
        "the field {name:?} ranges from {least} to {most}; the range must have 2 to 65,536 values"
    )]
    BadRange {
        /// The field.
        name: String,
        /// The field's least value.
        least: i32,
        /// The field's greatest value.
        most: i32,
    },
    /// More models than bodies can have.
    #[error("the game has {count} models; at most {} are allowed", obsp_sim::MAX_MODELS)]
    TooManyModels {
        /// The number of models.
        count: usize,
    },
    /// Fields of a model that the game does not have.
    #[error("fields are declared for the model {name:?}, but the game has no such model")]
    NoSuchModel {
        /// The name of the model.
        name: String,
    },
    /// More kinds of events than are allowed.
    #[error("the game has {count} kinds of events; at most {MAX_EVENT_KINDS} are allowed")]
    TooManyEvents {
        /// The number of kinds.
        count: usize,
    },
    /// A kind of events with a toast that cannot be shown.
    #[error("the event {name:?}: {fault}")]
    BadEvent {
        /// The name of the kind.
        name: String,
        /// The fault.
        fault: String,
    },
    /// An action with a label, a key or a button that is not allowed.
    #[error("the action {name:?}: {fault}")]
    BadAction {
        /// The name of the action.
        name: String,
        /// The fault.
        fault: String,
    },
    /// More actions than a command has bits for.
    #[error("the game has {count} actions; at most {MAX_ACTIONS} are allowed")]
    TooManyActions {
        /// The number of actions.
        count: usize,
    },
    /// The whole schema is too long for a hello.
    #[error("the schema takes {bytes} bytes; at most {MAX_SCHEMA} are allowed: shorten names")]
    TooLong {
        /// Length of the schema.
        bytes: usize,
    },
}

impl Schema {
    /// Checks the parts of a schema.
    ///
    /// # Errors
    /// [`SchemaError`] names the part that is wrong.
    pub fn new(parts: SchemaParts) -> Result<Self, SchemaError> {
        let SchemaParts { of_match, of_own_player, of_players, models, events, actions } = parts;
        check_fields("the match", &of_match)?;
        check_fields("a client's own player", &of_own_player)?;
        check_fields("players", &of_players)?;
        if models.len() > obsp_sim::MAX_MODELS {
            return Err(SchemaError::TooManyModels { count: models.len() });
        }
        check_names("the models", models.iter().map(|(name, _)| name.as_str()))?;
        for (name, fields) in &models {
            field::check_model_name(name)?;
            check_fields(&format!("the model {name:?}"), fields)?;
        }
        if events.len() > MAX_EVENT_KINDS {
            return Err(SchemaError::TooManyEvents { count: events.len() });
        }
        events.iter().try_for_each(EventKind::check)?;
        check_names("the events", events.iter().map(EventKind::name))?;
        if actions.len() > MAX_ACTIONS {
            return Err(SchemaError::TooManyActions { count: actions.len() });
        }
        actions.iter().try_for_each(Action::check)?;
        check_names("the actions", actions.iter().map(Action::name))?;
        let schema = Self { of_match, of_own_player, of_players, models, events, actions };
        let bytes = encoding::length(&schema);
        if bytes > MAX_SCHEMA {
            return Err(SchemaError::TooLong { bytes });
        }
        Ok(schema)
    }

    /// A schema of models without fields, events and actions.
    ///
    /// # Errors
    /// [`SchemaError`] if the names of the models cannot be sent.
    pub fn of_models(names: impl IntoIterator<Item = String>) -> Result<Self, SchemaError> {
        let models = names.into_iter().map(|name| (name, Vec::new())).collect();
        Self::new(SchemaParts { models, ..SchemaParts::default() })
    }

    /// Fields of the whole match.
    pub fn of_match(&self) -> &[Field] {
        &self.of_match
    }

    /// Fields of each player that the server sends only to the player's own client.
    pub fn of_own_player(&self) -> &[Field] {
        &self.of_own_player
    }

    /// Fields of each player, on foot or driving.
    pub fn of_players(&self) -> &[Field] {
        &self.of_players
    }

    /// Fields of the bodies of this model, except bodies that are players; empty for a model that
    /// the schema does not have.
    pub fn of_model(&self, model: ModelId) -> &[Field] {
        self.models.get(usize::from(model.0)).map_or(&[], |(_, fields)| fields)
    }

    /// Fields of an entity of this kind.
    pub fn of_kind(&self, kind: Kind) -> &[Field] {
        match kind {
            Kind::Player { .. } | Kind::Vehicle { .. } => &self.of_players,
            Kind::Prop { model } => self.of_model(model),
        }
    }

    /// Fields of an entity with this body.
    #[inline]
    pub(crate) fn of_body(&self, body: &QuantisedBody) -> &[Field] {
        match *body {
            QuantisedBody::Player { .. } | QuantisedBody::Prop { driven: true, .. } => {
                &self.of_players
            }
            QuantisedBody::Prop { model, .. } => self.of_model(model),
        }
    }

    /// The name of a model.
    pub fn model_name(&self, model: ModelId) -> Option<&str> {
        self.models.get(usize::from(model.0)).map(|(name, _)| name.as_str())
    }

    /// The names of the models, in the order of their ids.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|(name, _)| name.as_str())
    }

    /// The kinds of events, in the order of their numbers.
    pub fn events(&self) -> &[EventKind] {
        &self.events
    }

    /// The number of a kind of events.
    pub fn event_kind(&self, name: &str) -> Option<u8> {
        self.events.iter().position(|event| event.name() == name).map(|index| index as u8)
    }

    /// The actions of players, in the order of their numbers.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The number of the action of this name.
    pub fn action(&self, name: &str) -> Option<u8> {
        self.actions.iter().position(|action| action.name() == name).map(|index| index as u8)
    }

    /// The button of the action of this name.
    pub fn button(&self, name: &str) -> Option<obsp_sim::Buttons> {
        obsp_sim::Buttons::action(self.action(name)?)
    }

    /// Whether the match has fields, or a client's own player has fields that no other client gets.
    pub(crate) fn has_shared_fields(&self) -> bool {
        !self.of_match.is_empty() || !self.of_own_player.is_empty()
    }

    /// Whether anything in a match has fields.
    pub fn has_fields(&self) -> bool {
        let models = self.models.iter().map(|(_, fields)| fields);
        let entities = models.chain([&self.of_players]);
        self.has_shared_fields() || entities.into_iter().any(|fields| !fields.is_empty())
    }
}

fn check_fields(of: &str, fields: &[Field]) -> Result<(), SchemaError> {
    if fields.len() > MAX_FIELDS {
        return Err(SchemaError::TooManyFields { of: of.to_owned(), count: fields.len() });
    }
    fields.iter().try_for_each(Field::check)?;
    check_names(of, fields.iter().map(Field::name))
}

fn check_names<'a>(of: &str, names: impl Iterator<Item = &'a str>) -> Result<(), SchemaError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(SchemaError::RepeatedName { name: name.to_owned(), of: of.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
