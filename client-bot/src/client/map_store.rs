//! The maps of all clients in a process, by content hash: each is loaded from a file,
//! or fetched from the server, once.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp::World;
use obsp_proto::control::{MapHash, MapName};
use obsp_proto::map_transfer::TransferError;
use obsp_sim::{Predictor, SetupError};
use thiserror::Error;
use tokio::sync::Mutex;
use tracing::debug;

/// File name extension of a compiled map.
const SUFFIX: &str = "obsp";

/// A map, and what a client needs to predict movement on it.
#[derive(Debug)]
pub struct LoadedMap {
    /// The map.
    pub world: Arc<World>,
    /// The server's movement code on that map.
    pub predictor: Predictor,
}

/// Loads maps and keeps them, for all clients of a process. See [`MapStore::get`].
#[derive(Debug)]
pub struct MapStore {
    folders: Vec<PathBuf>,
    loaded: Mutex<HashMap<MapHash, Arc<LoadedMap>>>,
}

/// Why a client has no map to predict on.
#[derive(Clone, Debug, Error)]
pub enum MapError {
    /// The transfer failed.
    #[error("the map could not be fetched: {0}")]
    Fetch(String),
    /// The bytes that arrived are no map.
    #[error("the server sent no valid map: {0}")]
    Invalid(String),
    /// The map that arrived is not the one that is played.
    #[error("the server sent a map whose hash is not that of the match")]
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
}

impl Default for MapStore {
    /// A store that searches `maps/` here, then the `maps/` of the source tree.
    fn default() -> Self {
        let source_tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../maps");
        Self::new(vec![PathBuf::from("maps"), source_tree])
    }
}

impl MapStore {
    /// A store that searches these folders for compiled maps.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, loaded: Mutex::default() }
    }

    /// The same store, which looks in these folders too.
    pub fn with_folders(mut self, folders: &[PathBuf]) -> Self {
        self.folders.extend_from_slice(folders);
        self
    }

    /// The map with this hash: one that is loaded already, else a file called `name`
    /// with that hash, else what `fetch` returns. A file or a server with another map
    /// does no harm, since the hash decides.
    ///
    /// # Errors
    /// No file has that hash, and `fetch` failed or returned something else.
    pub async fn get(
        &self,
        hash: MapHash,
        name: &MapName,
        fetch: impl Future<Output = Result<Vec<u8>, MapError>>,
    ) -> Result<Arc<LoadedMap>, MapError> {
        // Held during the fetch, so that only one of many clients fetches.
        let mut loaded = self.loaded.lock().await;
        if let Some(map) = loaded.get(&hash) {
            return Ok(Arc::clone(map));
        }
        let world = match self.find(hash, name) {
            Some(world) => world,
            None => {
                debug!("fetching {name} from the server");
                let world = World::from_bytes(&fetch.await?)
                    .map_err(|error| MapError::Invalid(error.to_string()))?;
                if world.hash() != hash.0 {
                    return Err(MapError::Other);
                }
                world
            }
        };
        let map = Arc::new(LoadedMap::new(world)?);
        loaded.insert(hash, Arc::clone(&map));
        Ok(map)
    }

    /// The map in a file of this name, if its hash is the right one.
    fn find(&self, hash: MapHash, name: &MapName) -> Option<World> {
        // The name comes from the server and must not lead out of the folders.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !name.as_str().chars().all(plain) {
            return None;
        }
        let file = format!("{name}.{SUFFIX}");
        let worlds = self.folders.iter().filter_map(|folder| World::load(&folder.join(&file)).ok());
        worlds.into_iter().find(|world| world.hash() == hash.0)
    }
}
