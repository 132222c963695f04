//! The maps of all clients in a process, by content hash: each is loaded from a file,
//! or fetched from the server, once. So are the data of games.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp::World;
use obsp_proto::control::{GameHash, MapHash, MapName, ServerHello};
use obsp_proto::download::Download;
use obsp_proto::game_data::GameData;
use tokio::sync::Mutex;
use tracing::debug;

use crate::{LoadedMap, MapError};

/// File name extension of a compiled map.
const SUFFIX: &str = "obsp";

/// Loads maps and keeps them, with the games that are played on them, for all clients of a
/// process. See [`MapStore::get`].
#[derive(Debug)]
pub struct MapStore {
    folders: Vec<PathBuf>,
    loaded: Mutex<Loaded>,
}

/// What was loaded.
#[derive(Debug, Default)]
struct Loaded {
    worlds: HashMap<MapHash, Arc<World>>,
    games: HashMap<GameHash, GameData>,
    /// Few: one for each level of the servers that this process has joined.
    maps: Vec<Arc<LoadedMap>>,
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

    /// The map and the game that a server's hello names: those that are loaded already, else a
    /// map from a file of that name and hash, else what `fetch` returns. A file or a server
    /// with another map does no harm, since the hash decides.
    ///
    /// # Errors
    /// `fetch` failed or returned something else.
    pub async fn get<F: Future<Output = Result<Vec<u8>, MapError>>>(
        &self,
        hello: &ServerHello,
        fetch: impl Fn(Download) -> F,
    ) -> Result<Arc<LoadedMap>, MapError> {
        // Held during the fetch, so that only one of many clients fetches.
        let mut loaded = self.loaded.lock().await;
        if let Some(map) = loaded.maps.iter().find(|map| map.check(hello).is_ok()) {
            return Ok(Arc::clone(map));
        }
        let world = match loaded.worlds.get(&hello.map) {
            Some(world) => Arc::clone(world),
            None => match self.find(hello.map, &hello.map_name).await? {
                Some(world) => Arc::new(world),
                None => {
                    debug!("fetching {} from the server", hello.map_name);
                    let bytes = fetch(Download::Map).await?;
                    let world = apart(move || World::from_bytes(&bytes)).await?;
                    Arc::new(world.map_err(|error| MapError::Invalid(error.to_string()))?)
                }
            },
        };
        let game = match hello.game {
            None => GameData::default(),
            Some(hash) => match loaded.games.get(&hash) {
                Some(game) => game.clone(),
                None => {
                    let bytes = fetch(Download::Game).await?;
                    if GameHash::of(&bytes) != hello.game {
                        return Err(MapError::OtherGame);
                    }
                    GameData::from_bytes(&bytes)?
                }
            },
        };
        let (of_game, schema) = (game.clone(), hello.schema.clone());
        let map = apart(move || LoadedMap::new(world, &of_game, &schema)).await??;
        let map = Arc::new(map);
        map.check(hello)?;
        loaded.worlds.insert(hello.map, Arc::clone(&map.world));
        if let Some(hash) = hello.game {
            loaded.games.insert(hash, game);
        }
        loaded.maps.push(Arc::clone(&map));
        Ok(map)
    }

    /// The map in a file of this name, if its hash is the right one.
    async fn find(&self, hash: MapHash, name: &MapName) -> Result<Option<World>, MapError> {
        // The name comes from the server and must not lead out of the folders.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !name.as_str().chars().all(plain) {
            return Ok(None);
        }
        let file = format!("{name}.{SUFFIX}");
        let files: Vec<_> = self.folders.iter().map(|folder| folder.join(&file)).collect();
        apart(move || {
            let mut worlds = files.iter().filter_map(|file| World::load(file).ok());
            worlds.find(|world| world.hash() == hash.0)
        })
        .await
    }
}

/// Runs on a thread of its own what takes long: other clients of the process, and its
/// sockets, go on meanwhile.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, MapError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| MapError::Invalid(format!("it could not be loaded: {error}")))
}
