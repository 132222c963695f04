//! Tests of the oracle for bodies against other methods: separating axes and unions of cubes.

use std::path::Path;
use std::sync::Arc;

use glam::DQuat;

use super::*;
use crate::harness::Random;

fn model(name: &str) -> Arc<Shape> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../maps/models/{name}.obj"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    Shape::model(&text)
}

fn cube(half: f64) -> Arc<Shape> {
    Shape::cuboid(DVec3::splat(-half), DVec3::splat(half))
}

/// Whether two bodies interpenetrate, tested in both orders, which must agree.
fn meets(a: &Body, b: &Body) -> bool {
    let answer = interpenetrate(a, b);
    assert_eq!(interpenetrate(b, a), answer, "the answer differs with A and B swapped");
    answer
}

fn at(shape: &Arc<Shape>, x: f64, y: f64, z: f64) -> Body {
    shape.posed(DQuat::IDENTITY, DVec3::new(x, y, z))
}

fn random_turn(random: &mut Random) -> DQuat {
    let axis = DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.3).normalize();
    DQuat::from_axis_angle(axis, random.between(-3.0, 3.0))
}

/// Separation of two boxes along the best of the 15 axes, negative if they overlap. This is the
/// separating-axis test in floating point, which shares nothing with the oracle's method.
fn box_separation(half: [DVec3; 2], turn: [DQuat; 2], offset: DVec3) -> f64 {
    let axes = turn.map(|q| [q * DVec3::X, q * DVec3::Y, q * DVec3::Z]);
    let crossed = axes[0].iter().flat_map(|a| axes[1].iter().map(move |b| a.cross(*b)));
    let all = axes.into_iter().flatten().chain(crossed);
    all.filter(|axis| axis.length() > 1e-6)
        .map(|axis| {
            let axis = axis.normalize();
            let reach =
                |i: usize| -> f64 { (0..3).map(|k| half[i][k] * axes[i][k].dot(axis).abs()).sum() };
            offset.dot(axis).abs() - reach(0) - reach(1)
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn aligned_boxes() {
    let (a, b) = (cube(16.0), cube(16.0));
    let origin = at(&a, 0.0, 0.0, 0.0);
    for (x, y, z, expected) in [
        (32.0, 0.0, 0.0, false),
        (32.0, 5.0, -7.0, false),
        (32.0, 32.0, 0.0, false),
        (32.0, 32.0, 32.0, false),
        (33.0, 0.0, 0.0, false),
        (0.0, 0.0, 0.0, true),
        (31.0, 0.0, 0.0, true),
        (31.999_99, 0.0, 0.0, true),
        (16.0, 16.0, 0.0, true),
        (3.0, 5.0, 7.0, true),
        (-31.0, 31.0, 31.0, true),
    ] {
        assert_eq!(meets(&origin, &at(&b, x, y, z)), expected, "{x} {y} {z}");
    }
}

#[test]
fn containment_counts() {
    let (large, small) = (cube(16.0), cube(2.0));
    let origin = at(&large, 0.0, 0.0, 0.0);
    assert!(meets(&origin, &at(&small, 1.0, -2.0, 3.0)), "a cube well inside is not found");
    assert!(
        meets(&origin, &at(&small, 14.0, 14.0, 14.0)),
        "a cube inside that touches a corner is not found"
    );
    assert!(
        meets(&origin, &at(&small, 14.0, 0.0, 0.0)),
        "a cube inside that touches a wall is not found"
    );
    assert!(
        !meets(&origin, &at(&small, 18.0, 0.0, 0.0)),
        "a cube that touches a wall from outside overlaps"
    );
    assert!(!meets(&origin, &at(&small, 40.0, 0.0, 0.0)));
}

/// A plug in a gap that fits it exactly, and rods through the walls beside it.
#[test]
fn the_gap_of_the_u_takes_what_fits() {
    let u = model("u_block");
    let origin = at(&u, 0.0, 0.0, 0.0);
    // The model's cells have sides of 16, and its centre of mass is at (24, 14.4, 8). The gap
    // reaches from 16 to 32 along x and y.
    let gap = DVec3::new(0.0, 24.0 - 14.4, 0.0);
    let plug = cube(8.0);
    assert!(!meets(&origin, &at(&plug, gap.x, gap.y + 0.5, gap.z)));
    assert!(meets(&origin, &at(&plug, gap.x, gap.y - 0.01, gap.z)));
    assert!(meets(&origin, &at(&plug, gap.x + 0.01, gap.y + 4.0, gap.z)));
    let rod = Shape::cuboid(DVec3::new(-2.0, -2.0, -40.0), DVec3::new(2.0, 2.0, 40.0));
    assert!(!meets(&origin, &at(&rod, gap.x, gap.y, 0.0)));
    assert!(
        meets(&origin, &at(&rod, gap.x + 16.0, gap.y, 0.0)),
        "a rod through one leg is not found"
    );
    let turned = rod.posed(DQuat::from_rotation_y(1.2), gap);
    assert!(meets(&origin, &turned), "a rod through both legs is not found");
}

#[test]
fn turned_boxes_agree_with_separating_axes() {
    let seed = 21;
    let mut random = Random::new(seed);
    let halves = [DVec3::splat(16.0), DVec3::new(32.0, 8.0, 4.0), DVec3::new(16.0, 16.0, 28.0)];
    let shapes = halves.map(|h| Shape::cuboid(-h, h));
    let mut counts = [0; 2];
    for case in 0..20_000 {
        let pair = [random.below(3), random.below(3)];
        let turn = [random_turn(&mut random), random_turn(&mut random)];
        let offset = DVec3::new(
            random.between(-40.0, 40.0),
            random.between(-40.0, 40.0),
            random.between(-40.0, 40.0),
        );
        let separation = box_separation(pair.map(|i| halves[i]), turn, offset);
        if separation.abs() < 1e-9 {
            continue;
        }
        let a = shapes[pair[0]].posed(turn[0], DVec3::new(700.0, -300.0, 64.0));
        let b = shapes[pair[1]].posed(turn[1], DVec3::new(700.0, -300.0, 64.0) + offset);
        let answer = meets(&a, &b);
        assert_eq!(answer, separation < 0.0, "seed {seed}, case {case}: {separation}");
        counts[usize::from(answer)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 2000), "{counts:?}");
}

/// The blocks are unions of cubes of 16 units, so a body overlaps a block if it overlaps one of
/// its cubes.
#[test]
fn non_convex_models_agree_with_their_cells() {
    let cells = |columns: &[(f64, f64)]| -> Vec<DVec3> {
        let cells: Vec<DVec3> =
            columns.iter().map(|&(x, y)| DVec3::new(x, y, 0.0) * 16.0).collect();
        let centre = cells.iter().sum::<DVec3>() / cells.len() as f64;
        cells.iter().map(|c| *c - centre).collect()
    };
    let bodies = [
        (model("l_block"), cells(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 2.0)])),
        (model("u_block"), cells(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 1.0), (2.0, 1.0)])),
    ];
    let seed = 22;
    let mut random = Random::new(seed);
    let half = [DVec3::splat(8.0); 2];
    let mut counts = [0; 2];
    for case in 0..20_000 {
        let pair = [random.below(2), random.below(2)];
        let turn = [random_turn(&mut random), random_turn(&mut random)];
        let offset = random_turn(&mut random) * DVec3::new(random.between(0.0, 45.0), 0.0, 0.0);
        let mut separation = f64::INFINITY;
        for x in &bodies[pair[0]].1 {
            for y in &bodies[pair[1]].1 {
                let between = offset + turn[1] * *y - turn[0] * *x;
                separation = separation.min(box_separation(half, turn, between));
            }
        }
        if separation.abs() < 1e-6 {
            continue;
        }
        let a = bodies[pair[0]].0.posed(turn[0], DVec3::ZERO);
        let b = bodies[pair[1]].0.posed(turn[1], offset);
        let answer = meets(&a, &b);
        assert_eq!(answer, separation < 0.0, "seed {seed}, case {case}: {separation}");
        counts[usize::from(answer)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 2000), "{counts:?}");
}

