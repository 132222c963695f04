//! The files that the page needs to play a recording: the recordings in `--replay-dir`, and the
//! maps on which they were made.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::channel::Channel;
use obsp_proto::control::MapHash;
use serde::Serialize;
use tokio::sync::Mutex;

use super::level_view::in_turn;
use super::{Pages, scene};
use crate::map_file;

/// The first bytes of every recording.
const RECORDING: [u8; 4] = *b"OBSR";

/// Most recordings that are listed, the newest first.
const LISTED: usize = 200;

/// Bytes of the largest recording that is served. Ten minutes with 32 players take some 6 MB.
const LARGEST: u64 = 64 << 20;

/// Most files of a folder that a search for a recording or a map looks at.
const LOOKED_AT: usize = 4096;

/// Bytes of a recording that are read at once.
const CHUNK: usize = 64 << 10;

/// A recording in the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    bytes: u64,
}

/// `/replays`: the recordings in the folder, the newest first.
pub(super) async fn list(Pages(pages): Pages) -> Response {
    let folder = pages.replay_dir.clone();
    let work = move || folder.as_deref().map(recordings).unwrap_or_default();
    pages.level_views.respond_without_view(work).await
}

/// `/replays/NAME`: a recording. A request holds only one chunk of it in memory, however slowly the
/// visitor reads.
pub(super) async fn one(Pages(pages): Pages, Path(name): Path<String>) -> Response {
    let folder = pages.replay_dir.clone();
    let found = move || recording(&folder?, &name);
    match tokio::task::spawn_blocking(found).await.ok().flatten() {
        Some((file, bytes)) => stream(file, bytes),
        None => answer(None),
    }
}

/// `/maps/HASH`: the bytes of the map that has this hash, if the server plays it or finds it
/// among its maps.
pub(super) async fn map(Pages(pages): Pages, Path(hash): Path<String>) -> Response {
    let level = pages.game.level();
    if MapHash(level.world_map.hash()).to_string() == hash {
        return answer(Some(level.map.clone()));
    }
    answer(pages.other_maps.look_up(hash, |map| Some(map.bytes.clone())).await)
}

/// `/games/HASH`: the data that clients need of the game that is played, if the data have this
/// hash.
pub(super) async fn game(Pages(pages): Pages, Path(hash): Path<String>) -> Response {
    let level = pages.game.level();
    let is_played = level.match_info.game.is_some_and(|played| played.to_string() == hash);
    answer(is_played.then(|| level.game_data.clone()))
}

/// `/scene/HASH`: the same as `/scene`, but for the map that has this hash.
pub(super) async fn scene_of(Pages(pages): Pages, Path(hash): Path<String>) -> Response {
    let level = pages.game.level();
    if MapHash(level.world_map.hash()).to_string() == hash {
        return super::scene(Pages(Arc::clone(&pages))).await.into_response();
    }
    match pages.other_maps.look_up(hash, OtherMap::scene).await {
        Some(scene) => ([(header::CONTENT_TYPE, "application/json")], scene).into_response(),
        None => answer(None),
    }
}

/// The last map that was asked for, other than the map that is played. A request holds the lock
/// while it works, so maps are read, and scenes computed, one at a time.
#[derive(Default)]
pub(super) struct OtherMaps(Arc<Mutex<Option<OtherMap>>>);

/// A map that is not played.
struct OtherMap {
    hash: String,
    bytes: Bytes,
    scene: Option<Bytes>,
}

impl OtherMaps {
    /// The result of `work` on the map with this hash. `None` if no such map is found.
    async fn look_up(
        &self,
        hash: String,
        work: impl FnOnce(&mut OtherMap) -> Option<Bytes> + Send + 'static,
    ) -> Option<Bytes> {
        let looked_up = in_turn(&self.0, move |last: &mut Option<OtherMap>| {
            if last.as_ref().is_none_or(|known| known.hash != hash) {
                let bytes = map_bytes(&hash)?.into();
                *last = Some(OtherMap { hash, bytes, scene: None });
            }
            last.as_mut().and_then(work)
        });
        looked_up.await.ok().flatten()
    }
}

