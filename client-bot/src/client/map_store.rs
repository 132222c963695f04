use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use maps::World;
use proto::control::{MapHash, MapName};
use proto::map_transfer::TransferError;
use sim::{Predictor, SetupError};
use thiserror::Error;
use tokio::sync::Mutex;
use tracing::debug;

/// What a compiled map's file is called after its name.
const SUFFIX: &str = "obsp";

/// A map that a client has, and what it needs to predict on it.
#[derive(Debug)]
pub struct LoadedMap {
    /// The map.
    pub world: Arc<World>,
    /// The server's movement code on that map.
    pub predictor: Predictor,
}

/// The maps of all clients in a process: each is loaded, or fetched from the
/// server, once.
#[derive(Debug)]
pub struct MapStore {
    folders: Vec<PathBuf>,
    loaded: Mutex<HashMap<MapHash, Arc<LoadedMap>>>,
}

/// Why a client has no map to predict on.
#[derive(Clone, Debug, Error)]
pub enum MapError {
    /// It did not arrive.
    #[error("the map could not be fetched: {0}")]
    Fetch(String),
    /// What arrived is no map.
    #[error("the server sent no valid map: {0}")]
    Invalid(String),
    /// What arrived is a map, but not the one that is played.
    #[error("the server sent another map than it plays")]
    Other,
    /// What arrived was cut off.
    #[error("the map could not be fetched: {0}")]
    Transfer(#[from] TransferError),
    /// Nobody can move in it.
    #[error("nobody can move in the server's map: {0}")]
    Setup(#[from] SetupError),
}

impl LoadedMap {
    /// Makes a map ready to be predicted on.
    ///
    /// # Errors
    /// The map lacks a size that players need.
    pub fn new(world: World) -> Result<Self, SetupError> {
        let world = Arc::new(world);
        let predictor = Predictor::new(Arc::clone(&world), &maps::model::shipped())?;
        Ok(Self { world, predictor })
    }
}

impl Default for MapStore {
    /// A store that looks in `maps/` here, then in that of the source tree.
    fn default() -> Self {
        let source_tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../maps");
        Self::new(vec![PathBuf::from("maps"), source_tree])
    }
}

impl MapStore {
    /// A store that looks for compiled maps in these folders.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, loaded: Mutex::default() }
    }

    /// The map with this hash: one that is loaded, else a file called `name`
    /// that has it, else what `fetch` brings. A file or a server that has
    /// another map does no harm: the hash decides.
    ///
    /// # Errors
    /// There is no file, and `fetch` did not bring it.
    pub async fn get(
        &self,
        hash: MapHash,
        name: &MapName,
        fetch: impl Future<Output = Result<Vec<u8>, MapError>>,
    ) -> Result<Arc<LoadedMap>, MapError> {
        // Held while fetching, so that of many clients one fetches.
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

    /// The map in a file of this name, if it is the right one.
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
