use arrayvec::ArrayVec;
use glam::Vec3;
use thiserror::Error;

use crate::spaces::{MAX_SIZES, SizeId};

/// Deepest tree that is built or loaded. So long is the list of what waits in a
/// query, under 64 KiB of any thread's stack.
pub(crate) const MAX_DEPTH: usize = 1024;

/// Farther from the origin than this, along any axis, everything is solid: a
/// body that runs away is stopped, and no query overflows.
pub const UNIVERSE: f32 = 262_144.0;

/// Which sizes are in solid at a point or in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Solidity(u32);

impl Solidity {
    /// Empty for every size.
    pub const EMPTY: Self = Self(0);
    /// Solid for every size.
    pub const SOLID: Self = Self(Child::LEAF - 1);

    /// Whether a box of this size, centred here, is in solid.
    #[inline]
    pub fn contains(self, size: SizeId) -> bool {
        self.0 >> size.index() & 1 == 1
    }

    /// The bits of a mask over `count` sizes; `None` if others are set.
    pub(crate) fn of_sizes(bits: u32, count: usize) -> Option<Self> {
        (u64::from(bits) >> count == 0).then_some(Self(bits))
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// This, and solid for `size` too.
    #[must_use]
    pub(crate) fn with(self, size: SizeId) -> Self {
        Self(self.0 | 1 << size.index())
    }

    /// Solid where either is.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Solid where both are.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The sizes that only one of the two is solid for.
    fn differing(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

/// A child of a node: another node, or a leaf held inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child(u32);

/// What a [`Child`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Node(u32),
    Leaf(Solidity),
}

impl Child {
    const LEAF: u32 = 1 << MAX_SIZES;

    pub(crate) fn leaf(solidity: Solidity) -> Self {
        Self(Self::LEAF | solidity.0)
    }

    /// `None` if the index does not fit beside the leaf bit.
    pub(crate) fn node(index: usize) -> Option<Self> {
        u32::try_from(index).ok().filter(|i| i & Self::LEAF == 0).map(Self)
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn target(self) -> Target {
        if self.0 & Self::LEAF == 0 {
            Target::Node(self.0)
        } else {
            Target::Leaf(Solidity(self.0 & !Self::LEAF))
        }
    }
}

/// A branch: its plane, and what lies in front of and behind it.
///
/// Half a cache line. What the leaves below have in common is not stored in
/// files: the tree finds it out.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct Node {
    pub(crate) normal: Vec3,
    pub(crate) distance: f32,
    pub(crate) front: Child,
    pub(crate) back: Child,
    below: Below,
}

/// What the leaves below have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Below {
    /// Sizes for which some leaves are solid and others are not.
    mixed: Solidity,
    /// Sizes for which all leaves are solid, where they are not mixed.
    solid: Solidity,
}

impl Below {
    fn both(self, other: Self) -> Self {
        let differing = self.solid.differing(other.solid);
        Self { mixed: self.mixed.or(other.mixed).or(differing), solid: self.solid.and(other.solid) }
    }
}

impl Node {
    pub(crate) fn new(normal: Vec3, distance: f32, front: Child, back: Child) -> Self {
        let below = Below { mixed: Solidity::SOLID, solid: Solidity::EMPTY };
        Self { normal, distance, front, back, below }
    }

    /// Whether all space below is solid for this size, or all is empty; `None`
    /// if some is this and some that. A query for one size need not go on
    /// where the tree is divided for others.
    #[inline]
    pub(crate) fn uniform(&self, size: SizeId) -> Option<bool> {
        (!self.below.mixed.contains(size)).then(|| self.below.solid.contains(size))
    }

    /// The one expression by which points and traces are classified, so that
    /// both always agree.
    #[inline]
    pub(crate) fn signed_distance(&self, point: Vec3) -> f32 {
        self.normal.dot(point) - self.distance
    }

    /// A point's signed distance as far as it is known: zero if it may be
    /// nothing but [`rounding`].
    #[inline]
    pub(crate) fn rounded(&self, distance: f32, rounding: f32) -> f32 {
        if distance.abs() > rounding { distance } else { self.rounded_near(distance, rounding) }
    }

    /// Of a plane across an axis nothing is rounded but where it is.
    #[cold]
    fn rounded_near(&self, distance: f32, rounding: f32) -> f32 {
        let axial = self.normal.abs().max_element() == 1.0;
        if axial && distance.abs() > rounding * AXIAL { distance } else { 0.0 }
    }
}

/// A node above a place in the tree whose plane a point is on, and the side of it
/// that the place is on.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) index: u32,
    pub(crate) front: bool,
}

