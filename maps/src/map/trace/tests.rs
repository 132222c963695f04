//! Traces through small maps and single trees: touching, sliding, edges, and limits.

use std::fmt::Write;

use super::*;
use crate::map::onion::{Child, Node, Solidity};
use crate::{CompileOptions, Map, Source, Spaces, compile};

/// A map of boxes, each given by its corners.
fn boxes(corners: &[[[i32; 3]; 2]]) -> Map {
    let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
    for [[x, y, z], [a, b, c]] in corners {
        writeln!(
            text,
            "{{
            ( {x} {y} {c} ) ( {x} {b} {c} ) ( {a} {y} {c} ) t 0 0 0 1 1
            ( {x} {y} {z} ) ( {a} {y} {z} ) ( {x} {b} {z} ) t 0 0 0 1 1
            ( {a} {y} {z} ) ( {a} {y} {c} ) ( {a} {b} {z} ) t 0 0 0 1 1
            ( {x} {y} {z} ) ( {x} {b} {z} ) ( {x} {y} {c} ) t 0 0 0 1 1
            ( {x} {b} {z} ) ( {a} {b} {z} ) ( {x} {b} {c} ) t 0 0 0 1 1
            ( {x} {y} {z} ) ( {x} {y} {c} ) ( {a} {y} {z} ) t 0 0 0 1 1
            }}"
        )
        .expect("a string grows");
    }
    text += "}\n";
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    compile(&Source::from_text("boxes", text), &Spaces::default(), &options, &mut |_, _, _| ())
        .unwrap_or_else(|error| panic!("{error}"))
        .map
}

fn trace(map: &Map, start: [f32; 3], end: [f32; 3]) -> Trace {
    let point = map.size("point").expect("a default size");
    map.find_first_transition(point, start.into(), end.into())
}

fn hit(map: &Map, start: [f32; 3], end: [f32; 3]) -> Hit {
    match trace(map, start, end) {
        Trace::Hit(hit) => hit,
        other => panic!("{start:?} to {end:?}: {other:?}"),
    }
}

#[test]
fn touching_is_told_apart_from_being_inside() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    let into = hit(&map, [64.0, 32.0, 32.0], [0.0, 32.0, 32.0]);
    assert_eq!((into.time, into.normal), (0.0, Vec3::X));
    assert_eq!((into.point, into.end), (Vec3::new(64.0, 32.0, 32.0), Vec3::new(64.0, 32.0, 32.0)));
    assert_eq!(trace(&map, [64.0, 32.0, 32.0], [99.0, 32.0, 32.0]), Trace::Clear);
    assert_eq!(trace(&map, [99.0, 32.0, 32.0], [64.0, 32.0, 32.0]), Trace::Clear);
    assert_eq!(trace(&map, [63.0, 32.0, 32.0], [99.0, 32.0, 32.0]), Trace::StartSolid);
    assert_eq!(trace(&map, [63.0, 32.0, 32.0], [63.0, 32.0, 32.0]), Trace::StartSolid);
    assert_eq!(trace(&map, [64.0, 32.0, 32.0], [64.0, 32.0, 32.0]), Trace::Clear);
}

#[test]
fn a_hit_stops_the_stated_distance_in_front() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    let straight = hit(&map, [128.0, 32.0, 32.0], [0.0, 32.0, 32.0]);
    assert_eq!((straight.time, straight.end.x), (0.5, 64.0 + SURFACE_DISTANCE));
    let slanted = hit(&map, [96.0, 0.0, 32.0], [32.0, 64.0, 32.0]);
    assert_eq!(slanted.point, Vec3::new(64.0, 32.0, 32.0));
    assert_eq!(slanted.end.x, 64.0 + SURFACE_DISTANCE);
    let near = hit(&map, [64.01, 32.0, 32.0], [0.0, 32.0, 32.0]);
    assert_eq!(near.end, Vec3::new(64.01, 32.0, 32.0));
}

#[test]
fn a_wall_is_hit_by_a_line_from_its_foot_that_hardly_leans_into_it() {
    // A floor, and a wall on it.
    let map = boxes(&[[[-256, -64, -32], [256, 64, 0]], [[128, -64, 0], [160, 64, 64]]]);
    let wall = hit(&map, [128.0, 0.0, 0.0], [128.0006, -56.25, 0.22]);
    assert_eq!((wall.time, wall.normal), (0.0, Vec3::NEG_X));
}

