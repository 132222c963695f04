//! Polygons with a tree of their boxes. If all polygons are on or behind a plane, the tree finds
//! the few polygons near the plane without a test of each polygon.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::box_tree::BoxTree;
use crate::geometry::winding::ON_PLANE;
use crate::geometry::{Aabb, Plane, Winding};

/// The polygons that are left at a node of the tree.
pub(crate) struct Surface<'a> {
    polygons: &'a [(Plane, Winding)],
    boxes: BoxTree,
}

impl<'a> Surface<'a> {
    pub(crate) fn new(polygons: &'a [(Plane, Winding)]) -> Self {
        let around = |(_, winding): &(Plane, Winding)| Aabb::around(winding.vertices.clone());
        let boxes: Vec<Aabb> = polygons.iter().map(around).collect();
        Self { polygons, boxes: BoxTree::new(&boxes) }
    }

    /// The polygons whose planes have a part of some polygon in front, in ascending order.
    pub(crate) fn cutting(&self) -> impl Iterator<Item = usize> {
        (0..self.polygons.len()).filter(|&index| self.within(&self.polygons[index].0).is_none())
    }

    /// The polygons of a convex body in groups; `None` if they do not bound a convex body. Each
    /// group is a polygon, and the polygons in its plane that no earlier group has. The groups are
    /// in the order in which the cheapest divider is taken out again and again: the largest group
    /// comes first, and of groups of equal size the group of the first polygon.
    pub(crate) fn groups(&self) -> Option<Vec<Vec<usize>>> {
        let planes = self.polygons.iter().map(|(plane, _)| plane);
        let within: Vec<Vec<usize>> =
            planes.map(|plane| self.within(plane)).collect::<Option<_>>()?;
        let mut is_left = vec![true; within.len()];
        let counts = within.iter().map(Vec::len).zip((0..).map(Reverse));
        let mut waiting: BinaryHeap<(usize, Reverse<usize>)> = counts.collect();
        let mut groups = Vec::new();
        while let Some((count, Reverse(first))) = waiting.pop() {
            if !is_left[first] {
                continue;
            }
            let left: Vec<usize> = within[first].iter().copied().filter(|&i| is_left[i]).collect();
            // Counts only fall, so the greatest one that is still true is the greatest of all.
            if left.len() < count {
                waiting.push((left.len(), Reverse(first)));
                continue;
            }
            let mut group = vec![first];
            group.extend(left.into_iter().filter(|&index| index != first));
            group.iter().for_each(|&index| is_left[index] = false);
            groups.push(group);
        }
        Some(groups)
    }

    /// The polygons that a plane contains, in ascending order; `None` if any polygon extends in
    /// front of the plane.
    fn within(&self, plane: &Plane) -> Option<Vec<usize>> {
        let (in_front, mut found) = (Cell::new(false), Vec::new());
        let reaches = |bounds: &Aabb| !in_front.get() && height(bounds, plane) >= -ON_PLANE;
        self.boxes.each_where(reaches, |index| {
            let corners = &self.polygons[index as usize].1.vertices;
            let heights = || corners.iter().map(|&v| plane.signed_distance(v));
            in_front.set(in_front.get() || heights().any(|height| height > ON_PLANE));
            if heights().all(|height| height >= -ON_PLANE) {
                found.push(index as usize);
            }
        });
        found.sort_unstable();
        (!in_front.get()).then_some(found)
    }
}

/// An upper bound of how far a box extends in front of a plane, with an allowance for rounding.
fn height(bounds: &Aabb, plane: &Plane) -> f64 {
    let reach = bounds.half_extents().dot(plane.normal.abs());
    plane.signed_distance(bounds.centre()) + reach + ON_PLANE * 1e-2
}
