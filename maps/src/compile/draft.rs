//! A tree that is being built: in full precision, with planes by id.
//!
//! `build` links branches of a [`Draft`] and grafts trees, and `fill` makes leaves solid. The
//! draft is then simplified and converted to the onion BSP.

use super::cell::{Cell, CellState, SolidSpace};
use super::error::BuildError;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::Side;
use crate::map::onion::{Child, Node, OnionTree, Solidity};
use crate::spaces::SizeId;

/// A tree whose branches come before their children, so a walk over the list in reverse visits
/// children first.
pub(super) struct Draft {
    pub(super) root: DraftChild,
    pub(super) branches: Vec<Branch>,
}

/// A branch: its plane, faced as the table stores it, and its two children, in front and behind.
pub(super) struct Branch {
    pub(super) plane: PlaneId,
    pub(super) children: [DraftChild; 2],
    below: Below,
}

/// A child of a [`Branch`]: another branch by its index, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DraftChild {
    Branch(usize),
    Leaf(Solidity),
}

/// A leaf of a [`Draft`], identified by the branch above it and the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LeafId(u32);

impl LeafId {
    pub(super) fn new(branch: usize, side: usize) -> Self {
        Self((branch * 2 + side) as u32)
    }

    pub(super) fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn branch(self) -> usize {
        self.index() / 2
    }

    pub(super) fn side(self) -> usize {
        self.index() % 2
    }
}

/// Summary of the leaves below a branch.
#[derive(Clone, Copy, Default)]
struct Below {
    /// Sizes for which at least one leaf is solid.
    some: Solidity,
    /// Sizes for which every leaf is solid.
    all: Solidity,
}

impl Branch {
    pub(super) fn new(plane: PlaneId) -> Self {
        let children = [DraftChild::Leaf(Solidity::EMPTY); 2];
        Self { plane, children, below: Below::default() }
    }
}

impl Draft {
    /// Sets the child that `parent` names by its branch and side; `None` sets the root.
    pub(super) fn link(&mut self, parent: Option<(usize, usize)>, grown: DraftChild) {
        match parent {
            Some((branch, side)) => self.branches[branch].children[side] = grown,
            None => self.root = grown,
        }
    }

    /// Replaces the child that `parent` names by another tree.
    pub(super) fn graft(&mut self, parent: Option<(usize, usize)>, other: Self) {
        let offset = self.branches.len();
        let moved = |child: DraftChild| match child {
            DraftChild::Branch(index) => DraftChild::Branch(index + offset),
            DraftChild::Leaf(_) => child,
        };
        self.branches.extend(
            other
                .branches
                .into_iter()
                .map(|branch| Branch { children: branch.children.map(moved), ..branch }),
        );
        self.link(parent, moved(other.root));
    }

    /// Replaces each branch whose children are equal leaves by that leaf, from the bottom up, and
    /// updates the summary of each branch.
    pub(super) fn simplify(&mut self) {
        let mut equal: Vec<Option<Solidity>> = vec![None; self.branches.len()];
        let simplified = |child: DraftChild, equal: &[Option<Solidity>]| match child {
            DraftChild::Branch(index) => equal[index].map_or(child, DraftChild::Leaf),
            DraftChild::Leaf(_) => child,
        };
        for index in (0..self.branches.len()).rev() {
            let children = self.branches[index].children.map(|child| simplified(child, &equal));
            if let [DraftChild::Leaf(front), DraftChild::Leaf(back)] = children
                && front == back
            {
                equal[index] = Some(front);
            }
            let [front, back] = children.map(|child| self.below(child));
            let branch = &mut self.branches[index];
            branch.children = children;
            branch.below = Below { some: front.some.or(back.some), all: front.all.and(back.all) };
        }
        self.root = simplified(self.root, &equal);
    }

    /// The number of [`LeafId`]s. Each branch has two, even if its children are no leaves.
    pub(super) fn leaf_ids(&self) -> usize {
        self.branches.len() * 2
    }

    /// The solidity of a leaf; `None` if a branch is at this place.
    pub(super) fn leaf(&self, id: LeafId) -> Option<Solidity> {
        match self.branches[id.branch()].children[id.side()] {
            DraftChild::Leaf(solidity) => Some(solidity),
            DraftChild::Branch(_) => None,
        }
    }

