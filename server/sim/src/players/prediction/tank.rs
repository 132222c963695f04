//! A client's prediction of the hovertank that its player drives.

use glam::DVec3;

use super::Predictor;
use super::predicted_bodies::{Moving, PredictedBodies, near};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::{Entity, SleepState};
use crate::bodies::roles::{Hovertank, PlayerBody, Role};
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::command::Command;
use crate::players::hovertank;
use crate::state::{EntityId, EntityState, Kind};

/// Bodies farther than this from the tank, in units, are left out until the server's next
/// snapshot. A tank at full speed moves less than this in a tenth of a second plus a round trip of
/// a quarter of a second.
const REACH: f64 = 160.0;

/// A pose that was rounded for the wire may be nearer to something than the guard allows.
/// So it is tried again at these distances, in units: first upward, then sideways.
const SHIFTS: [f64; 3] = [1.0 / 64.0, 1.0 / 16.0, 1.0 / 4.0];

/// The tank that the player drives, and the bodies near it. They are a small match, which the
/// server's own engine, solver and guard move.
#[derive(Clone, Debug)]
pub struct DrivenTank {
    predicted: PredictedBodies,
    id: EntityId,
    kind: Kind,
}

impl DrivenTank {
    /// The tank with this state, and the `bodies` near it. `None` if the body is not a tank, if no
    /// impulse moves bodies of its model, or if there is no room for it at its position.
    pub(super) fn new(predictor: &Predictor, tank: &Moving, bodies: &[Moving]) -> Option<Self> {
        let Kind::Vehicle { model } = tank.state.kind else { return None };
        let shape = predictor.rigid(&tank.state)?;
        let near = near_tank(predictor, tank, bodies);
        let role = Role::Player(PlayerBody::Hovertank(Hovertank::new(model)));
        let predicted = PredictedBodies::of_player(
            (role, tank.state.traits.layers),
            shape,
            tank.state.position,
            &near,
        );
        let mut tank_among = Self { predicted, id: tank.state.id, kind: tank.state.kind };
        tank_among.put(predictor, tank).then_some(())?;
        tank_among.predicted.add_all(predictor, near);
        Some(tank_among)
    }

    /// Corrects the tank and the bodies near it to these states, as far as there is room for them.
    /// Returns whether anything changed.
    pub(super) fn correct(
        &mut self,
        predictor: &Predictor,
        tank: &Moving,
        bodies: &[Moving],
    ) -> bool {
        let near = near_tank(predictor, tank, bodies);
        let (same, other): (Vec<_>, Vec<_>) =
            near.into_iter().partition(|(_, body)| self.predicted.has(body));
        let is_same = |id| same.iter().any(|(_, body)| body.state.id == id);
        // All bodies that change are taken out before any is put back. Otherwise they would be in
        // each other's way.
        let before = self.predicted.by_slot();
        let mut changed = self.predicted.keep(is_same) | !other.is_empty();
        changed |= self.state() != Some(*tank) && self.put(predictor, tank);
        self.predicted.add_all(predictor, other);
        self.predicted.forget_contacts_of_others(&before);
        changed
    }

    /// Puts the tank at the position of its state, or very near to it; `false` if there is no
    /// room for it.
    fn put(&mut self, predictor: &Predictor, tank: &Moving) -> bool {
        let Moving { state, spin, .. } = tank;
        let Some(shape) = predictor.shape(state) else { return false };
        let aside = [DVec3::Z, DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, -DVec3::Z];
        let shifts = SHIFTS.iter().flat_map(|by| aside.map(|direction| direction * *by));
        let Some(known) = Pose::known(state.position, state.orientation) else { return false };
        let mut poses = [DVec3::ZERO]
            .into_iter()
            .chain(shifts)
            .map(|shift| Pose { position: known.position + shift, ..known });
        let slot = self.predicted.player;
        let predicted = &mut self.predicted;
        if let Some(entity) = predicted.entities.get_mut(slot) {
            (entity.layers, entity.visible) = (state.traits.layers, state.traits.visible);
        }
        let before = predicted.entities.get(slot).and_then(Entity::placement).copied();
        if !poses.any(|pose| predicted.put(predictor, slot, shape, pose)) {
            // Nothing has moved since the tank was taken out, so its place is still free.
            before.into_iter().for_each(|before| predicted.entities.commit(slot, before));
            return false;
        }
        if let Some(entity) = predicted.entities.get_mut(slot) {
            (entity.velocity, entity.angular) = (state.velocity, *spin);
            if entity.sleep.asleep != state.asleep {
                let asleep = state.asleep;
                entity.sleep = SleepState { asleep, island: slot, ..SleepState::default() };
            }
        }
        true
    }

    /// Moves all bodies by a tick of `seconds`, the tank by its driver's `command`, past the
    /// players on foot among `others`.
    pub(super) fn advance(
        &mut self,
        predictor: &Predictor,
        others: &[EntityState],
        command: Command,
        seconds: f64,
    ) {
        let predicted = &mut self.predicted;
        predicted.move_players(predictor, others, seconds);
        hovertank::steer(
            &predictor.arena,
            &mut predicted.entities,
            predicted.player,
            command,
            seconds,
        );
        predicted.move_bodies(predictor, seconds);
    }

    /// The current state of the tank.
    pub fn state(&self) -> Option<Moving> {
        self.predicted.seen(self.id, self.kind, self.predicted.player)
    }

    /// Removes all other bodies from the prediction.
    pub fn leave_others(&mut self) {
        self.predicted.keep(|_| false);
    }

    /// The current states of the bodies near the tank, except players on foot.
    pub fn bodies(&self) -> impl Iterator<Item = Moving> {
        self.predicted.bodies()
    }

    /// Whether the tank touches another body. Only the server knows the motion of that body.
    pub fn touches_bodies(&self) -> bool {
        let player = self.predicted.player;
        self.predicted.pairs.iter().any(|pair| {
            let Blocker::Entity(other) = pair.key.other else { return false };
            !pair.points.is_empty() && [pair.key.body, other].contains(&player)
        })
    }
}

/// The `bodies` near a tank, in the order of their slots.
fn near_tank(predictor: &Predictor, tank: &Moving, bodies: &[Moving]) -> Vec<(ShapeId, Moving)> {
    let id = tank.state.id;
    let others = bodies.iter().filter(|body| body.state.id != id);
    let all: Vec<Moving> = others.copied().chain([*tank]).collect();
    let mut near = near(predictor, &[id], &all, REACH);
    near.retain(|(_, body)| body.state.id != id);
    near
}