impl OtherMap {
    fn scene(&mut self) -> Option<Bytes> {
        if self.scene.is_none() {
            let map = obsp::World::from_bytes(&self.bytes).ok()?;
            self.scene = Some(scene::of(&map, &obsp::model::shipped()));
        }
        self.scene.clone()
    }
}

fn answer(bytes: Option<Bytes>) -> Response {
    match bytes {
        Some(bytes) => {
            ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such file\n").into_response(),
    }
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
    ];
    (headers, Body::new(body)).into_response()
}

/// The recording of this name in a folder, and its size.
fn recording(folder: &FilePath, name: &str) -> Option<(File, u64)> {
    // A name with a path in it could lead out of this folder.
    let is_plain = FilePath::new(name).file_name().is_some_and(|plain| plain == name);
    let mut file = File::open(is_plain.then(|| folder.join(name))?).ok()?;
    let about = file.metadata().ok()?;
    let mut magic = RECORDING;
    file.read_exact(&mut magic).ok()?;
    file.rewind().ok()?;
    let fits = about.is_file() && about.len() <= LARGEST && magic == RECORDING;
    fits.then_some((file, about.len()))
}

/// The recordings in a folder, the newest first.
fn recordings(folder: &FilePath) -> Vec<Listed> {
    let entries = folder.read_dir().into_iter().flatten().flatten().take(LOOKED_AT);
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let about = entry.metadata().ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_recording = about.is_file()
                && about.len() <= LARGEST
                && begins_with(&entry.path()).is_some_and(|magic| magic == RECORDING);
            let listed = Listed { name, bytes: about.len() };
            is_recording.then_some((about.modified().ok(), listed))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
    found.into_iter().map(|(_, listed)| listed).take(LISTED).collect()
}

/// The first bytes of a file.
fn begins_with<const LENGTH: usize>(path: &FilePath) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    File::open(path).ok()?.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// The bytes of the compiled map with this hash, if a folder of maps has it.
fn map_bytes(hash: &str) -> Option<Vec<u8>> {
    let entries = map_file::folders().into_iter().filter_map(|folder| folder.read_dir().ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path()).take(LOOKED_AT);
    let compiled = paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "obsp"));
    let is_wanted = |path: &PathBuf| {
        let start: Option<[u8; obsp::World::START]> = begins_with(path);
        let found = start.and_then(|start| obsp::World::hash_at_start(&start));
        found.is_some_and(|found| MapHash(found).to_string() == hash)
    };
    std::fs::read(compiled.into_iter().find(is_wanted)?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_recordings_are_listed() {
        let folder = std::env::temp_dir().join(format!("replays-{}", std::process::id()));
        fs::create_dir_all(folder.join("folder")).unwrap();
        fs::write(folder.join("match.rec"), b"OBSR and more").unwrap();
        fs::write(folder.join("secret"), b"not for everybody").unwrap();
        fs::write(folder.join("short"), b"OB").unwrap();
        let names: Vec<_> = recordings(&folder).into_iter().map(|listed| listed.name).collect();
        assert_eq!(names, ["match.rec"]);
        // The recording is found by its plain name. No other file is found, whatever the name.
        assert_eq!(recording(&folder, "match.rec").map(|(_, bytes)| bytes), Some(13));
        let elsewhere = folder.join("match.rec");
        for name in ["secret", "short", "folder", "../match.rec", "folder/../match.rec", "."]
            .into_iter()
            .chain(elsewhere.to_str())
        {
            assert!(recording(&folder, name).is_none(), "{name}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_map_is_found_by_its_hash() {
        let path = map_file::find("warren.obsp", &map_file::folders()).unwrap();
        let hash = MapHash(map_file::load(&path).unwrap().hash()).to_string();
        assert_eq!(map_bytes(&hash), fs::read(path).ok());
        assert_eq!(map_bytes("../../../etc/passwd"), None);
    }
}
