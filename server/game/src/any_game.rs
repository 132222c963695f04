use std::fmt::Debug;
use std::sync::Arc;

use obsp::entity_check::KnownClasses;
use obsp::model::Model;
use obsp_proto::game_data::{GameData, GameDataError};
use obsp_proto::schema::{Schema, SchemaError};
use obsp_sim::{Config, SetupError};

use crate::game::Game;
use crate::game_file::GameFile;
use crate::game_match::Match;
use crate::replicated::schema;
use crate::running::RunningMatch;
use crate::save::{self, LoadMatchError};
use crate::with_file::{WithFile, all_models};

/// A game whose type is hidden. A server holds any game in this form, and makes matches of it.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::arena::Arena;
/// use obsp_game::{AnyGame, GameFile};
/// use obsp_sim::{Config, PlayerKind};
///
/// let file = GameFile::parse("[player]\nhealth = 300")?;
/// let game: Arc<dyn AnyGame> = Arena.with_file(&file);
/// assert_eq!(game.game_name(), "Arena");
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut running = game.new_match(map, Config::default())?;
/// let player = running.join_as(PlayerKind::Box)?;
/// assert_eq!(running.vitals(player).map(|vitals| vitals.health), Some(300));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AnyGame: Debug + Send + Sync {
    /// As [`Game::name`].
    fn game_name(&self) -> &'static str;

    /// The models of a match on `map`: those of [`Game::models_on`], then those of the `game.toml`,
    /// then those of [`Game::brush_models`].
    fn models(&self, map: &obsp::Map) -> Vec<Model>;

    /// Adds the classes of [`Game::classes`] and of the `game.toml` to those that are known.
    fn add_classes(&self, known: KnownClasses) -> KnownClasses {
        known
    }

    /// The models, fields and events that a server declares to the clients of a match on `map`.
    ///
    /// # Errors
    /// The game declares something that cannot be sent.
    fn schema(&self, map: &obsp::Map) -> Result<Schema, SchemaError> {
        Schema::of_models(self.models(map).iter().map(|model| model.name().to_owned()))
    }

    /// The data with which clients predict a match on `map`: the clients' part of the `game.toml`,
    /// and the models that neither ship nor are drawn in the map.
    ///
    /// # Errors
    /// The models are too long to be sent.
    fn client_data(&self, map: &obsp::Map) -> Result<GameData, GameDataError> {
        GameData::default().with_models(&self.models(map))
    }

    /// This game with the numbers of `file` instead of the defaults.
    fn with_file(&self, file: &GameFile) -> Arc<dyn AnyGame>;

    /// A new match on `map`.
    ///
    /// # Errors
    /// [`SetupError`] if no match is possible with the map or the configuration.
    fn new_match(
        &self,
        map: Arc<obsp::Map>,
        config: Config,
    ) -> Result<Box<dyn RunningMatch>, SetupError>;

    /// Loads a saved match on its map.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the bytes are not a match of this game on `map` with this file, or
    /// bodies would overlap.
    fn load_match(
        &self,
        map: Arc<obsp::Map>,
        saved: &[u8],
    ) -> Result<Box<dyn RunningMatch>, LoadMatchError>;
}

impl<G: Game> AnyGame for G {
    fn game_name(&self) -> &'static str {
        Game::name(self)
    }

    fn models(&self, map: &obsp::Map) -> Vec<Model> {
        all_models(self, &GameFile::default(), map)
    }

    fn add_classes(&self, known: KnownClasses) -> KnownClasses {
        known.with(Game::classes(self))
    }

    fn schema(&self, map: &obsp::Map) -> Result<Schema, SchemaError> {
        schema(self, &GameFile::default(), map, &AnyGame::models(self, map))
    }

    fn client_data(&self, map: &obsp::Map) -> Result<GameData, GameDataError> {
        let data = GameData::default().with_models(&AnyGame::models(self, map))?;
        data.with_movements(&self.movements_on(map, *data.movement()))
    }

    fn with_file(&self, file: &GameFile) -> Arc<dyn AnyGame> {
        Arc::new(WithFile { game: self.clone(), file: file.clone() })
    }

    fn new_match(
        &self,
        map: Arc<obsp::Map>,
        config: Config,
    ) -> Result<Box<dyn RunningMatch>, SetupError> {
        Ok(Box::new(Match::new(self.clone(), map, config)?))
    }

    fn load_match(
        &self,
        map: Arc<obsp::Map>,
        saved: &[u8],
    ) -> Result<Box<dyn RunningMatch>, LoadMatchError> {
        Ok(Box::new(save::load(self, map, &GameFile::default(), saved)?))
    }
}
