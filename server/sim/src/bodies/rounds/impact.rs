//! The impact of a body on the obstacle that the guard stopped it at.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::Rounds;
use crate::bodies::blocker::Blocker;
use crate::bodies::impulse::ImpulseBody;
use crate::bodies::sleep;
use crate::bodies::solver::RESTITUTION_THRESHOLD;
use crate::collision::time_of_impact::Impact;

/// An impulse by which the guard stopped a body.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Strike {
    /// Slot of the body.
    pub(crate) body: u16,
    /// The obstacle.
    pub(crate) other: Blocker,
    /// Position in units.
    pub(crate) at: DVec3,
    /// Unit normal from the body to the obstacle.
    pub(crate) normal: DVec3,
    /// The impulse along the normal, in kg·units/s.
    pub(crate) impulse: f64,
}

impl Rounds<'_> {
    /// Removes the approach speed of an impact that the solver did not foresee. If the impact is
    /// fast, the bodies part again with a share of that speed, by the law of restitution. A body
    /// that is blocked but does not approach takes no impulse.
    pub(super) fn apply_impact(&mut self, slot: u16, blocker: Blocker, impact: &Impact) {
        let other = blocker.entity();
        let impulse_body = |slot| {
            let entity =
                self.entities.get(slot).filter(|entity| entity.mobility().has_velocity())?;
            ImpulseBody::new(entity, self.shapes, impact.point)
        };
        let Some(mut body) = impulse_body(slot) else { return };
        let sleeper = other.filter(|_| body.velocity().dot(impact.axis) > sleep::WAKING_SPEED);
        let sleeper = sleeper.filter(|&slot| self.entities.mobility(slot).is_at_rest());
        let partner = other.and_then(impulse_body).or_else(|| {
            let entity = self.entities.get(sleeper?)?;
            ImpulseBody::new(entity, self.shapes, impact.point)
        });
        let partner_velocity = partner.as_ref().map_or(DVec3::ZERO, ImpulseBody::velocity);
        let approach = (body.velocity() - partner_velocity).dot(impact.axis);
        let response = body.response(impact.axis)
            + partner.as_ref().map_or(0.0, |partner| partner.response(impact.axis));
        if approach <= 0.0 || response <= 0.0 {
            return;
        }
        let restitution = |slot| {
            let entity = self.entities.get(slot)?;
            Some(self.shapes[entity.shape].material.restitution())
        };
        let shares = [Some(slot), other].into_iter().flatten().filter_map(restitution);
        let bounces = approach > RESTITUTION_THRESHOLD;
        let share = if bounces { shares.fold(0.0, f64::max) } else { 0.0 };
        let size = approach * (1.0 + share) / response;
        self.outcome.strikes.push(Strike {
            body: slot,
            other: blocker,
            at: impact.point,
            normal: impact.axis,
            impulse: size,
        });
        let impulse = impact.axis * size;
        body.apply(-impulse);
        body.store(self.entities, slot);
        self.changed.insert(slot);
        if let (Some(mut partner), Some(other)) = (partner, other) {
            self.changed.insert(other);
            partner.apply(impulse);
            partner.store(self.entities, other);
            self.outcome.struck.extend(sleeper);
        }
    }
}
