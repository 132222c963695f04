//! The kinematic bodies that carry the player, or that the player may set off, as the server last
//! reported them exactly. Snapshots do not carry their velocity and spin, or round them too much
//! for a rider. An armed body begins its move in the tick in which the predicted player comes into
//! its zone.

use glam::DVec3;
use obsp_proto::Tick;
use obsp_sim::{EntityId, EntityState, Kind, Moving, PlayerMotion, Predictor};

use super::shoved_props::{ServerUpdate, is_rounded};
use super::{MAX_EXTRAPOLATION, Observed};

/// The touched kinematic bodies of the latest authoritative motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Carriers {
    /// The tick of that motion.
    tick: Tick,
    bodies: Vec<Carrier>,
}

#[derive(Clone, Copy, Debug)]
struct Carrier {
    /// The body as it was reported.
    body: Moving,
    /// The later tick at the end of which the predicted player sets it off.
    set_off: Option<Tick>,
}

impl Carrier {
    /// The body at the end of `tick`. It was reported for the tick `known`.
    fn at(&self, known: Tick, tick: Tick, seconds: f64) -> Moving {
        match self.set_off.filter(|set_off| *set_off <= tick) {
            Some(set_off) => {
                let begins = advanced(&self.body, [known, set_off], seconds).set_off(seconds);
                advanced(&begins, [set_off, tick], seconds)
            }
            None => advanced(&self.body, [known, tick], seconds),
        }
    }
}

/// A body some ticks later. The motion of a body that has a goal or swings is known for
/// [`Moving::MAX_TICKS`] after its delay, the motion of any other body only for
/// [`MAX_EXTRAPOLATION`].
fn advanced(body: &Moving, [from, to]: [Tick; 2], seconds: f64) -> Moving {
    let delay = body.linear_move.map(|of| of.delay).or(body.swing.map(|_| 0));
    let known = delay.map_or(MAX_EXTRAPOLATION, |delay| delay.saturating_add(Moving::MAX_TICKS));
    let most = i64::from(known);
    body.advanced(to.distance(from).clamp(0, most) as u32, seconds)
}

impl Carriers {
    /// The kinematic bodies among those that an update reports exactly.
    pub(super) fn of(update: &ServerUpdate, predictor: &Predictor) -> Self {
        let is_kinematic = |state: &EntityState| match state.kind {
            Kind::Prop { model } => predictor.is_kinematic(model),
            _ => false,
        };
        let observed = update.observed.iter().filter(|(_, state)| is_kinematic(state));
        let bodies = observed.filter_map(|(_, state)| update.exact(state));
        let bodies = bodies.map(|body| Carrier { body, set_off: None }).collect();
        Self { tick: update.tick, bodies }
    }

    /// Takes over the starts that `before` has predicted for the ticks after this report. Returns
    /// whether the report agrees with `before`, so that nothing has to be played again. It agrees
    /// if the same bodies are armed, and if each body that was armed is on its way exactly if this
    /// was predicted.
    pub(super) fn continues(&mut self, before: &Self, seconds: f64) -> bool {
        let mut agrees = true;
        for Carrier { body, set_off } in &mut self.bodies {
            let Some(known) = before.find(body.state.id) else {
                agrees &= body.armed.is_none();
                continue;
            };
            let predicted = known.at(before.tick, self.tick, seconds);
            let was_armed = known.body.armed.is_some();
            agrees &= predicted.armed == body.armed;
            agrees &= !was_armed || predicted.is_under_way() == body.is_under_way();
            *set_off = known.set_off.filter(|of| *of > self.tick);
        }
        agrees
    }

    /// Sets off the armed bodies at rest whose zones the player is in after `tick`.
    pub(super) fn meet(
        &mut self,
        motion: &PlayerMotion,
        tick: Tick,
        (seconds, predictor): (f64, &Predictor),
    ) {
        for carrier in self.bodies.iter_mut().filter(|carrier| carrier.set_off.is_none()) {
            let Some(armed) = carrier.body.armed else { continue };
            if predictor.is_in_zone(&armed, motion)
                && !carrier.at(self.tick, tick, seconds).is_under_way()
            {
                carrier.set_off = Some(tick);
            }
        }
    }

    /// Forgets what the player sets off in `tick` and later, because these ticks are played again.
    pub(super) fn forget_from(&mut self, tick: Tick) {
        for carrier in &mut self.bodies {
            carrier.set_off = carrier.set_off.filter(|set_off| *set_off < tick);
        }
    }

    fn find(&self, id: EntityId) -> Option<&Carrier> {
        self.bodies.iter().find(|carrier| carrier.body.state.id == id)
    }

    /// The state of a body at the end of `tick`; `None` if it is not known exactly. If a later
    /// snapshot shows that the body goes another way now, the snapshot counts.
    pub(super) fn at(
        &self,
        (observed_at, observed): &Observed,
        tick: Tick,
        seconds: f64,
    ) -> Option<EntityState> {
        let carrier = self.find(observed.id)?;
        let at = |tick: Tick| carrier.at(self.tick, tick, seconds).state;
        let is_late = observed_at.distance(self.tick) <= 0;
        let goes_on = is_late || is_rounded(observed, &at(*observed_at));
        goes_on.then(|| at(tick))
    }

    /// The angular velocities of the bodies, in radians per second.
    pub(super) fn spins(&self) -> Vec<(EntityId, DVec3)> {
        self.bodies.iter().map(|Carrier { body, .. }| (body.state.id, body.spin)).collect()
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp_sim::{ModelId, Traits};

    use super::*;

    const SECONDS: f64 = 1.0 / 60.0;

    fn turntable() -> Moving {
        let state = EntityState {
            id: EntityId { slot: 7, generation: 1 },
            kind: Kind::Prop { model: ModelId(0) },
            position: DVec3::X,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::new(0.0, 90.3, 0.0),
            asleep: false,
            traits: Traits::default(),
        };
        Moving::new(state, DVec3::Z)
    }

    #[test]
    fn a_carrier_goes_on_until_a_snapshot_shows_another_way() {
        let body = turntable();
        let carriers = Carriers { tick: Tick(10), bodies: vec![Carrier { body, set_off: None }] };
        let at = |observed: Moving, seen: u32| {
            carriers.at(&(Tick(seen), observed.state), Tick(16), SECONDS)
        };
        let expected = Some(body.advanced(6, SECONDS).state);
        assert_eq!(at(body, 8), expected, "an older snapshot");
        assert_eq!(at(body.advanced(2, SECONDS), 12), expected, "a later one that agrees");
        assert_eq!(at(body, 12), None, "the body has stopped");
        let mut other = body;
        other.state.id.slot = 8;
        assert_eq!(at(other, 8), None, "another body");
        assert_eq!(carriers.spins(), [(body.state.id, DVec3::Z)]);
    }
}
