//! The shift tree: valid and invalid trees, and traces through the trees of small maps.

use Kind::{Branch as Inner, Empty, Solid};
use glam::Quat;

use super::*;
use crate::body::{ConvexPoints, Cuboid, Cylinder, LEAST_EXTENT, Sphere, Support};
use crate::{CompileOptions, Hit, Map, SURFACE_DISTANCE, Source, Spaces, Trace, compile};

fn branch(front: Kind, back: Kind) -> Unlinked {
    Unlinked { normal: Vec3::X, distance: 1.0, children: [front, back] }
}

#[test]
fn branches_are_linked_in_pre_order() {
    let tree = ShiftTree::new(
        Inner,
        vec![
            branch(Inner, Inner),
            branch(Inner, Solid),
            branch(Empty, Solid),
            branch(Solid, Empty),
        ],
    );
    let tree = tree.expect("a tree");
    assert_eq!(tree.root().index(), Some(0));
    let children: Vec<_> = tree.branches().iter().map(|b| [b.front, b.back]).collect();
    assert_eq!(
        children,
        [
            [Link(1), Link(3)],
            [Link(2), Link::SOLID],
            [Link::EMPTY, Link::SOLID],
            [Link::SOLID, Link::EMPTY]
        ]
    );
    assert_eq!(tree.waiting, 2);
    let leaf = ShiftTree::new(Solid, vec![]).expect("a tree of one leaf");
    assert_eq!((leaf.root(), leaf.waiting), (Link::SOLID, 0));
}

#[test]
fn invalid_trees_are_rejected() {
    let refused = |root, branches| ShiftTree::new(root, branches).expect_err("no tree");
    let lone = || vec![branch(Empty, Solid)];
    assert_eq!(refused(Empty, lone()), InvalidShiftTree::Orphan(0));
    assert_eq!(refused(Inner, vec![branch(Empty, Solid); 2]), InvalidShiftTree::Orphan(1));
    assert_eq!(refused(Inner, vec![]), InvalidShiftTree::Missing);
    assert_eq!(refused(Inner, vec![branch(Inner, Solid)]), InvalidShiftTree::Missing);
    for (normal, distance) in
        [(Vec3::ONE, 0.0), (Vec3::NAN, 0.0), (Vec3::X, f32::NAN), (Vec3::X, 3e5)]
    {
        let bad = Unlinked { normal, distance, ..branch(Empty, Solid) };
        assert_eq!(refused(Inner, vec![bad]), InvalidShiftTree::Plane(0));
    }
    // A chain may be of any length if one side of each branch is empty.
    let chain = |other: Kind| {
        let length = 2 * MAX_WAITING;
        let next = |i| if i < length { Inner } else { Solid };
        (1..=length).map(|i| branch(other, next(i))).collect::<Vec<_>>()
    };
    assert!(ShiftTree::new(Inner, chain(Empty)).is_ok());
    assert_eq!(refused(Inner, chain(Solid)), InvalidShiftTree::Waiting);
}

#[test]
fn capacities_hold_what_they_say_and_no_more() {
    // Both sides of each branch of this chain have to be searched.
    let chain = |length: usize| {
        let next = |i| if i < length { Inner } else { Solid };
        ShiftTree::new(Inner, (1..=length).map(|i| branch(Solid, next(i))).collect())
    };
    assert!(chain(MAX_WAITING).is_ok());
    assert_eq!(chain(MAX_WAITING + 1).err(), Some(InvalidShiftTree::Waiting));
    let line = |length: usize| {
        let next = |i| if i < length { Inner } else { Solid };
        ShiftTree::new(Inner, (1..=length).map(|i| branch(Empty, next(i))).collect())
    };
    assert!(line(MAX_BRANCHES).is_ok());
    assert_eq!(line(MAX_BRANCHES + 1).err(), Some(InvalidShiftTree::TooMany));
}

