//! The shifted planes: traces of any convex body through one tree (Melax 2000).
//!
//! The tree divides the unexpanded solids. A body is traced through it as a point, and every plane
//! is shifted by the extent of the body. For the space behind the plane the shift is forward, and
//! for the space in front of the plane it is backward, so that the two spaces overlap. A solid leaf
//! then stands for its cell, grown by at least the body, and no body gets past it. Where planes
//! meet the cell grows too far. *Bevels*, further planes at the solid leaves, bound this growth
//! (section 5).
//!
//! [`ShiftTree`] holds a checked tree, `trace` moves bodies through it,
//! `touch` tests one position, and `visits` counts the branches that both visit.

#[cfg(test)]
mod tests;
mod touch;
mod trace;
mod visits;

use bincode::{BorrowDecode, Encode};
use glam::Vec3;
use thiserror::Error;

use super::extent::UNIVERSE;

pub use visits::{NodeCount, Visits};

/// Length of a query's stack, and the bound that trees are checked against at load.
const MAX_WAITING: usize = 256;

/// Length of a stack that is enough for real maps: levels needed 13 to 22, and hills of 393 wedges
/// 44. Clearing a longer stack takes as long as a short trace.
const FEW_WAITING: usize = 48;

/// Maximum number of branches per tree. This many take fifty megabytes, far more than any map that
/// was measured.
const MAX_BRANCHES: usize = 1 << 21;

/// A solid-leaf BSP of the unexpanded static world, bevelled.
///
/// The tree is valid by construction: branches are in pre-order, front before back, planes are
/// finite and of unit normal, and no query needs to remember more than a fixed number of branches.
#[derive(Clone, Debug, PartialEq)]
pub struct ShiftTree {
    root: Link,
    branches: Vec<Branch>,
    /// Maximum number of branches on the way to a leaf at which a query has to search both sides.
    waiting: usize,
}

/// A plane, and the children in front of and behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// Unit normal.
    pub normal: Vec3,
    /// Distance from the origin along the normal, in units.
    pub distance: f32,
    /// The child in front.
    pub front: Link,
    /// The child behind.
    pub back: Link,
}

/// A child of a branch: another branch, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(u32);

impl Link {
    /// A leaf that is empty.
    pub const EMPTY: Self = Self(u32::MAX);
    /// A leaf that is solid.
    pub const SOLID: Self = Self(u32::MAX - 1);

    /// Index of the branch; `None` for a leaf.
    #[inline]
    pub fn index(self) -> Option<usize> {
        (self.0 < Self::SOLID.0).then_some(self.0 as usize)
    }

    /// The kind of the link's target.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::EMPTY => Kind::Empty,
            Self::SOLID => Kind::Solid,
            _ => Kind::Branch,
        }
    }
}

/// The kind of a [`Link`]'s target. An `.obsp` has the kinds in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, BorrowDecode)]
pub(crate) enum Kind {
    Empty,
    Solid,
    Branch,
}

/// A branch without links. In pre-order, front before back, the kinds of the children
/// determine their indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unlinked {
    pub(crate) normal: Vec3,
    pub(crate) distance: f32,
    /// The child in front, and the one behind.
    pub(crate) children: [Kind; 2],
}

/// Reasons why branches do not form a valid tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidShiftTree {
    /// A branch refers to a child that does not exist.
    #[error("branches are missing")]
    Missing,
    /// A branch to which no other branch refers.
    #[error("branch {0} has no parent")]
    Orphan(usize),
    /// A plane that is not finite, not of unit normal or out of the universe.
    #[error("branch {0} has no valid plane")]
    Plane(usize),
    /// More branches than a tree may have.
    #[error("it has more than {MAX_BRANCHES} branches")]
    TooMany,
    /// A query would need a longer stack than it has.
    #[error("a query would have to remember more than {MAX_WAITING} branches")]
    Waiting,
}

impl ShiftTree {
    /// Links branches that come in pre-order, front before back, and checks
    /// everything that queries rely on.
    pub(crate) fn new(root: Kind, unlinked: Vec<Unlinked>) -> Result<Self, InvalidShiftTree> {
        if unlinked.len() > MAX_BRANCHES {
            return Err(InvalidShiftTree::TooMany);
        }
        let mut branches: Vec<Branch> = Vec::with_capacity(unlinked.len());
        // Links whose branch is still to come, the next one last.
        let mut open: Vec<Open> = Vec::new();
        let mut linked_root = leaf(root);
        if root == Kind::Branch {
            open.push(Open::Root);
        }
        for (i, branch) in unlinked.iter().enumerate() {
            let link = Link(i as u32);
            match open.pop() {
                None => return Err(InvalidShiftTree::Orphan(i)),
                Some(Open::Root) => linked_root = link,
                Some(Open::Front(parent)) => branches[parent].front = link,
                Some(Open::Back(parent)) => branches[parent].back = link,
            }
            let Unlinked { normal, distance, children: [front, back] } = *branch;
            let unit = (normal.length_squared() - 1.0).abs() < 1e-3;
            if !unit || !(0.0..=UNIVERSE).contains(&distance.abs()) {
                return Err(InvalidShiftTree::Plane(i));
            }
            branches.push(Branch { normal, distance, front: leaf(front), back: leaf(back) });
            if back == Kind::Branch {
                open.push(Open::Back(i));
            }
            if front == Kind::Branch {
                open.push(Open::Front(i));
            }
        }
        if !open.is_empty() {
            return Err(InvalidShiftTree::Missing);
        }
        let waiting = most_waiting(linked_root, &branches);
        if waiting > MAX_WAITING {
            return Err(InvalidShiftTree::Waiting);
        }
        Ok(Self { root: linked_root, branches, waiting })
    }

    /// The root, at which every query starts.
    pub fn root(&self) -> Link {
        self.root
    }

    /// All branches; a [`Link`] refers to them by index.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
}

/// A link that is still to be set.
enum Open {
    Root,
    Front(usize),
    Back(usize),
}

/// The link to a leaf of this kind; for a branch, a placeholder until it is linked.
fn leaf(kind: Kind) -> Link {
    if kind == Kind::Solid { Link::SOLID } else { Link::EMPTY }
}

/// Maximum number of branches above a leaf whose two sides both have to be searched.
fn most_waiting(root: Link, branches: &[Branch]) -> usize {
    let mut waiting: Vec<usize> = vec![0; branches.len()];
    let below = |link: Link, waiting: &[usize]| link.index().map_or(0, |index| waiting[index]);
    // Children come after their parents, so a walk in reverse counts children first.
    for (i, branch) in branches.iter().enumerate().rev() {
        let both = branch.front != Link::EMPTY && branch.back != Link::EMPTY;
        let most = below(branch.front, &waiting).max(below(branch.back, &waiting));
        waiting[i] = most + usize::from(both);
    }
    below(root, &waiting)
}
