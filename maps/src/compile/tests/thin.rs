//! Walls about as thin as the limit, and gaps about as narrow. All casts get the same answer, at
//! the origin and at the edge of the world, along the axes and turned.

use std::fmt::Write;

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use super::judge::Random;
use crate::body::{Cuboid, Cylinder, Sphere};
use crate::compile::brush::MIN_THICKNESS;
use crate::{
    BrushFault, CompileOptions, Compiled, DegenerateBrush, Source, Spaces, Trace, compile,
};

/// Half the side of the walls, in units.
const REACH: f64 = 256.0;

/// Places of the walls: the origin, and two places far out, where all corners of a wall are within
/// the world.
const FAR: [DVec3; 3] =
    [DVec3::ZERO, DVec3::new(30_000.0, -30_000.0, 30_000.0), DVec3::new(0.0, 31_000.0, 100.0)];

fn turns() -> [DMat3; 3] {
    let about = |axis: DVec3, angle| DMat3::from_quat(DQuat::from_axis_angle(axis, angle));
    [DMat3::IDENTITY, about(DVec3::Z, 0.3), about(DVec3::new(0.48, 0.6, 0.64), 1.0)]
}

/// Coordinates in which walls are perpendicular to x. The frame turns the walls and moves them to
/// their place.
#[derive(Clone, Copy)]
struct Frame {
    turn: DMat3,
    at: DVec3,
}

impl Frame {
    fn place(&self, point: DVec3) -> DVec3 {
        self.turn * point + self.at
    }

    /// The brush from `low` to `high` along x.
    fn slab(&self, low: f64, high: f64) -> String {
        let mut text = String::from("{\n");
        let corner = |x, y, z| self.place(DVec3::new(x, y, z));
        let r = REACH;
        let faces = [
            [corner(high, r, -r), corner(high, -r, -r), corner(high, -r, r)],
            [corner(low, -r, r), corner(low, -r, -r), corner(low, r, -r)],
            [corner(low, r, r), corner(low, r, -r), corner(high, r, -r)],
            [corner(high, -r, -r), corner(low, -r, -r), corner(low, -r, r)],
            [corner(high, -r, r), corner(low, -r, r), corner(low, r, r)],
            [corner(low, r, -r), corner(low, -r, -r), corner(high, -r, -r)],
        ];
        for points in faces {
            for DVec3 { x, y, z } in points {
                write!(text, "( {x:.9} {y:.9} {z:.9} ) ").expect("a string grows");
            }
            text += "stone 0 0 0 1 1\n";
        }
        text + "}\n"
    }
}