/// Eighths and translations by integers are exact in floating point, so even an exact touch must
/// be judged alike.
#[test]
fn translation_by_whole_numbers_changes_nothing() {
    let shapes = [model("l_block"), cube(16.0), cube(12.0), model("plank")];
    let mut random = Random::new(23);
    let by = DVec3::new(1024.0, -512.0, 4096.0);
    let mut touching = 0;
    for _ in 0..5000 {
        let pair = [random.below(4), random.below(4)];
        let p =
            DVec3::from_array([(); 3].map(|()| (random.between(-40.0, 40.0) / 4.0).round() * 4.0));
        let quarter = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);
        let turn = if random.one_in(2) { DQuat::IDENTITY } else { quarter };
        let (a, b) = (&shapes[pair[0]], &shapes[pair[1]]);
        let here = meets(&at(a, 0.0, 0.0, 0.0), &b.posed(turn, p));
        let there = meets(&at(a, by.x, by.y, by.z), &b.posed(turn, p + by));
        assert_eq!(here, there, "{pair:?} {p}");
        touching += usize::from(!here);
    }
    assert!(touching > 500, "{touching}");
}

#[test]
fn shapes_read_here_are_the_shapes_that_ship() {
    for shipped in obsp::model::shipped() {
        let own = model(shipped.name());
        for corner in shipped.polygons().iter().flat_map(|p| &p.winding.vertices) {
            let nearest = own
                .in_place()
                .corners()
                .iter()
                .map(|c| c.distance(*corner))
                .fold(f64::MAX, f64::min);
            assert!(
                nearest < 1e-9,
                "{}: {corner} is {nearest} units from the nearest corner",
                shipped.name()
            );
        }
    }
}

#[test]
#[should_panic(expected = "the surface is not closed")]
fn an_open_surface_is_refused() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
    Shape::from_loops(&read_obj(text));
}
