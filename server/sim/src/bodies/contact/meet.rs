//! Finds the convex parts of two bodies that touch or are about to touch, and the points at which
//! they meet. `approach` predicts how near they come within the tick.

mod approach;

use glam::DVec3;
use obsp::geometry::Aabb;

use super::manifold::{Buffers, area, flat, manifold};
use super::pair_index::PairIndex;
use super::seam::{Exposure, exposure};
use super::support::keep_hulls;
use super::warm_start::remember;
use super::{Pair, PairKey, Points};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::bodies::guard::Space;
use crate::bodies::roles::Drive;
use crate::bodies::slots::SlotSet;
use crate::collision::cascade::{Body, Candidates, LastPlane, Verdict, filter};
use crate::collision::distances::{REST_GAP, ROUNDING};
use crate::collision::oriented_box::OrientedBox;
use crate::collision::separation::{
    Features, Part, Proximity, Separation, gap_along, separate_from,
};
use crate::collision::shape::Shape;
use crate::context::StepContext;
use crate::counters::Stage;
use crate::threads::{Threads, joined};

/// A pair nearer than this, in units, has contact points, no matter how its bodies move.
pub(super) const SPECULATIVE_DISTANCE: f64 = 2.0 * REST_GAP;

/// A pair farther apart than [`SPECULATIVE_DISTANCE`] has contact points only if it will come this
/// near, in units, within the tick.
const CONTACT_TRIGGER_GAP: f64 = 0.5 * REST_GAP;

/// Minimum distance, in units, that a search assumes every body to move. A body that moves no
/// farther, and has not changed since the last search, needs no new search.
pub(super) const MIN_SEARCH_REACH: f64 = 0.5 * REST_GAP;

/// The plane of the last tick is used again if the gap along it is still more than this share of
/// the gap in the last tick. Otherwise a search finds a better plane.
const STILL_FAR: f64 = 0.75;

/// Minimum number of bodies of a thread's share when searchers are prepared.
const MIN_SHARE: usize = 128;

/// A body that searches for contacts.
pub(super) struct Searcher<'a> {
    pub(super) entity: &'a Entity,
    body: Body<'a>,
    pub(super) bounds: Aabb,
    /// How far the surface of the body can move within the tick, in units.
    pub(super) reach: f64,
    /// Whether nothing about this body changes the pairs that the last search found.
    unchanged: bool,
}

impl Searcher<'_> {
    /// How near another body, which may move by `theirs` units, must be to become a pair.
    fn reach_with(&self, theirs: f64) -> f64 {
        SPECULATIVE_DISTANCE + self.reach + theirs
    }
}

/// The input of a search, which all threads share.
pub(super) struct Search<'a> {
    pub(super) space: &'a Space<'a>,
    before: PairIndex<'a>,
    seconds: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(space: &'a Space<'a>, before: &'a [Pair], seconds: f64) -> Self {
        let before = PairIndex::new(before, space.entities.slot_count());
        Self { space, before, seconds }
    }

    /// The bodies of `bodies` that the guard moves, in ascending order of slot.
    pub(super) fn searchers(&self, bodies: &SlotSet, threads: &Threads) -> Vec<Searcher<'a>> {
        let entities = self.space.entities;
        let is_guarded = |slot: &u16| entities.mobility(*slot).is_guarded();
        let chosen: Vec<u16> = bodies.iter().filter(is_guarded).collect();
        let searcher = |&slot: &u16| self.searcher(entities.get(slot)?);
        let shares = threads.in_shares(chosen.len(), MIN_SHARE, |range| {
            let mut searchers = Vec::with_capacity(range.len());
            searchers.extend(chosen[range].iter().filter_map(searcher));
            searchers
        });
        joined(shares)
    }

    fn searcher(&self, entity: &'a Entity) -> Option<Searcher<'a>> {
        let body = self.space.standing(entity)?;
        let (reach, bounds) = (self.reach_of(entity), body.speedbox());
        Some(Searcher { entity, body, bounds, reach, unchanged: self.is_unchanged(entity) })
    }

    pub(super) fn reach_of(&self, entity: &Entity) -> f64 {
        reach_of(entity, self.space.shape(entity.shape), self.seconds)
    }

    /// Whether this body has not changed since the last search, and hardly moves.
    fn is_unchanged(&self, entity: &Entity) -> bool {
        entity.record.searched_as.is_some()
            && entity.record.searched_as == entity.search_state()
            && self.reach_of(entity) <= MIN_SEARCH_REACH
    }
}

