//! Solid-leaf BSPs of closed surfaces, for models (Blow 1997).

use glam::DVec3;

use super::winding::ON_PLANE;
use super::{Plane, Winding};

/// A solid-leaf BSP of a closed surface: the planes of its polygons cut space
/// until every leaf is wholly inside or wholly outside.
///
/// Every model has one. It cuts the model into convex parts, and the filter
/// cascade walks the polygons of one body down the tree of another.
#[derive(Clone, Debug)]
pub struct PolygonBsp {
    nodes: Vec<Node>,
    root: Child,
    fragments: usize,
}

/// An inner node of a [`PolygonBsp`].
#[derive(Clone, Debug)]
pub struct Node {
    /// The plane that divides this node's space.
    pub plane: Plane,
    /// The child in front of the plane.
    pub front: Child,
    /// The child behind the plane.
    pub back: Child,
}

/// A child of a [`Node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// The node with this index.
    Node(usize),
    /// A leaf outside the surface.
    Empty,
    /// A leaf inside the surface: the cell with this number.
    Solid(u32),
}

/// Cost of a split polygon, in polygons of imbalance. It is high because splits multiply the
/// leaves, while imbalance only deepens the tree.
const SPLIT_COST: usize = 8;

impl PolygonBsp {
    /// Builds the tree of a closed surface of convex polygons, each on its
    /// outward plane. The same polygons in the same order give the same tree.
    pub fn build(polygons: Vec<(Plane, Winding)>) -> Self {
        let mut tree = Self { nodes: Vec::new(), root: Child::Empty, fragments: 0 };
        // A work list instead of recursion, because the input decides the depth.
        let mut waiting = vec![(Place::Root, polygons)];
        while let Some((place, polygons)) = waiting.pop() {
            let Some(divider) = best_divider(&polygons) else { continue };
            let plane = polygons[divider].0;
            let on = |(index, (_, winding)): &(usize, &(Plane, Winding))| {
                *index == divider || sides(winding, &plane) == (false, false)
            };
            tree.fragments += polygons.iter().enumerate().filter(on).count();
            let (front, back) = divide(polygons, divider);
            let node = tree.nodes.len();
            tree.nodes.push(Node { plane, front: Child::Empty, back: Child::Solid(0) });
            *tree.child_mut(place) = Child::Node(node);
            waiting.push((Place::Front(node), front));
            waiting.push((Place::Back(node), back));
        }
        let mut cells = 0;
        for child in tree.nodes.iter_mut().flat_map(|node| [&mut node.front, &mut node.back]) {
            if let Child::Solid(number) = child {
                *number = cells;
                cells += 1;
            }
        }
        tree
    }

    /// The root of the tree.
    pub fn root(&self) -> Child {
        self.root
    }

    /// All inner nodes; parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of pieces into which the tree's planes cut the original polygons: Blow's polygons
    /// after BSP cuts.
    pub fn fragments(&self) -> usize {
        self.fragments
    }

    /// Whether `point` lies inside the surface. For a point on the surface either answer is
    /// possible.
    pub fn is_solid(&self, point: DVec3) -> bool {
        let mut at = self.root;
        while let Child::Node(index) = at {
            let node = &self.nodes[index];
            at = if node.plane.signed_distance(point) > 0.0 { node.front } else { node.back };
        }
        matches!(at, Child::Solid(_))
    }

    /// The outward planes that bound each solid leaf: the inside of the surface,
    /// cut into convex cells, in the order of their numbers.
    pub fn solid_cells(&self) -> Vec<Vec<Plane>> {
        let mut cells = Vec::new();
        let mut waiting = vec![(self.root, Vec::new())];
        while let Some((at, bounds)) = waiting.pop() {
            match at {
                Child::Empty => {}
                Child::Solid(number) => cells.push((number, bounds)),
                Child::Node(index) => {
                    let node = &self.nodes[index];
                    let with = |plane| bounds.iter().copied().chain([plane]).collect();
                    waiting.push((node.front, with(node.plane.flipped())));
                    waiting.push((node.back, with(node.plane)));
                }
            }
        }
        cells.sort_by_key(|(number, _)| *number);
        cells.into_iter().map(|(_, bounds)| bounds).collect()
    }

