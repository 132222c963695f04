use glam::DVec3;

use super::manifold::manifold;
use super::seam::{Surface, surface};
use super::{ContactPoint, REST_GAP};
use maps::geometry::ConvexSolid;

use crate::cascade::{Moving, filtered};
use crate::counters::{Counters, Stage};
use crate::entities::Entity;
use crate::guard::{Blocker, Space};
use crate::separation::{Part, Proximity, Separation, gap_along, separate};

/// A contact nearer than this stands without asking where the tick leads.
const NEAR: f64 = 2.0 * REST_GAP;

/// A point is the same one as last tick if it moved less than this along the
/// body: corners of props are farther apart.
const SAME_POINT: f64 = 4.0;

/// Which parts of which bodies: the order in which contacts are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PairKey {
    /// Slot of the awake body.
    pub(crate) body: u16,
    /// What it meets.
    pub(crate) other: Blocker,
    /// Parts of the one and of the other.
    pub(crate) parts: (u16, u16),
}

/// Two convex parts that are near each other.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) key: PairKey,
    /// The plane between them, as a unit direction from the body.
    pub(crate) axis: DVec3,
    /// Where they touch or will touch; empty if they will not.
    pub(crate) points: Vec<ContactPoint>,
}

/// The dividing direction of last time from the body in slot `body` to
/// `other`.
pub(crate) fn plane_of(pairs: &[Pair], body: u16, other: Blocker) -> Option<DVec3> {
    let first = pairs.partition_point(|p| (p.key.body, p.key.other) < (body, other));
    let pair = pairs.get(first).filter(|p| p.key.body == body && p.key.other == other)?;
    Some(pair.axis)
}

/// All pairs of parts that awake props may bring together within `seconds`,
/// in order of key. `before` are the pairs of last tick.
pub(crate) fn find(
    space: &Space,
    before: &[Pair],
    seconds: f64,
    counters: &mut Counters,
) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(before.len());
    let mut points = Vec::new();
    let everyone = space.entities.iter().count() as u64;
    for entity in space.entities.iter().filter(|entity| entity.is_awake_prop()) {
        let Some(placement) = entity.placement() else { continue };
        let shape = space.shape(placement.shape());
        let target = placement.pose().advanced(entity.velocity, entity.angular, seconds);
        let moving = Moving::new(shape, *placement.pose(), target);
        let mut candidates = 0;
        space.visit(&moving, NEAR, Some(entity.id.slot), |other, obstacle| {
            let partner = match other {
                Blocker::Solid(_) => None,
                Blocker::Entity(slot) => space.entities.get(slot),
            };
            candidates += u64::from(partner.is_some());
            // Two awake props meet once, under the lower slot.
            if partner.is_some_and(|p| p.is_awake_prop() && p.id.slot < entity.id.slot) {
                return;
            }
            let reach = NEAR
                + reach_of(entity, shape.radius, seconds)
                + partner.map_or(0.0, |p| reach_of(p, space.shape(p.shape).radius, seconds));
            let plane = plane_of(before, entity.id.slot, other);
            let still = Moving::new(shape, *placement.pose(), *placement.pose());
            if filtered(&still, &obstacle, reach, plane, counters) {
                return;
            }
            counters.note(Stage::Exact, true);
            let first = pairs.len();
            for (i, solid) in shape.parts.iter().enumerate() {
                let part = Part::new(solid, placement.pose());
                for (j, against) in obstacle.parts().enumerate() {
                    let key = PairKey { body: entity.id.slot, other, parts: (i as u16, j as u16) };
                    let known = before.binary_search_by_key(&key, |p| p.key).ok();
                    let known = known.map(|index| &before[index]);
                    let guess = known.map_or(against.centre() - part.centre(), |p| p.axis);
                    let Proximity::Apart(mut found) = separate(&part, &against, guess) else {
                        continue;
                    };
                    points.clear();
                    if found.gap <= reach
                        && (found.gap <= NEAR
                            || closes(partner, &moving, solid, &against, found.axis, seconds))
                        && seam_allows(space, &part, &against, other, &mut found)
                    {
                        manifold(&part, &against, &found, reach, &mut points);
                        remember(known, &mut points);
                    }
                    pairs.push(Pair { key, axis: found.axis, points: points.clone() });
                }
            }
            pairs[first..].sort_unstable_by_key(|pair| pair.key);
        });
        counters.cascade[Stage::Grid as usize].tests += everyone - 1;
        counters.cascade[Stage::Grid as usize].definitive += everyone - 1 - candidates;
    }
    pairs.sort_unstable_by_key(|pair| pair.key);
    pairs
}

/// How far a body's surface can come in a tick.
fn reach_of(entity: &Entity, radius: f64, seconds: f64) -> f64 {
    if entity.rest.asleep {
        return 0.0;
    }
    (entity.velocity.length() + entity.angular.length() * radius) * seconds
}

/// Whether the pair, going on as it does, comes nearer than half the rest gap
/// this tick: only then is a contact beyond arm's length worth a constraint.
/// The guard is behind it, so a guess is good enough.
fn closes(
    partner: Option<&Entity>,
    moving: &Moving,
    solid: &ConvexSolid,
    against: &Part,
    axis: DVec3,
    seconds: f64,
) -> bool {
    let drift =
        partner.map_or(DVec3::ZERO, |p| if p.rest.asleep { DVec3::ZERO } else { p.velocity });
    let pose = |time: f64| {
        let mut pose = moving.motion.at(time);
        pose.position -= drift * (seconds * time);
        pose
    };
    if gap_along(&Part::new(solid, &pose(1.0)), against, axis) > REST_GAP * 0.5 {
        return false;
    }
    [0.5, 1.0].into_iter().any(|time| {
        let ahead = separate(&Part::new(solid, &pose(time)), against, axis);
        !matches!(ahead, Proximity::Apart(found) if found.gap > REST_GAP * 0.5)
    })
}

/// Sets the direction of a contact with the world right where brushes meet;
/// `false` if there is no surface at all.
fn seam_allows(
    space: &Space,
    part: &Part,
    against: &Part,
    other: Blocker,
    found: &mut Separation,
) -> bool {
    if !matches!(other, Blocker::Solid(_)) {
        return true;
    }
    match surface(space.map, against, found.on_b) {
        Surface::AsDrawn => true,
        Surface::Covered => false,
        Surface::Face(normal) => {
            found.axis = -normal;
            found.gap = gap_along(part, against, found.axis);
            found.gap > 0.0
        }
    }
}

/// Hands last tick's impulses on to the points that are still there.
fn remember(known: Option<&Pair>, points: &mut [ContactPoint]) {
    let Some(known) = known else { return };
    for point in points {
        let nearest = known
            .points
            .iter()
            .map(|old| (old.local.distance_squared(point.local), old.impulse))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, impulse)) = nearest
            && distance < SAME_POINT * SAME_POINT
        {
            point.impulse = impulse;
        }
    }
}
