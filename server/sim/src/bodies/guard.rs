//! The guard: the only place that makes a [`Placement`]. It does so after it has proven that the
//! pose and the motion to the pose are free.
//!
//! [`Space::place`] checks a pose without a motion (spawning, rescue, standing up).
//! [`Space::advance`] follows the motions of many bodies at once, as far as each is free. It stops
//! a body before it would come nearer than the margin to anything. The solver keeps most bodies
//! farther away, so most motions are free as a whole. Before a round, [`hold`] makes sure that each
//! body knows all bodies that it may meet. [`Space::fly`] follows a missile, and tests it against
//! the world's shifted planes. [`Agent::sweep`](crate::players::agent::Agent::sweep) sweeps a
//! player's box, and tests it against the world's onion. All keep [`MARGIN`] between any two
//! bodies, and between bodies and the world.

mod advance;
mod beyond_search;
mod flight;
mod placement;
mod pocket;
mod seeker;
mod stops;

use obsp::Clearance;
use obsp::geometry::Aabb;

use crate::bodies::entities::{Entities, Entity};
use crate::collision::cascade::{Body, Candidates, are_apart, box_at, least_gap};
use crate::collision::distances::{LEAST_CLEARANCE, MARGIN};
use crate::collision::pose::Pose;
use crate::collision::shape::{Shape, ShapeId, Shapes};
use crate::context::StepContext;

pub(crate) use advance::{Advance, NEGLIGIBLE_SHARE, Proposal};
pub(crate) use beyond_search::hold;
pub(crate) use flight::{Flight, Stop};
pub(crate) use placement::Placement;
use pocket::leaves_out;
pub(crate) use seeker::Seeker;

/// A look-up in the grid seldom finds more bodies than this.
const USUALLY_NEAR: usize = 16;

/// The present map, shapes and entities, against which every check is made.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) map: &'a obsp::Map,
    pub(crate) shapes: &'a Shapes,
    pub(crate) entities: &'a Entities,
}

