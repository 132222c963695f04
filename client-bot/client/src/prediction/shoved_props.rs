//! Props that the player shoves, predicted by the server's own solver until the server's reports
//! differ.
//!
//! Call [`ShovedProps::restart`] before a replay, then [`ShovedProps::advance`] after every
//! tick played. [`ShovedProps::is_confirmed`] says whether a replay is needed at all.

use std::collections::VecDeque;

use glam::DVec3;
use obsp_proto::Tick;
use obsp_proto::snapshot::{TouchedBody, TouchedMove};
use obsp_sim::{
    ArmedMove, CollisionLayers, EntityId, EntityState, Kind, LinearMove, Moving, PlayerMotion,
    PredictedBodies, Predictor, Swing,
};

use super::{MAX_EXTRAPOLATION, Observed};

/// Ticks after the last contact for which a prop counts as shoved by the player. After that, the
/// server's reports are more accurate than the prediction.
const MAX_SHOVE_AGE: i64 = 120;

/// Ticks for which predicted states are kept: longer than a round trip on most
/// connections.
const MAX_HISTORY: usize = 64;

/// Number of ticks for which a shove is trusted without a later state from the server. Moving props
/// are sent more often than that.
const MAX_UNREPORTED: i64 = 6;

/// Largest difference between a predicted state and the quantised one received for it, with a small
/// margin: in units, in units per second, and as the cosine of half the angle between the
/// orientations.
const POSITION_TOLERANCE: f64 = 1.0 / 50.0;
const VELOCITY_TOLERANCE: f64 = 2.2;
const ORIENTATION_COSINE: f64 = 1.0 - 2e-6;

/// Largest difference between a predicted body and an exact report of the server, which is rounded
/// only to single precision. In units, units per second and radians per second.
const EXACT_TOLERANCE: f64 = 1e-3;

/// The motion of the client's own player, and the player's layers.
type Player<'a> = (&'a PlayerMotion, CollisionLayers);

/// The server's report for one tick.
pub(super) struct ServerUpdate<'a> {
    /// The tick of the authoritative motion.
    pub(super) tick: Tick,
    /// The latest known states of other entities.
    pub(super) observed: &'a [Observed],
    /// The bodies that the player has touched, exactly as they are after `tick`.
    pub(super) exact: &'a [Option<TouchedBody>],
}

impl ServerUpdate<'_> {
    /// A prop among the touched bodies, as the server reports it.
    pub(super) fn exact(&self, state: &EntityState) -> Option<Moving> {
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
        let linear_move = exact.linear_move.map(|TouchedMove { goal, speed, start }| LinearMove {
            goal: goal.as_dvec3(),
            speed: speed.into(),
            delay: start.distance(self.tick).clamp(0, u32::MAX.into()) as u32,
        });
        let (swing, armed) = (exact.swing.map(Swing::from), exact.armed.map(ArmedMove::from));
        Some(Moving { state, spin: exact.spin.as_dvec3(), linear_move, swing, armed })
    }
}

/// The props that the player shoves, and their predicted states.
#[derive(Debug, Default)]
pub(super) struct ShovedProps {
    own: Vec<Shove>,
    /// The shoved props and the bodies near them, after the latest command; `None` if the
    /// player shoves nothing.
    bodies: Option<PredictedBodies>,
    /// The predicted states at the end of each tick.
    predicted: VecDeque<(Tick, Vec<Moving>)>,
}

#[derive(Clone, Copy, Debug)]
struct Shove {
    id: EntityId,
    /// The last tick in which the player touched the prop.
    last: Tick,
}

impl ShovedProps {
    /// The ids of the shoved props.
    pub(super) fn ids(&self) -> Vec<EntityId> {
        self.own.iter().map(|shove| shove.id).collect()
    }

