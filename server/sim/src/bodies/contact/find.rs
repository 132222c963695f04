//! The search for contacts: which parts come near each other this tick, and where
//! they touch. It can be shared out over threads, and bodies that are as they were
//! at the last search keep its results.

use glam::DVec3;
use obsp::geometry::Aabb;

use super::manifold::{flat, manifold};
use super::pair_index::{Known, PairIndex};
use super::seam::{Exposure, exposure};
use super::{Pair, PairKey, Points};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::Space;
use crate::collision::broad_phase::Overlaps;
use crate::collision::cascade::{Body, Candidates, LastPlane, Verdict, filter};
use crate::collision::distances::{MARGIN, REST_GAP};
use crate::collision::pose::Pose;
use crate::collision::separation::{
    Features, Part, Proximity, Separation, gap_along, separate, separate_from,
};
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::conventions::GRAVITY;
use crate::counters::Stage;
use crate::threads::in_shares;

/// A pair nearer than this, in units, has contact points however it moves.
const SPECULATIVE_DISTANCE: f64 = 2.0 * REST_GAP;

/// A pair farther apart has contact points only if it will come this near, in
/// units, within the tick.
const CONTACT_TRIGGER_GAP: f64 = 0.5 * REST_GAP;

/// Least distance, in units, that a search assumes every body to move. A body that
/// moves no farther, and is as it was at the last search, needs no new one.
const MIN_SEARCH_REACH: f64 = 0.5 * REST_GAP;

/// A point is the same one as last tick if it is less than this from it, in units,
/// in the body's axes: corners of props are farther apart.
const SAME_POINT: f64 = 4.0;

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// In order of key.
    pub(crate) pairs: Vec<Pair>,
    /// The free distance of each awake body: how far its surface may move, in units,
    /// without meeting anything that is not among the pairs.
    pub(crate) free_distances: Vec<(u16, f64)>,
}

/// All pairs of parts that awake props may bring together within the tick. `before`
/// are the pairs of last tick, or those of this one if it is searched `again`
/// because a body has woken.
pub(crate) fn find(
    space: &Space,
    before: &[Pair],
    again: bool,
    context: &mut StepContext,
) -> Found {
    let before = PairIndex::new(before, space.entities.slot_count());
    let search = Search { space, before, seconds: context.seconds, again };
    let awake = search.searchers();
    let boxes: Vec<Aabb> = awake
        .iter()
        .map(|own| own.bounds.inflated(0.5 * SPECULATIVE_DISTANCE + own.reach))
        .collect();
    let overlaps = Overlaps::new(&boxes, space.entities.uses_grid());
    let mut searches = vec![false; space.entities.slot_count()];
    awake.iter().for_each(|own| searches[usize::from(own.entity.id.slot)] = true);
    let standing = space.entities.iter();
    let standing = standing.filter(|e| !e.is_awake_body() && e.placement().is_some());
    let farthest = standing.map(|entity| search.reach_of(entity)).reduce(f64::max);
    let entity_count = space.entities.iter().count() as u64;
    let neighbourhood = Neighbourhood { awake: &awake, overlaps, searches, farthest, entity_count };
    // Bodies are in ascending order, and so are the pairs of each: so are all pairs.
    let shares = in_shares(context.threads, awake.len(), |range| {
        let mut context = context.share();
        // About as many as last time.
        let room = search.before.len() * range.len() / awake.len().max(1) + 16;
        let mut finder = Finder {
            search: &search,
            context: &mut context,
            pairs: Vec::with_capacity(room),
            overlapping: Vec::new(),
            scratch: Scratch::default(),
        };
        range.for_each(|at| finder.meet_all(&neighbourhood, at));
        (finder.pairs, finder.overlapping, context)
    });
    let (mut pairs, mut overlapping) = (Vec::new(), Vec::new());
    for (found, inside, counted) in shares {
        if pairs.is_empty() {
            pairs = found
        } else {
            pairs.extend(found)
        }
        overlapping.extend(inside);
        context.counters.add_earlier(&counted.counters);
    }
    // Two bodies that are no pair share the distance between them.
    let share = 0.5 * (SPECULATIVE_DISTANCE - MARGIN);
    let free_distance = |own: &Searcher| {
        let slot = own.entity.id.slot;
        (slot, if overlapping.contains(&slot) { 0.0 } else { own.reach + share })
    };
    Found { pairs, free_distances: awake.iter().map(free_distance).collect() }
}

