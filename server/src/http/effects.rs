use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::extract::{Path, State};
use glam::DVec3;
use obsp_sim::Event;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use super::Pages;
use crate::tick_thread::Ticks;

/// Effects that are remembered: seconds of a full match in which everybody
/// shoots.
const REMEMBERED: usize = 2048;

/// Something to be shown for a moment and forgotten: no snapshot tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Effect {
    /// A ray was shot.
    Ray { player: u16, from: [f32; 3], to: [f32; 3] },
    /// Something burst.
    Blast { at: [f32; 3], radius: f32 },
    /// A player lost health.
    Hurt { player: u16, by: u16, damage: u16 },
    /// The emergency routine put a body elsewhere.
    Replaced { entity: u16 },
}

/// An effect and the tick in which it shows.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Timed {
    tick: u64,
    #[serde(flatten)]
    effect: Effect,
}

/// What happened of late. Written and read on the network thread alone.
#[derive(Debug, Default)]
pub(crate) struct Effects(Mutex<VecDeque<Timed>>);

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
            // Snapshots and the control stream tell of these.
            Event::Spawned { .. }
            | Event::Teleported { .. }
            | Event::Died { .. }
            | Event::Deployed { .. } => None,
        }
    }
}

impl Effects {
    /// Remembers what happens, until the match ends.
    pub(crate) async fn note(&self, mut ticks: Ticks) {
        loop {
            let frame = match ticks.recv().await {
                Ok(frame) => frame,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            };
            let mut effects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for effect in frame.happened.iter().filter_map(Effect::of) {
                effects.push_back(Timed { tick: frame.state.tick, effect });
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

/// `/effects/TICK`: what happened in later ticks, the earliest first.
pub(super) async fn after(State(lobby): Pages, Path(tick): Path<u64>) -> Json<Vec<Timed>> {
    Json(lobby.effects.after(tick))
}
