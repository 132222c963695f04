use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::extract::Path;
use glam::DVec3;
use obsp_game::Event;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use crate::matches::tick_thread::published::PublishedStates;
use crate::operate::page::Pages;

/// Maximum number of effects that are kept: as many as happen in some seconds of a full match in which everybody
/// shoots.
const REMEMBERED: usize = 2048;

/// An event that a page shows for a moment. Snapshots do not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum Effect {
    /// A ray was shot.
    Ray { player: u16, from: [f32; 3], to: [f32; 3] },
    /// Something exploded.
    Blast { at: [f32; 3], radius: f32 },
    /// A player lost health.
    Hurt { player: u16, by: u16, damage: u16 },
    /// The emergency routine put a body elsewhere.
    Replaced { entity: u16 },
}

/// An effect and the tick in which it shows.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Timed {
    tick: u64,
    #[serde(flatten)]
    effect: Effect,
}

/// The latest effects.
#[derive(Debug, Default)]
pub(super) struct Effects(Mutex<VecDeque<Timed>>);

impl Effect {
    fn of(event: &Event) -> Option<Self> {
        let place = |at: DVec3| at.as_vec3().to_array();
        match *event {
            Event::Ray { player, from, to } => {
                Some(Self::Ray { player: player.slot, from: place(from), to: place(to) })
            }
            Event::Blast { at, radius } => {
                Some(Self::Blast { at: place(at), radius: radius as f32 })
            }
            Event::Hurt { player, by, damage } => {
                Some(Self::Hurt { player: player.slot, by: by.slot, damage })
            }
            Event::Replaced { entity } => Some(Self::Replaced { entity: entity.slot }),
            // These events are no effects: pages get them from snapshots and the control stream.
            Event::Spawned { .. }
            | Event::Teleported { .. }
            | Event::Died { .. }
            | Event::Deployed { .. }
            | Event::Announced { .. }
            | Event::Said { .. }
            | Event::Game(_)
            | Event::Private { .. } => None,
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
            for effect in published.events.iter().filter_map(Effect::of) {
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
