use glam::Vec3;

use super::extent::inside_universe;
use super::onion::{OnionTree, Solidity, Target};

/// Identifies a leaf of a map's onion BSP. Two points have leaves with the same id exactly if no
/// plane of the tree divides the points. An id has no meaning in another map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafId(u32);

/// A convex part of space that is uniform for every size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Identifies the leaf among the leaves of its map.
    pub id: LeafId,
    /// The sizes for which the leaf is solid.
    pub solidity: Solidity,
}

impl LeafId {
    /// A unique number, below twice the number of the tree's branches.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl OnionTree {
    /// The leaf that contains a point. For a point on a plane it is the leaf in front of the plane.
    pub(crate) fn leaf(&self, point: Vec3) -> Option<Leaf> {
        if !inside_universe(point) {
            return None;
        }
        let (mut child, mut id) = (self.root(), 0);
        loop {
            match child.target() {
                Target::Leaf(solidity) => return Some(Leaf { id: LeafId(id), solidity }),
                Target::Node(index) => {
                    let node = &self.nodes()[index as usize];
                    let behind = node.signed_distance(point) < 0.0;
                    child = if behind { node.back } else { node.front };
                    id = index << 1 | u32::from(behind);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::onion::{Child, Node};
    use crate::spaces::SizeId;

    #[test]
    fn points_are_in_one_leaf_if_nothing_divides_them() {
        let size = SizeId::from_index(2);
        let (empty, solid) =
            (Child::leaf(Solidity::EMPTY), Child::leaf(Solidity::EMPTY.with(size)));
        let second = Child::node(1).expect("a small index");
        let nodes =
            vec![Node::new(Vec3::X, 8.0, empty, second), Node::new(Vec3::Z, 0.0, empty, solid)];
        let tree = OnionTree::new(Child::node(0).expect("a small index"), nodes).expect("a tree");
        let leaf = |x: f32, z: f32| {
            tree.leaf(Vec3::new(x, 5.0, z)).expect(
                "the point is inside \
            the universe",
            )
        };
        assert_eq!(leaf(9.0, 1.0), leaf(90.0, -1.0));
        assert_eq!(leaf(8.0, 1.0), leaf(9.0, 1.0), "a point on a plane belongs to the front");
        assert_ne!(leaf(7.0, 1.0).id, leaf(9.0, 1.0).id);
        assert_eq!(
            (leaf(7.0, 1.0).solidity, leaf(7.0, -1.0).solidity.contains(size)),
            (Solidity::EMPTY, true)
        );
        let ids = [leaf(9.0, 1.0).id, leaf(7.0, 1.0).id, leaf(7.0, -1.0).id].map(LeafId::index);
        assert!(ids.iter().all(|&id| id < 4) && ids[1] != ids[2], "{ids:?}");
        assert_eq!(tree.leaf(Vec3::splat(f32::NAN)), None);
        let all = OnionTree::new(solid, vec![]).expect("a tree");
        assert_eq!(all.leaf(Vec3::ZERO).map(|leaf| leaf.id.index()), Some(0));
    }
}
