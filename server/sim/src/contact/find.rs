use glam::DVec3;

use super::known::{known, solids_of};
use super::manifold::{flat, manifold};
use super::seam::{Surface, surface};
use super::{Points, REST_GAP};
use crate::cascade::{Body, Candidates, Planes, Verdict, filter};
use crate::counters::{Counters, Stage};
use crate::entities::{Entities, Entity};
use crate::guard::{Blocker, Space};
use crate::pose::Pose;
use crate::separation::{
    Features, Part, Proximity, Separation, gap_along, separate, separate_from,
};
use crate::shape::Shapes;

/// A contact nearer than this stands without asking where the tick leads.
const NEAR: f64 = 2.0 * REST_GAP;

/// A pair that will come this near within the tick needs a contact.
const CLOSE: f64 = 0.5 * REST_GAP;

/// Who comes no farther than this within the tick, and stands where it stood at
/// the last search, needs none: everyone is searched for as if they came so
/// far.
const HARDLY: f64 = 0.5 * REST_GAP;

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
    /// The vertices between which they are closest, if it took a search.
    pub(crate) features: Features,
    /// Where they touch or will touch; empty if they will not.
    pub(crate) points: Points,
}

/// All pairs of parts that awake props may bring together within `seconds`,
/// in order of key. `before` are the pairs of last tick, or of this one if it is
/// searched `again`, because somebody has woken.
pub(crate) fn find(
    space: &Space,
    before: &[Pair],
    seconds: f64,
    again: bool,
    counters: &mut Counters,
) -> Vec<Pair> {
    let awake = || space.entities.iter().filter(|entity| entity.is_awake_body());
    let reach_of = |entity: &Entity| reach_of(entity, space.shape(entity.shape).radius, seconds);
    let farthest = space.entities.iter().map(reach_of).fold(0.0, f64::max);
    let everyone = space.entities.iter().count() as u64;
    let pairs = Vec::with_capacity(before.len() + 16);
    let mut finder = Finder { space, before, seconds, again, counters, pairs };
    let (mut near, mut solids) = (Vec::new(), Vec::new());
    // Bodies come in ascending order, and so does what each meets: all pairs, then.
    for entity in awake() {
        let Some(body) = space.standing(entity) else { continue };
        let own = reach_of(entity);
        let bounds = body.speedbox();
        if finder.is_unchanged(entity) {
            finder.keep(solids_of(before, entity.id.slot));
        } else {
            solids.clear();
            let around = bounds.inflated(NEAR + own);
            entity.near_solids.visit(space.map, &around, |index| solids.push(index));
            solids.sort_unstable();
            for &index in &solids {
                let solid = Body::fixed(&space.map.solids()[index as usize]);
                finder.meet(entity, &body, Blocker::Solid(index), &solid, NEAR + own);
            }
        }
        let mut watch = finder.counters.watch();
        let around = bounds.inflated(NEAR + own + farthest);
        space.entities_touching(&around, entity.id.slot, &mut near);
        if finder.counters.stages.contains(Stage::Grid) {
            let spared = everyone - 1 - near.len() as u64;
            finder.counters.note_many(Stage::Grid, everyone - 1, spared, &mut watch);
        }
        for partner in near.iter().filter_map(|&slot| space.entities.get(slot)) {
            let slot = partner.id.slot;
            // Two awake props meet once, under the lower slot.
            if partner.is_awake_body() && slot < entity.id.slot {
                continue;
            }
            if finder.is_unchanged(entity) && finder.is_unchanged(partner) {
                finder.keep(known(before, entity.id.slot, Blocker::Entity(slot)).pairs());
                continue;
            }
            let Some(placement) = partner.placement() else { continue };
            let reach = NEAR + own + reach_of(partner);
            if placement.bounds().overlaps(&bounds.inflated(reach))
                && let Some(other) = space.standing(partner)
            {
                finder.meet(entity, &body, Blocker::Entity(slot), &other, reach);
            }
        }
    }
    finder.pairs
}

struct Finder<'a> {
    space: &'a Space<'a>,
    before: &'a [Pair],
    seconds: f64,
    again: bool,
    counters: &'a mut Counters,
    pairs: Vec<Pair>,
}

