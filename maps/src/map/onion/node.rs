//! The nodes of the onion BSP: planes, links to children, and the sizes for which each part of the
//! tree is solid. The rounding of `f32` decides in this module whether a point is on a plane.

use glam::Vec3;

use crate::spaces::{MAX_SIZES, SizeId};

/// The sizes that are in solid at a point or in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Solidity(u32);

impl Solidity {
    /// Empty for every size.
    pub const EMPTY: Self = Self(0);
    /// Solid for every size.
    pub const SOLID: Self = Self(Child::LEAF - 1);

    /// Whether a box of this size, centred at the point, is in solid.
    #[inline]
    pub fn contains(self, size: SizeId) -> bool {
        self.0 >> size.index() & 1 == 1
    }

    /// The mask with these bits over `count` sizes; `None` if other bits are set.
    pub(crate) fn of_sizes(bits: u32, count: usize) -> Option<Self> {
        (u64::from(bits) >> count == 0).then_some(Self(bits))
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// This mask with `size` also solid.
    #[must_use]
    pub(crate) fn with(self, size: SizeId) -> Self {
        Self(self.0 | 1 << size.index())
    }

    /// The sizes that are solid in either mask.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The sizes that are solid in both masks.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The sizes for which exactly one of the two masks is solid.
    fn differing(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

/// A child of a node: another node, or a leaf held inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child(u32);

/// The target of a [`Child`] link.
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

    /// The link to the node with this index; `None` if the index does not fit beside the leaf bit.
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

/// A branch: its plane, and the children in front of and behind it.
///
/// A node takes half a cache line. `below` is not stored in files. The tree computes it at load.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct Node {
    pub(crate) normal: Vec3,
    pub(crate) distance: f32,
    pub(crate) front: Child,
    pub(crate) back: Child,
    pub(super) below: Below,
}

/// Summary of all leaves below a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Below {
    /// Sizes for which some leaves are solid and others are not.
    pub(super) mixed: Solidity,
    /// Among the sizes that are not mixed, those for which all leaves are solid.
    pub(super) solid: Solidity,
}

impl Below {
    pub(super) fn both(self, other: Self) -> Self {
        let differing = self.solid.differing(other.solid);
        Self { mixed: self.mixed.or(other.mixed).or(differing), solid: self.solid.and(other.solid) }
    }
}

impl Node {
    pub(crate) fn new(normal: Vec3, distance: f32, front: Child, back: Child) -> Self {
        let below = Below { mixed: Solidity::SOLID, solid: Solidity::EMPTY };
        Self { normal, distance, front, back, below }
    }

    /// Whether all space below is solid for this size, or all of it empty; `None` if it is mixed. A
    /// query for one size stops where the tree is divided only for other sizes.
    #[inline]
    pub(crate) fn uniform(&self, size: SizeId) -> Option<bool> {
        (!self.below.mixed.contains(size)).then(|| self.below.solid.contains(size))
    }

    /// The signed distance of a point from the node's plane. Points and traces are classified only
    /// by this expression, so they always agree.
    #[inline]
    pub(crate) fn signed_distance(&self, point: Vec3) -> f32 {
        self.normal.dot(point) - self.distance
    }

    /// A point's signed distance, or zero if that may be due to [`rounding`] alone.
    #[inline]
    pub(crate) fn rounded(&self, distance: f32, rounding: f32) -> f32 {
        if distance.abs() > rounding { distance } else { self.rounded_near(distance, rounding) }
    }

    /// [`Self::rounded`] for a distance within `rounding`. The normal of a plane perpendicular to
    /// an axis is exact, so only the plane's distance is rounded.
    #[cold]
    fn rounded_near(&self, distance: f32, rounding: f32) -> f32 {
        let axial = self.normal.abs().max_element() == 1.0;
        if axial && distance.abs() > rounding * AXIAL { distance } else { 0.0 }
    }
}

/// The share of [`rounding`] that applies to a plane perpendicular to an axis: a whole unit in the
/// last place of the plane's distance. The distance is off by at most half of that.
const AXIAL: f32 = 0.25;

/// A point is on a plane if its distance from the plane is at most this, in units. It is the
/// greatest error of [`Node::signed_distance`], whose normal and distance are also rounded. So a
/// player who stands exactly on a plane of the source also stands on the node's plane, at any
/// slope.
#[inline]
pub(crate) fn rounding(point: Vec3) -> f32 {
    // The expression has three products and three sums of up to √3 times the coordinate, each off
    // by half a unit in the last place. The errors of the stored normal and distance add the same
    // amount.
    point.abs().max_element() * (4.0 * f32::EPSILON)
}
