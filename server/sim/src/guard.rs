//! The only way into the world: a pose becomes a [`Placement`] here and
//! nowhere else, after it, and the way to it, have been shown to be free.
//!
//! [`Space::place`] judges a pose out of nowhere (spawning, rescue, standing
//! up); [`Space::advance`] follows the motions of many bodies at once, as far
//! as each is free; [`Agent::sweep`] follows a player's box, whose world is the
//! onion; [`Space::fly`] follows what was thrown, whose world is the shifted
//! planes. All keep [`MARGIN`] between any two bodies, and between bodies and
//! the world.

mod flight;
mod sweep;
mod together;

use maps::Clearance;
use maps::geometry::Aabb;

use crate::cascade::{Body, Candidates, are_apart, box_at, least_gap};
use crate::counters::Counters;
use crate::entities::{Entities, Entity};
use crate::pose::Pose;
use crate::shape::{Shape, ShapeId, Shapes};

/// The distance in units that no committed pose goes below. It is what
/// rounding may eat (positions cross the wire and are audited in `f32`, whose
/// steps are 1/2048 at 4,096 units), and far too thin to see.
pub(crate) const MARGIN: f64 = 1.0 / 128.0;

/// A pose that was free when it was checked. Only this module makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    shape: ShapeId,
    pose: Pose,
    bounds: Aabb,
}

impl Placement {
    pub(crate) fn shape(&self) -> ShapeId {
        self.shape
    }

    pub(crate) fn pose(&self) -> &Pose {
        &self.pose
    }

    pub(crate) fn bounds(&self) -> &Aabb {
        &self.bounds
    }
}

/// Who or what is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blocker {
    /// A solid of the world, by index.
    Solid(u32),
    /// The entity in this slot.
    Entity(u16),
}

impl Blocker {
    /// The slot of the entity that it is, if it is one.
    pub(crate) fn entity(self) -> Option<u16> {
        match self {
            Self::Solid(_) => None,
            Self::Entity(slot) => Some(slot),
        }
    }
}

pub(crate) use flight::{Flight, Stop};
pub(crate) use sweep::{Agent, Crowd, LEAST_CLEARANCE, Memory, Others, Sweep, SweepHit};
pub(crate) use together::{Advance, CREPT, Proposal};

/// The world as it stands: what every check looks at.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) map: &'a maps::World,
    pub(crate) shapes: &'a Shapes,
    pub(crate) entities: &'a Entities,
}

impl<'a> Space<'a> {
    pub(crate) fn shape(&self, id: ShapeId) -> &'a Shape {
        &self.shapes[id]
    }

    fn placement(&self, shape: ShapeId, pose: Pose) -> Placement {
        Placement { shape, pose, bounds: box_at(&self.shape(shape).bounds, &pose) }
    }

    /// An entity as it stands at the moment, unless it is in limbo.
    pub(crate) fn standing(&self, entity: &Entity) -> Option<Body<'a>> {
        let placement = entity.placement()?;
        Some(Body::standing(self.shape(placement.shape()), *placement.pose()))
    }

    /// Checks a pose out of nowhere: `None` if anything but the entity in
    /// slot `ignored` is within the margin.
    pub(crate) fn place(
        &self,
        shape: ShapeId,
        pose: Pose,
        ignored: Option<u16>,
        counters: &mut Counters,
    ) -> Option<Placement> {
        let size = self.shape(shape).size;
        let near = |size| {
            let position = pose.position.as_vec3();
            self.map.clearance(size, position, LEAST_CLEARANCE) != Clearance::Clear
        };
        if size.is_some_and(near) {
            return None;
        }
        let body = Body::standing(self.shape(shape), pose);
        let bounds = body.speedbox().inflated(MARGIN);
        let mut free = true;
        let mut check = |other: Body| {
            free = free && are_apart(&body, &other, MARGIN, counters);
        };
        if size.is_none() {
            self.visit_solids(&bounds, |_, solid| check(solid));
        }
        self.visit_entities(&bounds, ignored, &mut |_, other| check(other));
        free.then(|| self.placement(shape, pose))
    }

    /// Whether an entity is inside something where it stands: what no checked
    /// motion can bring about, but rounding might.
    pub(crate) fn overlaps(&self, entity: &Entity) -> bool {
        let (Some(placement), Some(body)) = (entity.placement(), self.standing(entity)) else {
            return false;
        };
        let size = self.shape(placement.shape()).size;
        let mut inside =
            size.is_some_and(|size| self.map.is_solid(size, placement.pose().position.as_vec3()));
        let mut check =
            |other: Body| inside = inside || least_gap(&body, &other, Candidates::ALL).is_none();
        if size.is_none() {
            self.visit_solids(placement.bounds(), |_, solid| check(solid));
        }
        self.visit_entities(placement.bounds(), Some(entity.id.slot), &mut |_, other| check(other));
        inside
    }

    /// Shows `each` every solid of the world whose box touches `bounds`.
    pub(crate) fn visit_solids(&self, bounds: &Aabb, mut each: impl FnMut(u32, Body<'a>)) {
        let solids = self.map.solids();
        self.map.solids_touching(bounds, |index| {
            each(index, Body::fixed(&solids[index as usize]));
        });
    }

    /// Shows `each` every placed entity but `ignored` whose box touches
    /// `bounds`, in ascending order of slot.
    pub(crate) fn visit_entities(
        &self,
        bounds: &Aabb,
        ignored: Option<u16>,
        each: &mut dyn FnMut(u16, Body<'a>),
    ) {
        let mut near = Vec::new();
        self.entities_touching(bounds, ignored, &mut near);
        for entity in near.iter().filter_map(|&slot| self.entities.get(slot)) {
            if let Some(body) = self.standing(entity) {
                each(entity.id.slot, body);
            }
        }
    }

    /// Slots of the placed entities but `ignored` whose box touches `bounds`,
    /// ascending, into `found`.
    pub(crate) fn entities_touching(
        &self,
        bounds: &Aabb,
        ignored: impl Into<Option<u16>>,
        found: &mut Vec<u16>,
    ) {
        let ignored = ignored.into();
        self.entities.near(bounds, found);
        found.retain(|&slot| {
            let placement = self.entities.get(slot).and_then(Entity::placement);
            Some(slot) != ignored && placement.is_some_and(|p| p.bounds().overlaps(bounds))
        });
    }
}
