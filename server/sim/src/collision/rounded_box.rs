//! Boxes in half the memory, for lists of many that are compared.

use obsp::geometry::Aabb;

/// A box in single precision, rounded outward.
#[derive(Clone, Copy, Debug, PartialEq)]
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