#[test]
fn sliding_exactly_along_a_surface_is_free() {
    // A floor, and a wall on it.
    let map = boxes(&[[[-256, -64, -32], [256, 64, 0]], [[128, -64, 0], [160, 64, 64]]]);
    assert_eq!(trace(&map, [-200.0, 0.0, 0.0], [100.0, 30.0, 0.0]), Trace::Clear);
    let wall = hit(&map, [-200.0, 0.0, 0.0], [200.0, 0.0, 0.0]);
    assert_eq!((wall.point, wall.normal), (Vec3::new(128.0, 0.0, 0.0), Vec3::NEG_X));
    // Along the edge of the floor, and beyond its end.
    assert_eq!(trace(&map, [-200.0, 64.0, 0.0], [400.0, 64.0, 0.0]), Trace::Clear);
}

#[test]
fn a_line_between_coplanar_surfaces_is_free_until_both_sides_are_solid() {
    // Two beams lie above z = 0 and two below. Only from x = 96 to 128 is a beam on both sides.
    let map = boxes(&[
        [[16, -8, 0], [32, 8, 16]],
        [[48, -8, -16], [64, 8, 0]],
        [[80, -8, 0], [128, 8, 16]],
        [[96, -8, -16], [144, 8, 0]],
    ]);
    let both = hit(&map, [0.0, 0.0, 0.0], [160.0, 0.0, 0.0]);
    assert_eq!((both.point, both.normal), (Vec3::new(96.0, 0.0, 0.0), Vec3::NEG_X));
    assert_eq!(trace(&map, [0.0, 0.0, 0.0], [96.0, 0.0, 0.0]), Trace::Clear);
    assert_eq!(trace(&map, [128.0, 0.0, 0.0], [160.0, 0.0, 0.0]), Trace::Clear);
    assert_eq!(trace(&map, [100.0, 0.0, 0.0], [160.0, 0.0, 0.0]), Trace::StartSolid);
}

/// In an earlier version, a body that fell onto the seam between two floors was pushed sideways.
/// The dividing plane through the seam is crossed at the same time as the floor, and came first.
#[test]
fn a_seam_between_floors_is_not_hit_as_a_wall() {
    let map = boxes(&[
        [[-64, -64, -64], [0, 64, 0]],
        [[0, -64, -32], [64, 64, 0]],
        [[0, -8, 32], [64, 8, 64]],
    ]);
    for (x, y) in [(-32.0, 0.0), (32.0, 0.0), (-32.0, 16.0), (32.0, -16.0), (-32.0, -32.0)] {
        let found = hit(&map, [x, y, 32.0], [-x, -y, -32.0]);
        assert_eq!((found.point, found.normal), (Vec3::ZERO, Vec3::Z), "from {x} {y}");
    }
}

#[test]
fn the_end_of_a_clear_segment_is_empty() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    let point = map.size("point").expect("a default size");
    for i in 0..1000 {
        // Rounding puts these ends on either side of the surface.
        let end = Vec3::new(f32::from_bits(64.0_f32.to_bits() - 500 + i), 32.0, 32.0);
        let start = Vec3::new(1000.0, 33.0, 30.0);
        let free = map.find_first_transition(point, start, end) == Trace::Clear;
        assert!(!(free && map.is_solid(point, end)), "{end}");
    }
}

#[test]
fn starts_beyond_the_universe_are_in_solid_and_ends_are_at_its_edge() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    for bad in [f32::NAN, f32::INFINITY, 1e30, -1e6] {
        assert_eq!(trace(&map, [bad, 0.0, 0.0], [0.0; 3]), Trace::StartSolid);
        let free = if bad.is_finite() { Trace::Clear } else { Trace::StartSolid };
        assert_eq!(trace(&map, [100.0; 3], [100.0, bad, 100.0]), free);
    }
    let far = hit(&map, [-100.0, 32.0, 32.0], [1e30, 32.0, 32.0]);
    assert_eq!((far.point, far.normal), (Vec3::new(0.0, 32.0, 32.0), Vec3::NEG_X));
}

