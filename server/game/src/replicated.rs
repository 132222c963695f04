//! The fields and events that a game replicates beside the positions of all entities.

use obsp::model::Model;
use obsp_proto::schema::{EventKind, Field, FieldValues, Schema, SchemaError, SchemaParts};
use obsp_sim::EntityId;

use crate::actions::all_actions;
use crate::game::Game;
use crate::game_file::GameFile;
use crate::game_file::hints::hinted;

/// The fields and events that a game declares. Clients receive the declaration when they join. Each
/// list of fields has at most 16.
///
/// ```
/// use obsp_game::{AnyGame, EventKind, EventType, Field, Game, Hint, Replicated, WorldMut};
///
/// const LAPS: Field = Field::new("laps", 0, 99).with_hint(Hint::Counter);
///
/// #[derive(Clone, Debug)]
/// struct Race;
///
/// impl Game for Race {
///     type State = ();
///
///     fn set_up(&self, _: &mut WorldMut<'_>) {}
///
///     fn replicated(&self) -> Replicated {
///         let finished = EventKind::new("finished")
///             .field("player", EventType::Player)
///             .toast("{player} has finished")
///             .sound("kill");
///         Replicated { of_players: vec![LAPS], events: vec![finished], ..Replicated::default() }
///     }
/// }
///
/// let map = obsp::Map::load("../../maps/arena.obsp".as_ref())?;
/// let schema = Race.schema(&map)?;
/// assert_eq!(schema.of_players(), [LAPS]);
/// assert_eq!(schema.events()[0].name(), "finished");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Replicated {
    /// Fields of the match.
    pub of_match: Vec<Field>,
    /// Fields of each player that are sent only to the player's own client.
    pub of_own_player: Vec<Field>,
    /// Fields of each player.
    pub of_players: Vec<Field>,
    /// Fields of the bodies of a model, by its name.
    pub of_bodies: Vec<(&'static str, Vec<Field>)>,
    /// The kinds of events that [`WorldMut::send`](crate::WorldMut::send) sends. A kind without
    /// fields and hints is made of its name: `"finished".into()`.
    pub events: Vec<EventKind>,
}

/// The subject whose values a match asks its game for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The match.
    Match,
    /// A player: the values that are sent to all clients.
    Player(EntityId),
    /// A player: the values that are sent only to the player's own client.
    OwnPlayer(EntityId),
    /// A body whose model has fields.
    Body(EntityId),
}

/// The values of a subject, for a game to set. A value that is not set is the least of its field's
/// range.
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
        debug_assert!(is_declared, "no field {:?} is declared for this subject", field.name());
    }
}

/// The schema of matches of `game` with the file on `map`, whose models are `models`.
///
/// # Errors
/// The declaration cannot be sent, or it names a model that the match does not have.
pub(crate) fn schema<G: Game>(
    game: &G,
    file: &GameFile,
    map: &obsp::Map,
    models: &[Model],
) -> Result<Schema, SchemaError> {
    let Replicated { of_match, of_own_player, of_players, of_bodies, events } =
        game.replicated_on(map, file);
    let no_model = |name: &str| !models.iter().any(|model| model.name() == name);
    if let Some((name, _)) = of_bodies.iter().find(|(name, _)| no_model(name)) {
        return Err(SchemaError::NoSuchModel { name: (*name).to_owned() });
    }
    let hinted = |fields| hinted(fields, file.hints());
    let of_model = |model: &Model| {
        let fields = of_bodies.iter().find(|(name, _)| *name == model.name());
        let fields = fields.map_or_else(Vec::new, |(_, fields)| hinted(fields.clone()));
        (model.name().to_owned(), fields)
    };
    Schema::new(SchemaParts {
        of_match: hinted(of_match),
        of_own_player: hinted(of_own_player),
        of_players: hinted(of_players),
        models: models.iter().map(of_model).collect(),
        events,
        actions: all_actions(game, file),
    })
}
