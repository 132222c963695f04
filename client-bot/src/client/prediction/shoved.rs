use std::collections::VecDeque;

use glam::DVec3;
use proto::Tick;
use proto::snapshot::Touched;
use sim::{EntityId, EntityState, Kind, Moving, Pile, PlayerMotion, Predictor};

use super::{CARRIED, Told};

/// Ticks after the last shove until what a prop does is no longer its shover's
/// doing; the server knows better, and says so.
const FORGOTTEN: i64 = 120;

/// Ticks of which it is remembered where things were foreseen: longer than an
/// answer takes on most lines.
const REMEMBERED: usize = 64;

/// For how many ticks a shove is believed in of which no news tell: props that
/// move are told of more often than that.
const UNTOLD: i64 = 6;

/// What news are rounded to, and a little: units, units per second, and the
/// cosine of half an angle.
const ROUNDED_PLACE: f64 = 1.0 / 50.0;
const ROUNDED_SPEED: f64 = 2.2;
const ROUNDED_COSINE: f64 = 1.0 - 2e-6;

/// What the server tells has become of a body so nearly exactly that no more than
/// rounding to single precision is between it and the truth: units, units per
/// second and radians per second.
const EXACT: f64 = 1e-3;

/// What the server has told.
pub(super) struct News<'a> {
    /// The tick after which the player moves as answered.
    pub(super) tick: Tick,
    /// The others, each as it was last heard of.
    pub(super) told: &'a [Told],
    /// What the player has run into, exactly as it is after that tick.
    pub(super) exact: &'a [Option<Touched>],
}

impl News<'_> {
    fn exact(&self, state: &EntityState) -> Option<Moving> {
        let exact = self.exact.iter().flatten().find(|exact| exact.slot == state.id.slot)?;
        if !matches!(state.kind, Kind::Prop { .. }) {
            return None;
        }
        let state = EntityState {
            position: exact.position.as_dvec3(),
            orientation: exact.orientation.as_dquat().normalize(),
            velocity: exact.velocity.as_dvec3(),
            asleep: exact.asleep,
            ..*state
        };
        Some(Moving { state, spin: exact.spin.as_dvec3() })
    }
}

/// What the player has set going, and where that is thought to be.
#[derive(Debug, Default)]
pub(super) struct Shoved {
    own: Vec<Shove>,
    /// They and what is near them, after the last command; if anything is own.
    pile: Option<Pile>,
    /// What was foreseen for the end of each tick.
    foreseen: VecDeque<(Tick, Vec<Moving>)>,
}

#[derive(Clone, Copy, Debug)]
struct Shove {
    id: EntityId,
    /// The last tick of the shove.
    last: Tick,
}

impl Shoved {
    /// Who they are.
    pub(super) fn ids(&self) -> Vec<EntityId> {
        self.own.iter().map(|shove| shove.id).collect()
    }

    /// Whether anything is on its way by the player's doing.
    pub(super) fn are_moving(&self) -> bool {
        self.pile.is_some()
    }

    /// There is nobody any more who shoves.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the news are no other than was foreseen.
    pub(super) fn is_confirmed(&self, news: &News) -> bool {
        self.own.iter().all(|shove| {
            let told = news.told.iter().find(|(_, state)| state.id == shove.id);
            told.is_some_and(|told| self.confirmed(told, news).is_some())
        })
    }

    /// Begins anew from the news, after which the player moves like `motion`.
    /// What was foreseen rightly, as far as they can tell, is known better than
    /// they are rounded.
    pub(super) fn begin_anew(
        &mut self,
        news: &News,
        motion: &PlayerMotion,
        (seconds, predictor): (f64, &Predictor),
    ) {
        let tick = news.tick;
        let known = |told: &Told| {
            let known = news.exact(&told.1).or_else(|| self.confirmed(told, news));
            known.unwrap_or_else(|| {
                let then = self.foreseen_at(told.0, told.1.id);
                let spin = then.map_or(DVec3::ZERO, |then| then.spin);
                Moving { state: carried(told, tick, seconds), spin }
            })
        };
        let bodies: Vec<Moving> = news.told.iter().map(known).collect();
        self.foreseen.retain(|(foreseen, _)| *foreseen <= tick);
        self.own.retain(|shove| {
            let known = bodies.iter().find(|body| body.state.id == shove.id);
            known.is_some_and(|body| !body.state.asleep)
        });
        self.gather(&bodies, motion, predictor);
    }

    /// One of the others at the end of `tick`, the last that was played: what the
    /// player shoves and what is near it as foreseen, everything else as it was
    /// told to move.
    pub(super) fn at(&self, told: &Told, tick: Tick, seconds: f64) -> EntityState {
        let foreseen = self.pile.as_ref().and_then(|pile| pile.find(told.1.id));
        foreseen.map_or_else(|| carried(told, tick, seconds), |body| body.state)
    }

