//! Segments with far ends.
//!
//! In an earlier version, a trace whose end was beyond 262,144 units answered that it started in
//! solid, no matter what the segment met.

use glam::{DVec3, Quat, Vec3};
use obsp::body::{ConvexPoints, Cuboid, Cylinder, Sphere};
use obsp::{Map, Trace, UNIVERSE};

use super::room::{room, room_with};

/// Traces of a segment by all kinds of bodies, each with the body's reach along x.
fn traces(map: &Map, start: Vec3, end: Vec3) -> Vec<(&'static str, f32, Trace)> {
    let size = |name: &str| map.size(name).expect("a default size");
    let cuboid = Cuboid::new(Vec3::new(16.0, 16.0, 8.0)).expect("within range");
    let turned = cuboid.turned(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
    let ball = Sphere::new(8.0).expect("within range");
    let cylinder = Cylinder::new(16.0, 8.0).expect("within range");
    let points = ConvexPoints::new(vec![Vec3::X * 4.0, Vec3::NEG_X * 4.0, Vec3::Y, Vec3::Z]);
    let boxed = |name| map.find_first_transition(size(name), start, end);
    vec![
        ("point", 0.0, boxed("point")),
        ("standing", 16.0, boxed("standing")),
        ("crouching", 16.0, boxed("crouching")),
        ("ball", 8.0, map.cast(&ball, start, end)),
        ("cuboid", 16.0, map.cast(&cuboid, start, end)),
        ("turned", 16.0, map.cast(&turned.expect("a turn"), start, end)),
        ("cylinder", 16.0, map.cast(&cylinder, start, end)),
        ("points", 4.015625, map.cast(&points.expect("points"), start, end)),
    ]
}

/// Lengths at which case `long-ray` was wrong, and some shorter ones.
const LENGTHS: [f64; 16] = [
    1e4, 3e4, 65_536.0, 65_537.0, 1e5, 2e5, 262_144.0, 262_145.0, 3e5, 1e6, 1e9, 1e15, 1e19, 1e20,
    1e30, 3e38,
];

#[test]
fn a_trace_of_any_length_ends_at_the_same_wall() {
    let map = room();
    let start = Vec3::new(-400.0, -300.0, 200.0);
    for length in LENGTHS {
        for rise in [0.0, 0.1] {
            let way = DVec3::new(1.0, rise, 0.0) * length;
            let end = (start.as_dvec3() + way).as_vec3();
            for (body, reach, trace) in traces(&map, start, end) {
                let context = || format!("{body}, {length:e} units, {rise}: {trace:?}");
                let Trace::Hit(hit) = trace else { panic!("{}", context()) };
                assert_eq!(hit.normal, Vec3::NEG_X, "{}", context());
                let x = 512.0 - reach;
                assert!((hit.point.x - x).abs() < 0.01, "{}", context());
                let y = start.y + (x - start.x) * rise as f32;
                assert!((hit.point.y - y).abs() < 0.02, "{}", context());
                assert!(x - hit.end.x > 0.01 && x - hit.end.x < 0.06, "{}", context());
                let time = f64::from(x - start.x) / length;
                assert!((f64::from(hit.time) / time - 1.0).abs() < 1e-3, "{}", context());
            }
        }
    }
}

/// The segments are above the room, whose outside is kept empty, so nothing is on their way.
#[test]
fn a_free_trace_is_free_to_the_edge_and_as_far_as_one_asks() {
    let map = room_with(true);
    let start = Vec3::new(0.0, 0.0, 2000.0);
    for length in LENGTHS {
        for direction in [Vec3::X, Vec3::Z, Vec3::new(-1.0, 0.5, 0.25)] {
            let end = start + direction * length as f32;
            for (body, _, trace) in traces(&map, start, end) {
                assert_eq!(trace, Trace::Clear, "{body}, {length:e} units along {direction}");
            }
        }
    }
}

/// Starts and ends at the edge, and one step of `f32` on either side of it.
#[test]
fn a_start_beyond_the_extent_is_in_solid_and_one_at_its_edge_is_not() {
    let map = room_with(true);
    for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X] {
        let starts = [(UNIVERSE.next_down(), false), (UNIVERSE, false), (UNIVERSE.next_up(), true)];
        for (at, solid) in starts {
            for (body, _, trace) in traces(&map, axis * at, axis * 20_000.0) {
                assert_eq!(trace == Trace::StartSolid, solid, "{body} from {at} along {axis}");
            }
            for (body, _, trace) in traces(&map, axis * 20_000.0, axis * at) {
                assert_eq!(trace, Trace::Clear, "{body} to {at} along {axis}");
            }
        }
    }
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (body, _, trace) in traces(&map, Vec3::new(0.0, 0.0, 2000.0), Vec3::splat(odd)) {
            assert_eq!(trace, Trace::StartSolid, "{body} to {odd}");
        }
    }
}