/// An awake body that looks for contacts.
struct Searcher<'a> {
    entity: &'a Entity,
    body: Body<'a>,
    bounds: Aabb,
    /// How far its surface can move within the tick, in units.
    reach: f64,
    /// Whether a search would find the same as last time, as far as it depends on
    /// this body.
    unchanged: bool,
}

/// All bodies that may be met.
struct Neighbourhood<'a> {
    awake: &'a [Searcher<'a>],
    overlaps: Overlaps,
    /// Whether the body in a slot is among the awake ones, by slot.
    searches: Vec<bool>,
    /// How far any of the other bodies can move within the tick, in units; `None` if
    /// there are none.
    farthest: Option<f64>,
    entity_count: u64,
}

/// The question that all threads share.
struct Search<'a> {
    space: &'a Space<'a>,
    before: PairIndex<'a>,
    seconds: f64,
    again: bool,
}

impl<'a> Search<'a> {
    /// All awake bodies, in ascending order of slot.
    fn searchers(&self) -> Vec<Searcher<'a>> {
        let searcher = |entity: &'a Entity| {
            let body = self.space.standing(entity)?;
            let (reach, bounds) = (self.reach_of(entity), body.speedbox());
            Some(Searcher { entity, body, bounds, reach, unchanged: self.is_unchanged(entity) })
        };
        let mut searchers = Vec::with_capacity(self.space.entities.slot_count());
        let awake = self.space.entities.iter().filter(|entity| entity.is_awake_body());
        searchers.extend(awake.filter_map(searcher));
        searchers
    }

    fn reach_of(&self, entity: &Entity) -> f64 {
        reach_of(entity, self.space.shape(entity.shape).radius, self.seconds)
    }

    /// Whether this body is as it was at the last search, and hardly moves.
    fn is_unchanged(&self, entity: &Entity) -> bool {
        let is_slow = || self.reach_of(entity) <= MIN_SEARCH_REACH;
        entity.searched_as.is_some()
            && entity.searched_as == entity.search_state()
            && (self.again || is_slow())
    }
}

/// One thread's share of a search.
struct Finder<'a, 'c> {
    search: &'a Search<'a>,
    context: &'c mut StepContext,
    pairs: Vec<Pair>,
    /// The bodies found overlapping something, which the guard will judge.
    overlapping: Vec<u16>,
    scratch: Scratch<'a>,
}

/// Lists that are filled anew for each body.
#[derive(Default)]
struct Scratch<'a> {
    /// Slots of bodies that stand near by.
    near: Vec<u16>,
    /// Solids near by.
    solids: Vec<u32>,
    /// Slot of each partner, and its index among the awake bodies if it is one.
    partners: Vec<(u16, Option<u32>)>,
    /// Parts of the body, and of the one that it is held against.
    own_parts: Vec<BoundedPart<'a>>,
    other_parts: Vec<BoundedPart<'a>>,
}

/// A part in the world and its bounding sphere.
struct BoundedPart<'a> {
    part: Part<'a>,
    centre: DVec3,
    radius: f64,
}

impl<'a> BoundedPart<'a> {
    fn new(part: Part<'a>) -> Self {
        Self { centre: part.centre(), radius: part.radius(), part }
    }
}

