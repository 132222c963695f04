//! The part of a level that pages show and that snapshots do not contain. It is computed when a
//! page first requests it, one request at a time, on a separate thread. Neither the tick thread nor
//! the network thread waits for that thread.

pub(crate) mod scene;

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use obsp::model::Model;
use obsp::{Map, SurfaceTextures};
use obsp_sim::SetupError;
use obsp_sim::query::Heat;
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::task::JoinError;

use super::content::Content;
use crate::matches::level::Level;
use crate::matches::map_file;

/// The data of one level for pages.
pub(super) struct LevelView {
    level: u64,
    pub(super) map: Arc<Map>,
    pub(super) heat: Heat,
    /// The map and the models as JSON: `/scene`.
    pub(super) scene: Content,
    /// The file of the map.
    pub(super) file: Content,
    /// The data that clients need of the game.
    pub(super) game: Content,
}

impl LevelView {
    fn new(level: &Level) -> Result<Self, SetupError> {
        let (map, models) = (Arc::clone(&level.world_map), &level.models);
        let heat = Heat::new(Arc::clone(&map), models)?;
        Ok(Self {
            level: level.number,
            scene: scene_of(&map, &level.source, models),
            file: binary(level.map.clone()),
            game: binary(level.game_data.clone()),
            map,
            heat,
        })
    }
}

/// `/scene` of a map and models. The names of textures are read from the file `source`, if the map
/// was compiled from it.
pub(super) fn scene_of(map: &Map, source: &Path, models: &[Model]) -> Content {
    let drawn = map_file::read_source(source).and_then(Result::ok);
    let textures = drawn.and_then(|drawn| SurfaceTextures::read(&drawn, map));
    Content::new("application/json", scene::of(map, textures.as_ref(), models))
}

/// A file for the simulation in the page.
pub(super) fn binary(bytes: Bytes) -> Content {
    Content::new("application/octet-stream", bytes)
}

/// The view of the level that was asked for last. A request holds the lock while it computes.
#[derive(Default)]
pub(super) struct LevelViews(Arc<Mutex<Option<LevelView>>>);

impl LevelViews {
    /// The result of `work` on the view of `level`, as a response.
    pub(super) async fn respond<R: IntoResponse + Send + 'static>(
        &self,
        level: Arc<Level>,
        work: impl FnOnce(&LevelView) -> R + Send + 'static,
    ) -> Response {
        let result = in_turn(&self.0, move |last| {
            let view = match last.take() {
                Some(view) if view.level == level.number => view,
                _ => LevelView::new(&level)?,
            };
            Ok::<_, SetupError>(work(last.insert(view)))
        });
        match result.await {
            Ok(Ok(response)) => response.into_response(),
            Ok(Err(error)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    /// The result of `work`, which needs no view, as JSON.
    pub(super) async fn respond_without_view<T: Serialize + Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Response {
        match in_turn(&self.0, |_| work()).await {
            Ok(result) => Json(result).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// Does `work` on a thread of its own, once no other work holds the lock of `turn`.
pub(super) async fn in_turn<S: Send + 'static, T: Send + 'static>(
    turn: &Arc<Mutex<S>>,
    work: impl FnOnce(&mut S) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let mut turn = Arc::clone(turn).lock_owned().await;
    // The work continues when its request is dropped, and keeps the lock.
    tokio::task::spawn_blocking(move || work(&mut turn)).await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn work_whose_request_is_dropped_keeps_its_turn() {
        let turn = Arc::new(Mutex::new(()));
        let ((go, wait), (begun, begins)) = (channel::<()>(), channel::<()>());
        let asked = in_turn(&turn, move |()| {
            begun.send(()).unwrap();
            wait.recv()
        });
        // The request is dropped while the work is under way.
        assert!(timeout(Duration::from_millis(50), asked).await.is_err());
        begins.recv().unwrap();
        assert!(turn.try_lock().is_err(), "another request could begin before the work is done");
        go.send(()).unwrap();
        assert_eq!(in_turn(&turn, |()| 7).await.unwrap(), 7);
    }
}