/// A map of boxes, given by their corners.
fn boxes(boxes: &[[[i32; 3]; 2]]) -> Map {
    let mut text = String::from("{ \"classname\" \"worldspawn\"\n");
    for [min, max] in boxes {
        text += "{\n";
        for axis in 0..3 {
            for (at, flip) in [(min, true), (max, false)] {
                let mut points = [*at; 3];
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                points[if flip { 1 } else { 2 }][u] += 1;
                points[if flip { 2 } else { 1 }][v] += 1;
                for [x, y, z] in points {
                    text += &format!("( {x} {y} {z} ) ");
                }
                text += "t 0 0 0 1 1\n";
            }
        }
        text += "}\n";
    }
    let source = Source::from_text("boxes", text + "}\n");
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    let compiled = compile(&source, &Spaces::default(), &options, &mut |_, _, _| ());
    compiled.unwrap_or_else(|error| panic!("{error}")).map
}

fn ball(radius: f32) -> Sphere {
    Sphere::new(radius).expect("in range")
}

fn cast(map: &Map, body: &impl Support, start: [f32; 3], end: [f32; 3]) -> Trace {
    map.cast(body, start.into(), end.into())
}

fn hit(map: &Map, body: &impl Support, start: [f32; 3], end: [f32; 3]) -> Hit {
    match cast(map, body, start, end) {
        Trace::Hit(hit) => hit,
        other => panic!("{start:?} to {end:?}: {other:?}"),
    }
}

#[test]
fn a_hit_reports_the_position_at_which_the_body_touches() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    let met = hit(&map, &ball(8.0), [32.0, 32.0, 112.0], [32.0, 32.0, 32.0]);
    assert_eq!((met.time, met.point), (0.5, Vec3::new(32.0, 32.0, 72.0)));
    assert_eq!((met.normal, met.end.z), (Vec3::Z, 72.0 + SURFACE_DISTANCE));
    let cylinder = Cylinder::new(16.0, 28.0).expect("in range");
    let met = hit(&map, &cylinder, [120.0, 32.0, 32.0], [40.0, 32.0, 32.0]);
    assert_eq!((met.time, met.normal), (0.5, Vec3::X));
    let cuboid = Cuboid::new(Vec3::new(16.0, 16.0, 28.0)).expect("in range");
    let met = hit(&map, &cuboid, [32.0, 32.0, -68.0], [32.0, 32.0, 12.0]);
    assert_eq!((met.time, met.point.z, met.normal), (0.5, -28.0, Vec3::NEG_Z));
    // After an eighth of a turn about the vertical the cuboid touches with an edge.
    let turned = cuboid.turned(Quat::from_rotation_z(std::f32::consts::FRAC_PI_4)).expect("a turn");
    let met = hit(&map, &turned, [120.0, 32.0, 32.0], [40.0, 32.0, 32.0]);
    assert!((met.point.x - (64.0 + 16.0 * 2.0_f32.sqrt())).abs() < 1e-3, "{met:?}");
    let hull = ConvexPoints::new(vec![Vec3::ZERO, Vec3::X * 4.0, Vec3::Z * -4.0]).expect("points");
    let met = hit(&map, &hull, [32.0, 32.0, 100.0], [32.0, 32.0, 36.0]);
    assert!((met.point.z - (68.0 + LEAST_EXTENT)).abs() < 1e-3, "{met:?}");
}

