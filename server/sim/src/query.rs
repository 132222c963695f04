//! Questions to the simulation's geometry that need no match, for tests and tools.

mod contacts;
mod cut;
mod heat;
mod passage;

use glam::{DQuat, DVec3};
use obsp::clip_box_to_extent;
use obsp::geometry::Aabb;
use obsp::model::Model;

use crate::collision::cascade::{Body, Candidates, are_apart, least_gap};
use crate::collision::grid::Grid;
use crate::collision::pose::Pose;
use crate::collision::shape::Shape;
use crate::context::StepContext;
use crate::counters::Stages;

pub use contacts::{ContactSearch, Contacts, Manifold, Thing, Touched, Touching};
pub use cut::Cut;
pub(crate) use heat::deciding;
pub use heat::{Heat, Met};
pub use passage::{Passing, Way, passing};

/// The distance in units that committed poses keep between any two bodies.
pub const MARGIN: f64 = crate::collision::distances::MARGIN;

/// A model as the simulation moves it.
#[derive(Clone, Debug)]
pub struct Solid(Shape);

/// Pose of a solid: centre of mass and orientation.
pub type At = (DVec3, DQuat);

impl Solid {
    /// The solid that a model describes.
    pub fn new(model: &Model) -> Self {
        Self(Shape::prop(model))
    }

    /// `None` if the numbers are of no pose within the extent of worlds.
    fn at(&self, (position, orientation): At) -> Option<Body<'_>> {
        Some(Body::standing(&self.0, Pose::known(position, orientation)?))
    }
}

/// Least distance of two solids by the exact test alone, every part against every
/// part; `None` if they overlap, or one is nowhere within the extent of worlds. It may also be `None` if they are nearer than a
/// ten-thousandth of a unit, where rounding decides on which simplex the search
/// ends.
pub fn separation(a: &Solid, at_a: At, b: &Solid, at_b: At) -> Option<f64> {
    least_gap(&a.at(at_a)?, &b.at(at_b)?, Candidates::ALL)
}

/// Whether the cascade, with these stages on, finds two solids more than
/// [`MARGIN`] apart. One that is nowhere within the extent of worlds is clear of nothing.
pub fn are_clear(a: &Solid, at_a: At, b: &Solid, at_b: At, stages: Stages) -> bool {
    let (Some(a), Some(b)) = (a.at(at_a), b.at(at_b)) else { return false };
    let mut context = StepContext { stages, ..StepContext::default() };
    are_apart(&a, &b, MARGIN, &mut context)
}

/// The grid (Blow 1997) over a map with these bounds: the lower corner of the cells
/// and their side, in units, and their number along x and y. Bounds are clipped to the extent of
/// worlds; those that are empty, or none, have a single cell.
pub fn grid(bounds: &Aabb) -> ([f64; 2], f64, [u16; 2]) {
    Grid::new(&clip_box_to_extent(bounds).unwrap_or(Aabb::EMPTY)).layout()
}
