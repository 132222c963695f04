//! An exact test for whether two solid bodies interpenetrate. By exact orientation signs it tests
//! every edge of each body against every triangle of the other, and whether a corner of either body
//! is inside the other.
//!
//! Touching is not interpenetration, however exact it is. Two bodies interpenetrate if an edge of
//! one passes through the inside of a triangle of the other from side to side, or if one holds a
//! corner of the other.
//!
//! This test alone misses overlaps where features line up to the bit, as the features of boxes
//! along the axes do. For example, a box that is shifted along an axis overlaps its old place, but
//! no edge passes through the inside of a triangle. So the test is repeated with each body's
//! surface drawn in by [`SHRINK`]. If the smaller body meets the other, so does the larger one
//! around it.

mod audit;
mod drawn;
mod exact;
mod shape;

use glam::DVec3;

pub use audit::{Audit, Overlap, Placed};
pub use drawn::drawn_bodies;
pub use shape::{Body, Shape, read_obj};

use exact::{crosses, holds};

/// Distance by which the second test shrinks a surface, in units. Overlaps deeper than this are
/// found even where features line up to the bit.
pub const SHRINK: f64 = 1e-6;

/// Whether the insides of two bodies share a point.
pub fn interpenetrate(a: &Body, b: &Body) -> bool {
    boxes_overlap(a.bounds(), b.bounds())
        && (meet(a, a.corners(), b, b.corners())
            || meet(a, a.shrunk(), b, b.corners())
            || meet(a, a.corners(), b, b.shrunk()))
}

/// Whether two boxes share more than a boundary. A box is given by its least and its greatest
/// corner.
pub fn boxes_overlap(a: [DVec3; 2], b: [DVec3; 2]) -> bool {
    a[0].cmplt(b[1]).all() && b[0].cmplt(a[1]).all()
}

/// Whether two bodies with corners at these positions interpenetrate; one pass of the test.
fn meet(a: &Body, at_a: &[DVec3], b: &Body, at_b: &[DVec3]) -> bool {
    pierces(a.shape(), at_a, b.shape(), at_b)
        || pierces(b.shape(), at_b, a.shape(), at_a)
        // If no edge passes, either all of a body is inside the other, or none of it.
        || at_a.first().is_some_and(|&p| holds(b.shape(), at_b, p))
        || at_b.first().is_some_and(|&p| holds(a.shape(), at_a, p))
}

/// Whether an edge of `a` passes through the inside of a triangle of `b`.
fn pierces(a: &Shape, at_a: &[DVec3], b: &Shape, at_b: &[DVec3]) -> bool {
    let edges: Vec<[DVec3; 2]> = a.edges().iter().map(|e| e.map(|i| at_a[i])).collect();
    b.triangles().iter().any(|triangle| {
        let [x, y, z] = triangle.map(|i| at_b[i]);
        let (low, high) = (x.min(y).min(z), x.max(y).max(z));
        edges.iter().any(|&[p, q]| {
            p.min(q).cmple(high).all() && low.cmple(p.max(q)).all() && crosses(p, q, [x, y, z])
        })
    })
}

#[cfg(test)]
mod tests;
