//! The vehicle that the player drives, predicted by the server's own engine, solver and guard.
//!
//! The server reports a vehicle as it reports any body: rounded, and without its spin. Many states
//! round to the same report. The client takes the one nearest to its prediction as the true one, so
//! a rightly predicted vehicle is never corrected. After an error the prediction is right again
//! within a few reports, because the engine brings the vehicle to the commanded motion from any
//! earlier motion.

use glam::{DQuat, DVec3};
use obsp_proto::Tick;
use obsp_proto::quantise::{STEPS_PER_UNIT, VELOCITY_STEP};
use obsp_sim::{DrivenTank, EntityState, Moving};

use super::shoved_props::extrapolated;
use super::{Observed, Own, PendingCommand, Prediction, PredictionError, before};

/// Largest change that rounding makes to a coordinate, in units, and to a velocity, in units per
/// second.
const POSITION_ROUNDING: f64 = 0.5 / STEPS_PER_UNIT as f64;
const VELOCITY_ROUNDING: f64 = 0.5 * VELOCITY_STEP;

/// Largest turn of a body by rounding, in radians.
const TURN_ROUNDING: f64 = 0.0025;

/// Shortest time, in seconds, in which an error of the velocity is assumed to have caused an error
/// of the position. In less time, rounding of the position would look like a large error of the
/// velocity.
const LEAST_WAY: f64 = 0.1;

/// A body that is not in the latest snapshot keeps its prediction up to this distance, in units,
/// from where it would be without a contact.
const BELIEVED: f64 = 4.0;

impl Prediction {
    /// The vehicle that the player drives, in its predicted state after the latest command, with
    /// that command's tick. `None` for a player on foot.
    pub fn vehicle(&self) -> Option<(Tick, EntityState)> {
        let (tick, Own::Driving(tank)) = self.own()? else { return None };
        Some((tick, tank.state()?.state))
    }

    /// Compares a snapshot's report of the player's vehicle after `tick` with its prediction. If
    /// the two differ, replays later commands from the report. `others` are the latest known states
    /// of other entities. Returns `None` in the cases that [`Prediction::reconcile`] names.
    pub fn reconcile_vehicle(
        &mut self,
        tick: Tick,
        state: EntityState,
        others: &[Observed],
    ) -> Option<PredictionError> {
        let last = self.authoritative_tick();
        if last.is_some_and(|last| tick <= last) {
            return None;
        }
        let position_before = self.position();
        let between = last.map_or(0, |last| tick.distance(last)) as f64 * self.seconds;
        let (played, disturbed) = self.take_played(tick);
        let predicted = match played {
            Some(Own::Driving(tank)) => tank.state().map(|state| (state, tank)),
            _ => None,
        };
        let predicted = predicted.filter(|(predicted, _)| predicted.state.id == state.id);
        self.shoved.clear();
        let others = if self.is_far_ahead() { &[] } else { others };
        let predictor = &self.map.predictor;
        let Some((before, mut tank)) = predicted else {
            let unknown = |state| Moving::new(state, DVec3::ZERO);
            let at = |observed| unknown(extrapolated(observed, tick, self.seconds));
            let bodies: Vec<Moving> = others.iter().map(at).collect();
            let tank = predictor.tank(&unknown(state), &bodies)?;
            self.authoritative = Some((tick, Own::Driving(Box::new(tank.clone()))));
            self.replay(Own::Driving(Box::new(tank)), others);
            return None;
        };
        let after = nearest(&before, &state, between);
        let known: Vec<Moving> = tank.bodies().collect();
        let at = |observed: &Observed| {
            let then = extrapolated(observed, tick, self.seconds);
            let known = known.iter().find(|body| body.state.id == then.id);
            let Some(known) = known else { return Moving::new(then, DVec3::ZERO) };
            let is_old = observed.0 < tick && !then.asleep;
            if is_old && then.position.distance(known.state.position) < BELIEVED {
                return *known;
            }
            nearest(known, &then, 0.0)
        };
        let bodies: Vec<Moving> = others.iter().map(at).collect();
        let changed = predictor.correct_tank(&mut tank, &after, &bodies);
        self.authoritative = Some((tick, Own::Driving(tank.clone())));
        if changed {
            self.replay(Own::Driving(tank), others);
        }
        let positions = [before, after].map(|vehicle| vehicle.state.position);
        self.compared(positions, before != after, position_before, disturbed)
    }

    /// Plays one tick of a tank, and returns the tank after it. If the client is far ahead of the
    /// server, the tank is simulated without the bodies near it.
    pub(super) fn drive(
        &mut self,
        mut tank: Box<DrivenTank>,
        played: &mut PendingCommand,
        others: &[Observed],
    ) -> Box<DrivenTank> {
        let begins = before(played.tick);
        let others = if self.is_far_ahead() {
            tank.leave_others();
            &[]
        } else {
            others
        };
        let others = others.iter().map(|observed| extrapolated(observed, begins, self.seconds));
        let others: Vec<EntityState> = others.collect();
        self.map.predictor.drive(&mut tank, played.command, &others, self.seconds);
        played.disturbed = tank.touches_bodies();
        tank
    }
}

