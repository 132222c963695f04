//! What a page can lay over the match besides what snapshots tell: worked out
//! only when somebody asks, from the published frame, on a thread that neither
//! the tick nor the network waits for, and for one at a time.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use glam::DVec3;
use obsp::World;
use obsp::model::Model;
use obsp_sim::query::Heat;
use obsp_sim::{SetupError, Stage};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::task::JoinError;

use super::Pages;
use crate::tick_thread::Curiosity;

/// Points along the longer side of a cut through the onion: one every 8 units
/// of a map of 2048.
const CUT_POINTS: f64 = 256.0;

/// Least units between them.
const CUT_SPACING: f64 = 4.0;

/// What the layers are worked out from.
pub(crate) struct Layers {
    map: Arc<World>,
    heat: Arc<Heat>,
    curiosity: Arc<Curiosity>,
    /// Whoever works something out holds it.
    turn: Arc<Mutex<()>>,
}

impl Layers {
    /// Layers of a match on `map`.
    pub(crate) fn new(
        map: &Arc<World>,
        models: &[Model],
        curiosity: Arc<Curiosity>,
    ) -> Result<Self, SetupError> {
        let heat = Arc::new(Heat::new(Arc::clone(map), models)?);
        Ok(Self { map: Arc::clone(map), heat, curiosity, turn: Arc::default() })
    }

    /// The answer that `work` gives, as JSON.
    async fn answer<T: Serialize + Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Response {
        match in_turn(&self.turn, work).await {
            Ok(answer) => Json(answer).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// Does the work on a thread of its own, once no other work holds `turn`.
async fn in_turn<T: Send + 'static>(
    turn: &Arc<Mutex<()>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let turn = Arc::clone(turn).lock_owned().await;
    // The work goes on when nobody waits for it any longer, and so does its turn.
    let work = move || {
        let _turn = turn;
        work()
    };
    tokio::task::spawn_blocking(work).await
}

/// Points at which props touch something.
#[derive(Serialize)]
struct Contacts {
    tick: u64,
    /// x, y, z and the gap, in units, and the impulse, in kilogram units per
    /// second.
    points: Vec<[f32; 5]>,
}

/// `/contacts`: empty when asked for the first time in a while; frames hold them
/// from the next tick on.
pub(super) async fn contacts(State(lobby): Pages) -> Response {
    let frame = Arc::clone(&lobby.frames.borrow());
    frame.level.layers.curiosity.ask(frame.state.tick);
    let point = |contact: &obsp_sim::Contact| {
        let DVec3 { x, y, z } = contact.at;
        [x, y, z, contact.gap, contact.impulse].map(|number| number as f32)
    };
    let level = Arc::clone(&frame.level);
    let work = move || Contacts {
        tick: frame.state.tick,
        points: frame.contacts.iter().flatten().map(point).collect(),
    };
    level.layers.answer(work).await
}

/// Pairs that the filter cascade has to tell apart.
#[derive(Serialize)]
struct Cascade {
    tick: u64,
    /// What stages are called, the cheapest first.
    stages: [&'static str; Stage::COUNT],
    /// Two slots, and the stage that decided.
    pairs: Vec<(u16, u16, u8)>,
}

/// `/cascade`: see [`Heat`].
pub(super) async fn cascade(State(lobby): Pages) -> Response {
    let frame = Arc::clone(&lobby.frames.borrow());
    let level = Arc::clone(&frame.level);
    let heat = Arc::clone(&level.layers.heat);
    let work = move || Cascade {
        tick: frame.state.tick,
        stages: Stage::ALL.map(Stage::name),
        pairs: heat
            .of(&frame.state)
            .iter()
            .map(|met| (met.slots[0], met.slots[1], met.stage as u8))
            .collect(),
    };
    level.layers.answer(work).await
}

/// A level cut through the onion.
#[derive(Serialize)]
struct Cut {
    height: f64,
    /// Where the first point lies, and how far apart they are, in units.
    origin: [f64; 2],
    spacing: f64,
    /// The sizes, in the order of `spaces.toml`.
    sizes: Vec<String>,
    /// Row by row from the south, for each point how many sizes are in solid
    /// there, as a digit: of nested sizes those are the largest.
    rows: Vec<String>,
}

/// `/onion/HEIGHT`: which sizes have room at this height.
pub(super) async fn onion(State(lobby): Pages, Path(height): Path<f64>) -> Response {
    if !height.is_finite() {
        return (StatusCode::BAD_REQUEST, "the height must be a number\n").into_response();
    }
    let level = lobby.level();
    let map = Arc::clone(&level.layers.map);
    level.layers.answer(move || cut(&map, height)).await
}

fn cut(map: &World, height: f64) -> Cut {
    let bounds = map.bounds();
    let size = if bounds.is_empty() { DVec3::ONE } else { bounds.max - bounds.min };
    let origin = if bounds.is_empty() { DVec3::ZERO } else { bounds.min };
    let spacing = CUT_SPACING.max(size.x.max(size.y) / CUT_POINTS);
    let points = |length: f64| 0..(length / spacing).ceil() as u32;
    let digit = |x: u32, y: u32| {
        let middle = |least: f64, n: u32| least + (f64::from(n) + 0.5) * spacing;
        let at = DVec3::new(middle(origin.x, x), middle(origin.y, y), height).as_vec3();
        let solidity = map.solidity(at);
        let sizes = map.sizes().iter().filter_map(|size| map.size(&size.name));
        let solid = sizes.filter(|&size| solidity.contains(size)).count();
        char::from_digit(solid as u32, 36).unwrap_or('z')
    };
    Cut {
        height,
        origin: [origin.x, origin.y],
        spacing,
        sizes: map.sizes().iter().map(|size| size.name.clone()).collect(),
        rows: points(size.y).map(|y| points(size.x).map(|x| digit(x, y)).collect()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn work_that_nobody_waits_for_keeps_its_turn() {
        let turn = Arc::default();
        let ((go, wait), (begun, begins)) = (channel::<()>(), channel::<()>());
        let asked = in_turn(&turn, move || {
            begun.send(()).unwrap();
            wait.recv()
        });
        // Whoever asked goes away while it is worked out.
        assert!(timeout(Duration::from_millis(50), asked).await.is_err());
        begins.recv().unwrap();
        assert!(turn.try_lock().is_err(), "another could begin beside it");
        go.send(()).unwrap();
        assert_eq!(in_turn(&turn, || 7).await.unwrap(), 7);
    }

    #[test]
    fn a_cut_shows_rings_about_walls() {
        let path = crate::map_file::find("arena.obsp", &crate::map_file::folders()).unwrap();
        let map = crate::map_file::load(&path).unwrap();
        let cut = cut(&map, 60.0);
        let all = cut.rows.concat();
        for sizes in 0..=cut.sizes.len() {
            let digit = char::from_digit(sizes as u32, 36).unwrap();
            assert!(all.contains(digit), "nowhere are {sizes} sizes in solid");
        }
        assert!(cut.rows.iter().all(|row| row.len() == cut.rows[0].len()));
        assert!(cut.rows.len() <= 256 && cut.rows[0].len() <= 256);
        // In the void around the map there is no room for anybody.
        assert!(cut.rows[0].chars().all(|digit| digit == '4'), "{}", cut.rows[0]);
    }
}
