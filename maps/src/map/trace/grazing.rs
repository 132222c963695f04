//! Lines that run along a surface, closer to it than the compiler's tolerance.
//!
//! Where faces nearly coincide, the tree's surface switches from one to the other in
//! steps no higher than that tolerance. A line along the surface, below the top of a step, would
//! hit the step's riser, a plane in which no brush has a face. So a trace that hits a plane without
//! a face is repeated along a parallel line that is farther from the surface by a little more than
//! the tolerance.

use arrayvec::ArrayVec;
use glam::Vec3;

use super::contact_normal::{ENOUGH_SPOTS, SPOT_RADIUS, SPOTS};
use super::{Hit, Trace};
use crate::map::onion::{Child, MAX_DEPTH, OnionTree, Target, rounding};
use crate::spaces::SizeId;

/// A trace that ends farther than this from every plane of the tree, in units, did not
/// run along any plane.
pub(super) const END_DISTANCE: f32 = 0.008;

/// A line runs along a surface if its distance from the surface is at most this, in units: twice
/// the compiler's tolerance.
const STEP: f32 = 0.002;

/// Distance in front of the surface at which the line is traced again, in units. Together with
/// [`STEP`] it is a third of the 0.01 units that `mapc verify` allows.
const CLEARANCE: f32 = 0.001;

/// A line runs along a plane if the sine of the angle between them is below this.
const MAX_SINE: f32 = 0.25;

/// Maximum number of planes that are tried.
const MAX_PLANES: usize = 8;

impl OnionTree {
    /// The `hit` of a segment if it is on a face. Otherwise the result of tracing a parallel line,
    /// beside the surface along which the segment runs.
    // This function is rare, so it is kept out of the hot path.
    #[cold]
    #[inline(never)]
    pub(super) fn grazing(&self, size: SizeId, start: Vec3, end: Vec3, hit: Hit) -> Trace {
        if self.is_face(size, hit.point, hit.normal) {
            return Trace::Hit(hit);
        }
        for (offset, normal) in self.offsets(hit.point, (end - start).normalize_or_zero()) {
            let (start, end) = (start + offset, end + offset);
            if self.is_solid(size, start) {
                continue;
            }
            match self.straight(self.root(), size, start, end, &mut false) {
                Trace::Clear if !self.is_solid(size, end - offset) => return Trace::Clear,
                // The segment ends below the top of the step.
                Trace::Clear => return Trace::Hit(Hit { normal, ..hit }),
                Trace::Hit(other) if self.is_face(size, other.point, other.normal) => {
                    return Trace::Hit(other);
                }
                _ => (),
            }
        }
        Trace::Hit(hit)
    }

    /// Whether a point lies on a face with this normal that is no mere splinter: around the point,
    /// space is solid behind the face and free in front of it.
    fn is_face(&self, size: SizeId, point: Vec3, normal: Vec3) -> bool {
        let (across, along) = normal.any_orthonormal_pair();
        let beside = normal * STEP.max(2.0 * rounding(point));
        let is_face = |[x, y]: &&[f64; 2]| {
            let spot = point + (across * *x as f32 + along * *y as f32) * SPOT_RADIUS as f32;
            self.is_solid(size, spot - beside) && !self.is_solid(size, spot + beside)
        };
        SPOTS.iter().filter(is_face).count() >= ENOUGH_SPOTS
    }

    /// For each plane near the point along which the line runs: the offsets to its two sides, each
    /// with the normal of that side.
    fn offsets(&self, point: Vec3, direction: Vec3) -> ArrayVec<(Vec3, Vec3), { 2 * MAX_PLANES }> {
        let near = STEP + rounding(point);
        let mut offsets = ArrayVec::new();
        let mut waiting: ArrayVec<Child, MAX_DEPTH> = ArrayVec::new();
        let mut child = self.root();
        loop {
            let Target::Node(index) = child.target() else {
                match waiting.pop() {
                    Some(next) if !offsets.is_full() => child = next,
                    _ => return offsets,
                }
                continue;
            };
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                if node.normal.dot(direction).abs() < MAX_SINE && !offsets.is_full() {
                    // Offsets are pushed in pairs, so there is room for the second one.
                    offsets.push((node.normal * (CLEARANCE - distance), node.normal));
                    offsets.push((node.normal * (-CLEARANCE - distance), -node.normal));
                }
                waiting.push(node.back);
                node.front
            };
        }
    }
}
