//! Questions about bodies that no match need be set up for: what the
//! simulation's own geometry says, for tests to judge and tools to use.

mod contacts;
mod heat;
mod passage;

use glam::{DQuat, DVec3};
use maps::geometry::Aabb;
use maps::model::Model;

use crate::cascade::{Body, Candidates, are_apart, least_gap};
use crate::counters::{Counters, Stages};
use crate::grid::Grid;
use crate::pose::Pose;
use crate::shape::Shape;

pub use contacts::{ContactSearch, Contacts, Manifold, Thing, Touched, Touching};
pub use heat::{Heat, Met};
pub use passage::{Passing, Way, passing};

/// The distance in units that committed poses keep between any two bodies.
pub const MARGIN: f64 = crate::guard::MARGIN;

/// A model as the simulation moves it.
#[derive(Clone, Debug)]
pub struct Solid(Shape);

/// Where a solid stands: its centre of mass, and its turn.
pub type At = (DVec3, DQuat);

impl Solid {
    /// The solid that a model describes.
    pub fn new(model: &Model) -> Self {
        Self(Shape::prop(model))
    }

    fn at(&self, (position, orientation): At) -> Body<'_> {
        Body::standing(&self.0, Pose { position, orientation })
    }
}

/// Least distance of two solids by the exact test alone, every part against
/// every part; `None` if they overlap. Nearer than a ten-thousandth of a unit,
/// where rounding decides on which simplex the search ends, it may be `None`
/// too.
pub fn separation(a: &Solid, at_a: At, b: &Solid, at_b: At) -> Option<f64> {
    least_gap(&a.at(at_a), &b.at(at_b), Candidates::ALL)
}

/// Whether the cascade, with these stages on, finds two solids more than
/// [`MARGIN`] apart.
pub fn are_clear(a: &Solid, at_a: At, b: &Solid, at_b: At, stages: Stages) -> bool {
    let mut counters = Counters { stages, ..Counters::default() };
    are_apart(&a.at(at_a), &b.at(at_b), MARGIN, &mut counters)
}

/// How the simulation divides a map with these bounds to know who is near whom
/// (Blow 1997): the least corner of the cells and their side, in units, and how
/// many there are along x and y.
pub fn grid(bounds: &Aabb) -> ([f64; 2], f64, [u16; 2]) {
    Grid::new(bounds).layout()
}