/// What a question about a point keeps in mind of planes that it is on.
#[derive(Default)]
struct OnPlanes {
    /// Whether there was one, or one that it is near to.
    any: bool,
    /// Above the place in the tree that is looked at.
    held: ArrayVec<Held, MAX_DEPTH>,
    /// Nodes whose back is still to be looked at, and how many are held above each.
    waiting: ArrayVec<(u32, u16), MAX_DEPTH>,
}

/// Planes whose normals agree so far nearly coincide: they do not cross within some
/// hundred times what rounding leaves open.
pub(crate) const PARALLEL: f32 = 0.9999;

/// The share of [`rounding`] that is left for a plane across an axis: half a
/// unit in its distance's last place, and as much again.
const AXIAL: f32 = 0.25;

/// One BSP over all sizes (Golodetz 2013, section 3): each leaf says for every
/// size whether it is solid.
///
/// A valid tree by construction: every child's index is greater than its
/// parent's, every node has one parent, planes are finite and of unit normal,
/// and the depth is at most [`MAX_DEPTH`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnionTree {
    root: Child,
    nodes: Vec<Node>,
    depth: Depth,
}

/// How deep the leaves lie.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Depth {
    pub(crate) max: usize,
    pub(crate) mean: f64,
}

/// Why nodes are no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidTree {
    /// A child does not come after its parent, or does not exist.
    #[error("node {0} has a child that does not follow it")]
    Order(usize),
    /// A node with no parent, or with two.
    #[error("node {0} does not have exactly one parent")]
    Parents(usize),
    /// A plane that is not finite, not of unit normal or out of the universe.
    #[error("node {0} has no valid plane")]
    Plane(usize),
    /// Deeper than queries can remember.
    #[error("the tree is deeper than {MAX_DEPTH}")]
    Depth,
}

impl OnionTree {
    /// Checks all that queries rely on.
    pub(crate) fn new(root: Child, mut nodes: Vec<Node>) -> Result<Self, InvalidTree> {
        let mut depths: Vec<u16> = vec![0; nodes.len()];
        let (mut leaves, mut leaf_depths, mut max) = (0_u64, 0_u64, 0);
        let mut enter = |child: Child, parent: Option<usize>, depth: u16, depths: &mut [u16]| {
            let from = parent.unwrap_or(0);
            match child.target() {
                Target::Leaf(_) => {
                    leaves += 1;
                    leaf_depths += u64::from(depth);
                    max = max.max(depth);
                }
                Target::Node(index) => {
                    let index = index as usize;
                    if parent.is_some_and(|p| index <= p) || index >= depths.len() {
                        return Err(InvalidTree::Order(from));
                    }
                    if depths[index] != 0 {
                        return Err(InvalidTree::Parents(index));
                    }
                    if usize::from(depth) >= MAX_DEPTH {
                        return Err(InvalidTree::Depth);
                    }
                    depths[index] = depth + 1;
                }
            }
            Ok(())
        };
        enter(root, None, 0, &mut depths)?;
        for (i, node) in nodes.iter().enumerate() {
            if depths[i] == 0 {
                return Err(InvalidTree::Parents(i));
            }
            let unit = (node.normal.length_squared() - 1.0).abs() < 1e-3;
            if !unit || !(0.0..=UNIVERSE).contains(&node.distance.abs()) {
                return Err(InvalidTree::Plane(i));
            }
            let depth = depths[i];
            enter(node.front, Some(i), depth, &mut depths)?;
            enter(node.back, Some(i), depth, &mut depths)?;
        }
        // Children come after their parents, so they are known before them.
        for i in (0..nodes.len()).rev() {
            let below = |child: Child| match child.target() {
                Target::Leaf(solid) => Below { mixed: Solidity::EMPTY, solid },
                Target::Node(index) => nodes[index as usize].below,
            };
            nodes[i].below = below(nodes[i].front).both(below(nodes[i].back));
        }
        let depth = Depth { max: usize::from(max), mean: leaf_depths as f64 / leaves as f64 };
        Ok(Self { root, nodes, depth })
    }

