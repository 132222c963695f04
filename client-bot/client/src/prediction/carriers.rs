//! The kinematic bodies that carry the player, as the server last reported them exactly. Their
//! velocity and spin are in no snapshot, or rounded too much for a rider.

use glam::DVec3;
use obsp_proto::Tick;
use obsp_sim::{EntityId, EntityState, Kind, Moving, Predictor};

use super::shoved_props::{ServerUpdate, is_rounded};
use super::{MAX_EXTRAPOLATION, Observed};

/// The touched kinematic bodies of the latest authoritative motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Carriers {
    /// The tick of that motion.
    tick: Tick,
    bodies: Vec<Moving>,
}

impl Carriers {
    /// The kinematic bodies among those that an update reports exactly.
    pub(super) fn of(update: &ServerUpdate, predictor: &Predictor) -> Self {
        let is_kinematic = |state: &EntityState| match state.kind {
            Kind::Prop { model } => predictor.is_kinematic(model),
            _ => false,
        };
        let observed = update.observed.iter().filter(|(_, state)| is_kinematic(state));
        let bodies = observed.filter_map(|(_, state)| update.exact(state)).collect();
        Self { tick: update.tick, bodies }
    }

    /// The state of a body at the end of `tick`; `None` if it is not known exactly. If a later
    /// snapshot shows that the body goes another way now, the snapshot counts.
    pub(super) fn at(
        &self,
        (observed_at, observed): &Observed,
        tick: Tick,
        seconds: f64,
    ) -> Option<EntityState> {
        let body = self.bodies.iter().find(|body| body.state.id == observed.id)?;
        // A body with a goal is known until it is there.
        let known = body.linear_move.map_or(0, |of| of.delay.saturating_add(Moving::MAX_TICKS));
        let most = i64::from(known.max(MAX_EXTRAPOLATION));
        let ticks = |to: Tick| to.distance(self.tick).clamp(0, most) as u32;
        let then = body.advanced(ticks(*observed_at), seconds).state;
        let is_late = observed_at.distance(self.tick) <= 0;
        let goes_on = is_late || is_rounded(observed, &then);
        goes_on.then(|| body.advanced(ticks(tick), seconds).state)
    }

    /// The angular velocities of the bodies, in radians per second.
    pub(super) fn spins(&self) -> Vec<(EntityId, DVec3)> {
        self.bodies.iter().map(|body| (body.state.id, body.spin)).collect()
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
        let carriers = Carriers { tick: Tick(10), bodies: vec![body] };
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