/// How far a body's surface can move in a tick, in units.
pub(super) fn reach_of(entity: &Entity, shape: &Shape, seconds: f64) -> f64 {
    if entity.mobility().stands_still() {
        return 0.0;
    }
    let seconds = seconds * f64::from(entity.record.pace.ticks());
    let speed = entity.velocity.length() + entity.angular.length() * shape.radius;
    let mut way = speed.max(entity.record.driven_velocity.length()) * seconds;
    if entity.dynamics.own().is_some() {
        let Drive { linear, angular } = entity.drive();
        way += (linear.length() + angular.length() * shape.radius) * seconds * seconds;
    }
    // Gravity adds speed within the tick, and so lengthens the way.
    let gained = entity.gravity(shape).abs() * seconds * seconds;
    if way > MIN_SEARCH_REACH { way + gained } else { MIN_SEARCH_REACH }
}

/// One thread's share of a search.
pub(super) struct Finder<'a, 'c> {
    pub(super) search: &'a Search<'a>,
    pub(super) context: &'c mut StepContext,
    pairs: Vec<Pair>,
    /// The bodies found overlapping something, which the guard will judge.
    overlapping: Vec<u16>,
    /// Slot of the body whose parts are in `own_parts`.
    parts_of: Option<u16>,
    own_parts: Vec<BoundedPart<'a>>,
    /// Parts of the obstacle that the body is tested against.
    other_parts: Vec<BoundedPart<'a>>,
    /// Nearby solids, by index.
    solids: Vec<u32>,
    buffers: Buffers,
}

/// A part in the world, and the volumes that bound it.
struct BoundedPart<'a> {
    part: Part<'a>,
    bounds: OrientedBox,
    /// Radius of a sphere about the middle of the box.
    radius: f64,
}

impl<'a> BoundedPart<'a> {
    fn new(part: Part<'a>) -> Self {
        let bounds = part.oriented_box();
        Self { radius: bounds.half_extents.length(), bounds, part }
    }
}

