//! Bodies that move beyond the reach of the search for contacts: they may meet others
//! that are not among their neighbours, or parts of neighbours that were far away.
//!
//! The search left out what was farther apart than the free distances of both bodies
//! together. A body may have used up its own in an earlier round of this tick, and stand
//! now: others that hardly move may meet it all the same.

use super::Space;
use super::advance::{MovingBody, MovingPair, PairTest, SinceSearch};
use crate::bodies::blocker::Blocker;
use crate::bodies::entities::Entity;
use crate::collision::broad_phase::Overlaps;
use crate::collision::cascade::{Body, LastPlane, Reversed};
use crate::collision::distances::MARGIN;
use crate::context::StepContext;

/// Whether two bodies may have come near each other where the search for contacts found
/// nothing, given how far each has moved beyond its free distance
/// ([`Entity::excess_travel`]).
pub(super) fn exceed_reach(ours: f64, theirs: f64) -> bool {
    ours + theirs > 0.0
}

impl Space<'_> {
    /// Stops moving bodies at all that the search for contacts has left out because it was
    /// too far away, and is no longer.
    pub(super) fn test_beyond_search<P: LastPlane>(
        &self,
        movers: &mut [MovingBody],
        mover_of: impl Fn(u16) -> Option<usize>,
        planes: impl Fn(u16, Blocker) -> P + Sync,
        pairs: &mut Vec<MovingPair<P>>,
        context: &mut StepContext,
    ) {
        let stands = |slot: u16| mover_of(slot).is_none();
        let is_beyond = |entity: &&Entity| entity.excess_travel() > 0.0 && stands(entity.id.slot);
        // Bodies that have left the reach of the search, and stand now.
        let standing: Vec<&Entity> = self.entities.iter().filter(is_beyond).collect();
        let any_moves_beyond = movers.iter().any(|mover| mover.excess_travel > 0.0);
        if standing.is_empty() && !any_moves_beyond {
            return;
        }
        let speedboxes: Vec<_> =
            movers.iter().map(|mover| mover.body.speedbox().inflated(MARGIN)).collect();
        // Of two movers that exceed the reach one does so alone.
        let overlaps =
            any_moves_beyond.then(|| Overlaps::new(&speedboxes, self.entities.uses_grid()));
        let (mut near, mut solids) = (Vec::new(), Vec::new());
        for i in 0..movers.len() {
            let (slot, excess) = (movers[i].slot, movers[i].excess_travel);
            let later = overlaps.as_ref().map_or(&[][..], |overlaps| overlaps.after(i));
            for j in later.iter().map(|&j| j as usize) {
                if exceed_reach(excess, movers[j].excess_travel) {
                    let planes = planes(slot, Blocker::Entity(movers[j].slot));
                    pairs.push(moving_pair(movers, [i, j], planes, context));
                }
            }
            let touches = |entity: &Entity| {
                exceed_reach(excess, entity.excess_travel())
                    && entity.placement().is_some_and(|p| p.bounds().overlaps(&speedboxes[i]))
            };
            near.clear();
            if excess > 0.0 {
                let Some(entity) = self.entities.get(slot) else { continue };
                solids.clear();
                entity.near_solids.visit(self.map, &speedboxes[i], |index| solids.push(index));
                for solid in solids.iter().map(|&index| Blocker::Solid(index)) {
                    self.stop_at_standing(&mut movers[i], solid, planes(slot, solid), context);
                }
                self.entities.near_where(&speedboxes[i], stands, &mut near);
                near.retain(|&other| self.entities.get(other).is_some_and(touches));
            } else {
                let touching = standing.iter().filter(|entity| touches(entity));
                near.extend(touching.map(|entity| entity.id.slot));
            }
            for &other in &near {
                let (mover, blocker) = (&mut movers[i], Blocker::Entity(other));
                let known = planes(slot, blocker);
                if known.whole().is_some() {
                    self.stop_at_standing(mover, blocker, known, context);
                } else {
                    // The pair may be that of the other body.
                    let known = Reversed(planes(other, Blocker::Entity(slot)));
                    self.stop_at_standing(mover, blocker, known, context);
                }
            }
        }
    }

    /// Stops a moving body at one that does not move.
    fn stop_at_standing(
        &self,
        mover: &mut MovingBody,
        blocker: Blocker,
        planes: impl LastPlane,
        context: &mut StepContext,
    ) {
        let body = match blocker {
            Blocker::Solid(index) => Some(Body::fixed(&self.map.solids()[index as usize])),
            Blocker::Entity(slot) => self.entities.get(slot).and_then(|e| self.standing(e)),
        };
        let Some(body) = body else { return };
        let bodies = [&mover.body, &body];
        let test = PairTest::beyond_search(bodies, planes);
        let moved = blocker.entity().map_or(0.0, |slot| self.moved(slot));
        let approach = mover.since_search.approach(SinceSearch::standing(moved), (0.0, 1.0), false);
        let passage = test.pass(bodies, (0.0, 1.0), planes, approach, context);
        mover.meet(blocker, passage);
    }
}