fn compiled(brushes: &str) -> Compiled {
    let text = format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n");
    compile(
        &Source::from_text("thin", text),
        &Spaces::default(),
        &CompileOptions::default(),
        &mut |_, _, _| (),
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

/// The results of casting boxes of the four sizes, then bodies, each with its name.
fn casts(compiled: &Compiled, start: Vec3, end: Vec3) -> Vec<(String, Trace)> {
    let map = &compiled.map;
    let sizes = Spaces::default();
    let mut casts: Vec<(String, Trace)> = sizes
        .iter()
        .map(|(id, size)| (size.name.clone(), map.find_first_transition(id, start, end)))
        .collect();
    let mut add = |name: &str, trace| casts.push((name.to_owned(), trace));
    add("ball", map.cast(&Sphere::new(8.0).expect("in range"), start, end));
    add("small ball", map.cast(&Sphere::new(0.5).expect("in range"), start, end));
    add("cylinder", map.cast(&Cylinder::new(16.0, 28.0).expect("in range"), start, end));
    let cuboid = Cuboid::new(Vec3::new(16.0, 16.0, 28.0)).expect("in range");
    add("box", map.cast(&cuboid, start, end));
    let turn = Quat::from_axis_angle(Vec3::new(0.48, 0.6, 0.64), 1.0);
    add("turned box", map.cast(&cuboid.turned(turn).expect("a turn"), start, end));
    casts
}

/// A random segment through the wall at x = 0: long or short, straight or slanted, from either
/// side.
fn crossing(random: &mut Random, frame: &Frame) -> [Vec3; 2] {
    let side = if random.unit() < 0.5 { 1.0 } else { -1.0 };
    let before = 96.0 * 7_f64.powf(random.unit());
    let at = |random: &mut Random| (random.unit() - 0.5) * 200.0;
    let slant = random.unit() * 0.6;
    let start = DVec3::new(before * side, at(random), at(random));
    let end = DVec3::new(-96.0 * side, start.y + at(random) * slant, start.z + at(random) * slant);
    // All points are within the world's edge, beyond which nothing is cast.
    [start, end].map(|point| frame.place(point).as_vec3())
}

/// In an earlier version, a wall of 0.001 units was solid for boxes and absent for rays and bodies,
/// and there was no warning. Without expansion, the two planes of a thin brush became one plane.
#[test]
fn a_thin_wall_stops_everything_or_nothing() {
    let thicknesses = [1e-5, 0.001, 0.002, 0.01, MIN_THICKNESS - 2e-6, MIN_THICKNESS, 0.04, 0.5];
    let mut random = Random(32);
    for (at, turn) in FAR.into_iter().flat_map(|at| turns().map(|turn| (at, turn))) {
        let frame = Frame { turn, at };
        for thickness in thicknesses {
            let base = frame.slab(-900.0, -800.0);
            let compiled = compiled(&(base + &frame.slab(0.0, thickness)));
            let left_out = compiled.report.warnings.iter().find_map(|w| match w.fault {
                BrushFault::LeftOut(DegenerateBrush::TooThin(told)) => Some((w.line, told)),
                _ => None,
            });
            let context = format!("{thickness} at {at}, turned by {turn}: {left_out:?}");
            let is_wall = thickness >= MIN_THICKNESS;
            assert_eq!(left_out.is_none(), is_wall, "{context}");
            if let Some((line, told)) = left_out {
                assert_eq!(line, 11, "{context}");
                assert!((told - thickness).abs() < 1e-7, "{context}");
            }
            for _ in 0..60 {
                let [start, end] = crossing(&mut random, &frame);
                for (name, trace) in casts(&compiled, start, end) {
                    let told = format!("{name}, {start} to {end}: {trace:?}, wall of {context}");
                    assert_eq!(trace != Trace::Clear, is_wall, "{told}");
                    assert_ne!(trace, Trace::StartSolid, "{told}");
                }
            }
        }
    }
}

/// A ray may start anywhere in front of a wall and end anywhere in it. A walk of such rays does not
/// get through the wall, if its steps are no finer than the resolution of positions at that place.
#[test]
fn a_wall_as_thin_as_allowed_is_not_passed_in_steps() {
    let mut random = Random(33);
    for (at, turn) in FAR.into_iter().flat_map(|at| turns().map(|turn| (at, turn))) {
        let frame = Frame { turn, at };
        let compiled = compiled(&frame.slab(0.0, MIN_THICKNESS));
        let point = compiled.map.size("point").expect("a default size");
        for walk in 0..200 {
            let mut position = frame.place(DVec3::new(-0.05, 0.0, 0.0)).as_vec3();
            let finest = at.abs().max_element() / f64::from(1 << 19);
            let step = (0.002 * 30_f64.powf(random.unit())).max(finest);
            for _ in 0..60 {
                let aside = DVec3::new(1.0, random.unit() - 0.5, random.unit() - 0.5);
                let goal = position + (frame.turn * aside * step).as_vec3();
                match compiled.map.find_first_transition(point, position, goal) {
                    Trace::Clear => position = goal,
                    Trace::Hit(hit) => position = if walk % 2 == 0 { hit.end } else { hit.point },
                    Trace::StartSolid => break,
                }
            }
            let beyond = (frame.turn.transpose() * (position.as_dvec3() - at)).x;
            assert!(
                beyond < MIN_THICKNESS,
                "{walk}: a step went {beyond} units in, with steps of \
                {step} at {at} {turn}"
            );
        }
    }
}

/// A gap between two brushes lets nothing with an extent pass, even if it is very narrow. The end
/// of a box's or a ray's hit at the gap is never in solid.
#[test]
fn a_narrow_gap_has_one_truth_too() {
    let mut random = Random(34);
    let sizes = Spaces::default();
    for (at, turn) in FAR.into_iter().flat_map(|at| turns().map(|turn| (at, turn))) {
        let frame = Frame { turn, at };
        for gap in [0.0, 1e-5, 0.001, 0.002, 0.01, MIN_THICKNESS - 2e-6, MIN_THICKNESS, 0.04] {
            let brushes = frame.slab(-64.0, 0.0) + &frame.slab(gap, 64.0);
            let compiled = compiled(&brushes);
            assert!(compiled.report.warnings.is_empty(), "{:?}", compiled.report.warnings);
            for _ in 0..40 {
                let across = [DVec3::X, -DVec3::X][usize::from(random.unit() < 0.5)] * 150.0;
                let aside = DVec3::Y * ((random.unit() - 0.5) * 300.0);
                let place = |x: f64, z: f64| frame.place(DVec3::new(x, 0.0, z) + aside).as_vec3();
                let z = (random.unit() - 0.5) * 300.0;
                // Across both walls, and along the gap from outside of them.
                let segments = [
                    [place(across.x, z), place(-across.x, z)],
                    [place(gap * random.unit(), 400.0), place(gap * random.unit(), -400.0)],
                ];
                for (along, [start, end]) in segments.into_iter().enumerate() {
                    for (index, (name, trace)) in
                        casts(&compiled, start, end).into_iter().enumerate()
                    {
                        let told =
                            format!("{name}, {start} to {end}: {trace:?}, gap {gap} at {at}");
                        let passes = along == 1 && name == "point";
                        assert!(passes || matches!(trace, Trace::Hit(_)), "{told}");
                        let Trace::Hit(hit) = trace else { continue };
                        if let Some((id, _)) = sizes.iter().nth(index) {
                            assert!(!compiled.map.is_solid(id, hit.end), "{told}");
                        }
                    }
                }
            }
        }
    }
}