impl<'a> Finder<'a, '_> {
    /// Adds the pairs of the awake body with this index.
    fn meet_all(&mut self, neighbourhood: &Neighbourhood<'a>, at: usize) {
        let own = &neighbourhood.awake[at];
        self.scratch.own_parts.clear();
        self.scratch.own_parts.extend(own.body.parts_at_start().map(BoundedPart::new));
        self.meet_solids(own);
        let entities = self.search.space.entities;
        let mut watch = self.context.watch();
        let mut near = std::mem::take(&mut self.scratch.near);
        near.clear();
        if let Some(farthest) = neighbourhood.farthest {
            let around = own.bounds.inflated(SPECULATIVE_DISTANCE + own.reach + farthest);
            let stands = |slot: u16| !neighbourhood.searches[usize::from(slot)];
            entities.near_where(&around, stands, &mut near);
            near.retain(|&slot| {
                let placement = entities.get(slot).and_then(Entity::placement);
                placement.is_some_and(|placement| placement.bounds().overlaps(&around))
            });
        }
        let mut partners = std::mem::take(&mut self.scratch.partners);
        partners.clear();
        partners.extend(near.iter().map(|&slot| (slot, None)));
        self.scratch.near = near;
        // Two awake props meet once, under the lower slot.
        let awake = neighbourhood.awake;
        let later = neighbourhood.overlaps.after(at).iter();
        partners.extend(later.map(|&index| (awake[index as usize].entity.id.slot, Some(index))));
        partners.sort_unstable_by_key(|&(slot, _)| slot);
        if self.context.stages.contains(Stage::Grid) {
            let others = neighbourhood.entity_count - 1;
            let spared = others.saturating_sub(partners.len() as u64);
            self.context.note_many(Stage::Grid, others, spared, &mut watch);
        }
        for &(slot, other) in &partners {
            match other {
                Some(index) => self.meet_awake(own, &awake[index as usize]),
                None => self.meet_standing(own, slot),
            }
        }
        self.scratch.partners = partners;
    }

    fn meet_awake(&mut self, own: &Searcher, other: &Searcher<'a>) {
        let blocker = Blocker::Entity(other.entity.id.slot);
        if own.unchanged && other.unchanged {
            self.keep(self.search.before.known(own.entity.id.slot, blocker).pairs());
        } else {
            self.meet(own, blocker, &other.body, SPECULATIVE_DISTANCE + own.reach + other.reach);
        }
    }

    fn meet_standing(&mut self, own: &Searcher, slot: u16) {
        let (search, blocker) = (self.search, Blocker::Entity(slot));
        let Some(partner) = search.space.entities.get(slot) else { return };
        if own.unchanged && search.is_unchanged(partner) {
            self.keep(search.before.known(own.entity.id.slot, blocker).pairs());
            return;
        }
        let Some(placement) = partner.placement() else { return };
        let reach = SPECULATIVE_DISTANCE + own.reach + search.reach_of(partner);
        if placement.bounds().overlaps(&own.bounds.inflated(reach))
            && let Some(body) = search.space.standing(partner)
        {
            self.meet(own, blocker, &body, reach);
        }
    }

    /// Adds the pairs of a body with the solids of the world.
    fn meet_solids(&mut self, own: &Searcher) {
        let search = self.search;
        if own.unchanged {
            self.keep(search.before.solids_of(own.entity.id.slot));
            return;
        }
        let mut solids = std::mem::take(&mut self.scratch.solids);
        solids.clear();
        let reach = SPECULATIVE_DISTANCE + own.reach;
        let around = own.bounds.inflated(reach);
        own.entity.near_solids.visit(search.space.map, &around, |index| solids.push(index));
        solids.sort_unstable();
        for &index in &solids {
            let solid = Body::fixed(&search.space.map.solids()[index as usize]);
            self.meet(own, Blocker::Solid(index), &solid, reach);
        }
        self.scratch.solids = solids;
    }

    fn keep(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            let mut pair = pair.clone();
            // A body that was approaching has stopped.
            if !self.search.again
                && pair.points.iter().all(|point| point.gap > SPECULATIVE_DISTANCE)
            {
                pair.points.clear();
            }
            self.pairs.push(pair);
        }
    }

    /// Adds the pairs of parts of a body and an obstacle, unless a filter proves them
    /// farther apart than `reach`.
    fn meet(&mut self, own: &Searcher, other: Blocker, obstacle: &Body<'a>, reach: f64) {
        let known = self.search.before.known(own.entity.id.slot, other);
        // Two bodies that were within reach last time skip the filters.
        let open = if known.whole().is_some() {
            Candidates::ALL
        } else {
            match filter(&own.body, obstacle, reach, None, self.context) {
                Verdict::Open(open) => open,
                Verdict::Apart => return,
            }
        };
        let mut watch = self.context.watch();
        let parts = std::mem::take(&mut self.scratch.own_parts);
        let mut others = std::mem::take(&mut self.scratch.other_parts);
        others.clear();
        others.extend(obstacle.parts_at_start().map(BoundedPart::new));
        for (i, part) in parts.iter().enumerate() {
            for (j, against) in others.iter().enumerate().filter(|&(j, _)| open.hold(i, j)) {
                let touching = part.radius + against.radius + reach;
                if part.centre.distance_squared(against.centre) <= touching * touching {
                    self.meet_parts((own.entity, other), [(i, part), (j, against)], known, reach);
                }
            }
        }
        (self.scratch.own_parts, self.scratch.other_parts) = (parts, others);
        self.context.note(Stage::Exact, true, &mut watch);
    }

    /// Adds the pair of two parts, unless they are farther apart than `reach`.
    fn meet_parts(
        &mut self,
        (entity, other): (&Entity, Blocker),
        [(i, own), (j, obstacle)]: [(usize, &BoundedPart); 2],
        known: Known,
        reach: f64,
    ) {
        let (part, against) = (&own.part, &obstacle.part);
        let key = PairKey { body: entity.id.slot, other, parts: (i as u16, j as u16) };
        let known = known.pair(i, j);
        // What lies flat goes on doing so: no search as long as it does.
        let flat = known.and_then(|pair| flat(part, against, pair.axis, reach));
        let (mut found, lying) = match flat {
            Some((found, points)) => {
                let lying = Some((found.axis, points));
                (found, lying)
            }
            None => {
                let guess = known.map_or(obstacle.centre - own.centre, |pair| pair.axis);
                let none = Features::new();
                let features = known.map_or(&none, |pair| &pair.features);
                let Proximity::Apart(found) = separate_from(part, against, guess, features, reach)
                else {
                    let both = [Some(entity.id.slot), other.entity()];
                    self.overlapping.extend(both.into_iter().flatten());
                    return;
                };
                (found, None)
            }
        };
        // Pairs beyond reach are not kept: a filter may have left out others like them,
        // and the known pairs must not depend on filters.
        if found.gap > reach {
            return;
        }
        let mut points = Points::new();
        let touches =
            found.gap <= SPECULATIVE_DISTANCE || self.closes(entity, other, part, against, &found);
        if touches && seam_keeps(self.search.space, entity, (part, against), other, &mut found) {
            points = match lying {
                Some((axis, points)) if axis == found.axis => points,
                _ => manifold(part, against, &found, reach),
            };
            remember(known, &mut points);
        }
        let Separation { axis, gap, features, .. } = found;
        self.pairs.push(Pair { key, axis, features, gap, points });
    }

    /// Whether the pair, at its current velocities, will come nearer than
    /// [`CONTACT_TRIGGER_GAP`] this tick: only then does a contact beyond the
    /// speculative distance need a constraint. An estimate is good enough, because
    /// the guard checks the motion.
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
            Blocker::Entity(slot) => self.search.space.entities.get(slot),
        };
        let partner = partner.filter(|partner| partner.yields());
        let ahead = |entity: &Entity, time: f64| -> Option<Pose> {
            let pose = entity.placement()?.pose();
            Some(pose.advanced(entity.velocity, entity.angular, self.search.seconds * time))
        };
        [1.0, 0.5].into_iter().any(|time| {
            let ours = ahead(entity, time).map_or(*part, |pose| Part::new(part.solid, &pose));
            let theirs = partner
                .and_then(|partner| ahead(partner, time))
                .map_or(*against, |pose| Part::new(against.solid, &pose));
            gap_along(&ours, &theirs, found.axis) <= CONTACT_TRIGGER_GAP
                && !matches!(separate(&ours, &theirs, found.axis),
                    Proximity::Apart(ahead) if ahead.gap > CONTACT_TRIGGER_GAP)
        })
    }
}

