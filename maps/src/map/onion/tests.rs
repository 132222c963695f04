//! The validity of onion BSPs, and points on and between its planes.

use glam::Vec3;

use super::*;
use crate::Trace;
use crate::spaces::SizeId;

fn node(front: Child, back: Child) -> Node {
    Node::new(Vec3::X, 1.0, front, back)
}

fn link(index: usize) -> Child {
    Child::node(index).expect("a small index")
}

const LEAF: Solidity = Solidity::EMPTY;

#[test]
fn invalid_trees_are_rejected() {
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

/// In an earlier version, a point in solid that lies on a dividing plane was reported empty. Behind
/// that plane the tree is divided by another plane that nearly coincides with it, and the empty
/// space between the two planes is a hundred units away.
#[test]
fn empty_space_between_nearly_coincident_planes_does_not_reach_the_point() {
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
    // Where the planes cross, the space between them is empty.
    assert!(!tree.is_solid(size, point(120.0)));
    let into = |z: f32| tree.trace(tree.root(), size, point(z), point(z + 8.0));
    assert_eq!(into(0.0), Trace::StartSolid);
}
