//! Questions about the simulation's geometry that need no match, for tests and tools.

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

pub use contacts::{ContactPair, ContactSearch, Contacts, Manifold, Thing, Touched};
pub use cut::Cut;
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

    /// The solid at a pose; `None` if the numbers do not give a pose within the extent of worlds.
    fn at(&self, (position, orientation): At) -> Option<Body<'_>> {
        Some(Body::standing(&self.0, Pose::known(position, orientation)?))
    }
}

/// Minimum distance between two solids, in units, by the exact test alone: every part is tested
/// against every part. `None` if the solids overlap, or if a pose is not valid or beyond the extent
/// of worlds. The result may also be `None` if the solids are nearer than a ten-thousandth of a
/// unit, where rounding decides on which simplex the search ends.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use obsp_sim::query::{Solid, separation};
///
/// // The first shipped model is a crate, a cube of 32 units.
/// let cube = Solid::new(&obsp::model::shipped()[0]);
/// let at = |x: f64| (DVec3::X * x, DQuat::IDENTITY);
/// let gap = separation(&cube, at(0.0), &cube, at(42.0)).expect("they are apart");
/// assert!((gap - 10.0).abs() < 1e-6);
/// assert_eq!(separation(&cube, at(0.0), &cube, at(20.0)), None);
/// ```
pub fn separation(a: &Solid, at_a: At, b: &Solid, at_b: At) -> Option<f64> {
    least_gap(&a.at(at_a)?, &b.at(at_b)?, Candidates::ALL)
}

/// Whether the cascade, with these stages on, finds two solids more than
/// [`MARGIN`] apart. `false` if a pose is not valid or beyond the extent of worlds.
pub fn are_clear(a: &Solid, at_a: At, b: &Solid, at_b: At, stages: Stages) -> bool {
    let (Some(a), Some(b)) = (a.at(at_a), b.at(at_b)) else { return false };
    let mut context = StepContext { stages, ..StepContext::default() };
    are_apart(&a, &b, MARGIN, &mut context)
}

/// The grid (Blow 1997) over a map with these bounds: the lower corner of the cells and their side,
/// in units, and their number along x and y. Bounds are clipped to the extent of worlds. Bounds
/// that are empty, or have a number that is not finite, give a single cell.
pub fn grid(bounds: &Aabb) -> ([f64; 2], f64, [u16; 2]) {
    Grid::new(&clip_box_to_extent(bounds).unwrap_or(Aabb::EMPTY)).layout()
}
