//! The maps of all clients in a process, by content hash. Each map is loaded only once, from a file
//! or from the server, and the data of each game are fetched only once.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use obsp::Map;
use obsp_proto::control::{GameHash, MapHash, MapName, ServerHello};
use obsp_proto::download::Download;
use obsp_proto::game_data::GameData;
use tokio::sync::Mutex;
use tracing::debug;

use crate::{LoadedMap, MapError};

/// File name extension of a compiled map.
const SUFFIX: &str = "obsp";

/// Loads maps for all clients of a process. It keeps the 16 maps with the latest requests, and the
/// games that are played on them. See [`MapStore::get`].
#[derive(Debug)]
pub struct MapStore {
    folders: Vec<PathBuf>,
    /// The loaded maps in the order of their last requests, the latest at the end.
    loaded: Mutex<Vec<Loaded>>,
}

/// Maximum number of maps that are kept: enough for all matches of a server and as many next maps.
/// A client also holds the map that it plays on, which may have left the store.
const MAPS: usize = 16;

/// A map that was loaded, and the game that is played on it.
#[derive(Clone, Debug)]
struct Loaded {
    map: Arc<LoadedMap>,
    hash: Option<GameHash>,
    game: GameData,
}

impl Default for MapStore {
    /// A store that searches the folder `maps` of the working directory, then the folder `maps` of
    /// the source tree.
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

    /// Adds folders in which the store searches for compiled maps.
    pub fn with_folders(mut self, folders: &[PathBuf]) -> Self {
        self.folders.extend_from_slice(folders);
        self
    }

    /// The map and the game that a server's hello names. A map that is not loaded yet comes from a
    /// file of that name and hash, or from `fetch` if there is no such file. The game's data come
    /// from `fetch`. A file or server with another map does no harm, because the hash decides.
    ///
    /// # Errors
    /// `fetch` failed, or returned a map or data with another hash.
    pub async fn get<F: Future<Output = Result<Vec<u8>, MapError>>>(
        &self,
        hello: &ServerHello,
        fetch: impl Fn(Download) -> F,
    ) -> Result<Arc<LoadedMap>, MapError> {
        // The lock is held during the fetch, so that only one of many clients fetches.
        let mut loaded = self.loaded.lock().await;
        if let Some(at) = loaded.iter().position(|known| known.map.check(hello).is_ok()) {
            loaded[at..].rotate_left(1);
            return Ok(Arc::clone(&loaded[loaded.len() - 1].map));
        }
        let map = match loaded.iter().find(|known| known.map.hash() == hello.map) {
            Some(known) => Arc::clone(&known.map.map),
            None => match self.find(hello.map, &hello.map_name).await? {
                Some(map) => Arc::new(map),
                None => {
                    debug!("fetching {} from the server", hello.map_name);
                    let bytes = fetch(Download::Map).await?;
                    let map = apart(move || Map::from_bytes(&bytes)).await?;
                    Arc::new(map.map_err(|error| MapError::Invalid(error.to_string()))?)
                }
            },
        };
        let game = match hello.game {
            None => GameData::default(),
            Some(_) => match loaded.iter().find(|known| known.hash == hello.game) {
                Some(known) => known.game.clone(),
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
        let map = apart(move || LoadedMap::new(map, &of_game, &schema)).await??;
        let map = Arc::new(map);
        map.check(hello)?;
        if loaded.len() == MAPS {
            loaded.remove(0);
        }
        loaded.push(Loaded { map: Arc::clone(&map), hash: hello.game, game });
        Ok(map)
    }

    /// The map in a file of this name, if its hash is the right one.
    async fn find(&self, hash: MapHash, name: &MapName) -> Result<Option<Map>, MapError> {
        // The name comes from the server and must not lead out of the folders.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !name.as_str().chars().all(plain) {
            return Ok(None);
        }
        let file = format!("{name}.{SUFFIX}");
        let files: Vec<_> = self.folders.iter().map(|folder| folder.join(&file)).collect();
        apart(move || {
            let mut maps = files.iter().filter_map(|file| Map::load(file).ok());
            maps.find(|map| map.hash() == hash.0)
        })
        .await
    }
}

/// Runs `work`, which takes long, on a separate thread, so that other clients of the process and
/// its sockets can go on meanwhile.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, MapError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| MapError::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::num::NonZeroU16;