impl Finder<'_> {
    /// Whether a search would find of this body what it found last time.
    fn is_unchanged(&self, entity: &Entity) -> bool {
        let hardly = || {
            let radius = self.space.shape(entity.shape).radius;
            reach_of(entity, radius, self.seconds) <= HARDLY
        };
        entity.seen.is_some() && entity.seen == entity.seen_now() && (self.again || hardly())
    }

    fn keep(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            let mut pair = pair.clone();
            // What was on its way here has stopped.
            if !self.again && pair.points.iter().all(|point| point.gap > NEAR) {
                pair.points.clear();
            }
            self.pairs.push(pair);
        }
    }

    /// Takes down the pairs of parts that a body and an obstacle form, unless
    /// a filter shows them farther apart than `reach`.
    fn meet(&mut self, entity: &Entity, body: &Body, other: Blocker, obstacle: &Body, reach: f64) {
        let known = known(self.before, entity.id.slot, other);
        // Two convex bodies that were within reach last time go straight on.
        let convex = body.parts.len() == 1 && obstacle.parts.len() == 1;
        let open = if convex && known.whole().is_some() {
            Candidates::ALL
        } else {
            match filter(body, obstacle, reach, known.whole(), self.counters) {
                Verdict::Open(open) => open,
                Verdict::Apart => return,
            }
        };
        let mut watch = self.counters.watch();
        let none = Features::new();
        for (i, part) in body.parts_at_start().enumerate() {
            for (j, against) in obstacle.parts_at_start().enumerate() {
                let between = against.centre() - part.centre();
                let touching = part.radius() + against.radius() + reach;
                if !open.hold(i, j) || between.length_squared() > touching * touching {
                    continue;
                }
                let key = PairKey { body: entity.id.slot, other, parts: (i as u16, j as u16) };
                let known = known.pair(i, j);
                // What lies flat goes on doing so: no search as long as it does.
                let flat = known.and_then(|pair| flat(&part, &against, pair.axis, reach));
                let (mut found, lying) = match flat {
                    Some((found, points)) => {
                        let lying = Some((found.axis, points));
                        (found, lying)
                    }
                    None => {
                        let guess = known.map_or(between, |pair| pair.axis);
                        let features = known.map(|pair| &pair.features).unwrap_or(&none);
                        let found = separate_from(&part, &against, guess, features, reach);
                        let Proximity::Apart(found) = found else {
                            continue;
                        };
                        (found, None)
                    }
                };
                // Pairs beyond reach are not kept: a filter may have spared
                // others like them the look, and what is known of a pair must
                // not depend on that.
                if found.gap > reach {
                    continue;
                }
                let mut points = Points::new();
                if (found.gap <= NEAR || self.closes(entity, other, &part, &against, &found))
                    && seam_allows(self.space, entity, (&part, &against), other, &mut found)
                {
                    points = match lying {
                        Some((axis, points)) if axis == found.axis => points,
                        _ => manifold(&part, &against, &found, reach),
                    };
                    remember(known, &mut points);
                }
                self.pairs.push(Pair { key, axis: found.axis, features: found.features, points });
            }
        }
        self.counters.note(Stage::Exact, true, &mut watch);
    }

    /// Whether the pair, going on as it does, comes nearer than half the rest
    /// gap this tick: only then is a contact beyond arm's length worth a
    /// constraint. The guard is behind it, so a guess is good enough.
    fn closes(
        &self,
        entity: &Entity,
        other: Blocker,
        part: &Part,
        against: &Part,
        found: &Separation,
    ) -> bool {
        let partner = match other {
            Blocker::Solid(_) => None,
            Blocker::Entity(slot) => self.space.entities.get(slot),
        };
        let partner = partner.filter(|partner| partner.yields());
        let ahead = |entity: &Entity, time: f64| -> Option<Pose> {
            let pose = entity.placement()?.pose();
            Some(pose.advanced(entity.velocity, entity.angular, self.seconds * time))
        };
        [1.0, 0.5].into_iter().any(|time| {
            let ours = ahead(entity, time).map_or(*part, |pose| Part::new(part.solid, &pose));
            let theirs = partner
                .and_then(|partner| ahead(partner, time))
                .map_or(*against, |pose| Part::new(against.solid, &pose));
            gap_along(&ours, &theirs, found.axis) <= CLOSE
                && !matches!(separate(&ours, &theirs, found.axis),
                    Proximity::Apart(ahead) if ahead.gap > CLOSE)
        })
    }
}

/// Has each awake prop look around for the solids that [`find`] will ask about.
pub(crate) fn look_around(
    map: &maps::World,
    shapes: &Shapes,
    entities: &mut Entities,
    seconds: f64,
) {
    for entity in entities.iter_mut().filter(|entity| entity.is_awake_body()) {
        let reach = NEAR + reach_of(entity, shapes[entity.shape].radius, seconds);
        let Some(around) = entity.placement().map(|p| p.bounds().inflated(reach)) else { continue };
        entity.near_solids.look_around(map, &around);
    }
}

/// How far a body's surface can come in a tick.
fn reach_of(entity: &Entity, radius: f64, seconds: f64) -> f64 {
    if entity.rest.asleep {
        return 0.0;
    }
    let speed = entity.velocity.length() + entity.angular.length() * radius;
    HARDLY.max(speed * seconds)
}

/// Sets the direction of a contact with the world right where brushes meet;
/// `false` if there is no surface at all. A contact so near that the guard
/// will have its say stays as drawn: the two must agree.
fn seam_allows(
    space: &Space,
    entity: &Entity,
    (part, against): (&Part, &Part),
    other: Blocker,
    found: &mut Separation,
) -> bool {
    if !matches!(other, Blocker::Solid(_)) || found.gap <= CLOSE {
        return true;
    }
    match surface(space.map, &entity.near_solids, against, found.on_b) {
        Surface::AsDrawn => true,
        Surface::Covered => false,
        Surface::Face(normal) => {
            let gap = gap_along(part, against, -normal);
            if gap > 0.0 {
                found.axis = -normal;
                found.gap = gap;
            }
            true
        }
    }
}

/// Hands last tick's impulses on to the points that are still there.
fn remember(known: Option<&Pair>, points: &mut Points) {
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
