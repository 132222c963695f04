use proto::Tick;
use sim::{EntityId, EntityState, PlayerMotion, Predictor};

use super::{CARRIED, Told};

/// A prop that is told to be slower than this, in units per second, though it
/// is being shoved does not give way.
const YIELDING: f64 = 12.0;

/// Ticks without a shove after which the next is a new one: who walks against a
/// prop touches it every other tick, as it slides ahead of them and slows down.
const LET_GO: i64 = 3;

/// Ticks after the last shove until what a prop does is no longer its shover's
/// doing; the server knows better, and says so.
const FORGOTTEN: i64 = 120;

/// What the player has set going, and where it is thought to be.
#[derive(Debug, Default)]
pub(super) struct Shoved(Vec<Shove>);

#[derive(Debug)]
struct Shove {
    id: EntityId,
    /// The first tick of the shove, and the last.
    since: Tick,
    last: Tick,
    /// As predicted, while that is newer than what the server told; `None` if
    /// it goes as it was told to, or does not give way.
    predicted: Option<EntityState>,
}

impl Shoved {
    /// Who they are.
    pub(super) fn ids(&self) -> Vec<EntityId> {
        self.0.iter().map(|shove| shove.id).collect()
    }

    /// Whether any of them is thought to be elsewhere than was told.
    pub(super) fn are_moving(&self) -> bool {
        self.0.iter().any(|shove| shove.predicted.is_some())
    }

    /// Takes nothing for granted but what was told.
    pub(super) fn doubt(&mut self) {
        self.0.iter_mut().for_each(|shove| shove.predicted = None);
    }

    /// There is nobody any more who shoves.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// One of the others at the end of `tick`: what the player shoves as
    /// predicted, everything else as it was told to move.
    pub(super) fn at(
        &self,
        told: &Told,
        tick: Tick,
        seconds: f64,
        predictor: &Predictor,
    ) -> EntityState {
        let (heard, state) = told;
        let own = self.0.iter().find(|shove| shove.id == state.id);
        if let Some(predicted) = own.and_then(|own| own.predicted) {
            return predicted;
        }
        if state.asleep {
            return *state;
        }
        let ticks = tick.distance(*heard).clamp(0, CARRIED.into());
        let passed = ticks as f64 * seconds;
        if own.is_some() {
            return predictor.coast(*state, passed);
        }
        EntityState { position: state.position + state.velocity * passed, ..*state }
    }

    /// Takes in that in `tick` the player, who then moves like `motion`, ran
    /// into those of `around` (as `told`) that `hit` lists, which have got the
    /// speed of the shove; and moves on what is on its way.
    pub(super) fn advance(
        &mut self,
        tick: Tick,
        hit: &[usize],
        (around, told): (&[EntityState], &[Told]),
        motion: &PlayerMotion,
        (seconds, predictor): (f64, &Predictor),
    ) {
        for &index in hit {
            let id = around[index].id;
            match self.0.iter_mut().find(|shove| shove.id == id) {
                Some(shove) => {
                    if tick.distance(shove.last) > LET_GO {
                        shove.since = tick;
                    }
                    shove.last = tick;
                }
                None => self.0.push(Shove { id, since: tick, last: tick, predicted: None }),
            }
        }
        self.0.retain_mut(|shove| {
            let Some(index) = around.iter().position(|state| state.id == shove.id) else {
                return false;
            };
            let news = &told[index];
            let is_hit = hit.contains(&index);
            let is_ahead = shove.predicted.is_some() && news.0 < shove.last;
            let goes = (is_hit || is_ahead) && !shove.is_resisted(news);
            shove.predicted = goes.then(|| predictor.slide(around[index], around, motion, seconds));
            is_hit || (tick.distance(shove.last) < FORGOTTEN && !news.1.asleep)
        });
    }
}

impl Shove {
    /// Whether the news are later than the shove, and yet it does not move.
    fn is_resisted(&self, (heard, state): &Told) -> bool {
        heard.distance(self.since) > 1 && state.velocity.length() < YIELDING
    }
}
