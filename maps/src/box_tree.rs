//! A static tree of boxes, which finds the few boxes that overlap another box.

use crate::geometry::Aabb;

/// Boxes in a flat pre-order tree. Each node holds the index of the node after its subtree, so a
/// query is one loop, without stack or allocation. The order of its visits depends only on the
/// boxes.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    bounds: Aabb,
    /// The node after the subtree of this node.
    next: u32,
    item: Option<u32>,
}

impl BoxTree {
    /// Builds the tree over `boxes`. Queries visit the indices of boxes.
    pub(crate) fn new(boxes: &[Aabb]) -> Self {
        let mut items: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut tree = Self { nodes: Vec::with_capacity(boxes.len() * 2) };
        if !items.is_empty() {
            tree.build(boxes, &mut items);
        }
        tree
    }

    /// Halves `items` at the median, so the depth of the recursion is the logarithm of their
    /// number.
    fn build(&mut self, boxes: &[Aabb], items: &mut [u32]) {
        let around = |items: &[u32]| {
            items.iter().fold(Aabb::EMPTY, |bounds, &i| bounds.union(boxes[i as usize]))
        };
        let node = self.nodes.len();
        let bounds = around(items);
        self.nodes.push(Node { bounds, next: 0, item: None });
        if let [item] = *items {
            self.nodes[node].item = Some(item);
        } else {
            let centres = items
                .iter()
                .fold(Aabb::EMPTY, |centres, &i| centres.with(boxes[i as usize].centre()));
            let extent = centres.max - centres.min;
            let axis = if extent.x >= extent.y.max(extent.z) {
                0
            } else if extent.y >= extent.z {
                1
            } else {
                2
            };
            let key = |i: u32| boxes[i as usize].centre()[axis];
            items.sort_unstable_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
            let (low, high) = items.split_at_mut(items.len() / 2);
            self.build(boxes, low);
            self.build(boxes, high);
        }
        self.nodes[node].next = self.nodes.len() as u32;
    }

    /// The box around all boxes.
    pub(crate) fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |root| root.bounds)
    }

    /// Visits the index of every box that overlaps or touches `bounds`.
    #[inline]
    pub(crate) fn overlapping(&self, bounds: &Aabb, visit: impl FnMut(u32)) {
        self.each_where(|node| node.overlaps(bounds), visit);
    }

    /// Visits the index of every box that `wanted` accepts. If `wanted` accepts a box, it must also
    /// accept every box around that box.
    #[inline]
    pub(crate) fn each_where(&self, wanted: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !wanted(&node.bounds) {
                at = node.next as usize;
                continue;
            }
            if let Some(item) = node.item {
                visit(item);
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_brute_force_finds(
            boxes in prop::collection::vec((prop::array::uniform3(-20i8..20), 0u8..9), 0..40),
            query in (prop::array::uniform3(-20i8..20), 0u8..9),
        ) {
            let make = |(centre, size): ([i8; 3], u8)| {
                let centre = DVec3::from_array(centre.map(f64::from));
                Aabb::from_centre(centre, DVec3::splat(f64::from(size)))
            };
            let boxes: Vec<Aabb> = boxes.into_iter().map(make).collect();
            let query = make(query);
            let mut found = Vec::new();
            BoxTree::new(&boxes).overlapping(&query, |i| found.push(i as usize));
            found.sort_unstable();
            let expected: Vec<usize> =
                (0..boxes.len()).filter(|&i| boxes[i].overlaps(&query)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
