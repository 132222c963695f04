use std::sync::Arc;

use obsp::World;
use obsp_proto::control::MapHash;
use obsp_proto::map_transfer::TransferError;
use obsp_sim::{Predictor, SetupError};
use thiserror::Error;

/// A map, and what a client needs to predict movement on it. Clients of one process can
/// share it.
#[derive(Debug)]
pub struct LoadedMap {
    /// The map.
    pub world: Arc<World>,
    /// The server's movement code on that map.
    pub predictor: Predictor,
}

/// Why a client has no map to predict on.
#[derive(Clone, Debug, Error)]
pub enum MapError {
    /// The transfer failed.
    #[error("the map could not be fetched: {0}")]
    Fetch(String),
    /// The bytes are no map.
    #[error("not a valid map: {0}")]
    Invalid(String),
    /// The map is not the one that is played.
    #[error("this is another map than the one that is played: its hash differs")]
    Other,
    /// The transfer was cut off or malformed.
    #[error("the map could not be fetched: {0}")]
    Transfer(TransferError),
    /// The map lacks what players need.
    #[error("players cannot move on the server's map: {0}")]
    Setup(SetupError),
}

impl From<TransferError> for MapError {
    fn from(error: TransferError) -> Self {
        Self::Transfer(error)
    }
}

impl From<SetupError> for MapError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl LoadedMap {
    /// Prepares a map for prediction.
    ///
    /// # Errors
    /// The map lacks a size that players need.
    pub fn new(world: World) -> Result<Self, SetupError> {
        let world = Arc::new(world);
        let predictor = Predictor::new(Arc::clone(&world), &obsp::model::shipped())?;
        Ok(Self { world, predictor })
    }

    /// Prepares a compiled map (the content of an `.obsp` file, or what the server sent)
    /// that must have this hash.
    ///
    /// # Errors
    /// The bytes are no map, or another one, or players cannot move on it.
    pub fn from_bytes(bytes: &[u8], hash: MapHash) -> Result<Self, MapError> {
        let world =
            World::from_bytes(bytes).map_err(|error| MapError::Invalid(error.to_string()))?;
        if world.hash() != hash.0 {
            return Err(MapError::Other);
        }
        Ok(Self::new(world)?)
    }

    /// The content hash of the map, which the server's hello names.
    pub fn hash(&self) -> MapHash {
        MapHash(self.world.hash())
    }
}
