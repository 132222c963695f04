//! The onion BSP: one tree over all sizes (Golodetz 2013, section 3).
//!
//! [`OnionTree`] is a checked tree of `node`s; `point` answers which sizes are solid at a
//! point. Traces are in [`trace`](super::trace), distances in [`near`](super::near).

mod node;
mod point;
#[cfg(test)]
mod tests;

use thiserror::Error;

use node::Below;
pub use node::Solidity;
pub(crate) use node::{Child, Node, Target, rounding};
pub(crate) use point::{PARALLEL, PlaneSide};

use crate::map::extent::UNIVERSE;

/// Maximum depth of a tree that is built or loaded. Queries keep a stack of this length, which
/// takes less than 64 KiB of the thread's stack.
pub(crate) const MAX_DEPTH: usize = 1024;

/// One BSP over all sizes (Golodetz 2013, section 3). Each leaf says for every size whether the
/// leaf is solid.
///
/// The tree is valid by construction: every child's index is greater than its parent's, every node
/// has one parent, planes are finite and of unit normal, and the depth is at most [`MAX_DEPTH`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnionTree {
    root: Child,
    nodes: Vec<Node>,
    depth: Depth,
}

/// Depth of the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Depth {
    pub(crate) max: usize,
    pub(crate) mean: f64,
}

/// Reasons why nodes do not form a valid tree.
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
    /// The tree is deeper than the stack of a query.
    #[error("the tree is deeper than {MAX_DEPTH}")]
    Depth,
}

impl OnionTree {
    /// Checks everything that queries rely on.
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
        // Children come after their parents, so a walk in reverse visits children first.
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
}