    /// Whether the player shoves anything.
    pub(super) fn are_moving(&self) -> bool {
        self.bodies.is_some()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the update agrees with the prediction.
    pub(super) fn is_confirmed(&self, update: &ServerUpdate) -> bool {
        self.own.iter().all(|shove| {
            let observed = update.observed.iter().find(|(_, state)| state.id == shove.id);
            observed.is_some_and(|observed| self.confirmed(observed, update).is_some())
        })
    }

    /// Starts again from an update of the server, in which the player moves as `player` says. A
    /// prediction that agrees with the update is kept, because it is more precise than the
    /// quantised state.
    pub(super) fn restart(
        &mut self,
        update: &ServerUpdate,
        player: Player,
        (seconds, predictor): (f64, &Predictor),
    ) {
        let tick = update.tick;
        let known = |observed: &Observed| {
            let known = update.exact(&observed.1).or_else(|| self.confirmed(observed, update));
            known.unwrap_or_else(|| {
                let then = self.predicted_at(observed.0, observed.1.id);
                let spin = then.map_or(DVec3::ZERO, |then| then.spin);
                Moving::new(extrapolated(observed, tick, seconds), spin)
            })
        };
        let bodies: Vec<Moving> = update.observed.iter().map(known).collect();
        self.predicted.retain(|(predicted, _)| *predicted <= tick);
        self.own.retain(|shove| {
            let known = bodies.iter().find(|body| body.state.id == shove.id);
            known.is_some_and(|body| !body.state.asleep)
        });
        self.rebuild(&bodies, player, predictor);
    }

    /// The state of another entity at the end of `tick`, the last tick that was played. The state
    /// is predicted for a shoved prop and for bodies near one, and extrapolated for all others.
    pub(super) fn at(&self, observed: &Observed, tick: Tick, seconds: f64) -> EntityState {
        let predicted = self.bodies.as_ref().and_then(|bodies| bodies.find(observed.1.id));
        predicted.map_or_else(|| extrapolated(observed, tick, seconds), |body| body.state)
    }

    /// Advances the shoved props by one tick. `hit` lists the entities of `around` that the player
    /// touched in `tick`. Their states already have the velocity after the contact. The player
    /// moves as `player` says after that tick.
    pub(super) fn advance(
        &mut self,
        (tick, player): (Tick, Player),
        hit: &[usize],
        around: &[EntityState],
        (seconds, predictor): (f64, &Predictor),
    ) {
        let mut is_new = false;
        for EntityState { id, velocity, .. } in hit.iter().map(|&index| around[index]) {
            match self.own.iter_mut().find(|shove| shove.id == id) {
                Some(shove) => shove.last = tick,
                None => self.own.push(Shove { id, last: tick }),
            }
            match &mut self.bodies {
                Some(bodies) if bodies.find(id).is_some() => bodies.shove(id, velocity),
                _ => is_new = true,
            }
        }
        if is_new {
            let spin = |id| self.bodies.as_ref()?.find(id).map(|body| body.spin);
            let known =
                |state: &EntityState| Moving::new(*state, spin(state.id).unwrap_or_default());
            let bodies: Vec<Moving> = around.iter().map(known).collect();
            self.rebuild(&bodies, player, predictor);
        }
        let Some(bodies) = &mut self.bodies else { return };
        predictor.advance(bodies, around, player.0, seconds);
        let states: Vec<Moving> = bodies.bodies().collect();
        self.own.retain(|shove| {
            let own = states.iter().find(|body| body.state.id == shove.id);
            let rests = own.is_none_or(|own| own.state.asleep);
            tick == shove.last || (!rests && tick.distance(shove.last) < MAX_SHOVE_AGE)
        });
        if self.own.is_empty() {
            self.bodies = None;
        }
        self.predicted.push_back((tick, states));
        while self.predicted.len() > MAX_HISTORY {
            self.predicted.pop_front();
        }
    }

    fn rebuild(&mut self, bodies: &[Moving], player: Player, predictor: &Predictor) {
        let own = self.ids();
        self.bodies = (!own.is_empty()).then(|| predictor.predicted_bodies(&own, bodies, player));
    }

    /// The predicted state of a body, if the update agrees with it.
    fn confirmed(&self, (observed_at, state): &Observed, update: &ServerUpdate) -> Option<Moving> {
        let tick = update.tick;
        let now = self.predicted_at(tick, state.id)?;
        if let Some(exact) = update.exact(state) {
            return is_exact(&exact, &now).then_some(now);
        }
        let is_right = match self.predicted_at(*observed_at, state.id) {
            Some(then) => is_rounded(state, &then.state),
            // The update has no state later than the contact yet.
            None => {
                let is_predicted = |(tick, bodies): &&(Tick, Vec<Moving>)| {
                    *tick > *observed_at && bodies.iter().any(|body| body.state.id == state.id)
                };
                let begin = self.predicted.iter().find(is_predicted).map(|(tick, _)| *tick);
                begin.is_some_and(|begin| tick.distance(begin) < MAX_UNREPORTED)
            }
        };
        is_right.then_some(now)
    }

    fn predicted_at(&self, tick: Tick, id: EntityId) -> Option<Moving> {
        let (_, bodies) = self.predicted.iter().rev().find(|(predicted, _)| *predicted == tick)?;
        bodies.iter().find(|body| body.state.id == id).copied()
    }
}

/// Whether two bodies are equal within single precision.
fn is_exact(a: &Moving, b: &Moving) -> bool {
    a.state.asleep == b.state.asleep
        && (a.state.position - b.state.position).abs().max_element() < EXACT_TOLERANCE
        && (a.state.velocity - b.state.velocity).abs().max_element() < EXACT_TOLERANCE
        && (a.spin - b.spin).abs().max_element() < EXACT_TOLERANCE
        && 1.0 - a.state.orientation.dot(b.state.orientation).abs()
            < EXACT_TOLERANCE * EXACT_TOLERANCE
}

/// Whether quantisation may turn `known` into `observed`.
pub(super) fn is_rounded(observed: &EntityState, known: &EntityState) -> bool {
    observed.asleep == known.asleep
        && (observed.position - known.position).abs().max_element() < POSITION_TOLERANCE
        && (observed.velocity - known.velocity).abs().max_element() < VELOCITY_TOLERANCE
        && observed.orientation.dot(known.orientation).abs() > ORIENTATION_COSINE
}

/// The state of an entity at the end of `tick` if it keeps its velocity.
pub(super) fn extrapolated(
    (observed_at, state): &Observed,
    tick: Tick,
    seconds: f64,
) -> EntityState {
    if state.asleep {
        return *state;
    }
    let ticks = tick.distance(*observed_at).clamp(0, MAX_EXTRAPOLATION.into());
    EntityState { position: state.position + state.velocity * (ticks as f64 * seconds), ..*state }
}
