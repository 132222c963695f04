//! The files that the page needs to play a recording: the recordings in `--replay-dir`, and the
//! maps on which they were made.

pub(crate) mod offered;
pub(crate) mod rewind;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::channel::Channel;
use obsp_proto::control::MapHash;
use tokio::sync::Mutex;

use super::content::{Content, Kept};
use super::level_view;
use super::level_view::{LevelView, in_turn};
use crate::common::regular_file;
use crate::matches::map_file;
use crate::matches::match_handle::who_may_see::Viewer;
use crate::operate::page::{All, Pages};
use offered::{LARGEST, LOOKED_AT, Offered};

/// Maximum number of maps that are kept besides the map that is played, and maximum number of their
/// bytes in all. The map that was requested last is kept even if it is larger.
const KEPT: (usize, usize) = (8, 64 << 20);

/// Bytes of a recording that are read at once.
const CHUNK: usize = 16 << 10;

/// `/replays`: the recordings in the folder, the newest first.
pub(super) async fn list(pages: Pages, all: All, Extension(viewer): Extension<Viewer>) -> Response {
    let offered = Offered::to(viewer, &pages, &all);
    let work = move || offered.map(|offered| offered.list()).unwrap_or_default();
    pages.0.level_views.respond_without_view(work).await
}

/// `/replays/NAME`: a recording. A request holds only one chunk of it in memory, however slowly the
/// visitor reads.
pub(super) async fn one(
    pages: Pages,
    all: All,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let offered = Offered::to(viewer, &pages, &all);
    let found = move || offered?.find(FilePath::new(&name));
    match tokio::task::spawn_blocking(found).await.ok().flatten() {
        Some((file, bytes)) => stream(file, bytes),
        None => missing(),
    }
}

/// `/maps/HASH`: the bytes of the map that has this hash, if the server plays it or finds it
/// among its maps.
pub(super) async fn map(
    Pages(pages): Pages,
    Path(hash): Path<String>,
    asked: HeaderMap,
) -> Response {
    let level = pages.game.level();
    if MapHash(level.world_map.hash()).to_string() == hash {
        let answer = move |view: &LevelView| view.file.answer(&asked, Kept::ForEver);
        return pages.level_views.respond(level, answer).await;
    }
    match pages.other_maps.look_up(hash, |map| Some(map.file.clone())).await {
        Some(file) => file.answer(&asked, Kept::ForEver),
        None => missing(),
    }
}

/// `/games/HASH`: the data that clients need of the game that is played, if the data have this
/// hash.
pub(super) async fn game(
    Pages(pages): Pages,
    Path(hash): Path<String>,
    asked: HeaderMap,
) -> Response {
    let level = pages.game.level();
    if level.match_info.game.is_none_or(|played| played.to_string() != hash) {
        return missing();
    }
    let answer = move |view: &LevelView| view.game.answer(&asked, Kept::ForEver);
    pages.level_views.respond(level, answer).await
}

/// `/scene`: the map and the models.
pub(super) async fn scene(Pages(pages): Pages, asked: HeaderMap) -> Response {
    let answer = move |view: &LevelView| view.scene.answer(&asked, Kept::Checked);
    pages.level_views.respond(pages.game.level(), answer).await
}

/// `/scene/HASH`: the same as `/scene`, but for the map that has this hash. The models are not part
/// of the hash, so a browser asks whether the scene has changed.
pub(super) async fn scene_of(
    Pages(pages): Pages,
    Path(hash): Path<String>,
    asked: HeaderMap,
) -> Response {
    if MapHash(pages.game.level().world_map.hash()).to_string() == hash {
        return scene(Pages(pages), asked).await;
    }
    match pages.other_maps.look_up(hash, OtherMap::scene).await {
        Some(scene) => scene.answer(&asked, Kept::Checked),
        None => missing(),
    }
}

/// The maps that were requested last, other than the map that is played. The latest comes last.
/// They are kept so that requests for several maps in turn do not make the server read and compress
/// them each time. A request holds the lock while it works, so maps are read, and scenes computed,
/// one at a time.
#[derive(Default)]
pub(super) struct OtherMaps(Arc<Mutex<Vec<OtherMap>>>);

/// A map that is not played.
struct OtherMap {
    hash: String,
    file: Content,
    bytes: Bytes,
    /// The file with the source of the map. It need not exist.
    source: PathBuf,
    scene: Option<Content>,
}

impl OtherMaps {
    /// The result of `work` on the map with this hash. `None` if no such map is found.
    async fn look_up(
        &self,
        hash: String,
        work: impl FnOnce(&mut OtherMap) -> Option<Content> + Send + 'static,
    ) -> Option<Content> {
        let looked_up = in_turn(&self.0, move |known: &mut Vec<OtherMap>| {
            let map = match known.iter().position(|map| map.hash == hash) {
                Some(place) => known.remove(place),
                None => {
                    let path = path_of_map(&hash)?;
                    let bytes = Bytes::from(regular_file::read(&path, LARGEST).ok()?);
                    let file = level_view::binary(bytes.clone());
                    let source = path.with_extension("map");
                    OtherMap { hash, file, bytes, source, scene: None }
                }
            };
            keep(known, map);
            known.last_mut().and_then(work)
        });
        looked_up.await.ok().flatten()
    }
}

