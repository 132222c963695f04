//! Bodies that move beyond the reach of the search for contacts. They may meet bodies that are not
//! among their neighbours, or parts of neighbours that were far away at the search.
//!
//! The search left out pairs farther apart than the sum of both free distances. A body may have
//! used up its free distance in an earlier round of this tick, and stand in this round. Other
//! bodies may then meet it, even if these bodies hardly move.
//!
//! The guard looks for such bodies among the neighbours of a body. So the guard calls [`hold`]
//! before the motion.

use obsp::geometry::Aabb;

use super::Space;
use super::advance::{MovingBody, MovingPair, PairTest, Proposal, SinceSearch};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::{CLEARANCE, Entities, Entity};
use crate::collision::cascade::{Body, LastPlane, Reversed};
use crate::collision::distances::MARGIN;
use crate::collision::pose::Motion;
use crate::collision::shape::Shapes;
use crate::collision::time_of_impact::TimeOfImpact;
use crate::context::StepContext;
use crate::threads::joined;

/// Minimum number of pairs of a thread's share.
const MIN_PAIRS: usize = 16;

/// Minimum number of moving bodies of a thread's share.
const MIN_BODIES: usize = 32;

/// Minimum number of bodies of a thread's share, when the bodies beyond the reach of the search are
/// divided among threads.
const MIN_BEYOND: usize = 16;

// Two bodies whose speedboxes are within the margin of each other are neighbours.
const _: () = assert!(CLEARANCE >= MARGIN);

/// Makes each body that `proposals` move a neighbour of all bodies that it may meet.
pub(crate) fn hold(shapes: &Shapes, entities: &mut Entities, proposals: &[Proposal]) {
    for &Proposal { slot, target, .. } in proposals {
        let Some(placement) = entities.get(slot).and_then(Entity::placement) else { continue };
        let (shape, start) = (&shapes[placement.shape()], *placement.pose());
        let way = Motion::new(start, target).travel(shape.radius);
        if !entities.holds(slot, &placement.bounds().inflated(way)) {
            let speedbox = Body::moving(shape, start, target).speedbox();
            entities.hold(slot, &speedbox, target.position - start.position);
        }
    }
}

/// Whether two bodies that are not a pair of the search may have come near each other. The
/// arguments say how far each has moved beyond its free distance ([`Entity::excess_travel`]).
pub(super) fn exceed_reach(ours: f64, theirs: f64) -> bool {
    ours + theirs > 0.0
}

impl Space<'_> {
    /// Stops moving bodies at standing obstacles that were too far away for the search for
    /// contacts. Since the search the bodies have come near these obstacles. Pairs of moving bodies
    /// that have come near each other are added to `pairs`.
    pub(super) fn test_beyond_search<P: LastPlane + Send + Sync>(
        &self,
        movers: &mut [MovingBody],
        mover_of: impl Fn(u16) -> Option<usize> + Sync,
        planes: impl Fn(u16, Blocker) -> P + Sync,
        pairs: &mut Vec<MovingPair<P>>,
        context: &mut StepContext,
    ) {
        let stands = |slot: u16| mover_of(slot).is_none();
        let is_beyond = |entity: &&Entity| entity.excess_travel() > 0.0 && stands(entity.id.slot);
        // Bodies that have left the reach of the search, and stand in this round.
        let standing: Vec<&Entity> = self.entities.active().filter(is_beyond).collect();
        if standing.is_empty() && movers.iter().all(|mover| mover.excess_travel <= 0.0) {
            return;
        }
        let moving: &[MovingBody] = movers;
        let beyond = self.pairs_beyond(moving, &mover_of, context);
        let shares = context.threads.in_shares(beyond.len(), MIN_PAIRS, |range| {
            let mut context = context.share();
            let test = |&[i, j]: &[usize; 2]| {
                let planes = planes(moving[i].slot, Blocker::Entity(moving[j].slot));
                moving_pair(moving, [i, j], planes, &mut context)
            };
            let tested: Vec<_> = beyond[range].iter().map(test).collect();
            (tested, context.counters)
        });
        for (tested, counters) in shares {
            pairs.extend(tested);
            context.counters.add_earlier(&counters);
        }
        let standing = Standing { space: *self, left: &standing, stands };
        let shares = context.threads.in_shares(moving.len(), MIN_BODIES, |range| {
            let mut context = context.share();
            let mut near = Near::default();
            for i in range.filter(|&i| standing.may_meet(&moving[i])) {
                standing.meet((i, &moving[i]), &planes, &mut near, &mut context);
            }
            (near.met, context.counters)
        });
        for (met, counters) in shares {
            met.into_iter()
                .for_each(|(i, blocker, time_of_impact)| movers[i].meet(blocker, time_of_impact));
            context.counters.add_earlier(&counters);
        }
    }

    /// The pairs of movers that may come near each other beyond the reach of the search, in order.
    /// If two bodies together exceed the reach, at least one of them exceeds its own share. So only
    /// these bodies look for others.
    fn pairs_beyond(
        &self,
        movers: &[MovingBody],
        mover_of: impl Fn(u16) -> Option<usize> + Sync,
        context: &StepContext,
    ) -> Vec<[usize; 2]> {
        let is_beyond = |&i: &usize| movers[i].excess_travel > 0.0;
        let beyond: Vec<usize> = (0..movers.len()).filter(is_beyond).collect();
        if beyond.is_empty() {
            return Vec::new();
        }
        let shares = context.threads.in_shares(beyond.len(), MIN_BEYOND, |range| {
            let mut pairs = Vec::new();
            for &i in &beyond[range] {
                let own = speedbox(&movers[i]);
                let neighbours = self.entities.neighbours(movers[i].slot);
                for j in neighbours.iter().filter_map(|&slot| mover_of(slot)) {
                    let other = &movers[j];
                    if movers[i].layers.may_meet(other.layers)
                        && exceed_reach(movers[i].excess_travel, other.excess_travel)
                        && speedbox(other).overlaps(&own)
                    {
                        pairs.push([i.min(j), i.max(j)]);
                    }
                }
            }
            pairs
        });
        let mut pairs = joined(shares);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// A box around a body and its margin, throughout its motion.
fn speedbox(mover: &MovingBody) -> Aabb {
    mover.body.speedbox().inflated(MARGIN)
}

/// The obstacles that moving bodies meet, and lists that are refilled for each body.
#[derive(Default)]
struct Near {
    met: Vec<(usize, Blocker, TimeOfImpact)>,
    solids: Vec<u32>,
    entities: Vec<u16>,
}

/// The obstacles that stand.
struct Standing<'a, S> {
    space: Space<'a>,
    /// The bodies that have left the reach of the search, and stand in this round.
    left: &'a [&'a Entity],
    /// Whether the entity in a slot stands.
    stands: S,
}