impl<'a> Space<'a> {
    pub(crate) fn shape(&self, id: ShapeId) -> &'a Shape {
        &self.shapes[id]
    }

    fn placement(&self, shape: ShapeId, pose: Pose) -> Placement {
        Placement::checked(shape, pose, box_at(&self.shape(shape).bounds, &pose))
    }

    /// The body of an entity that stands at its present place; `None` in limbo.
    pub(crate) fn standing(&self, entity: &Entity) -> Option<Body<'a>> {
        entity.placement().map(|placement| self.body_at(placement))
    }

    /// The body that stands at a placement.
    pub(crate) fn body_at(&self, placement: &Placement) -> Body<'a> {
        Body::standing(self.shape(placement.shape()), *placement.pose())
    }

    /// Checks a pose without a motion. `None` if anything that the seeker meets is within the
    /// margin.
    pub(crate) fn place(
        &self,
        shape: ShapeId,
        pose: Pose,
        seeker: Seeker,
        context: &mut StepContext,
    ) -> Option<Placement> {
        // A number that is not finite lies in no box, so a pose with such a number would count as
        // free.
        if !pose.is_sound() {
            return None;
        }
        let size = self.shape(shape).size;
        let near = |size| {
            let position = pose.position.as_vec3();
            self.map.clearance(size, position, LEAST_CLEARANCE) != Clearance::Clear
        };
        if size.is_some_and(near) {
            return None;
        }
        let placement = self.placement(shape, pose);
        let bounds = placement.bounds().inflated(MARGIN);
        // Most poses are near no other body, so the own body is made only when another is near.
        let mut own = None;
        let mut free = true;
        let mut check = |other: Body| {
            let body = own.get_or_insert_with(|| self.body_at(&placement));
            free = free && are_apart(body, &other, MARGIN, context);
        };
        if size.is_none() {
            self.visit_solids_met(&bounds, seeker, &mut check);
        }
        self.visit_entities(&bounds, seeker, &mut |_, other| check(other));
        free.then_some(placement)
    }

    /// Whether an entity, where it is, keeps the margin from all entities that the seeker meets.
    pub(crate) fn is_clear_of(
        &self,
        entity: &Entity,
        seeker: Seeker,
        context: &mut StepContext,
    ) -> bool {
        let Some(body) = self.standing(entity) else { return true };
        let mut clear = true;
        let bounds = body.speedbox().inflated(MARGIN);
        self.visit_entities(&bounds, seeker, &mut |_, other| {
            clear = clear && are_apart(&body, &other, MARGIN, context);
        });
        clear
    }

    /// Checks a saved pose, which the guard had found free before it was saved. `None` if the body
    /// would overlap anything in this pose. The margin is not required, because rounding may have
    /// taken some of it.
    pub(crate) fn restore(&self, shape: ShapeId, pose: Pose, seeker: Seeker) -> Option<Placement> {
        let placement = self.placement(shape, pose.of_unit_length()?);
        (!self.overlaps_at(&placement, seeker)).then_some(placement)
    }

    /// Whether an entity overlaps something at its present place. A checked motion leads to no
    /// overlap, but rounding may.
    pub(crate) fn overlaps(&self, entity: &Entity) -> bool {
        let own = Seeker::of(entity);
        entity.placement().is_some_and(|placement| self.overlaps_at(placement, own))
    }

    /// Whether the placement overlaps anything that the seeker meets.
    pub(crate) fn overlaps_at(&self, placement: &Placement, seeker: Seeker) -> bool {
        let body = Body::standing(self.shape(placement.shape()), *placement.pose());
        let size = self.shape(placement.shape()).size;
        let mut inside =
            size.is_some_and(|size| self.map.is_solid(size, placement.pose().position.as_vec3()));
        let mut check =
            |other: Body| inside = inside || least_gap(&body, &other, Candidates::ALL).is_none();
        if size.is_none() {
            self.visit_solids_met(placement.bounds(), seeker, &mut check);
        }
        self.visit_entities(placement.bounds(), seeker, &mut |_, other| check(other));
        inside
    }

    /// Calls `each` with every solid of the world whose box touches `bounds`.
    pub(crate) fn visit_solids(&self, bounds: &Aabb, mut each: impl FnMut(u32, Body<'a>)) {
        let solids = self.map.solids();
        self.map.solids_touching(bounds, |index| {
            each(index, Body::fixed(&solids[index as usize]));
        });
    }

    /// Calls `each` with every solid of the world that the seeker meets and whose box touches
    /// `bounds`.
    fn visit_solids_met(&self, bounds: &Aabb, seeker: Seeker, mut each: impl FnMut(Body<'a>)) {
        let solids = self.map.solids();
        self.visit_solids(bounds, |index, solid| {
            let around = solids[index as usize].bounds();
            if !leaves_out(seeker.pocket().as_ref(), bounds, around) {
                each(solid);
            }
        });
    }

    /// Calls `each` with every placed entity that the seeker meets and whose box touches `bounds`,
    /// in ascending order of slot.
    pub(crate) fn visit_entities(
        &self,
        bounds: &Aabb,
        seeker: Seeker,
        each: &mut dyn FnMut(u16, Body<'a>),
    ) {
        self.visit_placements(bounds, seeker, |slot, placement| {
            each(slot, self.body_at(placement));
        });
    }

    /// Calls `each` with the place of every placed entity that the seeker meets and whose box
    /// touches `bounds`, in ascending order of slot.
    pub(crate) fn visit_placements(
        &self,
        bounds: &Aabb,
        seeker: Seeker,
        mut each: impl FnMut(u16, &'a Placement),
    ) {
        let mut near = Vec::with_capacity(USUALLY_NEAR);
        self.entities.near(bounds, &mut near);
        for slot in near {
            let met = self.entities.get(slot).filter(|entity| seeker.meets(entity));
            if let Some(placement) = met.and_then(Entity::placement)
                && placement.bounds().overlaps(bounds)
            {
                each(slot, placement);
            }
        }
    }

    /// Writes to `found` the ascending slots of the placed entities that the seeker meets and whose
    /// box touches `bounds`.
    pub(crate) fn entities_touching(&self, bounds: &Aabb, seeker: Seeker, found: &mut Vec<u16>) {
        found.clear();
        self.visit_placements(bounds, seeker, |slot, _| found.push(slot));
    }
}
