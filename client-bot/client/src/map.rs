use std::sync::Arc;

use obsp::Map;
use obsp::model::Model;
use obsp_proto::control::{GameHash, MapHash, ServerHello};
use obsp_proto::download::DownloadError;
use obsp_proto::game_data::{GameData, GameDataError};
use obsp_proto::schema::Schema;
use obsp_sim::{MovementSets, Predictor, SetupError};
use thiserror::Error;

/// A map with the game that is played on it. A client needs both of them to predict movement.
/// Clients of one process can share one value.
///
/// ```
/// use obsp_client::LoadedMap;
/// use obsp_proto::game_data::GameData;
/// use obsp_proto::schema::Schema;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/arena.obsp");
/// let map = obsp::Map::load(std::path::Path::new(path))?;
/// let hash = map.hash();
/// // A game whose one body is the crate that ships. A hello of the server has the schema.
/// let schema = Schema::of_models(["crate".to_owned()])?;
/// let map = LoadedMap::new(map, &GameData::default(), &schema)?;
/// assert_eq!(map.hash().0, hash);
/// assert_eq!(map.models[0].name(), "crate");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LoadedMap {
    /// The map.
    pub map: Arc<Map>,
    /// The server's movement code for that map and for bodies of the game's models.
    pub predictor: Predictor,
    /// The movement parameters of players.
    pub movement: MovementSets,
    /// The models of bodies, in the order of their ids.
    pub models: Arc<[Model]>,
    game: Option<GameHash>,
}

/// The reason why a client has no map to predict on.
#[derive(Clone, Debug, Error)]
pub enum MapError {
    /// The transfer failed.
    #[error("the map or the game's data could not be fetched: {0}")]
    Fetch(String),
    /// The thread that loads the map has panicked.
    #[error("the thread that loads the map has failed: {0}")]
    Failed(String),
    /// The bytes are not a map.
    #[error("these bytes are not a valid map: {0}")]
    Invalid(String),
    /// The map is not the one that is played.
    #[error("the map that was loaded is not the server's: its hash differs")]
    Other,
    /// The game's data belong to another game than the one that is played.
    #[error("the game's data that were loaded are not the server's: their hash differs")]
    OtherGame,
    /// The game's data cannot be read.
    #[error(transparent)]
    Game(#[from] GameDataError),
    /// The transfer was cut off or malformed.
    #[error("the map or the game's data could not be fetched: {0}")]
    Transfer(DownloadError),
    /// Players cannot move on the map, for example because it lacks a size that they need.
    #[error("players cannot move on the server's map: {0}")]
    Setup(SetupError),
}

impl From<DownloadError> for MapError {
    fn from(error: DownloadError) -> Self {
        Self::Transfer(error)
    }
}

impl From<SetupError> for MapError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl LoadedMap {
    /// Prepares a map for the prediction of a game. `schema` comes from the server's hello.
    ///
    /// # Errors
    /// The map lacks a size that players need, or the game has a model that is neither in its
    /// data, nor among those that ship, nor drawn in the map.
    pub fn new(
        map: impl Into<Arc<Map>>,
        game: &GameData,
        schema: &Schema,
    ) -> Result<Self, MapError> {
        let map = map.into();
        let models = game.models_of(schema, &map)?;
        let predictor = Predictor::new(Arc::clone(&map), &models)?;
        let predictor = predictor.with_body_gravity(game.body_gravity());
        let (movement, models) = (game.movement_sets().clone(), models.into());
        Ok(Self { map, predictor, movement, models, game: game.hash() })
    }

    /// Prepares the map and the game that the server's hello names. `map` is a compiled map: the
    /// content of an `.obsp` file, or the bytes that the server sent. `game` are the game's data,
    /// which are empty if the hello has no hash of them.
    ///
    /// # Errors
    /// The bytes are not a map or not game data, their hashes differ from those of the hello, or
    /// players cannot move on the map.
    pub fn from_bytes(map: &[u8], game: &[u8], hello: &ServerHello) -> Result<Self, MapError> {
        let map = Map::from_bytes(map).map_err(|error| MapError::Invalid(error.to_string()))?;
        if map.hash() != hello.map.0 {
            return Err(MapError::Other);
        }
        // Bytes whose hash differs from the hello's are not even parsed.
        if GameHash::of(game) != hello.game {
            return Err(MapError::OtherGame);
        }
        Self::new(map, &GameData::from_bytes(game)?, &hello.schema)
    }

    /// The content hash of the map, which the server's hello names.
    pub fn hash(&self) -> MapHash {
        MapHash(self.map.hash())
    }

    /// Checks that this is the map and the game that a server's hello names.
    ///
    /// # Errors
    /// [`MapError::Other`] for another map, [`MapError::OtherGame`] for other data or other
    /// models of the game.
    pub fn check(&self, hello: &ServerHello) -> Result<(), MapError> {
        if self.hash() != hello.map {
            return Err(MapError::Other);
        }
        let is_same = self.game == hello.game
            && self.models.iter().map(Model::name).eq(hello.schema.models());
        is_same.then_some(()).ok_or(MapError::OtherGame)
    }
}
