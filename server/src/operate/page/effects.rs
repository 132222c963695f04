use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::extract::Path;
use glam::DVec3;
use obsp_proto::effects::Effect;
use serde::Serialize;
use tokio::sync::broadcast::error::TryRecvError;

use crate::matches::tick_thread::published::{EFFECTS_KEPT, EffectsOfTick, PublishedEffects};
use crate::operate::page::Pages;

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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Timed {
    tick: u64,
    #[serde(flatten)]
    effect: Shown,
}

/// The latest effects, taken from the tick thread when a page asks for them.
#[derive(Debug)]
pub(super) struct Effects(Mutex<Latest>);

#[derive(Debug)]
struct Latest {
    published: PublishedEffects,
    taken: VecDeque<Timed>,
}

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

impl Latest {
    /// Takes all effects that wait, and keeps the latest.
    fn take(&mut self) {
        loop {
            match self.published.try_recv() {
                Ok(EffectsOfTick { tick, effects }) => self
                    .taken
                    .extend(effects.iter().map(|&effect| Timed { tick, effect: effect.into() })),
                // More effects happened since the last request than are kept.
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        let surplus = self.taken.len().saturating_sub(EFFECTS_KEPT);
        self.taken.drain(..surplus);
    }
}

impl Effects {
    /// The effects that are `published` from now on.
    pub(super) fn new(published: PublishedEffects) -> Self {
        Self(Mutex::new(Latest { published, taken: VecDeque::new() }))
    }

    fn after(&self, tick: u64) -> Vec<Timed> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.take();
        let first = latest.taken.partition_point(|timed| timed.tick <= tick);
        latest.taken.range(first..).copied().collect()
    }
}

/// `/effects/TICK`: the effects of later ticks, the earliest first.
pub(super) async fn after(Pages(pages): Pages, Path(tick): Path<u64>) -> Json<Vec<Timed>> {
    Json(pages.effects.after(tick))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::broadcast::Sender;

    use super::*;

    /// Publishes an effect in each of these ticks.
    fn publish(sender: &Sender<EffectsOfTick>, ticks: std::ops::RangeInclusive<u64>) {
        for tick in ticks {
            let effects = [Effect::Replaced { entity: tick as u16 }].into();
            sender.send(EffectsOfTick { tick, effects }).unwrap();
        }
    }

    fn ticks(effects: &Effects, after: u64) -> Vec<u64> {
        effects.after(after).iter().map(|timed| timed.tick).collect()
    }

    /// Symptom: a page missed shots while the machine was busy. The pages' thread took them from
    /// the published states, and only eight of these wait.
    #[test]
    fn no_effect_is_missed_until_more_wait_than_are_kept() {
        let sender = Sender::new(EFFECTS_KEPT);
        let effects = Effects::new(sender.subscribe());
        let kept = EFFECTS_KEPT as u64;
        publish(&sender, 1..=kept);
        assert_eq!(ticks(&effects, 0), Vec::from_iter(1..=kept));
        assert_eq!(ticks(&effects, kept - 2), [kept - 1, kept]);
        assert!(ticks(&effects, kept).is_empty());
        // The oldest effects are dropped if one more comes than are kept. First the others have
        // been taken already, then all of them still wait.
        publish(&sender, kept + 1..=kept + 1);
        assert_eq!(ticks(&effects, 0), Vec::from_iter(2..=kept + 1));
        publish(&sender, kept + 2..=2 * kept + 2);
        assert_eq!(ticks(&effects, 0), Vec::from_iter(kept + 3..=2 * kept + 2));
    }

    #[test]
    fn the_effects_of_a_tick_come_together() {
        let sender = Sender::new(EFFECTS_KEPT);
        let effects = Effects::new(sender.subscribe());
        let of_tick: Arc<[Effect]> = [1, 2, 3].map(|entity| Effect::Replaced { entity }).into();
        sender.send(EffectsOfTick { tick: 5, effects: of_tick }).unwrap();
        publish(&sender, 6..=6);
        assert_eq!(ticks(&effects, 4), [5, 5, 5, 6]);
        assert_eq!(ticks(&effects, 5), [6]);
    }

    #[test]
    fn pages_may_ask_for_the_last_effects_of_a_match_that_is_over() {
        let sender = Sender::new(EFFECTS_KEPT);
        let effects = Effects::new(sender.subscribe());
        publish(&sender, 1..=2);
        drop(sender);
        assert_eq!(ticks(&effects, 0), [1, 2]);
        assert_eq!(ticks(&effects, 1), [2]);
    }
}
