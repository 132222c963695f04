//! How near two bodies come to each other within the tick.

use glam::DVec3;

use super::{CONTACT_TRIGGER_GAP, Finder, MIN_SEARCH_REACH};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::bodies::mobility::Mobility;
use crate::collision::pose::Pose;
use crate::collision::separation::{Part, Proximity, Separation, gap_along, separate_from};

impl Finder<'_, '_> {
    /// Upper bound of how far the gap along `axis` shrinks within the tick, in units. The direction
    /// of `axis` is from the body to the other. The bodies move at any pair of velocities that
    /// [`possible_velocities`](Self::possible_velocities) gives.
    pub(super) fn approach(&self, entity: &Entity, other: Blocker, axis: DVec3) -> f64 {
        let partner = other.entity().and_then(|slot| self.search.space.entities.get(slot));
        let partner = partner.filter(|partner| partner.mobility().has_velocity());
        let swing = |entity: &Entity| {
            entity.angular.length() * self.search.space.shape(entity.shape).radius
        };
        let closing = self
            .possible_velocities(entity, partner)
            .map(|[ours, theirs]| (ours - theirs).dot(axis))
            .fold(0.0, f64::max);
        let ticks = entity
            .record
            .pace
            .ticks()
            .max(partner.map_or(0, |partner| partner.record.pace.ticks()));
        let seconds = self.search.seconds * f64::from(ticks);
        (closing + swing(entity) + partner.map_or(0.0, swing)) * seconds
    }

    /// Whether the pair will come nearer than [`CONTACT_TRIGGER_GAP`] in this tick, at any pair of
    /// velocities that [`possible_velocities`](Self::possible_velocities) gives. A contact beyond
    /// the speculative distance needs a constraint only in that case. An estimate is good enough,
    /// because the guard checks the motion.
    pub(super) fn closes(
        &self,
        entity: &Entity,
        other: Blocker,
        part: &Part,
        against: &Part,
        found: &Separation,
    ) -> bool {
        let partner = match other {
            Blocker::Solid(_) => None,
            Blocker::Entity(slot) => self.search.space.entities.get(slot),
        };
        let partner = partner.filter(|partner| partner.mobility().has_velocity());
        if found.gap - self.approach(entity, other, found.axis) > CONTACT_TRIGGER_GAP {
            return false;
        }
        let ahead = |entity: &Entity, velocity: DVec3, time: f64| -> Option<Pose> {
            let pose = entity.placement()?.pose();
            let seconds = self.search.seconds * f64::from(entity.record.pace.ticks());
            Some(pose.advanced(velocity, entity.angular, seconds * time))
        };
        let meet = |[ours, theirs]: [DVec3; 2], time: f64| {
            let ours = ahead(entity, ours, time).map_or(*part, |pose| Part::new(part.solid, &pose));
            let theirs = partner
                .and_then(|partner| ahead(partner, theirs, time))
                .map_or(*against, |pose| Part::new(against.solid, &pose));
            let &Separation { axis, features, .. } = found;
            gap_along(&ours, &theirs, axis) <= CONTACT_TRIGGER_GAP
                && !matches!(separate_from(&ours, &theirs, axis, features, CONTACT_TRIGGER_GAP),
                    Proximity::Apart(ahead) if ahead.gap > CONTACT_TRIGGER_GAP)
        };
        self.possible_velocities(entity, partner)
            .any(|velocities| [1.0, 0.5].into_iter().any(|time| meet(velocities, time)))
    }

    /// The pairs of velocities that two bodies may have at the end of the tick. Without a partner,
    /// the second velocity is zero. The first pair is the present velocities with what gravity
    /// adds. A body that a kinematic body drives has one more pair, with the velocity that it may
    /// get from the kinematic body. In a heap that is pushed, a stopped body has lost its velocity,
    /// and the push restores it within the tick.
    fn possible_velocities(
        &self,
        entity: &Entity,
        partner: Option<&Entity>,
    ) -> impl Iterator<Item = [DVec3; 2]> {
        let driven =
            |entity: &Entity| Some(entity.record.driven_velocity).filter(|v| *v != DVec3::ZERO);
        let fallen = |entity: &Entity| {
            // Gravity is not added to a body that hardly moves, because it keeps the pairs of the
            // last search.
            let falls = entity.mobility() == Mobility::Dynamic
                && self.search.reach_of(entity) > MIN_SEARCH_REACH;
            if !falls {
                return entity.velocity;
            }
            let gravity = entity.gravity(self.search.space.shape(entity.shape));
            let fallen = entity.velocity - DVec3::Z * (gravity * self.search.seconds);
            // The forces of a game act as well. A vehicle's engine has always been left out.
            match entity.dynamics.own() {
                Some(_) => fallen + entity.drive().linear * self.search.seconds,
                None => fallen,
            }
        };
        let (ours, theirs) = (fallen(entity), partner.map_or(DVec3::ZERO, fallen));
        let first = driven(entity).map(|velocity| [velocity, theirs]);
        let second = partner.and_then(driven).map(|velocity| [ours, velocity]);
        std::iter::once([ours, theirs]).chain(first).chain(second)
    }
}
