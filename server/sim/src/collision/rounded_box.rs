//! Boxes in a third of the memory, for lists of many that are compared.

use glam::DVec3;
use obsp::geometry::Aabb;
use wide::i16x8;

/// Steps of a frame along its longest side: all that a number of 16 bits tells apart, less
/// room for rounding.
const STEPS: f64 = 65_000.0;

/// Half of the steps: numbers of boxes are around zero.
const HALF_STEPS: i32 = 32_500;

/// The space in which boxes are rounded. Boxes that reach out of it count as if they reached
/// to infinity there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: DVec3,
    /// Steps a unit.
    scale: f64,
}

impl Frame {
    /// A frame that holds `bounds`. Empty ones have one, too, in which there is no box.
    pub(crate) fn around(bounds: &Aabb) -> Self {
        let longest = (bounds.max - bounds.min).max_element();
        Self { origin: bounds.min, scale: STEPS / longest.max(f64::MIN_POSITIVE) }
    }

    /// The step in which each coordinate is.
    fn steps(&self, place: DVec3) -> [i32; 3] {
        // A float cast saturates, and what it cuts off below the origin is limited.
        ((place - self.origin) * self.scale).to_array().map(|at| at as i32)
    }
}

/// A box in steps of a [`Frame`], rounded outward, and a number that goes with it: the least
/// coordinates, the greatest ones negated, the number, and one that is unused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedBox([i16; 8]);

impl RoundedBox {
    /// The rounded box contains `bounds`, but for what is out of the frame.
    pub(crate) fn of(bounds: &Aabb, frame: &Frame, tag: u16) -> Self {
        let step = |at: i32| (at.clamp(0, 2 * HALF_STEPS) - HALF_STEPS) as i16;
        let [x, y, z] = frame.steps(bounds.min).map(step);
        let [u, v, w] = frame.steps(bounds.max).map(|at| -step(at.saturating_add(1)));
        Self([x, y, z, u, v, w, tag as i16, 0])
    }

    /// The number that goes with the box.
    #[inline]
    pub(crate) fn tag(&self) -> u16 {
        self.0[6] as u16
    }

    /// The limits that other boxes are compared with to see whether they overlap this one.
    #[inline]
    pub(crate) fn overlap_limits(&self) -> OverlapLimits {
        let [x, y, z, u, v, w, ..] = self.0;
        // No tag is greater than the greatest number.
        OverlapLimits(i16x8::new([-u, -v, -w, -x, -y, -z, i16::MAX, i16::MAX]))
    }

    /// Whether the two overlap, or nearly so, in the same frame.
    #[inline]
    pub(crate) fn overlaps(&self, other: &OverlapLimits) -> bool {
        i16x8::new(self.0).simd_gt(other.0).none()
    }
}

/// The farthest that each number of a box which overlaps another one may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlapLimits(i16x8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Wherever boxes are, in their frame or out of it, the rounded ones overlap where they do, and
    /// do not where they are steps apart.
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
                (apart, together) =
                    (apart + usize::from(!overlap), together + usize::from(overlap));
            }
            assert!(apart > 100 && together > 100, "{apart} apart, {together} together");
        }
    }
}