impl<'a, 'c> Finder<'a, 'c> {
    /// Makes a finder for a share of about `bodies` bodies.
    pub(super) fn new(search: &'a Search<'a>, context: &'c mut StepContext, bodies: usize) -> Self {
        // The list gets room for a few more pairs than last time. A list that runs out of room is
        // copied as a whole.
        let share = search.before.len() * bodies / search.before.bodies().max(1);
        Self {
            search,
            context,
            pairs: Vec::with_capacity(share + share / 4 + 16),
            overlapping: Vec::new(),
            parts_of: None,
            own_parts: Vec::new(),
            other_parts: Vec::new(),
            solids: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    /// The pairs, and the bodies found overlapping something.
    pub(super) fn into_found(self) -> (Vec<Pair>, Vec<u16>) {
        (self.pairs, self.overlapping)
    }

    /// Adds the pairs of two bodies that search for contacts. `own` has the lower slot.
    pub(super) fn meet_awake(&mut self, own: &Searcher<'a>, other: &Searcher<'a>) {
        let reach = own.reach_with(other.reach);
        if !own.bounds.inflated(reach).overlaps(&other.bounds) || !own.entity.may_meet(other.entity)
        {
            return;
        }
        let blocker = Blocker::Entity(other.entity.id.slot);
        if own.unchanged && other.unchanged {
            self.keep(self.search.before.known(own.entity.id.slot, blocker).pairs());
        } else {
            self.meet(own, blocker, &other.body, reach);
        }
    }

    /// Adds the pairs of a body and the entity in `slot`, which does not search for contacts.
    pub(super) fn meet_standing(&mut self, own: &Searcher<'a>, slot: u16) {
        let search = self.search;
        let Some(partner) = search.space.entities.get(slot) else { return };
        // A pair of two awake bodies is listed under the lower slot.
        if partner.mobility().is_guarded()
            && let Some(partner) = search.searcher(partner)
        {
            match own.entity.id.slot < slot {
                true => self.meet_awake(own, &partner),
                false => self.meet_awake(&partner, own),
            }
            return;
        }
        let Some(placement) = partner.placement() else { return };
        let reach = own.reach_with(search.reach_of(partner));
        if !placement.bounds().overlaps(&own.bounds.inflated(reach))
            || !own.entity.may_meet(partner)
        {
            return;
        }
        let blocker = Blocker::Entity(slot);
        if own.unchanged && search.is_unchanged(partner) {
            self.keep(search.before.known(own.entity.id.slot, blocker).pairs());
        } else {
            self.meet(own, blocker, &search.space.body_at(placement), reach);
        }
    }

    /// Adds the pairs of a body with the solids of the world.
    pub(super) fn meet_solids(&mut self, own: &Searcher<'a>) {
        let search = self.search;
        // The guard tests the solids around a body with a pocket by itself.
        if own.entity.pocket().is_some() {
            return;
        }
        if own.unchanged {
            self.keep(search.before.solids_of(own.entity.id.slot));
            return;
        }
        let mut solids = std::mem::take(&mut self.solids);
        solids.clear();
        let reach = SPECULATIVE_DISTANCE + own.reach;
        let around = own.bounds.inflated(reach);
        own.entity.record.near_solids.visit(search.space.map, &around, |index| solids.push(index));
        solids.sort_unstable();
        let first = self.pairs.len();
        for &index in &solids {
            let solid = Body::fixed(&search.space.map.solids()[index as usize]);
            self.meet(own, Blocker::Solid(index), &solid, reach);
        }
        self.solids = solids;
        if let Some(placement) = own.entity.placement() {
            let turn = placement.pose().orientation.inverse();
            let before = search.before.solids_of(own.entity.id.slot);
            keep_hulls(&mut self.pairs[first..], before, |direction| turn * direction);
        }
    }

    fn keep(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            let mut pair = pair.clone();
            // Points with wider gaps were made while the bodies approached each other. The bodies
            // have stopped since.
            if pair.points.iter().all(|point| f64::from(point.gap) > SPECULATIVE_DISTANCE) {
                pair.points.clear();
            }
            self.pairs.push(pair);
        }
    }

    /// Adds the pairs of parts of a body and an obstacle, unless a filter proves them
    /// farther apart than `reach`.
    fn meet(&mut self, own: &Searcher<'a>, other: Blocker, obstacle: &Body<'a>, reach: f64) {
        let known = self.search.before.known(own.entity.id.slot, other);
        // Two bodies that were within reach last time are not filtered.
        let open = if known.whole().is_some() {
            Candidates::ALL
        } else {
            match filter(&own.body, obstacle, reach, None, self.context) {
                Verdict::Open(open) => open,
                Verdict::Apart => return,
            }
        };
        let mut watch = self.context.watch();
        if self.parts_of != Some(own.entity.id.slot) {
            self.parts_of = Some(own.entity.id.slot);
            self.own_parts.clear();
            self.own_parts.extend(own.body.parts_at_start().map(BoundedPart::new));
        }
        let parts = std::mem::take(&mut self.own_parts);
        let mut others = std::mem::take(&mut self.other_parts);
        others.clear();
        others.extend(obstacle.parts_at_start().map(BoundedPart::new));
        for (i, part) in parts.iter().enumerate() {
            for (j, against) in others.iter().enumerate().filter(|&(j, _)| open.hold(i, j)) {
                let touching = part.radius + against.radius + reach;
                let [ours, theirs] = [&part.bounds, &against.bounds];
                if ours.centre.distance_squared(theirs.centre) > touching * touching {
                    continue;
                }
                // Most parts that are not yet a pair stay apart, and their boxes show that without
                // a search. For two convex bodies the filters have already compared the boxes.
                let known = known.pair(i, j);
                let is_concave = parts.len() + others.len() > 2;
                if known.is_none() && is_concave && ours.is_apart_from(theirs, reach + ROUNDING) {
                    continue;
                }
                self.meet_parts((own.entity, other), [(i, part), (j, against)], known, reach);
            }
        }
        (self.own_parts, self.other_parts) = (parts, others);
        self.context.note(Stage::Exact, true, &mut watch);
    }

    /// Adds the pair of two parts, unless they are farther apart than `reach`.
    fn meet_parts(
        &mut self,
        (entity, other): (&Entity, Blocker),
        [(i, own), (j, obstacle)]: [(usize, &BoundedPart); 2],
        known: Option<&Pair>,
        reach: f64,
    ) {
        let (part, against) = (&own.part, &obstacle.part);
        let key = PairKey { body: entity.id.slot, other, parts: (i as u16, j as u16) };
        let guess =
            known.map_or_else(|| own.bounds.direction_to(&obstacle.bounds), |pair| pair.axis);
        // Most new pairs turn out to be farther apart than `reach` along the first guess.
        let gap = gap_along(part, against, guess);
        if gap > reach {
            return;
        }
        // Parts that were far apart are still far apart along the same plane.
        let was_far = known.filter(|pair| gap > SPECULATIVE_DISTANCE && gap > STILL_FAR * pair.gap);
        if let Some(&Pair { axis, features, .. }) = was_far
            && gap - self.approach(entity, other, axis) > CONTACT_TRIGGER_GAP
        {
            let gap = rounded_down(gap);
            self.pairs.push(Pair { key, axis, features, gap, points: Points::new() });
            return;
        }
        // As long as a face lies flat on another, no search is needed.
        self.buffers.is_mutual = other.entity().is_some();
        let buffers = &mut self.buffers;
        let flat = known.and_then(|pair| flat([part, against], pair.axis, reach, buffers));
        let (mut found, flat_points) = match flat {
            Some((found, points)) => {
                let flat_points = Some((found.axis, points));
                (found, flat_points)
            }
            None => {
                let features = known.map_or(Features::NONE, |pair| pair.features);
                let Proximity::Apart(found) = separate_from(part, against, guess, features, reach)
                else {
                    let both = [Some(entity.id.slot), other.entity()];
                    self.overlapping.extend(both.into_iter().flatten());
                    return;
                };
                (found, None)
            }
        };
        // Pairs beyond reach are not kept. A filter may have left out similar pairs, and the known
        // pairs must not depend on filters.
        if found.gap > reach {
            return;
        }
        let mut points = Points::new();
        let touches =
            found.gap <= SPECULATIVE_DISTANCE || self.closes(entity, other, part, against, &found);
        if touches {
            points = self.points((entity, other), [part, against], &mut found, flat_points, reach);
            remember(known, found.axis, &mut points);
        }
        let Separation { axis, gap, features, .. } = found;
        self.pairs.push(Pair { key, axis, features, gap: rounded_down(gap), points });
    }

    /// The points at which two parts touch. `flat` holds the axis and the points of a face that
    /// lies flat on another. At a seam of the world the separation `found` is corrected.
    fn points(
        &mut self,
        (entity, other): (&Entity, Blocker),
        both: [&Part; 2],
        found: &mut Separation,
        flat: Option<(DVec3, Points)>,
        reach: f64,
    ) -> Points {
        let buffers = &mut self.buffers;
        match (seam(self.search.space, entity, both, other, found), flat) {
            (Seam::Covered, _) => Points::new(),
            (Seam::Inner, _) => area(both, found.axis, reach, buffers),
            (Seam::None, Some((axis, points))) if axis == found.axis => points,
            (Seam::None, _) => manifold(both, found, reach, buffers),
        }
    }
}

/// The effect of a seam of the world on a contact at the seam.
enum Seam {
    /// No effect.
    None,
    /// The edge at the seam is not an edge of the world's surface. The contact is with the open
    /// face beside the edge, and covers only the area of that face. Any part of the body that is
    /// beyond the edge touches the solid that continues there.
    Inner,
    /// No face at the seam is open.
    Covered,
}

/// Corrects the direction of a contact with the world where brushes meet. If the contact is so near
/// that the guard may stop the body, the direction is kept, because solver and guard must agree.
fn seam(
    space: &Space,
    entity: &Entity,
    [part, against]: [&Part; 2],
    other: Blocker,
    found: &mut Separation,
) -> Seam {
    if !matches!(other, Blocker::Solid(_)) || found.gap <= CONTACT_TRIGGER_GAP {
        return Seam::None;
    }
    match exposure(space.map, &entity.record.near_solids, against, found.on_b, -found.axis) {
        Exposure::AsDrawn => Seam::None,
        Exposure::Covered => Seam::Covered,
        Exposure::Face(normal) => {
            let gap = gap_along(part, against, -normal);
            if gap <= 0.0 {
                return Seam::None;
            }
            (found.axis, found.gap) = (-normal, gap);
            Seam::Inner
        }
    }
}

/// Rounds down to a value that an `f32` holds, by two steps at most, because the gap of a pair is a
/// lower bound.
fn rounded_down(gap: f64) -> f64 {
    f64::from((gap as f32).next_down())
}
