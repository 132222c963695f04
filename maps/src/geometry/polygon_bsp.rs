//! Solid-leaf BSPs of closed surfaces, for models (Blow 1997).

mod surface;

use glam::DVec3;

use super::winding::ON_PLANE;
use super::{ConvexSolid, Plane, Winding};

pub(crate) use surface::Surface;

/// A solid-leaf BSP of a closed surface: the planes of its polygons cut space
/// until every leaf is wholly inside or wholly outside.
///
/// Every model has one, except models that are drawn in a map as several brushes. The tree cuts the
/// model into convex parts, and the filter cascade walks the polygons of one body down the tree of
/// another.
#[derive(Clone, Debug, Default)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Child {
    /// The node with this index.
    Node(usize),
    /// A leaf outside the surface.
    #[default]
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
        Self::build_within(polygons, usize::MAX).unwrap_or_default()
    }

    /// Builds the tree like [`build`](Self::build). `None` if the polygons at all nodes together
    /// are more than `most`. The polygons of a convex body count once.
    pub(crate) fn build_within(polygons: Vec<(Plane, Winding)>, most: usize) -> Option<Self> {
        let mut tree = Self { nodes: Vec::new(), root: Child::Empty, fragments: 0 };
        let mut visited = 0;
        // A work list instead of recursion, because the input decides the depth.
        let mut waiting = vec![(Place::Root, polygons)];
        while let Some((mut place, polygons)) = waiting.pop() {
            visited += polygons.len();
            if visited > most {
                return None;
            }
            let surface = Surface::new(&polygons);
            if let Some(groups) = surface.groups() {
                // The planes of a convex body cut nothing, so its tree is a chain.
                for group in groups {
                    place = Place::Back(tree.add(place, polygons[group[0]].0));
                    tree.fragments += group.len();
                }
                continue;
            }
            let candidates = candidates(&surface, polygons.len());
            let Some(divider) = best_divider(&polygons, candidates) else { continue };
            let plane = polygons[divider].0;
            let on = |(index, (_, winding)): &(usize, &(Plane, Winding))| {
                *index == divider || sides(winding, &plane) == (false, false)
            };
            tree.fragments += polygons.iter().enumerate().filter(on).count();
            let (front, back) = divide(polygons, divider);
            let node = tree.add(place, plane);
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
        Some(tree)
    }

    /// The tree of a convex surface with this number of polygons, made of the faces of the solid
    /// inside.
    pub(crate) fn of_convex(solid: &ConvexSolid, polygons: usize) -> Self {
        let mut tree = Self { fragments: polygons, ..Self::default() };
        let mut place = Place::Root;
        for face in solid.faces() {
            place = Place::Back(tree.add(place, face.plane));
        }
        tree
    }

    /// Adds a node with two leaves at `place`, and returns its index.
    fn add(&mut self, place: Place, plane: Plane) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node { plane, front: Child::Empty, back: Child::Solid(0) });
        *self.child_mut(place) = Child::Node(node);
        node
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
        // The planes on the way from the root to a child, and for each child that is still to be
        // visited the number of planes above the last one.
        let mut bounds: Vec<Plane> = Vec::new();
        let mut waiting: Vec<(Child, usize, Option<Plane>)> = vec![(self.root, 0, None)];
        while let Some((at, above, last)) = waiting.pop() {
            bounds.truncate(above);
            bounds.extend(last);
            match at {
                Child::Empty => {}
                Child::Solid(number) => cells.push((number, bounds.clone())),
                Child::Node(index) => {
                    let node = &self.nodes[index];
                    waiting.push((node.front, bounds.len(), Some(node.plane.flipped())));
                    waiting.push((node.back, bounds.len(), Some(node.plane)));
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

/// Maximum number of polygons whose planes are tried as dividers. For a surface with more polygons,
/// the best of this many dividers is good enough.
const MAX_CANDIDATES: usize = 128;

/// The polygons whose planes may divide a surface of `count` polygons that bounds no convex body.
/// If there are many polygons, only those that cut something are tried, because a plane with all
/// other polygons behind it hardly divides anything.
fn candidates(surface: &Surface, count: usize) -> Vec<usize> {
    if count <= MAX_CANDIDATES {
        return (0..count).collect();
    }
    let cutting: Vec<usize> = surface.cutting().collect();
    let step = cutting.len().div_ceil(MAX_CANDIDATES).max(1);
    cutting.into_iter().step_by(step).collect()
}

/// The index of the polygon whose plane splits the fewest polygons and balances the halves best.
/// Among equals the first is taken, so that the tree depends only on the input.
fn best_divider(polygons: &[(Plane, Winding)], candidates: Vec<usize>) -> Option<usize> {
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
    candidates.into_iter().min_by_key(|&index| cost(&polygons[index].0))
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
    use crate::geometry::Aabb;

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

    /// The tree by trying every plane against every polygon at each node, without the short way for
    /// convex bodies.
    fn by_all_planes(polygons: Half) -> Vec<(Place, Plane)> {
        let mut nodes = Vec::new();
        let mut waiting = vec![(Place::Root, polygons)];
        while let Some((place, polygons)) = waiting.pop() {
            let all = (0..polygons.len()).collect();
            let Some(divider) = best_divider(&polygons, all) else { continue };
            nodes.push((place, polygons[divider].0));
            let (front, back) = divide(polygons, divider);
            waiting.push((Place::Front(nodes.len() - 1), front));
            waiting.push((Place::Back(nodes.len() - 1), back));
        }
        nodes
    }

    /// Digests of matches depend on the trees of all models.
    #[test]
    fn a_convex_body_has_the_tree_that_all_planes_give() {
        let mut models = crate::model::shipped();
        let drum = crate::model::Model::cylinder("drum", 16.0, 40.0, 24).expect("a model");
        let fan = |line: &str| match line.strip_prefix("f ") {
            Some(corners) => {
                let corners: Vec<&str> = corners.split(' ').collect();
                let triangle =
                    |pair: &[&str]| format!("f {} {} {}\n", corners[0], pair[0], pair[1]);
                corners[1..].windows(2).map(triangle).collect()
            }
            None => format!("{line}\n"),
        };
        let pieces: String = drum.source().lines().map(fan).collect();
        models.push(crate::model::Model::from_obj("pieces", &pieces).expect("a model"));
        for error in [3.0, 0.5, 0.15] {
            models.push(crate::model::Model::ball("ball", 16.0, error).expect("a model"));
        }
        for model in models {
            let polygons: Half =
                model.polygons().iter().map(|p| (p.plane, p.winding.clone())).collect();
            let (all, tree) = (by_all_planes(polygons.clone()), PolygonBsp::build(polygons));
            assert_eq!(tree.nodes().len(), all.len(), "{}", model.name());
            for (index, (place, plane)) in all.into_iter().enumerate() {
                assert_eq!(tree.nodes()[index].plane, plane, "{}: {index}", model.name());
                let child = match place {
                    Place::Root => tree.root(),
                    Place::Front(node) => tree.nodes()[node].front,
                    Place::Back(node) => tree.nodes()[node].back,
                };
                assert_eq!(child, Child::Node(index), "{}", model.name());
            }
        }
    }

    #[test]
    fn no_surface_holds_nothing() {
        let tree = PolygonBsp::build(Vec::new());
        assert_eq!(tree.root(), Child::Empty);
        assert!(tree.solid_cells().is_empty());
    }
}
