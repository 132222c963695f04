//! Points and segments against brushes with known answers.

use super::*;
use crate::Random;
use crate::map_text::{Entity, parse};
use crate::testing::{cuboid, map};

fn entities(text: &str) -> Vec<Entity> {
    parse(text).expect("a map")
}

/// The tetrahedron `x, y, z ≥ 0, x + y + z ≤ size`, moved.
fn tetrahedron(size: i64, [x, y, z]: [i64; 3]) -> String {
    let (a, b, c) = (x + size, y + size, z + size);
    format!(
        "( {x} {y} {z} ) ( {a} {y} {z} ) ( {x} {b} {z} ) t\n\
         ( {x} {y} {z} ) ( {x} {y} {c} ) ( {a} {y} {z} ) t\n\
         ( {x} {y} {z} ) ( {x} {b} {z} ) ( {x} {y} {c} ) t\n\
         ( {a} {y} {z} ) ( {x} {y} {c} ) ( {x} {b} {z} ) t\n"
    )
}

fn brushes(text: &[&str], half_extents: [i64; 3]) -> Brushes {
    let solids = Solids::new(&entities(&map(text)));
    assert_eq!(solids.left_out(), [0; 0]);
    solids.expanded(half_extents.map(|e| e as f64))
}

/// Whether a box meets the tetrahedron `x, y, z ≥ 0, x + y + z ≤ size`, computed without planes and
/// bevels: of all points of the box in the octant, the one nearest to the origin has the smallest
/// sum of coordinates.
fn box_meets_tetrahedron(centre: [f64; 3], half: [f64; 3], size: f64) -> bool {
    let low = [0, 1, 2].map(|i| (centre[i] - half[i]).max(0.0));
    (0..3).all(|i| centre[i] + half[i] > 0.0) && low.iter().sum::<f64>() < size
}

#[test]
fn the_expanded_tetrahedron_is_the_exact_minkowski_sum() {
    let half = [3, 5, 7];
    let set = brushes(&[&tetrahedron(20, [0; 3])], half);
    let mut random = Random::new(11);
    let mut solid = 0;
    for _ in 0..20_000 {
        // Quarters are exact, and often lie on the planes.
        let p = [(); 3].map(|()| (random.between(-10.0, 32.0) * 4.0).round() / 4.0);
        let truth = box_meets_tetrahedron(p, half.map(|h| h as f64), 20.0);
        assert_eq!(set.holds(p), truth, "{p:?}");
        solid += usize::from(truth);
    }
    assert!((2000..18_000).contains(&solid), "{solid} of 20000 were solid");
}

#[test]
fn the_expanded_tetrahedron_has_a_bevel_for_each_axis_and_slanted_edge() {
    let half = [3, 5, 7];
    let tetrahedron = &entities(&map(&[&tetrahedron(20, [0; 3])]))[0].brushes[0];
    let tetrahedron = Polyhedron::from_text(tetrahedron).expect("a solid");
    // There are 4 faces and 3 further axial planes. Each of the 3 slanted edges has two axes that
    // are not in its plane, and one of them makes a new face.
    assert_eq!(tetrahedron.expanded(half.map(|e| e as f64)).len(), 4 + 3 + 3);
    assert_eq!(tetrahedron.loops().iter().map(Vec::len).collect::<Vec<_>>(), [3; 4]);
}

#[test]
fn a_box_stays_a_box() {
    let set = brushes(&[&cuboid([0, 0, 0], [10, 20, 30])], [1, 2, 3]);
    assert_eq!(set.brushes[0].halfspaces.len(), 6);
    let inside = |p| set.holds(p);
    assert!(inside([-0.999, 21.999, 32.999]));
    assert!(!inside([-1.0, 5.0, 5.0]), "touching is outside");
    assert!(inside([-1.0 + f64::from(f32::EPSILON), 5.0, 5.0]));
}

#[test]
fn points_within_the_shell_are_not_judged() {
    let set = brushes(&[&cuboid([0; 3], [16; 3]), &cuboid([16, 0, 0], [32, 16, 16])], [0; 3]);
    assert_eq!(set.judge([8.0, 8.0, 15.98], 0.01), Judgement::Solid);
    assert_eq!(set.judge([8.0, 8.0, 15.995], 0.01), Judgement::Shell);
    assert_eq!(set.judge([8.0, 8.0, 16.005], 0.01), Judgement::Shell);
    assert_eq!(set.judge([8.0, 8.0, 16.02], 0.01), Judgement::Empty);
    assert_eq!(set.judge([500.0; 3], 0.01), Judgement::Empty);
}

#[test]
fn the_first_entry_is_exact() {
    let set = brushes(&[&cuboid([4, 0, 0], [8; 3]), &cuboid([5, 0, 0], [7; 3])], [0; 3]);
    let along_x = |y: f64, z: f64| set.first_entry([1.0, y, z], [10.0, y, z]);
    let Some(Entry::At { time, normal, .. }) = along_x(3.0, 3.0) else {
        panic!("the segment enters")
    };
    assert!(time == Fraction::new(1.into(), 3.into()), "{time:?}");
    assert_eq!(normal, [-1.0, 0.0, 0.0]);
    assert!(along_x(0.0, 3.0).is_none(), "sliding along a face enters nothing");
    assert!(along_x(f64::from(1e-30_f32), 3.0).is_some(), "a segment just inside the face enters");
    assert!(
        set.first_entry([1.0, 3.0, 3.0], [4.0, 3.0, 3.0]).is_none(),
        "a segment that ends at the face does not enter"
    );
    assert!(matches!(set.first_entry([6.0, 3.0, 3.0], [6.0, 3.0, 9.0]), Some(Entry::StartsInside)));
    let Some(Entry::At { time, .. }) = set.first_entry([4.0, 3.0, 3.0], [9.0, 3.0, 3.0]) else {
        panic!("a segment that begins on the surface and leads inward enters the brush")
    };
    assert_eq!(time.rounded(), 0.0);
}