/// Adds a map, and forgets the maps that were requested longest ago.
fn keep(known: &mut Vec<OtherMap>, map: OtherMap) {
    known.push(map);
    let (most, most_bytes) = KEPT;
    let bytes = |known: &[OtherMap]| known.iter().map(|map| map.bytes.len()).sum::<usize>();
    while known.len() > most || known.len() > 1 && bytes(known) > most_bytes {
        known.remove(0);
    }
}

impl OtherMap {
    fn scene(&mut self) -> Option<Content> {
        if self.scene.is_none() {
            let map = obsp::Map::from_bytes(&self.bytes).ok()?;
            self.scene = Some(level_view::scene_of(&map, &self.source, &obsp::model::shipped()));
        }
        self.scene.clone()
    }
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "no such file\n").into_response()
}

/// Sends the first `bytes` bytes of a file, one chunk after the other as the visitor reads them.
fn stream(file: File, bytes: u64) -> Response {
    let (mut sender, body) = Channel::<Bytes, io::Error>::new(1);
    tokio::spawn(async move {
        let mut file = file.take(bytes);
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let mut chunk = vec![0; CHUNK];
                let length = file.read(&mut chunk)?;
                chunk.truncate(length);
                Ok::<_, io::Error>((file, chunk))
            });
            let chunk = match read.await {
                Ok(Ok((rest, chunk))) => {
                    file = rest;
                    chunk
                }
                Ok(Err(error)) => return sender.abort(error),
                Err(error) => return sender.abort(io::Error::other(error)),
            };
            // The file has ended, or the visitor has closed the connection.
            if chunk.is_empty() || sender.send_data(chunk.into()).await.is_err() {
                return;
            }
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
        // A recording may still grow.
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (headers, Body::new(body)).into_response()
}

/// The path of the compiled map with this hash, if a folder of maps has it.
fn path_of_map(hash: &str) -> Option<PathBuf> {
    let entries = map_file::folders().into_iter().filter_map(|folder| folder.read_dir().ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path()).take(LOOKED_AT);
    let compiled = paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "obsp"));
    let is_wanted = |path: &PathBuf| {
        let start: Option<[u8; obsp::Map::START]> = begins_with(path);
        let found = start.and_then(|start| obsp::Map::hash_at_start(&start));
        found.is_some_and(|found| MapHash(found).to_string() == hash)
    };
    compiled.into_iter().find(is_wanted)
}

/// The first bytes of a file.
fn begins_with<const LENGTH: usize>(path: &FilePath) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    regular_file::open_regular(path).ok()?.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Symptom: requests for two hashes in turn made the server read and compress up to 64 MB each
    /// time.
    #[tokio::test]
    async fn maps_that_are_asked_for_in_turn_are_read_once() {
        let hash = |name| {
            let path = map_file::find(name, &map_file::folders()).unwrap();
            MapHash(map_file::load(&path).unwrap().hash()).to_string()
        };
        let maps = OtherMaps::default();
        let (warren, terrain) = (hash("warren.obsp"), hash("terrain.obsp"));
        let read = Arc::new(std::sync::Mutex::new(Vec::new()));
        for hash in [&warren, &terrain, &warren, &terrain] {
            let read = Arc::clone(&read);
            let note = move |map: &mut OtherMap| {
                // Each clone keeps its memory allocated, so that another map cannot have the same
                // address.
                read.lock().unwrap().push(map.bytes.clone());
                Some(map.file.clone())
            };
            assert!(maps.look_up(hash.clone(), note).await.is_some());
        }
        let places: Vec<_> = read.lock().unwrap().iter().map(|bytes| bytes.as_ptr()).collect();
        assert_eq!((places[0], places[1]), (places[2], places[3]));
    }

    #[test]
    fn so_many_maps_are_kept_and_no_more() {
        let map = |number: usize, length: usize| {
            let bytes = Bytes::from(vec![0; length]);
            let file = level_view::binary(Bytes::new());
            let (hash, source) = (number.to_string(), PathBuf::new());
            OtherMap { hash, file, bytes, source, scene: None }
        };
        let kept = |known: &[OtherMap]| {
            known.iter().map(|map| map.hash.clone()).collect::<Vec<_>>().join(" ")
        };
        let mut known = Vec::new();
        (0..9).for_each(|number| keep(&mut known, map(number, 1)));
        assert_eq!(kept(&known), "1 2 3 4 5 6 7 8");
        // Together with the one byte of the last map, these bytes are exactly as many as are kept.
        keep(&mut known, map(9, KEPT.1 - 7));
        assert_eq!(kept(&known), "2 3 4 5 6 7 8 9");
        keep(&mut known, map(10, 2));
        assert_eq!(kept(&known), "4 5 6 7 8 9 10");
        keep(&mut known, map(11, KEPT.1 + 1));
        assert_eq!(kept(&known), "11");
    }

    #[test]
    fn a_map_is_found_by_its_hash() {
        let path = map_file::find("warren.obsp", &map_file::folders()).unwrap();
        let hash = MapHash(map_file::load(&path).unwrap().hash()).to_string();
        let found = path_of_map(&hash).and_then(|found| fs::read(found).ok());
        assert_eq!(found, fs::read(path).ok());
        assert_eq!(path_of_map("../../../etc/passwd"), None);
    }
}
