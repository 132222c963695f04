//! What runs along a surface, nearer to it than worlds are compiled to.
//!
//! Where faces nearly coincide the tree's surface follows now one of them and now
//! another, and has steps no higher than the compiler's tolerance. Who runs along the
//! surface below the height of a step would meet its riser, a plane in which no brush
//! has a face. So where a trace meets what is no face, it is asked again for a line
//! that is beside the surface by little more than that tolerance.

use arrayvec::ArrayVec;
use glam::Vec3;

use super::surface::{ABOUT, ENOUGH, SPOTS};
use super::{Hit, Trace};
use crate::spaces::SizeId;
use crate::world::onion::{Child, MAX_DEPTH, OnionTree, Target, rounding};

/// Where a trace that ends farther than this from every plane of the tree, in units,
/// ran along none.
pub(super) const BESIDE_END: f32 = 0.008;

/// A surface is run along if the line is no farther from it than this, in units: twice
/// what worlds are compiled to.
const STEP: f32 = 0.002;

/// So far in front of the surface the line is asked about again, in units. With
/// [`STEP`] that is a third of what answers are judged by.
const CLEAR: f32 = 0.001;

/// A line runs along planes that it meets at a smaller sine than this.
const GRAZING: f32 = 0.25;

/// Planes that are tried.
const PLANES: usize = 8;

impl OnionTree {
    /// The `hit` of a segment, or what is met beside the surface that it runs along if
    /// the hit is on no face.
    // Seldom asked.
    #[cold]
    #[inline(never)]
    pub(super) fn along(&self, size: SizeId, start: Vec3, end: Vec3, hit: Hit) -> Trace {
        if self.is_face(size, hit.point, hit.normal) {
            return Trace::Hit(hit);
        }
        for aside in self.asides(hit.point, (end - start).normalize_or_zero()) {
            let (start, end) = (start + aside, end + aside);
            if self.is_solid(size, start) {
                continue;
            }
            match self.straight(size, start, end).0 {
                Trace::Clear if !self.is_solid(size, end - aside) => return Trace::Clear,
                // The line goes no farther than below the step.
                Trace::Clear => return Trace::Hit(Hit { normal: aside.normalize(), ..hit }),
                Trace::Hit(beside) if self.is_face(size, beside.point, beside.normal) => {
                    return Trace::Hit(beside);
                }
                _ => (),
            }
        }
        Trace::Hit(hit)
    }

    /// Whether about a point there is more than a splinter of a face with this normal:
    /// solid behind it and free in front.
    fn is_face(&self, size: SizeId, point: Vec3, normal: Vec3) -> bool {
        let (across, along) = normal.any_orthonormal_pair();
        let beside = normal * STEP.max(2.0 * rounding(point));
        let is_face = |[x, y]: &&[f64; 2]| {
            let spot = point + (across * *x as f32 + along * *y as f32) * ABOUT as f32;
            self.is_solid(size, spot - beside) && !self.is_solid(size, spot + beside)
        };
        SPOTS.iter().filter(is_face).count() >= ENOUGH
    }

    /// The ways to either side of each plane that is run along at a point.
    fn asides(&self, point: Vec3, direction: Vec3) -> ArrayVec<Vec3, { 2 * PLANES }> {
        let near = STEP + rounding(point);
        let mut asides = ArrayVec::new();
        let mut waiting: ArrayVec<Child, MAX_DEPTH> = ArrayVec::new();
        let mut child = self.root();
        loop {
            let Target::Node(index) = child.target() else {
                match waiting.pop() {
                    Some(next) if !asides.is_full() => child = next,
                    _ => return asides,
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
                if node.normal.dot(direction).abs() < GRAZING && !asides.is_full() {
                    // Two at a time, so there is room for the second.
                    asides.push(node.normal * (CLEAR - distance));
                    asides.push(node.normal * (-CLEAR - distance));
                }
                waiting.push(node.back);
                node.front
            };
        }
    }
}