/// The state nearest to `predicted` among all states that round to `rounded`. An error of the
/// position also corrects the velocity, as if the velocity had caused that error within `seconds`.
/// If `seconds` is 0, the velocity is not corrected this way.
fn nearest(predicted: &Moving, rounded: &EntityState, seconds: f64) -> Moving {
    let within = |value: DVec3, about: DVec3, by: f64| value.clamp(about - by, about + by);
    let (state, spin) = (&predicted.state, predicted.spin);
    let at_rest = rounded.asleep;
    let position = within(state.position, rounded.position, POSITION_ROUNDING);
    let missed = match seconds {
        0.0 => DVec3::ZERO,
        _ => (position - state.position) / seconds.max(LEAST_WAY),
    };
    let velocity = if at_rest {
        DVec3::ZERO
    } else {
        within(state.velocity + missed, rounded.velocity, VELOCITY_ROUNDING)
    };
    let orientation = within_turn(state.orientation, rounded.orientation);
    let state = EntityState { position, orientation, velocity, ..*rounded };
    Moving::new(state, if at_rest { DVec3::ZERO } else { spin })
}

/// The orientation nearest to `predicted` among those that may round to `rounded`.
fn within_turn(predicted: DQuat, rounded: DQuat) -> DQuat {
    // A quaternion and its negative stand for one rotation. With the sign of the prediction,
    // `slerp` takes the short way.
    let rounded = if rounded.dot(predicted) < 0.0 { -rounded } else { rounded };
    // The angle is not computed by `angle_between`, because its arc cosine is imprecise near zero.
    let apart = 2.0 * (rounded.inverse() * predicted).xyz().length().min(1.0).asin();
    if apart <= TURN_ROUNDING {
        return predicted;
    }
    rounded.slerp(predicted, TURN_ROUNDING / apart).normalize()
}

#[cfg(test)]
mod tests {
    use obsp_sim::{EntityId, Kind, ModelId, Traits};

    use super::*;

    fn tank(position: DVec3, turned: f64, velocity: DVec3) -> EntityState {
        EntityState {
            id: EntityId { slot: 3, generation: 0 },
            kind: Kind::Vehicle { model: ModelId(8) },
            position,
            orientation: DQuat::from_rotation_z(turned),
            velocity,
            asleep: false,
            traits: Traits::default(),
        }
    }

    #[test]
    fn predictions_that_round_alike_are_kept() {
        let rounded = tank(DVec3::new(8.0, -3.0, 40.0), 0.5, DVec3::new(200.0, 0.0, -4.0));
        let near = tank(DVec3::new(8.01, -3.01, 40.015), 0.5012, DVec3::new(198.5, 1.9, -5.0));
        let predicted = Moving::new(near, DVec3::Z);
        assert_eq!(nearest(&predicted, &rounded, 0.1), predicted);
        // The negative quaternion is the same orientation.
        let other = EntityState { orientation: -rounded.orientation, ..rounded };
        assert_eq!(nearest(&predicted, &other, 0.1), predicted);
    }

    #[test]
    fn a_wrong_prediction_is_corrected_by_as_little_as_possible() {
        let rounded = tank(DVec3::ZERO, 0.0, DVec3::ZERO);
        let away = tank(DVec3::X, 0.2, DVec3::Y * 7.0);
        let found = nearest(&Moving::new(away, DVec3::Z), &rounded, 0.0);
        let turned = 2.0 * found.state.orientation.z.asin();
        assert_eq!(found.state.position, DVec3::X / 64.0);
        assert_eq!((found.state.velocity, found.spin), (DVec3::Y * 2.0, DVec3::Z));
        assert!((turned - TURN_ROUNDING).abs() < 1e-4, "{turned}");
        // If a vehicle is predicted 0.2 units too far after a fifth of a second, its predicted
        // velocity was one unit per second too high.
        let fast = tank(DVec3::X * (0.2 + 1.0 / 64.0), 0.0, DVec3::X * 1.5);
        let found = nearest(&Moving::new(fast, DVec3::ZERO), &rounded, 0.2);
        assert!((found.state.velocity.x - 0.5).abs() < 1e-9, "{:?}", found.state.velocity);
        let asleep = EntityState { asleep: true, ..rounded };
        let found = nearest(&Moving::new(fast, DVec3::Z), &asleep, 0.2);
        assert!(found.state.asleep && found.spin == DVec3::ZERO);
        assert_eq!(found.state.velocity, DVec3::ZERO);
    }
}