impl<S: Fn(u16) -> bool> Standing<'_, S> {
    /// Whether a moving body may meet anything beyond the reach of the search.
    fn may_meet(&self, mover: &MovingBody) -> bool {
        mover.excess_travel > 0.0 || !self.left.is_empty()
    }

    /// Adds to `met` the obstacles that the mover with this index meets beyond the reach of the
    /// search.
    fn meet<P: LastPlane>(
        &self,
        (index, mover): (usize, &MovingBody),
        planes: &impl Fn(u16, Blocker) -> P,
        Near { met, solids, entities: near }: &mut Near,
        context: &mut StepContext,
    ) {
        let Space { map, entities, .. } = self.space;
        let (slot, excess, speedbox) = (mover.slot, mover.excess_travel, speedbox(mover));
        let touches = |entity: &Entity| {
            mover.layers.may_meet(entity.layers)
                && exceed_reach(excess, entity.excess_travel())
                && entity.placement().is_some_and(|p| p.bounds().overlaps(&speedbox))
        };
        near.clear();
        if excess > 0.0 {
            let Some(entity) = entities.get(slot) else { return };
            solids.clear();
            // The solids near a body with a pocket have been tested already.
            if mover.pocket.is_none() {
                entity.record.near_solids.visit(map, &speedbox, |index| solids.push(index));
            }
            for solid in solids.drain(..).map(Blocker::Solid) {
                let time_of_impact = self.first_impact(mover, solid, planes(slot, solid), context);
                met.extend(time_of_impact.map(|time_of_impact| (index, solid, time_of_impact)));
            }
            let neighbours = entities.neighbours(slot);
            let standing = neighbours.iter().copied().filter(|&other| (self.stands)(other));
            near.extend(standing.filter(|&other| entities.get(other).is_some_and(touches)));
        } else {
            let touching = self.left.iter().filter(|entity| touches(entity));
            near.extend(touching.map(|entity| entity.id.slot));
        }
        for other in near.drain(..) {
            let blocker = Blocker::Entity(other);
            let known = planes(slot, blocker);
            let time_of_impact = if known.whole().is_some() {
                self.first_impact(mover, blocker, known, context)
            } else {
                // The pair may be listed under the other body.
                let known = Reversed(planes(other, Blocker::Entity(slot)));
                self.first_impact(mover, blocker, known, context)
            };
            met.extend(time_of_impact.map(|time_of_impact| (index, blocker, time_of_impact)));
        }
    }

    /// How far a moving body gets before it meets a standing obstacle; `None` if the obstacle is
    /// not in the world.
    fn first_impact(
        &self,
        mover: &MovingBody,
        blocker: Blocker,
        planes: impl LastPlane,
        context: &mut StepContext,
    ) -> Option<TimeOfImpact> {
        let Space { map, entities, .. } = self.space;
        let body = match blocker {
            Blocker::Solid(index) => Body::fixed(&map.solids()[index as usize]),
            Blocker::Entity(slot) => self.space.standing(entities.get(slot)?)?,
        };
        let bodies = [&mover.body, &body];
        let test = PairTest::beyond_search(bodies, planes);
        let moved = blocker.entity().map_or(0.0, |slot| self.space.moved(slot));
        let approach = mover.since_search.approach(SinceSearch::standing(moved), (0.0, 1.0), false);
        Some(test.first_impact(bodies, (0.0, 1.0), planes, approach, context))
    }
}

