//! Reconciliation: corrects the prediction by the server's reports of the client's own player and
//! vehicle, and replays the commands that the server has not answered yet.

use glam::DVec3;
use obsp_proto::snapshot::AuthoritativeMotion;
use obsp_proto::{Tick, Time};
use obsp_sim::{CollisionLayers, EntityState, Kind};

use super::Client;
use crate::{Observed, Prediction, PredictionError};

/// Entities within this many units of the player, on each axis, are obstacles when pending
/// commands are replayed.
pub(super) const OBSTACLE_RADIUS: f64 = 256.0;

/// Half the size of the largest body plus half the height of the tallest player, in units.
pub(super) const LARGEST_BODY: f64 = 96.0;

/// Highest speed, in units per second, at which player and body are assumed to approach each other.
/// The obstacles of a single tick are the entities within [`LARGEST_BODY`] plus one tick's way at
/// this speed.
pub(super) const MAX_SPEED: f64 = 3840.0;

/// Seconds of silence after which a vehicle last reported at rest is known to be still there. The
/// server reports a moving vehicle at least twice in that time.
const AT_REST: f64 = 0.2;

impl Client {
    /// Reconciles the prediction with the server's motion of the client's own player; returns the
    /// prediction error, and whether its correction makes the view jump.
    pub(super) fn reconcile(
        &mut self,
        tick: Tick,
        motion: AuthoritativeMotion,
        now: Time,
    ) -> Option<(PredictionError, bool)> {
        if self.authoritative.is_none_or(|(last, _)| tick > last) {
            self.authoritative = Some((tick, motion));
        }
        let others = self.obstacles_near(motion.motion.position.as_dvec3(), OBSTACLE_RADIUS);
        let error = self.prediction.as_mut()?.reconcile(tick, motion, &others)?;
        let view_jumps = self.smoothing.correct(now, error.correction);
        Some((error, view_jumps))
    }

    /// Reconciles the prediction with the latest state of the vehicle that the client's own player
    /// drives. The result is like that of [`Client::reconcile`]. `None` for a player on foot, or if
    /// the state is no newer than the last one used.
    pub(super) fn reconcile_vehicle(&mut self, now: Time) -> Option<(PredictionError, bool)> {
        let known = self.prediction.as_ref()?.authoritative_tick();
        let id = self.session.player()?;
        let state = self.session.entity(id)?;
        if !matches!(state.kind, Kind::Vehicle { .. }) {
            return None;
        }
        let (mut tick, _) = self.session.history(id).last()?;
        let latest = self.session.latest_tick()?;
        // The server does not send a vehicle at rest again. After a while the server's silence
        // shows that the vehicle is still at that place. This corrects a prediction that moves the
        // vehicle.
        let silence = latest.distance(known.map_or(tick, |known| known.max(tick)));
        if state.velocity == DVec3::ZERO && silence as f64 / self.tick_rate() >= AT_REST {
            tick = latest;
        }
        if known.is_some_and(|known| tick <= known) {
            return None;
        }
        let others = self.obstacles_near(state.position, OBSTACLE_RADIUS);
        let error = self.prediction.as_mut()?.reconcile_vehicle(tick, state, &others)?;
        let view_jumps = self.smoothing.correct(now, error.correction);
        Some((error, view_jumps))
    }

    /// Whether the client's own player is known to have left the world, by dying for example, since
    /// its latest motion. An entity that has not been in any snapshot yet has not left.
    pub(super) fn has_left_the_world(&self) -> bool {
        let since = self.session.player().and_then(|own| self.session.gone_since(own));
        let motion = self.authoritative.map(|(tick, _)| tick);
        let known = motion.max(self.prediction.as_ref().and_then(Prediction::authoritative_tick));
        since.zip(known).is_some_and(|(since, known)| since >= known)
    }

    /// The layers of the client's own player, as the latest snapshot has them.
    pub(super) fn own_layers(&self) -> CollisionLayers {
        let own = self.session.player().and_then(|own| self.session.entity(own));
        own.map(|own| own.traits.layers).unwrap_or_default()
    }

    /// The latest state of every entity that the client's own player may run into.
    pub(super) fn obstacles_near(&self, position: DVec3, radius: f64) -> Vec<Observed> {
        let own = self.session.player();
        let near = self.session.entities_near(position, radius);
        let is_obstacle = |entity: &EntityState| Some(entity.id) != own && entity.traits.is_solid();
        near.filter(|(_, entity)| is_obstacle(entity)).collect()
    }
}
