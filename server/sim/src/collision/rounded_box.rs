//! Boxes rounded to 16-bit numbers. Long lists of boxes that are compared take a third of the
//! memory in this form.

use glam::DVec3;
use obsp::geometry::Aabb;
use wide::i16x8;

/// Number of steps of a frame along its longest side: the number of values of a 16-bit number, less
/// some room for rounding.
const STEPS: f64 = 65_000.0;

/// Half of the steps: the middle of a frame has the number zero.
const HALF_STEPS: i32 = 32_500;

/// The space in which boxes are rounded. A box that reaches out of it counts as infinite there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: DVec3,
    /// Number of steps per unit.
    scale: f64,
}

impl Frame {
    /// The frame that contains `bounds`. Empty bounds have a frame as well, but no box lies in it.
    pub(crate) fn around(bounds: &Aabb) -> Self {
        let longest = (bounds.max - bounds.min).max_element();
        Self { origin: bounds.min, scale: STEPS / longest.max(f64::MIN_POSITIVE) }
    }

    /// The step in which each coordinate lies.
    fn steps(&self, place: DVec3) -> [i32; 3] {
        // A float cast saturates. Below the origin it rounds towards zero as well, and
        // [`RoundedBox::of`] clamps the step to zero.
        ((place - self.origin) * self.scale).to_array().map(|at| at as i32)
    }
}

/// A box in steps of a [`Frame`], rounded outward, with a tag and a mark. The eight numbers are the
/// three least coordinates, the three greatest coordinates negated, the tag and the mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedBox([i16; 8]);

impl RoundedBox {
    /// The rounded box that contains `bounds`, as far as they are in the frame.
    pub(crate) fn of(bounds: &Aabb, frame: &Frame, tag: u16) -> Self {
        let step = |at: i32| (at.clamp(0, 2 * HALF_STEPS) - HALF_STEPS) as i16;
        let [x, y, z] = frame.steps(bounds.min).map(step);
        let [u, v, w] = frame.steps(bounds.max).map(|at| -step(at.saturating_add(1)));
        Self([x, y, z, u, v, w, tag as i16, 0])
    }

    /// The box with this mark; without one it has the mark zero.
    pub(crate) fn marked(mut self, mark: [u8; 2]) -> Self {
        self.0[7] = i16::from_le_bytes(mark);
        self
    }

    /// The mark of the box.
    #[inline]
    pub(crate) fn mark(&self) -> [u8; 2] {
        self.0[7].to_le_bytes()
    }

    /// The tag of the box.
    #[inline]
    pub(crate) fn tag(&self) -> u16 {
        self.0[6] as u16
    }

    /// The limits that other boxes are compared with to see whether they overlap this one.
    #[inline]
    pub(crate) fn overlap_limits(&self) -> OverlapLimits {
        let [x, y, z, u, v, w, ..] = self.0;
        // No tag and no mark exceeds `i16::MAX`, so neither changes the result.
        OverlapLimits(i16x8::new([-u, -v, -w, -x, -y, -z, i16::MAX, i16::MAX]))
    }

    /// Whether the two boxes overlap, or nearly so. Both must be rounded in the same frame.
    #[inline]
    pub(crate) fn overlaps(&self, other: &OverlapLimits) -> bool {
        i16x8::new(self.0).simd_gt(other.0).none()
    }
}

/// The greatest value of each number of the boxes that overlap a given one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlapLimits(i16x8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Rounded boxes overlap where the boxes do, and do not overlap where the boxes are two steps
    /// apart. Both hold inside the frame and out of it.
    #[test]
    fn rounded_boxes_overlap_where_boxes_do() {
        let mut random = Random::new(3);
        for reach in [1e-3, 10.0, 4e3, 3e4] {
            let frame = Frame::around(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(reach)));
            let step = 2.0 * reach / STEPS;
            let (mut apart, mut together) = (0, 0);
            for tag in 0..2000_u16 {
                let mut number = || random.between(-1.5 * reach, 1.5 * reach);
                let mut boxed = || {
                    let centre = DVec3::new(number(), number(), number());
                    Aabb::from_centre(centre, DVec3::splat(number().abs()))
                };
                let (a, b) = (boxed(), boxed());
                let [first, second] =
                    [a, b].map(|bounds| RoundedBox::of(&bounds, &frame, tag * 32));
                let overlap = first.overlaps(&second.overlap_limits());
                assert_eq!(overlap, second.overlaps(&first.overlap_limits()));
                assert!(overlap || !a.overlaps(&b), "{a:?} {b:?}");
                let limit = Aabb::from_centre(DVec3::ZERO, DVec3::splat(reach));
                let within = |bounds: &Aabb| Aabb {
                    min: bounds.min.clamp(limit.min, limit.max),
                    max: bounds.max.clamp(limit.min, limit.max),
                };
                let near = within(&a).inflated(2.0 * step).overlaps(&within(&b));
                assert!(near || !overlap, "{a:?} {b:?}");
                assert_eq!(first.tag(), tag * 32);
                let marked = first.marked([tag as u8, 255]);
                assert_eq!((marked.tag(), marked.mark()), (tag * 32, [tag as u8, 255]));
                assert_eq!(marked.overlaps(&second.overlap_limits()), overlap);
                (apart, together) =
                    (apart + usize::from(!overlap), together + usize::from(overlap));
            }
            assert!(apart > 100 && together > 100, "{apart} apart, {together} together");
        }
    }
}