/// The deepest valid tree, on a line that reaches its last leaf. It shows that the bound at
/// `MAX_DEPTH` holds on a stack of half a megabyte, which is less than the smallest default stack
/// of a thread on any platform.
#[test]
fn the_deepest_tree_fits_a_small_stack() {
    use crate::map::onion::{Child, MAX_DEPTH, Node, Solidity};
    use crate::spaces::SizeId;

    let size = SizeId::from_index(0);
    let solid = Child::leaf(Solidity::EMPTY.with(size));
    let nodes = (0..MAX_DEPTH).map(|i| {
        let last = i + 1 == MAX_DEPTH;
        let back = if last { None } else { Child::node(i + 1) };
        Node::new(
            Vec3::X,
            (MAX_DEPTH - i) as f32,
            solid,
            back.unwrap_or(Child::leaf(Solidity::EMPTY)),
        )
    });
    let tree = OnionTree::new(Child::node(0).expect("the root"), nodes.collect()).expect("a tree");
    let search = move || {
        let (start, end) = (Vec3::ZERO, Vec3::X * 2.0 * MAX_DEPTH as f32);
        let Trace::Hit(hit) = tree.trace(tree.root(), size, start, end) else {
            panic!(
                "the trace was not \
            stopped"
            )
        };
        assert_eq!(hit.point, Vec3::X);
        assert!(!matches!(tree.clearance(tree.root(), size, start, 1e6), crate::Clearance::Clear));
        // The origin is behind all planes.
        assert!(!tree.solidity(start).contains(size));
    };
    let small = std::thread::Builder::new().stack_size(512 << 10).spawn(search);
    small.expect("a thread").join().expect("the stack is large enough");
}

/// A slope that ends at a ceiling, and a plane through their edge that divides the tree for another
/// size. The plane contains no face, although lines that start beside the point find only solid
/// behind it.
#[test]
fn a_plane_without_a_face_beside_the_start_is_not_reported() {
    let size = SizeId::from_index(0);
    let empty = Child::leaf(Solidity::EMPTY);
    let solid = Child::leaf(Solidity::EMPTY.with(size));
    let link = |index| Child::node(index).expect("a small index");
    let slope = Vec3::new(72.0, 0.0, 8.0).normalize();
    let at_edge = slope.dot(Vec3::new(-128.0, 0.0, 212.0));
    let nodes = vec![
        Node::new(Vec3::Z, 212.0, solid, link(1)),
        Node::new(-Vec3::X, 128.0, solid, link(2)),
        Node::new(slope, at_edge, empty, solid),
    ];
    let tree = OnionTree::new(link(0), nodes).expect("a tree");
    let start = Vec3::new(-127.99654, -173.5209, 211.96875);
    for end in [Vec3::new(-128.997, -170.95616, 219.60062), Vec3::new(-237.6, 384.9, 555.7)] {
        let Trace::Hit(hit) = tree.trace(tree.root(), size, start, end) else {
            panic!("the trace was not stopped")
        };
        assert!(hit.normal == slope || hit.normal == Vec3::NEG_Z, "{}", hit.normal);
    }
}

/// Where faces nearly coincide the surface of a tree has steps lower than the compiler's tolerance.
/// In an earlier version, a line along it, below the top of a step, hit the step's riser, a plane
/// in which no brush has a face.
#[test]
fn a_step_lower_than_the_tolerance_is_not_hit_as_a_wall() {
    let size = SizeId::from_index(0);
    let empty = Child::leaf(Solidity::EMPTY);
    let solid = Child::leaf(Solidity::EMPTY.with(size));
    let link = |index| Child::node(index).expect("a small index");
    // A floor, 0.0007 units higher on the near side of x = 0, and a wall at x = -8.
    let nodes = vec![
        Node::new(Vec3::X, 0.0, link(1), link(2)),
        Node::new(Vec3::Z, 0.0, empty, solid),
        Node::new(Vec3::Z, 0.0007, link(3), solid),
        Node::new(Vec3::X, -8.0, empty, solid),
    ];
    let tree = OnionTree::new(link(0), nodes).expect("a tree");
    let trace = |x: f32, z: f32| {
        tree.trace(tree.root(), size, Vec3::new(5.0, 0.0, 0.0003), Vec3::new(x, 0.0, z))
    };
    assert_eq!(trace(-5.0, 0.0009), Trace::Clear);
    let normal = |trace| match trace {
        Trace::Hit(hit) => (hit.normal, hit.point.x.round()),
        other => panic!("{other:?}"),
    };
    assert_eq!(normal(trace(-20.0, 0.002)), (Vec3::X, -8.0));
    assert_eq!(normal(trace(-5.0, 0.0003)), (Vec3::Z, 0.0));
}