/// Two moving bodies, and how far they get before they meet.
fn moving_pair<P: LastPlane>(
    movers: &[MovingBody],
    [i, j]: [usize; 2],
    planes: P,
    context: &mut StepContext,
) -> MovingPair<P> {
    let bodies = [&movers[i].body, &movers[j].body];
    let test = PairTest::beyond_search(bodies, planes);
    let approach = movers[i].since_search.approach(movers[j].since_search, (0.0, 1.0), false);
    let time_of_impact = test.first_impact(bodies, (0.0, 1.0), planes, approach, context);
    MovingPair { movers: [i, j], planes, test, time_of_impact }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use obsp::model::shipped;

    use glam::DVec3;

    use super::*;
    use crate::bodies::guard::{Advance, Seeker};
    use crate::bodies::roles::Role;
    use crate::collision::pose::Pose;
    use crate::state::ModelId;
    use crate::test_maps::{block, compiled};

    /// Crates in the air, each with a free distance of 0.15 units.
    struct Scene {
        map: Arc<obsp::Map>,
        shapes: Shapes,
        entities: Entities,
        context: StepContext,
    }

    impl Scene {
        /// Places crates, each given by its position on the x axis and by how far it has moved
        /// since the search.
        fn new(crates: [(f64, f64); 2]) -> Self {
            let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 40], "");
            let shapes = Shapes::new(&map, &shipped()).unwrap();
            let shape = shapes.of_model(ModelId(0)).unwrap();
            let mut entities = Entities::new(&map.bounds(), 0);
            let mut context = StepContext { seconds: 1.0 / 60.0, ..StepContext::default() };
            for (x, moved) in crates {
                let space = Space { map: &map, shapes: &shapes, entities: &entities };
                let pose = Pose::at(DVec3::new(x, 0.0, 100.0));
                let placement = space.place(shape, pose, Seeker::QUERY, &mut context).unwrap();
                let id = entities.insert(Role::Prop(ModelId(0)), shape).unwrap();
                entities.commit(id.slot, placement);
                let entity = entities.find_mut(id).unwrap();
                (entity.record.free_distance, entity.record.moved) = (0.15, moved);
            }
            Self { map, shapes, entities, context }
        }

        /// Moves bodies, given by their slots, to places along the x axis within a tick.
        fn advance(&mut self, targets: &[(u16, f64)]) -> Vec<Advance> {
            let proposal = |&(slot, x)| {
                let target = Pose::at(DVec3::new(x, 0.0, 100.0));
                Proposal { slot, target, seconds: self.context.seconds }
            };
            let proposals: Vec<_> = targets.iter().map(proposal).collect();
            hold(&self.shapes, &mut self.entities, &proposals);
            let space = Space { map: &self.map, shapes: &self.shapes, entities: &self.entities };
            space.advance(&proposals, &[], |_, _| None::<DVec3>, &mut self.context)
        }
    }

    /// Symptom: a turning body got into another body, which stood. Cause: the standing body had
    /// left the reach of the search in an earlier round of the tick, and bodies that moved within
    /// their own reach did not test it.
    #[test]
    fn a_body_beyond_the_search_that_stands_stops_those_that_hardly_move() {
        let mut scene = Scene::new([(0.0, 0.0), (32.02, 32.02)]);
        let advances = scene.advance(&[(0, 0.05)]);
        assert!(advances[0].stop.is_some_and(|(by, _)| by == Blocker::Entity(1)));
        let reached = advances[0].placement.unwrap().pose().position.x;
        assert!(reached < 0.02, "{reached}");
    }

    /// Bodies that turn by more than a radian may have moved any distance. Each of two such bodies
    /// must be found by the motion of the other alone.
    #[test]
    fn bodies_that_have_moved_any_distance_meet() {
        let mut scene = Scene::new([(0.0, f64::INFINITY), (40.0, f64::INFINITY)]);
        let advances = scene.advance(&[(0, 5.0), (1, 35.0)]);
        assert!(advances.iter().all(|advance| advance.stop.is_some()));
    }
}