    pub(crate) fn root(&self) -> Child {
        self.root
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn depth(&self) -> Depth {
        self.depth
    }

    /// Solidity of a point for all sizes. A point on a plane, but for rounding,
    /// is solid only where both sides are: surfaces belong to the empty side.
    #[inline]
    pub(crate) fn solidity(&self, point: Vec3) -> Solidity {
        if !inside_universe(point) {
            return Solidity::SOLID;
        }
        let known = |child: Child| match child.target() {
            Target::Leaf(solidity) => Ok(solidity),
            Target::Node(index) => Err(index),
        };
        self.around(point, known, |solidity| solidity == Solidity::EMPTY, 0.0).0
    }

    /// As [`Self::solidity`], for one size: no farther down than the tree is
    /// divided for it.
    #[inline]
    pub(crate) fn is_solid(&self, size: SizeId, point: Vec3) -> bool {
        self.is_solid_near(size, point, 0.0).0
    }

    /// As [`Self::is_solid`]; and whether a plane that was asked is nearer than `near`.
    #[inline]
    pub(crate) fn is_solid_near(&self, size: SizeId, point: Vec3, near: f32) -> (bool, bool) {
        if !inside_universe(point) {
            return (true, false);
        }
        let known = |child: Child| match child.target() {
            Target::Leaf(solidity) => Ok(solidity),
            Target::Node(index) => match self.nodes[index as usize].uniform(size) {
                Some(true) => Ok(Solidity::SOLID),
                Some(false) => Ok(Solidity::EMPTY),
                None => Err(index),
            },
        };
        let enough = |solidity: Solidity| !solidity.contains(size);
        let (solidity, beside) = self.around(point, known, enough, near);
        (solidity.contains(size), beside)
    }

    /// What is solid on all sides of a point. `known` tells what is so of all
    /// below a child, or else the node to go on at; nothing is looked for once
    /// there is `enough`. Also whether a plane was nearer than `near`, or than can be
    /// told.
    #[inline]
    fn around(
        &self,
        point: Vec3,
        known: impl Fn(Child) -> Result<Solidity, u32>,
        enough: impl Fn(Solidity) -> bool,
        near: f32,
    ) -> (Solidity, bool) {
        let near = rounding(point).max(near);
        let mut solidity = Solidity::SOLID;
        let mut on = OnPlanes::default();
        let mut child = self.root;
        loop {
            let index = match known(child) {
                Err(index) => index,
                Ok(here) => {
                    solidity = solidity.and(here);
                    match on.waiting.pop() {
                        Some((index, above)) if !enough(solidity) => {
                            on.held.truncate(usize::from(above));
                            on.held.push(Held { index, front: false });
                            child = self.nodes[index as usize].back;
                        }
                        _ => return (solidity, on.any),
                    }
                    continue;
                }
            };
            let node = &self.nodes[index as usize];
            let distance = node.signed_distance(point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                self.on_plane(&mut on, index, point, distance)
            };
        }
    }

    /// Where to go on from a node whose plane a point is near to.
    // Seldom asked, and out of the way of those who do not.
    #[cold]
    #[inline(never)]
    fn on_plane(&self, on: &mut OnPlanes, index: u32, point: Vec3, distance: f32) -> Child {
        let node = &self.nodes[index as usize];
        on.any = true;
        match node.rounded(distance, rounding(point)) {
            front if front > 0.0 => node.front,
            back if back < 0.0 => node.back,
            _ => match self.implied(on.held.iter().copied(), index, &[point]) {
                Some(true) => node.front,
                Some(false) => node.back,
                None => {
                    on.waiting.push((index, on.held.len() as u16));
                    on.held.push(Held { index, front: true });
                    node.front
                }
            },
        }
    }

    /// The side of a node's plane that points are on, which are on the plane but for
    /// rounding, if that follows from the sides of other such planes that are
    /// `held`: whether it is the front.
    ///
    /// Of two planes that nearly coincide one is in front of the other about the
    /// points. What is behind the one and in front of the other is far away, where
    /// they cross; what is solid there says nothing about the points.
    #[cold]
    pub(crate) fn implied(
        &self,
        mut held: impl Iterator<Item = Held>,
        index: u32,
        points: &[Vec3],
    ) -> Option<bool> {
        let node = &self.nodes[index as usize];
        let exact = |node: &Node, point: Vec3| {
            node.normal.as_dvec3().dot(point.as_dvec3()) - f64::from(node.distance)
        };
        held.find_map(|Held { index, front }| {
            let other = &self.nodes[index as usize];
            let same_way = node.normal.dot(other.normal);
            if same_way.abs() < PARALLEL {
                return None;
            }
            let sign = f64::from(same_way.signum());
            let front = front == (sign > 0.0);
            let apart = (node.normal - other.normal * same_way.signum()).length();
            let beyond = |&point: &Vec3| {
                let by = sign * exact(other, point) - exact(node, point);
                let turned = f64::from(apart * rounding(point));
                if front { -by > turned } else { by > turned }
            };
            points.iter().all(beyond).then_some(front)
        })
    }
}

/// A point is on a plane if it is no farther from it than this, in units: what
/// [`Node::signed_distance`] is off at most, its normal and distance being
/// rounded too. Who stands exactly on a plane that is drawn stands on it here,
/// however it slopes.
#[inline]
pub(crate) fn rounding(point: Vec3) -> f32 {
    // Three products and three sums of up to √3 times the coordinate, each off
    // by half a unit in the last place, and as much in normal and distance.
    point.abs().max_element() * (4.0 * f32::EPSILON)
}

/// False for what is too far out or not a number.
#[inline]
pub(crate) fn inside_universe(point: Vec3) -> bool {
    point.abs().cmple(Vec3::splat(UNIVERSE)).all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    fn node(front: Child, back: Child) -> Node {
        Node::new(Vec3::X, 1.0, front, back)
    }

    fn link(index: usize) -> Child {
        Child::node(index).expect("a small index")
    }

    const LEAF: Solidity = Solidity::EMPTY;

    #[test]
    fn what_is_no_tree_is_refused() {
        let leaf = Child::leaf(LEAF);
        let one = OnionTree::new(link(0), vec![node(leaf, leaf)]).expect("a tree");
        assert_eq!(one.depth(), Depth { max: 1, mean: 1.0 });
        let refused = |root, nodes| OnionTree::new(root, nodes).expect_err("no tree");
        assert_eq!(refused(link(1), vec![node(leaf, leaf)]), InvalidTree::Order(0));
        assert_eq!(refused(link(0), vec![node(link(0), leaf)]), InvalidTree::Order(0));
        assert_eq!(refused(link(0), vec![node(leaf, leaf); 2]), InvalidTree::Parents(1));
        let shared = vec![node(link(1), link(1)), node(leaf, leaf)];
        assert_eq!(refused(link(0), shared), InvalidTree::Parents(1));
        let chain: Vec<Node> = (1..=MAX_DEPTH + 1)
            .map(|i| node(if i <= MAX_DEPTH { link(i) } else { leaf }, leaf))
            .collect();
        assert_eq!(refused(link(0), chain), InvalidTree::Depth);
        for (normal, distance) in
            [(Vec3::ZERO, 0.0), (Vec3::NAN, 0.0), (Vec3::X, f32::NAN), (Vec3::X, f32::INFINITY)]
        {
            let bad = vec![Node::new(normal, distance, leaf, leaf)];
            assert_eq!(refused(link(0), bad), InvalidTree::Plane(0));
        }
    }

    #[test]
    fn a_point_on_a_surface_is_empty_and_one_between_solids_is_solid() {
        let size = SizeId::from_index(3);
        let (empty, solid) = (Child::leaf(LEAF), Child::leaf(LEAF.with(size)));
        let wall = OnionTree::new(link(0), vec![node(empty, solid)]).expect("a tree");
        assert!(!wall.solidity(Vec3::X).contains(size));
        assert!(wall.solidity(Vec3::ZERO).contains(size));
        let inside = OnionTree::new(link(0), vec![node(solid, solid)]).expect("a tree");
        assert!(inside.solidity(Vec3::X).contains(size));
        assert!(!inside.solidity(Vec3::X).contains(SizeId::from_index(2)));
        for far in [Vec3::splat(f32::NAN), Vec3::splat(1e30), Vec3::NEG_INFINITY] {
            assert_eq!(wall.solidity(far), Solidity::SOLID);
        }
    }

    /// A point in solid, by a plane that divides it, was called empty: behind that
    /// plane the tree is divided by another that nearly coincides with it, and what
    /// is empty between them is a hundred units away.
    #[test]
    fn what_is_empty_between_planes_that_nearly_coincide_is_not_here() {
        let size = SizeId::from_index(0);
        let (empty, solid) = (Child::leaf(LEAF), Child::leaf(LEAF.with(size)));
        let normal = Vec3::new(0.8, 0.6, 0.0);
        let (on_first, ulp) = (2048.0, 2048.0 * f32::EPSILON);
        let divides = Node::new(normal, on_first, solid, link(1));
        let nearly = Node::new(normal + Vec3::Z * 8e-6, on_first + 2.0 * ulp, empty, solid);
        let tree = OnionTree::new(link(0), vec![divides, nearly]).expect("a tree");
        let point = |z: f32| Vec3::new(1638.4003, 1228.8, z);
        assert!(tree.solidity(point(0.0)).contains(size));
        assert!(tree.is_solid(size, point(0.0)));
        // Where they cross, what is between them is.
        assert!(!tree.is_solid(size, point(120.0)));
        let into = |z: f32| tree.trace(size, point(z), point(z + 8.0));
        assert_eq!(into(0.0), Trace::StartSolid);
    }
}