/// Two moving bodies, and how far they get.
fn moving_pair<P: LastPlane>(
    movers: &[MovingBody],
    [i, j]: [usize; 2],
    planes: P,
    context: &mut StepContext,
) -> MovingPair<P> {
    let bodies = [&movers[i].body, &movers[j].body];
    let test = PairTest::beyond_search(bodies, planes);
    let approach = movers[i].since_search.approach(movers[j].since_search, (0.0, 1.0), false);
    let passage = test.pass(bodies, (0.0, 1.0), planes, approach, context);
    MovingPair { movers: [i, j], planes, test, passage }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use obsp::model::shipped;

    use super::*;
    use crate::bodies::entities::Entities;
    use crate::bodies::guard::Proposal;
    use crate::bodies::roles::Role;
    use crate::collision::pose::Pose;
    use crate::collision::shape::Shapes;
    use crate::state::ModelId;
    use crate::test_maps::{block, compiled};

    /// A body that had left the reach of the search in an earlier round of the tick, and
    /// stood, was not seen by those that moved within their own reach: one of them turned
    /// into it.
    #[test]
    fn a_body_beyond_the_search_that_stands_stops_those_that_hardly_move() {
        let map = compiled(&block([-256, -256, -16], [256, 256, 0]), [-200, -200, 40], "");
        let shapes = Shapes::new(&map, &shipped()).unwrap();
        let crates = shapes.of_model(ModelId(0)).unwrap();
        let mut entities = Entities::new(&map.bounds(), 0);
        let mut context = StepContext { seconds: 1.0 / 60.0, ..StepContext::default() };
        for x in [0.0, 32.02] {
            let space = Space { map: &map, shapes: &shapes, entities: &entities };
            let pose = Pose::at(DVec3::new(x, 0.0, 100.0));
            let placement = space.place(crates, pose, None, &mut context).unwrap();
            let id = entities.insert(Role::Prop(ModelId(0)), crates).unwrap();
            entities.commit(id.slot, placement);
            let entity = entities.find_mut(id).unwrap();
            (entity.free_distance, entity.moved) = (0.15, x);
        }
        let space = Space { map: &map, shapes: &shapes, entities: &entities };
        let target = Pose::at(DVec3::new(0.05, 0.0, 100.0));
        let proposal = Proposal { slot: 0, target, seconds: 1.0 / 60.0 };
        let unknown = |_, _| None::<DVec3>;
        let advances = space.advance(&[proposal], &[], unknown, &mut context);
        assert!(advances[0].stop.is_some_and(|(by, _)| by == Blocker::Entity(1)));
        let reached = advances[0].placement.unwrap().pose().position.x;
        assert!(reached < 0.02, "{reached}");
    }
}
