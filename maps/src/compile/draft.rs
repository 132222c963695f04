//! A tree in the making: in full precision, with planes by id.

use super::build::{BuildError, Medium};
use super::cell::{Cell, State};
use super::fill::LeafId;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::Side;
use crate::spaces::SizeId;
use crate::world::onion::{Child, Node, OnionTree, Solidity};

/// A tree whose branches come before their children, so that a walk over the
/// list in reverse settles children before parents.
pub(super) struct Draft {
    pub(super) root: Grown,
    pub(super) branches: Vec<Branch>,
}

/// A branch: its plane, faced as the table stores it, and its front and back.
pub(super) struct Branch {
    pub(super) plane: PlaneId,
    pub(super) children: [Grown; 2],
    below: Below,
}

/// A child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grown {
    Branch(usize),
    Leaf(Solidity),
}

/// What the leaves below a branch have in common.
#[derive(Clone, Copy, Default)]
struct Below {
    /// Sizes that some leaf is solid for.
    some: Solidity,
    /// Sizes that every leaf is solid for.
    all: Solidity,
}

impl Branch {
    pub(super) fn new(plane: PlaneId) -> Self {
        let children = [Grown::Leaf(Solidity::EMPTY); 2];
        Self { plane, children, below: Below::default() }
    }
}

impl Draft {
    /// Makes `grown` the child that it is to become; `None` is the root.
    pub(super) fn link(&mut self, parent: Option<(usize, usize)>, grown: Grown) {
        match parent {
            Some((branch, side)) => self.branches[branch].children[side] = grown,
            None => self.root = grown,
        }
    }

    /// Puts another tree in the place of a child.
    pub(super) fn graft(&mut self, parent: Option<(usize, usize)>, other: Self) {
        let offset = self.branches.len();
        let moved = |child: Grown| match child {
            Grown::Branch(index) => Grown::Branch(index + offset),
            Grown::Leaf(_) => child,
        };
        self.branches.extend(
            other
                .branches
                .into_iter()
                .map(|branch| Branch { children: branch.children.map(moved), ..branch }),
        );
        self.link(parent, moved(other.root));
    }

    /// Replaces branches whose children are equal leaves by that leaf, from
    /// the ends of the tree up, and takes stock of what is below each branch.
    pub(super) fn settle(&mut self) {
        let mut equal: Vec<Option<Solidity>> = vec![None; self.branches.len()];
        let settled = |child: Grown, equal: &[Option<Solidity>]| match child {
            Grown::Branch(index) => equal[index].map_or(child, Grown::Leaf),
            Grown::Leaf(_) => child,
        };
        for index in (0..self.branches.len()).rev() {
            let children = self.branches[index].children.map(|child| settled(child, &equal));
            if let [Grown::Leaf(front), Grown::Leaf(back)] = children
                && front == back
            {
                equal[index] = Some(front);
            }
            let [front, back] = children.map(|child| self.below(child));
            let branch = &mut self.branches[index];
            branch.children = children;
            branch.below = Below { some: front.some.or(back.some), all: front.all.and(back.all) };
        }
        self.root = settled(self.root, &equal);
    }

    /// How many [`LeafId`]s there may be: two of each branch, leaf or not.
    pub(super) fn leaf_ids(&self) -> usize {
        self.branches.len() * 2
    }

    /// What a leaf is; `None` if it is a branch.
    pub(super) fn leaf(&self, id: LeafId) -> Option<Solidity> {
        match self.branches[id.branch()].children[id.side()] {
            Grown::Leaf(solidity) => Some(solidity),
            Grown::Branch(_) => None,
        }
    }

    /// Makes a leaf solid for more sizes. The tree has to be settled again
    /// afterwards.
    pub(super) fn fill(&mut self, id: LeafId, sizes: Solidity) {
        if let Grown::Leaf(solidity) = &mut self.branches[id.branch()].children[id.side()] {
            *solidity = solidity.or(sizes);
        }
    }

    fn below(&self, child: Grown) -> Below {
        match child {
            Grown::Branch(index) => self.branches[index].below,
            Grown::Leaf(solidity) => Below { some: solidity, all: solidity },
        }
    }

    /// Whether all of a child is solid for `size`, or all of it empty; `None`
    /// if it is partly either. Known of a draft that is settled.
    pub(super) fn uniform(&self, child: Grown, size: SizeId) -> Option<bool> {
        let below = self.below(child);
        match (below.some.contains(size), below.all.contains(size)) {
            (false, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        }
    }

    /// What a cell of another tree is by this one, apart from what reaches less
    /// than the tolerance beyond a plane, or is a splinter. However thin a cell
    /// is, it is what it is in: what is passed over is always near the plane
    /// that divides it from the rest, so that no crack is left along a thin cell.
    fn state_below(&self, child: Grown, cell: &Cell, size: SizeId, planes: &PlaneTable) -> State {
        if let Some(solid) = self.uniform(child, size) {
            return if solid { State::Solid } else { State::Empty };
        }
        // A leaf is uniform.
        let Grown::Branch(index) = child else { return State::Empty };
        let branch = &self.branches[index];
        let cut = planes.get(branch.plane);
        let [front, back] = branch.children;
        match cell.side(&cut) {
            Side::Front => self.state_below(front, cell, size, planes),
            Side::Back => self.state_below(back, cell, size, planes),
            Side::On => {
                let side = if cell.is_rather_in_front(&cut) { front } else { back };
                self.state_below(side, cell, size, planes)
            }
            Side::Both => {
                let (front_cell, back_cell) = cell.split(branch.plane, &cut);
                let front = self.state_below(front, &front_cell, size, planes);
                if let State::Mixed(_) = front {
                    return front;
                }
                match self.state_below(back, &back_cell, size, planes) {
                    back if back == front => front,
                    State::Mixed(plane) => State::Mixed(plane),
                    _ if back_cell.is_splinter(&cut) => front,
                    back if front_cell.is_splinter(&cut) => back,
                    _ => State::Mixed(branch.plane),
                }
            }
        }
    }

    /// The tree that is traced: in pre-order, front first, rounded to `f32`.
    pub(super) fn laid_out(&self, planes: &PlaneTable) -> Result<OnionTree, BuildError> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut root = Child::leaf(Solidity::EMPTY);
        let mut pending = vec![(self.root, None::<(usize, usize)>)];
        while let Some((grown, parent)) = pending.pop() {
            let child = match grown {
                Grown::Leaf(solidity) => Child::leaf(solidity),
                Grown::Branch(index) => {
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

impl Medium for Draft {
    fn state(&self, cell: &Cell, size: SizeId, planes: &PlaneTable) -> State {
        self.state_below(self.root, cell, size, planes)
    }
}
