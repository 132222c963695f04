//! One step beyond each of its capacities, the compiler reports an error or a warning that says
//! what was seen, where, and what to do.

use std::fmt::Write;
use std::num::NonZeroUsize;

use glam::{DVec3, Vec3};

use crate::compile::build::{Builder, Limits};
use crate::compile::cell::Cell;
use crate::compile::dividers::dividers;
use crate::compile::hull::Hull;
use crate::compile::parsed_map::ParsedMap;
use crate::compile::planes::PlaneTable;
use crate::geometry::{Plane, Polygon, Winding};
use crate::map::surface::{FaceIndex, MAX_CORNERS, Surface};
use crate::{
    BrushFault, BuildError, CompileError, CompileOptions, Compiled, DegenerateBrush, Source,
    Spaces, Trace, compile,
};

/// A brush: a prism, or with `tip` a cone, with this many sides about the z axis.
fn round(sides: u32, tip: bool) -> String {
    let at = |i: u32, z: f64| {
        let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(sides)).sin_cos();
        [c * 300.0, s * 300.0, z]
    };
    let mut faces = vec![[[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]]];
    if !tip {
        faces.push([[0.0, 9.0, 200.0], [9.0, 0.0, 200.0], [0.0, 0.0, 200.0]]);
    }
    for i in 0..sides {
        let top = if tip { [0.0, 0.0, 200.0] } else { at(i, 200.0) };
        faces.push([at(i + 1, 0.0), at(i, 0.0), top]);
    }
    let mut text = String::from("{\n");
    for points in faces {
        for [x, y, z] in points {
            write!(text, "( {x:.9} {y:.9} {z:.9} ) ").expect("a string grows");
        }
        text += "stone 0 0 0 1 1\n";
    }
    text + "}\n"
}

fn world(brushes: &str) -> Source {
    Source::from_text("round", format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n"))
}

fn compiled(brushes: &str) -> Result<Compiled, CompileError> {
    compile(&world(brushes), &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ())
}

/// In an earlier version, a brush of 1,000 sides was refused without its line: "the tree is deeper
/// than 1024; draw terrain with fewer brushes". The planes of the brush's faces peeled off one side
/// after the other. Now planes through the brush's middle halve the brush first.
#[test]
fn a_brush_with_as_many_faces_as_allowed_compiles() {
    for (sides, tip) in [(1000, false), (1022, false), (1023, true)] {
        let Compiled { map, report } =
            compiled(&round(sides, tip)).unwrap_or_else(|error| panic!("{sides}: {error}"));
        assert!(report.warnings.is_empty(), "{sides}: {:?}", report.warnings);
        assert!(map.counts().onion_depth_max < 200, "{sides}: {:?}", map.counts());
        let point = map.size("point").expect("a default size");
        for step in 0..64 {
            let angle = f64::from(step) * 0.7;
            let out = DVec3::new(angle.cos(), angle.sin(), 0.0);
            let (start, end) = (out * 500.0 + DVec3::Z * 10.0, out * 100.0 + DVec3::Z * 10.0);
            let trace = map.find_first_transition(point, start.as_vec3(), end.as_vec3());
            let Trace::Hit(hit) = trace else { panic!("{sides}: {trace:?}") };
            let expected = if tip { 300.0 * 0.95 } else { 300.0 };
            let radius = f64::from(hit.point.truncate().length());
            assert!((radius - expected).abs() < 0.02, "{sides}: hit at {radius}");
            assert!(map.is_solid(point, (out * 200.0 + DVec3::Z * 10.0).as_vec3()));
        }
        assert!(!map.is_solid(point, Vec3::new(0.0, 0.0, 201.0)));
    }
    // A brush with one face too many, beside a valid one.
    let both = round(1023, false) + &round(8, false);
    let report = compiled(&both).expect("the other brush is solid").report;
    let faults: Vec<(u64, BrushFault)> =
        report.warnings.iter().map(|w| (w.line, w.fault)).collect();
    assert_eq!(faults, [(3, BrushFault::LeftOut(DegenerateBrush::TooManyFaces(1025)))]);
    assert!(report.warnings[0].to_string().contains("1025 faces; at most 1024"));
}

fn build(brushes: &str, limits: Limits) -> Result<(), CompileError> {
    let source = world(brushes);
    let parsed = ParsedMap::read(&source, &CompileOptions::default()).expect("a map");
    let spaces = Spaces::default();
    let mut planes = PlaneTable::default();
    let threads = NonZeroUsize::MIN;
    let hulls = Hull::all(&spaces, &parsed.statics, &mut planes, threads).expect("they expand");
    let polygons = Hull::surfaces(&hulls, threads, &mut |_, _| ());
    let bounds = hulls.iter().fold(crate::geometry::Aabb::EMPTY, |a, hull| a.union(hull.bounds()));
    let cell = Cell::from_box(&bounds.inflated(64.0)).expect("a box");
    let sizes: Vec<_> = spaces.iter().map(|(id, _)| id).collect();
    let dividers = dividers(&parsed.statics, &mut planes);
    let builder = Builder { planes: &planes, sizes: &sizes, threads, dividers: &dividers, limits };
    let draft = builder.build(&hulls, polygons, cell, &mut |_| ());
    draft.map(drop).map_err(|e| CompileError::of_tree(source.path(), &parsed.statics, e))
}

#[test]
fn a_tree_that_is_too_deep_names_a_brush_there() {
    let brushes = round(8, false) + &round(64, false);
    let limits = |depth| Limits { depth, ..Limits::default() };
    let needed = (1..400).find(|&depth| build(&brushes, limits(depth)).is_ok()).expect("a depth");
    let refused = build(&brushes, limits(needed - 1)).expect_err("one less");
    let CompileError::TooDeep { line, faces, .. } = &refused else { panic!("{refused}") };
    assert_eq!((*line, *faces), (15, 66), "{refused}");
    let told = refused.to_string();
    assert!(told.starts_with("round:15: ") && told.contains("66 faces"), "{told}");
    assert!(told.contains("may cause this"), "{told}");
}

#[test]
fn a_tree_with_too_many_branches_says_so() {
    let limits = |branches| Limits { branches, ..Limits::default() };
    let brushes = round(8, false);
    let needed =
        (1..2000).find(|&branches| build(&brushes, limits(branches)).is_ok()).expect("a number");
    let refused = build(&brushes, limits(needed - 1)).expect_err("one less");
    let is_told = matches!(refused, CompileError::Tree { reason: BuildError::TooManyBranches, .. });
    assert!(is_told, "{refused}");
    assert!(refused.to_string().contains("may cause this"), "{refused}");
}

#[test]
fn a_surface_has_as_many_corners_as_allowed_and_no_more() {
    let winding = |corners: usize| Winding { vertices: vec![DVec3::ZERO; corners] };
    let plane = Plane { normal: DVec3::Z, distance: 0.0 };
    let mut surface = Surface::default();
    let face = FaceIndex { solid: 0, face: 0 };
    let half = MAX_CORNERS / 2;
    assert!(surface.add(face, Polygon::new(winding(half), plane)));
    assert!(surface.add(face, Polygon::new(winding(MAX_CORNERS - half), plane)));
    assert!(!surface.add(face, Polygon::new(winding(3), plane)));
    let told = CompileError::of_tree("big.map".as_ref(), &[], BuildError::TooManyCorners);
    assert!(told.to_string().starts_with("big.map: no BSP can be built: the surface has more"));
}