    /// Takes in that in `tick` the player, who then moves like `motion`, ran
    /// into those of `around` that `hit` lists, which have got the speed of the
    /// shove; and moves on what is on its way.
    pub(super) fn advance(
        &mut self,
        (tick, motion): (Tick, &PlayerMotion),
        hit: &[usize],
        around: &[EntityState],
        (seconds, predictor): (f64, &Predictor),
    ) {
        let mut strangers = false;
        for EntityState { id, velocity, .. } in hit.iter().map(|&index| around[index]) {
            match self.own.iter_mut().find(|shove| shove.id == id) {
                Some(shove) => shove.last = tick,
                None => self.own.push(Shove { id, last: tick }),
            }
            match &mut self.pile {
                Some(pile) if pile.find(id).is_some() => pile.shove(id, velocity),
                _ => strangers = true,
            }
        }
        if strangers {
            let spin = |id| self.pile.as_ref()?.find(id).map(|body| body.spin);
            let known = |state: &EntityState| Moving {
                state: *state,
                spin: spin(state.id).unwrap_or_default(),
            };
            let bodies: Vec<Moving> = around.iter().map(known).collect();
            self.gather(&bodies, motion, predictor);
        }
        let Some(pile) = &mut self.pile else { return };
        predictor.advance(pile, around, motion, seconds);
        let bodies: Vec<Moving> = pile.bodies().collect();
        self.own.retain(|shove| {
            let own = bodies.iter().find(|body| body.state.id == shove.id);
            let rests = own.is_none_or(|own| own.state.asleep);
            tick == shove.last || (!rests && tick.distance(shove.last) < FORGOTTEN)
        });
        if self.own.is_empty() {
            self.pile = None;
        }
        self.foreseen.push_back((tick, bodies));
        while self.foreseen.len() > REMEMBERED {
            self.foreseen.pop_front();
        }
    }

    fn gather(&mut self, bodies: &[Moving], motion: &PlayerMotion, predictor: &Predictor) {
        let own = self.ids();
        self.pile = (!own.is_empty()).then(|| predictor.pile(&own, bodies, motion));
    }

    /// A body as it was foreseen, if the news bear that out.
    fn confirmed(&self, (heard, state): &Told, news: &News) -> Option<Moving> {
        let tick = news.tick;
        let now = self.foreseen_at(tick, state.id)?;
        if let Some(exact) = news.exact(state) {
            return is_exact(&exact, &now).then_some(now);
        }
        let is_right = match self.foreseen_at(*heard, state.id) {
            Some(then) => is_rounded(state, &then.state),
            // There are none yet of what became of it.
            None => {
                let told_of = |(tick, bodies): &&(Tick, Vec<Moving>)| {
                    *tick > *heard && bodies.iter().any(|body| body.state.id == state.id)
                };
                let begin = self.foreseen.iter().find(told_of).map(|(tick, _)| *tick);
                begin.is_some_and(|begin| tick.distance(begin) < UNTOLD)
            }
        };
        is_right.then_some(now)
    }

    fn foreseen_at(&self, tick: Tick, id: EntityId) -> Option<Moving> {
        let (_, bodies) = self.foreseen.iter().rev().find(|(foreseen, _)| *foreseen == tick)?;
        bodies.iter().find(|body| body.state.id == id).copied()
    }
}

/// Whether the two are one but for rounding.
fn is_exact(a: &Moving, b: &Moving) -> bool {
    a.state.asleep == b.state.asleep
        && (a.state.position - b.state.position).abs().max_element() < EXACT
        && (a.state.velocity - b.state.velocity).abs().max_element() < EXACT
        && (a.spin - b.spin).abs().max_element() < EXACT
        && 1.0 - a.state.orientation.dot(b.state.orientation).abs() < EXACT * EXACT
}

/// Whether `told` is what `known` is rounded to.
fn is_rounded(told: &EntityState, known: &EntityState) -> bool {
    told.asleep == known.asleep
        && (told.position - known.position).abs().max_element() < ROUNDED_PLACE
        && (told.velocity - known.velocity).abs().max_element() < ROUNDED_SPEED
        && told.orientation.dot(known.orientation).abs() > ROUNDED_COSINE
}

/// Where an entity is at the end of `tick`, if it goes on as it was told to.
fn carried((heard, state): &Told, tick: Tick, seconds: f64) -> EntityState {
    if state.asleep {
        return *state;
    }
    let ticks = tick.distance(*heard).clamp(0, CARRIED.into());
    EntityState { position: state.position + state.velocity * (ticks as f64 * seconds), ..*state }
}