#[test]
fn start_in_solid_is_told_apart_from_touching() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]]]);
    let (ball, at) = (ball(8.0), |z: f32| [32.0, 32.0, z]);
    assert_eq!(cast(&map, &ball, at(32.0), at(200.0)), Trace::StartSolid);
    assert_eq!(cast(&map, &ball, at(71.5), at(200.0)), Trace::StartSolid);
    assert_eq!(cast(&map, &ball, at(72.0), at(200.0)), Trace::Clear);
    assert_eq!(hit(&map, &ball, at(72.0), at(0.0)).time, 0.0);
    assert_eq!(hit(&map, &ball, at(72.0), at(0.0)).end, Vec3::from(at(72.0)));
    // A cast up to the surface, and not into it.
    assert_eq!(cast(&map, &ball, at(100.0), at(72.0)), Trace::Clear);
    // A cast without motion.
    assert_eq!(cast(&map, &ball, at(72.0), at(72.0)), Trace::Clear);
    assert_eq!(cast(&map, &ball, at(71.0), at(71.0)), Trace::StartSolid);
    for bad in [f32::NAN, f32::INFINITY, 3e5] {
        assert_eq!(cast(&map, &ball, at(bad), at(100.0)), Trace::StartSolid);
        // An end beyond the extent is moved to the edge of the extent.
        let free = if bad.is_finite() { Trace::Clear } else { Trace::StartSolid };
        assert_eq!(cast(&map, &ball, at(100.0), at(bad)), free);
        assert!(map.overlaps(&ball, at(bad).into()));
    }
}

#[test]
fn sliding_exactly_along_a_surface_is_free() {
    // A floor, and a wall on it.
    let map = boxes(&[[[-256, -64, -32], [256, 64, 0]], [[128, -64, 0], [160, 64, 64]]]);
    for radius in [LEAST_EXTENT, 8.0, 24.0] {
        let ball = ball(radius);
        let free = cast(&map, &ball, [-200.0, 0.0, radius], [128.0 - radius, 30.0, radius]);
        assert_eq!(free, Trace::Clear);
        let wall = hit(&map, &ball, [-200.0, 0.0, radius], [200.0, 0.0, radius]);
        assert_eq!((wall.point.x, wall.normal), (128.0 - radius, Vec3::NEG_X));
        let up = cast(&map, &ball, [128.0 - radius, 0.0, radius], [128.0 - radius, 0.0, 200.0]);
        assert_eq!(up, Trace::Clear);
    }
}

/// Where two solids meet in a plane, each cell ends there. A body without extent that
/// moves exactly in that plane would be in neither of them.
#[test]
fn nothing_slips_through_where_solids_meet() {
    let map = boxes(&[[[-64, -64, -64], [0, 64, 0]], [[0, -64, -64], [64, 64, 0]]]);
    for body in [LEAST_EXTENT, 1.0, 8.0] {
        let met = hit(&map, &ball(body), [0.0, 0.0, 100.0], [0.0, 0.0, -100.0]);
        assert_eq!((met.normal, met.point.z), (Vec3::Z, body));
    }
    let flat = ConvexPoints::new(vec![Vec3::Y, Vec3::NEG_Y, Vec3::Z]).expect("points");
    assert!(hit(&map, &flat, [0.0, 0.0, 100.0], [0.0, 0.0, -100.0]).point.z < 0.1);
    // The seam does not deflect a body that falls onto it at an angle.
    for (x, y) in [(-32.0, 0.0), (32.0, 0.0), (-32.0, 16.0), (32.0, -16.0)] {
        assert_eq!(hit(&map, &ball(8.0), [x, y, 40.0], [-x, -y, -24.0]).normal, Vec3::Z);
    }
}

#[test]
fn visited_branches_are_counted() {
    let map = boxes(&[[[0, 0, 0], [64, 64, 64]], [[128, 0, 0], [192, 64, 64]]]);
    let tree = map.shift_tree();
    let mut count = NodeCount::default();
    let middle = Vec3::new(32.0, 32.0, 80.0);
    assert!(!tree.overlaps(&ball(8.0), middle, &mut count));
    assert!((1..=tree.branches().len() as u64).contains(&count.0), "{count:?}");
    let mut all = NodeCount::default();
    assert_eq!(tree.count_touched(&ball(200.0), middle, &mut all), 2);
    assert!(all.0 > count.0);
    assert_eq!(map.polygons().len(), 12);
}