#[test]
fn a_segment_is_inside_a_brush_right_after_its_entry() {
    let set =
        brushes(&[&tetrahedron(20, [1, 2, 3]), &cuboid([-30, -4, -9], [-8, 9, 2])], [2, 3, 4]);
    let mut random = Random::new(5);
    let mut entered = 0;
    for _ in 0..5000 {
        let [a, b] = [(); 2].map(|()| [(); 3].map(|()| random.between(-40.0, 40.0)));
        let at = |t: f64| [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t);
        match set.first_entry(a, b) {
            Some(Entry::StartsInside) => assert!(set.holds(a)),
            Some(Entry::At { time, .. }) => {
                entered += 1;
                let time = time.rounded();
                assert!(!set.holds(at(time - 1e-9)));
                let around = set.entry_with_margin(a, b, 1e-6).expect("a grown brush is met too");
                assert!(around <= time);
            }
            None => assert!((0..=100).all(|i| !set.holds(at(f64::from(i) / 100.0)))),
        }
    }
    assert!(entered > 500, "{entered}");
}

/// Translations by integers are exact, so nothing may change.
#[test]
fn translation_by_whole_numbers_changes_nothing() {
    let by = [1027, -4093, 511];
    let here = brushes(&[&tetrahedron(20, [0; 3]), &cuboid([-9, 4, 4], [3, 8, 9])], [3, 5, 7]);
    let low: [i64; 3] = [0, 1, 2].map(|i| [-9, 4, 4][i] + by[i]);
    let high = [0, 1, 2].map(|i| [3, 8, 9][i] + by[i]);
    let there = brushes(&[&tetrahedron(20, by), &cuboid(low, high)], [3, 5, 7]);
    let mut random = Random::new(3);
    for _ in 0..5000 {
        let p = [(); 3].map(|()| (random.between(-14.0, 34.0) * 8.0).round() / 8.0);
        let q = [0, 1, 2].map(|i| p[i] + by[i] as f64);
        assert_eq!(here.holds(p), there.holds(q), "{p:?}");
    }
}

#[test]
fn decimals_are_exact_and_long_ones_too() {
    let tall = cuboid([0; 3], [4; 3]).replace(" 4 )", " 4.1000000000000000001 )");
    let set = brushes(&[&tall], [0; 3]);
    assert!(set.holds([2.0, 2.0, 4.099_999_999_999_999]));
    assert!(set.holds([2.0, 2.0, 4.1]), "4.1 as a float is a little less than 4.1");
    assert!(!set.holds([2.0, 2.0, 4.100_000_000_000_001]));
}

#[test]
fn brushes_without_volume_are_left_out() {
    let whole = cuboid([0; 3], [8; 3]);
    let open: String = whole.lines().skip(1).map(|l| format!("{l}\n")).collect();
    let flat = cuboid([0; 3], [8, 8, 8]).replace(" 8 )", " 0 )");
    let inverted: String = whole
        .lines()
        .map(|l| {
            let p: Vec<&str> = l.split(") ").collect();
            format!("{}) {}) {}) t\n", p[2], p[1], p[0])
        })
        .collect();
    for text in [open, flat, inverted] {
        let solids = Solids::new(&entities(&map(&[&text])));
        assert_eq!((solids.iter().count(), solids.left_out()), (0, &[3][..]), "{text}");
    }
}

#[test]
fn a_redundant_face_does_not_drop_its_brush() {
    let whole = cuboid([0; 3], [8; 3]);
    let twice = format!("{whole}{}\n", whole.lines().next().unwrap_or(""));
    let line = format!("{whole}( 0 0 0 ) ( 4 0 0 ) ( 8 0.000001 0 ) t\n");
    for text in [twice, line] {
        let solids = Solids::new(&entities(&map(&[&text])));
        assert_eq!((solids.iter().count(), solids.left_out()), (1, &[][..]), "{text}");
        let sum = solids.expanded([1.0; 3]);
        assert!(sum.holds([-0.99; 3]) && !sum.holds([9.01, 4.0, 4.0]));
    }
}

#[test]
fn classes_and_textures_decide_the_contents() {
    let of = |class: &str, texture: &str, half| {
        let text = map(&[&cuboid([0; 3], [8; 3]).replace(" t\n", &format!(" {texture}\n"))]);
        Brushes::new(&entities(&text.replace("worldspawn", class)), half).count()
    };
    for (class, texture, point, sized) in [
        ("worldspawn", "wall", 1, 1),
        ("func_detail", "sky4", 1, 1),
        ("func_wall", "*lava", 1, 1),
        ("worldspawn", "*lava", 0, 0),
        ("func_group", "CLIP", 0, 1),
        ("worldspawn", "hint", 0, 0),
        ("worldspawn", "skip", 1, 1),
        ("func_illusionary", "wall", 0, 0),
        ("func_detail_illusionary", "wall", 0, 0),
        ("func_door", "wall", 0, 0),
        ("trigger_push", "trigger", 0, 0),
    ] {
        assert_eq!(of(class, texture, [0.0; 3]), point, "{class} {texture}");
        assert_eq!(of(class, texture, [16.0, 16.0, 28.0]), sized, "{class} {texture}");
    }
}