    use obsp::{CompileOptions, Source, Spaces, compile};
    use obsp_proto::Tick;
    use obsp_proto::control::Ticket;
    use obsp_proto::quantise::WorldBounds;
    use obsp_proto::schema::Schema;

    use super::*;

    /// A map of one block of this height.
    fn block(height: usize) -> Map {
        let text = format!(
            "{{\n\"classname\" \"worldspawn\"\n{{\n\
            ( 0 0 {height} ) ( 0 64 {height} ) ( 64 0 {height} ) stone 0 0 0 1 1\n\
            ( 0 0 0 ) ( 64 0 0 ) ( 0 64 0 ) stone 0 0 0 1 1\n\
            ( 64 0 0 ) ( 64 0 {height} ) ( 64 64 0 ) stone 0 0 0 1 1\n\
            ( 0 0 0 ) ( 0 64 0 ) ( 0 0 {height} ) stone 0 0 0 1 1\n\
            ( 0 64 0 ) ( 64 64 0 ) ( 0 64 {height} ) stone 0 0 0 1 1\n\
            ( 0 0 0 ) ( 0 0 {height} ) ( 64 0 0 ) stone 0 0 0 1 1\n}}\n}}\n"
        );
        let source = Source::from_text("block", text);
        let compiled =
            compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ());
        compiled.unwrap().map
    }

    fn hello(map: &Map, game: &GameData) -> ServerHello {
        let rate = NonZeroU16::new(60).unwrap();
        let bounds = map.bounds();
        ServerHello {
            player: None,
            tick_rate: rate,
            snapshot_rate: rate,
            tick: Tick(0),
            map: MapHash(map.hash()),
            map_name: MapName::new("block"),
            bounds: WorldBounds::covering(bounds.min, bounds.max).unwrap(),
            player_limit: 1,
            ticket: Ticket::NONE,
            rejoin_seconds: 0,
            schema: Arc::new(Schema::of_models(std::iter::empty()).unwrap()),
            game: game.hash(),
        }
    }

    /// Symptom: bots in a rotation of many maps kept all of them. Cause: nothing ever left the
    /// store. Cure: the map that was asked for least recently leaves.
    #[tokio::test]
    async fn the_map_that_was_asked_for_least_recently_leaves() {
        let store = MapStore::new(Vec::new());
        let maps: Vec<Map> = (0..=MAPS).map(|number| block(32 + number)).collect();
        let game = GameData::parse("[movement]\ngravity = 400").unwrap();
        let fetched = RefCell::new((0, 0));
        let get = async |map: usize| {
            let fetch = async |what| {
                let (fetched_maps, fetched_games) = &mut *fetched.borrow_mut();
                Ok(match what {
                    Download::Map => {
                        *fetched_maps += 1;
                        maps[map].to_bytes()
                    }
                    Download::Game => {
                        *fetched_games += 1;
                        game.bytes().to_owned()
                    }
                })
            };
            store.get(&hello(&maps[map], &game), fetch).await.unwrap()
        };
        let first = get(0).await;
        for map in 1..MAPS {
            get(map).await;
        }
        // All maps have one game, whose data are fetched once.
        assert_eq!(*fetched.borrow(), (MAPS, 1));
        assert!(Arc::ptr_eq(&get(0).await, &first), "the map in the store is kept");
        // This is one map more than the store keeps. The second map, which was asked for least
        // recently, leaves.
        get(MAPS).await;
        assert_eq!(*fetched.borrow(), (MAPS + 1, 1));
        assert!(Arc::ptr_eq(&get(0).await, &first), "the map is asked for again");
        get(1).await;
        assert_eq!(*fetched.borrow(), (MAPS + 2, 1));
        assert_eq!(store.loaded.lock().await.len(), MAPS);
    }
}