    fn child_mut(&mut self, place: Place) -> &mut Child {
        match place {
            Place::Root => &mut self.root,
            Place::Front(node) => &mut self.nodes[node].front,
            Place::Back(node) => &mut self.nodes[node].back,
        }
    }
}

/// A branch that is still to be filled.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Front(usize),
    Back(usize),
}

/// Whether a polygon extends in front of a plane, and behind it, by more than
/// [`ON_PLANE`].
fn sides(winding: &Winding, plane: &Plane) -> (bool, bool) {
    winding.vertices.iter().fold((false, false), |(front, back), &v| {
        let d = plane.signed_distance(v);
        (front || d > ON_PLANE, back || d < -ON_PLANE)
    })
}

/// The index of the polygon whose plane splits the fewest polygons and balances the halves best.
/// Among equals the first is taken, so that the tree depends only on the input.
fn best_divider(polygons: &[(Plane, Winding)]) -> Option<usize> {
    let cost = |plane: &Plane| {
        let (mut front, mut back, mut split) = (0_usize, 0_usize, 0_usize);
        for (_, winding) in polygons {
            match sides(winding, plane) {
                (true, true) => split += 1,
                (true, false) => front += 1,
                (false, true) => back += 1,
                (false, false) => {}
            }
        }
        split * SPLIT_COST + front.abs_diff(back)
    };
    let costs = polygons.iter().map(|(plane, _)| cost(plane)).enumerate();
    costs.min_by_key(|(_, cost)| *cost).map(|(index, _)| index)
}

type Half = Vec<(Plane, Winding)>;

/// Splits the polygons by the plane of one of them, the divider. Polygons in that plane already
/// bound both halves and are dropped. The divider itself is always dropped. Its corners, rounded to
/// a few decimals, may lie beside its plane. If the divider were kept, it would then be chosen
/// again for ever.
fn divide(polygons: Half, divider: usize) -> (Half, Half) {
    let plane = &polygons[divider].0.clone();
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for (index, (own, winding)) in polygons.into_iter().enumerate() {
        match sides(&winding, plane) {
            _ if index == divider => {}
            (true, true) => {
                let (before, behind) = winding.split(plane);
                front.extend(before.map(|w| (own, w)));
                back.extend(behind.map(|w| (own, w)));
            }
            (true, false) => front.push((own, winding)),
            (false, true) => back.push((own, winding)),
            (false, false) => {}
        }
    }
    (front, back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Aabb, ConvexSolid};

    fn polygons(solid: &ConvexSolid) -> Vec<(Plane, Winding)> {
        solid.faces().iter().map(|f| (f.plane, solid.winding(f))).collect()
    }

    fn cube(min: f64, max: f64) -> ConvexSolid {
        let bounds = Aabb { min: DVec3::splat(min), max: DVec3::splat(max) };
        ConvexSolid::from_box(&bounds).expect("a cube is a solid")
    }

    #[test]
    fn a_convex_surface_is_one_cell() {
        let tree = PolygonBsp::build(polygons(&cube(-4.0, 4.0)));
        assert_eq!(tree.nodes().len(), 6);
        assert_eq!(tree.solid_cells().len(), 1);
        assert!(tree.is_solid(DVec3::splat(3.9)));
        assert!(!tree.is_solid(DVec3::new(0.0, 0.0, 4.1)));
    }

    #[test]
    fn a_hollow_is_empty() {
        let mut surface = polygons(&cube(-4.0, 4.0));
        surface.extend(polygons(&cube(-1.0, 1.0)).into_iter().map(|(plane, mut winding)| {
            winding.vertices.reverse();
            (plane.flipped(), winding)
        }));
        let tree = PolygonBsp::build(surface);
        let volume: f64 = tree
            .solid_cells()
            .iter()
            .map(|planes| {
                ConvexSolid::from_planes(planes).expect("cells are valid solids").volume()
            })
            .sum();
        assert!((volume - (512.0 - 8.0)).abs() < 1e-9, "{volume}");
        assert!(!tree.is_solid(DVec3::ZERO));
        assert!(tree.is_solid(DVec3::splat(2.0)));
    }

    #[test]
    fn no_surface_holds_nothing() {
        let tree = PolygonBsp::build(Vec::new());
        assert_eq!(tree.root(), Child::Empty);
        assert!(tree.solid_cells().is_empty());
    }
}
