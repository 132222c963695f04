//! A tree of boxes, to skip brushes that are far away.

/// A box along the axes: least and greatest corner.
pub(crate) type Bounds = [[f64; 3]; 2];

/// Finds the boxes of a list that overlap a region.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    /// The nodes in pre-order.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    bounds: Bounds,
    /// The next node if this one is skipped.
    skip: usize,
    /// A leaf's position in the list.
    item: Option<usize>,
}

impl Boxes {
    pub(crate) fn new(boxes: &[Bounds]) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(2 * boxes.len()) };
        tree.add(boxes, &mut (0..boxes.len()).collect::<Vec<_>>());
        tree
    }

    /// Adds a node for the items, and below it the two halves at their median.
    fn add(&mut self, boxes: &[Bounds], items: &mut [usize]) {
        let Some(&first) = items.first() else { return };
        let bounds = items.iter().fold(boxes[first], |all, &i| around(all, boxes[i]));
        let node = self.nodes.len();
        let item = (items.len() == 1).then_some(first);
        self.nodes.push(Node { bounds, skip: 0, item });
        if item.is_none() {
            let size = |axis: &usize| bounds[1][*axis] - bounds[0][*axis];
            let longest = (0..3).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
            let centre = |i: &usize| boxes[*i][0][longest] + boxes[*i][1][longest];
            let half = items.len() / 2;
            items.select_nth_unstable_by(half, |a, b| centre(a).total_cmp(&centre(b)));
            let (low, high) = items.split_at_mut(half);
            self.add(boxes, low);
            self.add(boxes, high);
        }
        self.nodes[node].skip = self.nodes.len();
    }

    /// The box around all boxes. If there are none, its minimum is above its maximum.
    pub(crate) fn bounds(&self) -> Bounds {
        let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        self.nodes.first().map_or(none, |node| node.bounds)
    }

    /// Positions of the boxes that overlap a region. If `overlaps` holds for a box, it must hold
    /// for every box around it.
    pub(crate) fn find(&self, overlaps: impl Fn(&Bounds) -> bool) -> impl Iterator<Item = usize> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(node) = self.nodes.get(at) {
                if !overlaps(&node.bounds) {
                    at = node.skip;
                    continue;
                }
                at += 1;
                if node.item.is_some() {
                    return node.item;
                }
            }
            None
        })
    }
}

fn around(a: Bounds, b: Bounds) -> Bounds {
    [[0, 1, 2].map(|i| a[0][i].min(b[0][i])), [0, 1, 2].map(|i| a[1][i].max(b[1][i]))]
}

/// Whether two boxes share a point.
pub(crate) fn overlap(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|i| a[0][i] <= b[1][i] && b[0][i] <= a[1][i])
}

/// The region around a segment.
pub(crate) struct Corridor {
    bounds: Bounds,
    middle: [f64; 3],
    half: [f64; 3],
    margin: f64,
}

impl Corridor {
    /// The points within `margin` of the segment along each axis.
    pub(crate) fn new(start: [f64; 3], end: [f64; 3], margin: f64) -> Self {
        let min = [0, 1, 2].map(|i| start[i].min(end[i]) - margin);
        let max = [0, 1, 2].map(|i| start[i].max(end[i]) + margin);
        let middle = [0, 1, 2].map(|i| 0.5 * (start[i] + end[i]));
        let half = [0, 1, 2].map(|i| 0.5 * (end[i] - start[i]));
        Self { bounds: [min, max], middle, half, margin }
    }

    /// Whether the box overlaps the region. A box that just misses the region may count as well.
    pub(crate) fn meets(&self, other: &Bounds) -> bool {
        // The separating axes are the coordinate axes and their cross products with the
        // segment. Rounding is far below the margin that is allowed here.
        let divided = |axis: usize| {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            let off = |i: usize| 0.5 * (other[0][i] + other[1][i]) - self.middle[i];
            let reach = |i: usize| 0.5 * (other[1][i] - other[0][i]) + self.margin + 1e-6;
            let (h, apart) = (&self.half, off(j) * self.half[k] - off(k) * self.half[j]);
            apart.abs() > reach(j) * h[k].abs() + reach(k) * h[j].abs()
        };
        overlap(&self.bounds, other) && !(0..3).any(divided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn exactly_the_overlapping_boxes_are_found() {
        let mut random = Random::new(6);
        let boxes: Vec<Bounds> = (0..200)
            .map(|_| {
                let low = [(); 3].map(|()| random.between(-50.0, 50.0));
                [low, low.map(|x| x + random.between(0.0, 20.0))]
            })
            .collect();
        let tree = Boxes::new(&boxes);
        let mut met = 0;
        for _ in 0..500 {
            let [a, b] = [(); 2].map(|()| [(); 3].map(|()| random.between(-60.0, 60.0)));
            let way = Corridor::new(a, b, 0.5);
            let mut found: Vec<usize> = tree.find(|x| way.meets(x)).collect();
            found.sort_unstable();
            let all: Vec<usize> = (0..boxes.len()).filter(|&i| way.meets(&boxes[i])).collect();
            assert_eq!(found, all);
            // Each box that contains a point of the segment must be found.
            for step in 0..=100 {
                let t = f64::from(step) / 100.0;
                let p = [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t);
                for (i, _) in boxes.iter().enumerate().filter(|(_, x)| overlap(x, &[p, p])) {
                    met += 1;
                    assert!(found.contains(&i));
                }
            }
        }
        assert!(met > 1000, "{met}");
        assert_eq!(Boxes::new(&[]).find(|_| true).count(), 0);
    }
}
