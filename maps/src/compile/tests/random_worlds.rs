//! Random maps of overlapping, abutting and tilted brushes.

use std::fmt::Write;
use std::num::NonZeroUsize;

use glam::{DMat3, DVec3};
use proptest::prelude::*;

use super::judge::{Judge, Random};
use crate::geometry::{Aabb, ConvexSolid, Plane};
use crate::{CompileOptions, Source, Spaces, compile};

/// A brush: a box with some corners cut off, possibly rotated.
#[derive(Clone, Debug)]
struct Brush {
    bounds: Aabb,
    cuts: Vec<DVec3>,
    turn: Option<(DVec3, f64)>,
}

fn brushes() -> impl Strategy<Value = Vec<Brush>> {
    let corner = prop::array::uniform3(-8_i32..8);
    let extent = prop::array::uniform3(1_i32..8);
    let cuts = prop::collection::vec(prop::array::uniform3(-2_i32..=2), 0..3);
    let turn = prop::option::weighted(
        0.3,
        (prop::array::uniform3(-3_i32..=3), 0.0..std::f64::consts::TAU),
    );
    let brush = (corner, extent, cuts, turn).prop_map(|(corner, extent, cuts, turn)| {
        let vector = |v: [i32; 3]| DVec3::from_array(v.map(f64::from));
        // Corners are on a grid of 16, so that faces often share a plane or an edge.
        let min = vector(corner) * 16.0;
        Brush {
            bounds: Aabb { min, max: min + vector(extent) * 16.0 },
            cuts: cuts.into_iter().map(vector).filter(|c| *c != DVec3::ZERO).collect(),
            turn: turn
                .map(|(axis, angle)| (vector(axis), angle))
                .filter(|(axis, _)| *axis != DVec3::ZERO),
        }
    });
    prop::collection::vec(brush, 1..10)
}

impl Brush {
    fn planes(&self) -> Vec<Plane> {
        let solid = ConvexSolid::from_box(&self.bounds).expect("the box has a volume");
        let mut planes: Vec<Plane> = solid.faces().iter().map(|f| f.plane).collect();
        let centre = self.bounds.centre();
        for cut in &self.cuts {
            let normal = cut.normalize();
            let reach = self.bounds.half_extents().dot(normal.abs());
            let point = centre + normal * (reach * 0.5).floor();
            let plane = Plane::through(normal, point);
            if !planes.iter().any(|known| known.normal.dot(normal) > 1.0 - 1e-9) {
                planes.push(plane);
            }
        }
        if let Some((axis, angle)) = self.turn {
            let turn = DMat3::from_axis_angle(axis.normalize(), angle);
            for plane in &mut planes {
                let point = centre + turn * (plane.normal * plane.signed_distance(centre) * -1.0);
                *plane = Plane::through(turn * plane.normal, point);
            }
        }
        planes
    }
}

/// Random bytes, many of which have a meaning in maps.
fn damage() -> impl Strategy<Value = Vec<u8>> {
    let words = ["{", "}", "\n", "\"", "(", ")", "[", " -", "e9", "1e999", "nan", "//", " x ", "0"];
    let word = prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec());
    prop_oneof![word, prop::collection::vec(any::<u8>(), 1..4)]
}

fn source(brushes: &[Brush]) -> Source {
    Source::from_text("random", text(brushes))
}

/// The text of a map with these brushes.
fn text(brushes: &[Brush]) -> String {
    let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
    for brush in brushes {
        text += "{\n";
        for plane in brush.planes() {
            let normal = plane.normal;
            let side = if normal.z.abs() < 0.9 { DVec3::Z } else { DVec3::X };
            let u = normal.cross(side).normalize() * 64.0;
            let v = normal.cross(u);
            let at = normal * plane.distance;
            for p in [at + u, at, at + v] {
                write!(text, "( {} {} {} ) ", p.x, p.y, p.z).expect("a string grows");
            }
            text += "x 0 0 0 1 1\n";
        }
        text += "}\n";
    }
    text + "}\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn tree_and_brushes_agree(brushes in brushes(), seed: u64) {
        let judge = Judge::new(&source(&brushes));
        prop_assert_eq!(judge.map.solids().len(), brushes.len());
        let mut random = Random(seed);
        let bounds = judge.bounds();
        for (size, _) in judge.spaces.iter() {
            for i in 0..200 {
                let mut point = random.within(&bounds);
                if let Some(solid) = judge.is_solid(size, point) {
                    let found = judge.map.is_solid(size, point.as_vec3());
                    prop_assert_eq!(found, solid, "size {} at {}", size.index(), point);
                }
                let mut end = random.within(&bounds);
                if i % 2 == 0 {
                    (point, end) = (point.round(), end.round());
                }
                if i % 8 == 0 {
                    end = end.with_z(point.z);
                }
                judge.check_trace(size, point.as_vec3(), end.as_vec3());
                if !judge.map.is_solid(size, point.as_vec3()) {
                    judge.check_slide(size, point.as_vec3(), (end - point).as_vec3());
                }
            }
        }
    }

    /// For any source the compiler returns a map or an error.
    #[test]
    fn damaged_sources_never_panic(
        brushes in brushes(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..6),
    ) {
        let mut text = text(&brushes).into_bytes();
        for (index, damage) in changes {
            let at = index.index(text.len());
            text.splice(at..(at + damage.len()).min(text.len()), damage);
        }
        let source = Source::from_text("damaged", text);
        let options = CompileOptions::default();
        match compile(&source, &Spaces::default(), &options, &mut |_, _, _| ()) {
            Ok(compiled) => {
                let bytes = compiled.map.to_bytes();
                prop_assert!(crate::Map::from_bytes(&bytes).is_ok());
            }
            Err(error) => prop_assert!(error.to_string().contains("damaged"), "{error}"),
        }
    }

    #[test]
    fn the_same_source_gives_the_same_bytes(brushes in brushes()) {
        let compiled = |threads| {
            let spaces = Spaces::default();
            let threads = NonZeroUsize::new(threads);
            let options = CompileOptions { threads, ..CompileOptions::default() };
            compile(&source(&brushes), &spaces, &options, &mut |_, _, _| ())
                .expect("it compiles")
                .map
                .to_bytes()
        };
        prop_assert_eq!(compiled(1), compiled(3));
    }
}