    /// Makes a leaf solid for more sizes. [`Self::simplify`] has to be called afterwards.
    pub(super) fn fill(&mut self, id: LeafId, sizes: Solidity) {
        if let DraftChild::Leaf(solidity) = &mut self.branches[id.branch()].children[id.side()] {
            *solidity = solidity.or(sizes);
        }
    }

    fn below(&self, child: DraftChild) -> Below {
        match child {
            DraftChild::Branch(index) => self.branches[index].below,
            DraftChild::Leaf(solidity) => Below { some: solidity, all: solidity },
        }
    }

    /// Whether a child is wholly solid for `size`, or wholly empty; `None` if it is mixed. Valid
    /// after [`Self::simplify`].
    pub(super) fn uniform(&self, child: DraftChild, size: SizeId) -> Option<bool> {
        let below = self.below(child);
        match (below.some.contains(size), below.all.contains(size)) {
            (false, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        }
    }

    /// The state in this tree of a cell of another tree. Splinters, and parts that extend less than
    /// the tolerance beyond a plane, do not count. They are always close to the plane that divides
    /// them from the rest of the cell. So a thin cell keeps the solidity of the space it is in, and
    /// no crack is left along it.
    fn state_below(
        &self,
        child: DraftChild,
        cell: &Cell,
        size: SizeId,
        planes: &PlaneTable,
    ) -> CellState {
        if let Some(solid) = self.uniform(child, size) {
            return if solid { CellState::Solid } else { CellState::Empty };
        }
        // A leaf is uniform, so only a branch gets this far.
        let DraftChild::Branch(index) = child else { return CellState::Empty };
        let branch = &self.branches[index];
        let cut = planes.get(branch.plane);
        let [front, back] = branch.children;
        match cell.side(&cut) {
            Side::Front => self.state_below(front, cell, size, planes),
            Side::Back => self.state_below(back, cell, size, planes),
            Side::On => {
                let side = if cell.is_mostly_in_front(&cut) { front } else { back };
                self.state_below(side, cell, size, planes)
            }
            Side::Both => {
                let (front_cell, back_cell) = cell.split(branch.plane, &cut);
                let front = self.state_below(front, &front_cell, size, planes);
                if let CellState::Mixed(_) = front {
                    return front;
                }
                match self.state_below(back, &back_cell, size, planes) {
                    back if back == front => front,
                    CellState::Mixed(plane) => CellState::Mixed(plane),
                    _ if back_cell.is_splinter(&cut) => front,
                    back if front_cell.is_splinter(&cut) => back,
                    _ => CellState::Mixed(branch.plane),
                }
            }
        }
    }

    /// The draft as an onion BSP: the branches in pre-order, front first, and the planes rounded to
    /// `f32`.
    pub(super) fn to_onion(&self, planes: &PlaneTable) -> Result<OnionTree, BuildError> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut root = Child::leaf(Solidity::EMPTY);
        let mut pending = vec![(self.root, None::<(usize, usize)>)];
        while let Some((grown, parent)) = pending.pop() {
            let child = match grown {
                DraftChild::Leaf(solidity) => Child::leaf(solidity),
                DraftChild::Branch(index) => {
                    let branch = &self.branches[index];
                    let at = nodes.len();
                    let plane = planes.get(branch.plane);
                    let unset = Child::leaf(Solidity::EMPTY);
                    let (normal, distance) = (plane.normal.as_vec3(), plane.distance as f32);
                    nodes.push(Node::new(normal, distance, unset, unset));
                    pending.push((branch.children[1], Some((at, 1))));
                    pending.push((branch.children[0], Some((at, 0))));
                    Child::node(at).ok_or(BuildError::TooManyBranches)?
                }
            };
            match parent {
                Some((at, 0)) => nodes[at].front = child,
                Some((at, _)) => nodes[at].back = child,
                None => root = child,
            }
        }
        Ok(OnionTree::new(root, nodes)?)
    }
}

impl SolidSpace for Draft {
    fn state(&self, cell: &Cell, size: SizeId, planes: &PlaneTable) -> CellState {
        self.state_below(self.root, cell, size, planes)
    }
}
