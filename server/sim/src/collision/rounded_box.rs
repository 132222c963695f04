//! Boxes in half the memory, for lists of many that are compared.

use obsp::geometry::Aabb;

/// A box in single precision, rounded outward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedBox {
    min: [f32; 3],
    max: [f32; 3],
}

impl RoundedBox {
    /// Contains `bounds`.
    pub(crate) fn of(bounds: &Aabb) -> Self {
        Self {
            min: bounds.min.to_array().map(|at| (at as f32).next_down()),
            max: bounds.max.to_array().map(|at| (at as f32).next_up()),
        }
    }

    /// Whether they overlap, or nearly so.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        // Heights decide most pairs of a heap.
        [2, 0, 1].iter().all(|&k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::random::Random;

    /// Wherever a box is, its corners are inside of the rounded one, and boxes that touch overlap.
    #[test]
    fn a_rounded_box_contains_the_box_and_overlaps_what_it_touches() {
        let mut random = Random::new(3);
        for reach in [1e-3, 10.0, 4e3, 3e4] {
            for _ in 0..500 {
                let mut number = || random.between(-reach, reach);
                let centre = DVec3::new(number(), number(), number());
                let bounds = Aabb::from_centre(centre, DVec3::splat(number().abs()));
                let rounded = RoundedBox::of(&bounds);
                let [min, max] = [rounded.min, rounded.max].map(|at| at.map(f64::from));
                for k in 0..3 {
                    assert!(min[k] < bounds.min[k] && bounds.max[k] < max[k], "{bounds:?}");
                }
                let far = bounds.max + DVec3::ONE;
                let beside = Aabb { min: DVec3 { x: bounds.max.x, ..bounds.min }, max: far };
                assert!(rounded.overlaps(&RoundedBox::of(&beside)), "{bounds:?}");
                let beyond = Aabb { min: DVec3 { x: far.x, ..bounds.min }, max: far + 1.0 };
                assert!(!rounded.overlaps(&RoundedBox::of(&beyond)), "{bounds:?}");
            }
        }
    }
}
