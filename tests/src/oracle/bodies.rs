//! Whether two solid bodies interpenetrate, by testing every edge of
//! each against every triangle of the other with exact orientation signs, and
//! a corner of each for being inside the other.
//!
//! Touching, however exactly, is no interpenetration. Two bodies interpenetrate
//! if an edge of one passes through the inside of a triangle of the other from
//! side to side, or if one holds a corner of the other. That says everything
//! unless features line up to the bit, as those of boxes along the axes do: a
//! box shifted along itself overlaps its old place with no edge through the
//! inside of any triangle. So the same is asked of each body once more with
//! its surface drawn in by [`SHRINK`]; a smaller body inside the first that
//! meets the other proves that the first does.

mod audit;
mod exact;
mod shape;

use glam::DVec3;

pub use audit::{Audit, Overlap, Placed};
pub use shape::{Body, Shape, read_obj};

use exact::{crosses, holds};

/// Distance by which the second test shrinks a surface, in units. Overlaps deeper than
/// this are found even where features line up to the bit.
pub const SHRINK: f64 = 1e-6;

/// Whether the insides of two bodies share a point.
pub fn interpenetrate(a: &Body, b: &Body) -> bool {
    boxes_overlap(a.bounds(), b.bounds())
        && (meet(a, a.corners(), b, b.corners())
            || meet(a, a.shrunk(), b, b.corners())
            || meet(a, a.corners(), b, b.shrunk()))
}

/// Whether two boxes share more than a boundary. A box is its least and its
/// greatest corner.
pub fn boxes_overlap(a: [DVec3; 2], b: [DVec3; 2]) -> bool {
    a[0].cmplt(b[1]).all() && b[0].cmplt(a[1]).all()
}

/// The test for bodies whose corners are at the given positions.
fn meet(a: &Body, at_a: &[DVec3], b: &Body, at_b: &[DVec3]) -> bool {
    pierces(a.shape(), at_a, b.shape(), at_b)
        || pierces(b.shape(), at_b, a.shape(), at_a)
        // Nothing pierced: all of one is inside the other, or none.
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
