use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::extract::Path;
use glam::DVec3;
use obsp_game::Event;
use obsp_proto::effects::Effect;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use crate::matches::tick_thread::published::PublishedStates;
use crate::operate::page::Pages;

/// Maximum number of effects that are kept: as many as happen in some seconds of a full match in which everybody
/// shoots.
const REMEMBERED: usize = 2048;

/// An effect in the form of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Shown {
    Ray { player: u16, from: [f32; 3], to: [f32; 3] },
    Blast { at: [f32; 3], radius: f32 },
    Hurt { player: u16, by: u16, damage: u16 },
    Replaced { entity: u16 },
}

/// An effect and the tick in which it shows.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Timed {
    tick: u64,
    #[serde(flatten)]
    effect: Shown,
}

/// The latest effects.
#[derive(Debug, Default)]
pub(super) struct Effects(Mutex<VecDeque<Timed>>);

impl From<Effect> for Shown {
    fn from(effect: Effect) -> Self {
        let place = |at: DVec3| at.as_vec3().to_array();
        match effect {
            Effect::Ray { player, from, to } => {
                Self::Ray { player, from: place(from), to: place(to) }
            }
            Effect::Blast { at, radius } => Self::Blast { at: place(at), radius: radius as f32 },
            Effect::Hurt { player, by, damage } => Self::Hurt { player, by, damage },
            Effect::Replaced { entity } => Self::Replaced { entity },
        }
    }
}

impl Effects {
    /// Records the effects of each tick, for as long as it is polled.
    pub(super) async fn record(&self, mut states: PublishedStates) -> Infallible {
        loop {
            let published = match states.recv().await {
                Ok(published) => published,
                Err(RecvError::Lagged(_)) => continue,
                // The match is over. Pages may still ask for its last effects, so the recorder only
                // waits.
                Err(RecvError::Closed) => pending().await,
            };
            let mut effects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for effect in published.events.iter().filter_map(Event::effect) {
                let effect = effect.into();
                effects.push_back(Timed { tick: published.state.tick, effect });
            }
            let surplus = effects.len().saturating_sub(REMEMBERED);
            effects.drain(..surplus);
        }
    }

    fn after(&self, tick: u64) -> Vec<Timed> {
        let effects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = effects.partition_point(|timed| timed.tick <= tick);
        effects.range(first..).copied().collect()
    }
}

/// `/effects/TICK`: the effects of later ticks, the earliest first.
pub(super) async fn after(Pages(pages): Pages, Path(tick): Path<u64>) -> Json<Vec<Timed>> {
    Json(pages.effects.after(tick))
}
