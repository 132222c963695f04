//! The maps of all clients in a process, by content hash: each is loaded from a file,
//! or fetched from the server, once.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp::World;
use obsp_proto::control::{MapHash, MapName};
use tokio::sync::Mutex;
use tracing::debug;

use crate::{LoadedMap, MapError};

/// File name extension of a compiled map.
const SUFFIX: &str = "obsp";

/// Loads maps and keeps them, for all clients of a process. See [`MapStore::get`].
#[derive(Debug)]
pub struct MapStore {
    folders: Vec<PathBuf>,
    loaded: Mutex<HashMap<MapHash, Arc<LoadedMap>>>,
}

impl Default for MapStore {
    /// A store that searches `maps/` here, then the `maps/` of the source tree.
    fn default() -> Self {
        let source_tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps");
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
        let map = match self.find(hash, name) {
            Some(world) => LoadedMap::new(world)?,
            None => {
                debug!("fetching {name} from the server");
                LoadedMap::from_bytes(&fetch.await?, hash)?
            }
        };
        let map = Arc::new(map);
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