/// Updates the solids around each awake prop that [`find`] will need.
pub(crate) fn look_around(
    map: &obsp::World,
    shapes: &Shapes,
    entities: &mut Entities,
    seconds: f64,
) {
    for entity in entities.iter_mut().filter(|entity| entity.is_awake_body()) {
        let reach = SPECULATIVE_DISTANCE + reach_of(entity, shapes[entity.shape].radius, seconds);
        let Some(around) = entity.placement().map(|p| p.bounds().inflated(reach)) else { continue };
        entity.near_solids.look_around(map, &around);
    }
}

/// How far a body's surface can move in a tick.
fn reach_of(entity: &Entity, radius: f64, seconds: f64) -> f64 {
    if entity.sleep.asleep {
        return 0.0;
    }
    let way = (entity.velocity.length() + entity.angular.length() * radius) * seconds;
    // A falling body gains speed meanwhile.
    if way > MIN_SEARCH_REACH { way + GRAVITY * seconds * seconds } else { MIN_SEARCH_REACH }
}

/// Corrects the direction of a contact with the world where brushes meet. Returns
/// `false` if no face there is open. A contact so near that the guard may decide
/// stays unchanged: solver and guard must agree.
fn seam_keeps(
    space: &Space,
    entity: &Entity,
    (part, against): (&Part, &Part),
    other: Blocker,
    found: &mut Separation,
) -> bool {
    if !matches!(other, Blocker::Solid(_)) || found.gap <= CONTACT_TRIGGER_GAP {
        return true;
    }
    match exposure(space.map, &entity.near_solids, against, found.on_b) {
        Exposure::AsDrawn => true,
        Exposure::Covered => false,
        Exposure::Face(normal) => {
            let gap = gap_along(part, against, -normal);
            if gap > 0.0 {
                found.axis = -normal;
                found.gap = gap;
            }
            true
        }
    }
}

/// Copies last tick's impulses to the points that are still there.
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
