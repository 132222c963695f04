//! Odd numbers from callers: every public function that takes numbers is called with NaN,
//! infinities and extremes, and segments of any length get the right answer.

mod far;
#[allow(dead_code, reason = "each crate uses other kinds of rooms")]
mod room;

use crate::extremes::{Numbers, exercise, functions};
use glam::{DVec3, Quat, Vec3};
use obsp::body::{ConvexPoints, Cuboid, Cylinder, Sphere};
use obsp::geometry::{Aabb, ConvexSolid, Face, Plane, Polygon, PolygonBsp, Winding};
use obsp::model::{Material, Model};
use obsp::{
    BevelAngle, CompileOptions, Expansion, GameFileError, Map, PlayerSize, Size, Source, Spaces,
    Trace, clip_box_to_extent, clip_to_extent, compile,
};
use room::room;

/// Types of parameters that hold numbers.
const TYPES: [&str; 17] = [
    "f32",
    "f64",
    "u16",
    "u32",
    "u64",
    "Vec3",
    "DVec3",
    "Quat",
    "DQuat",
    "Aabb",
    "Plane",
    "Winding",
    "Face",
    "Size",
    "PlayerSize",
    "CompileOptions",
    "text",
];

fn vector(numbers: &mut Numbers, usual: [f64; 3]) -> DVec3 {
    numbers.three(usual).into()
}

fn vector_f32(numbers: &mut Numbers, usual: [f32; 3]) -> Vec3 {
    numbers.three_f32(usual).into()
}

fn aabb(numbers: &mut Numbers) -> Aabb {
    Aabb { min: vector(numbers, [-1.0; 3]), max: vector(numbers, [2.0; 3]) }
}

fn plane(numbers: &mut Numbers) -> Plane {
    Plane { normal: vector(numbers, [0.0, 0.6, 0.8]), distance: numbers.f64(3.0) }
}

fn cube() -> ConvexSolid {
    let bounds = Aabb::from_centre(DVec3::ZERO, DVec3::ONE);
    ConvexSolid::from_box(&bounds).expect("a box")
}

/// Checks that the numbers of an accepted solid are finite.
fn sound(solid: &ConvexSolid) {
    assert!(solid.vertices().iter().all(|vertex| vertex.is_finite()), "{solid:?}");
    assert!(solid.volume().is_finite() && solid.bounds().min.is_finite(), "{solid:?}");
}

fn check_trace(trace: Trace) {
    if let Trace::Hit(hit) = trace {
        assert!((0.0..=1.0).contains(&hit.time), "{hit:?}");
        assert!(hit.point.is_finite() && hit.end.is_finite() && hit.normal.is_normalized());
    }
}

/// Calls the function of this name with odd numbers, and checks that it returns an error or a
/// sound result.
fn call(name: &str, map: &Map, n: &mut Numbers) {
    match name {
        "Map::cast" => {
            let ball = Sphere::new(n.f32(8.0));
            let (start, end) = (vector_f32(n, [0.0, 0.0, 99.0]), vector_f32(n, [900.0, 0.0, 9.0]));
            check_trace(ball.map_or(Trace::Clear, |ball| map.cast(&ball, start, end)));
        }
        "Map::find_first_transition" => {
            let (start, end) = (vector_f32(n, [0.0, 0.0, 99.0]), vector_f32(n, [900.0, 0.0, 9.0]));
            for (size, _) in Spaces::default().iter() {
                check_trace(map.find_first_transition(size, start, end));
            }
        }
        "Map::clearance" => {
            let size = map.size("standing").expect("a default size");
            let (point, radius) = (vector_f32(n, [0.0, 0.0, 30.0]), n.f32(4.0));
            let clearance = map.clearance(size, point, radius);
            assert!(point.is_finite() || clearance == obsp::Clearance::Inside);
        }
        "Map::region" => {
            let (centre, reach) = (vector_f32(n, [0.0, 0.0, 60.0]), vector_f32(n, [16.0; 3]));
            let (region, usual) = (map.region(centre, reach), Vec3::new(0.0, 0.0, 60.0));
            let size = map.size("standing").expect("a default size");
            let trace = region.find_first_transition(size, usual, usual - Vec3::Z * 40.0);
            assert_eq!(trace, map.find_first_transition(size, usual, usual - Vec3::Z * 40.0));
        }
        "Region::find_first_transition" => {
            let (start, end) = (vector_f32(n, [0.0, 0.0, 99.0]), vector_f32(n, [900.0, 0.0, 9.0]));
            let size = map.size("standing").expect("a default size");
            let region = map.region(Vec3::new(0.0, 0.0, 99.0), Vec3::splat(16.0));
            let trace = region.find_first_transition(size, start, end);
            assert_eq!(trace, map.find_first_transition(size, start, end));
        }
        "Region::clearance" => {
            let size = map.size("standing").expect("a default size");
            let (point, radius) = (vector_f32(n, [0.0, 0.0, 30.0]), n.f32(4.0));
            let region = map.region(Vec3::new(0.0, 0.0, 30.0), Vec3::splat(16.0));
            let clearance = region.clearance(size, point, radius);
            assert_eq!(clearance, map.clearance(size, point, radius));
        }
        "Map::is_solid" => {
            let point = vector_f32(n, [0.0, 0.0, 99.0]);
            let size = map.size("standing").expect("a default size");
            assert!(point.is_finite() || map.is_solid(size, point));
        }
        "Map::leaf" => _ = map.leaf(vector_f32(n, [0.0, 0.0, 99.0])),
        "Map::solidity" => _ = map.solidity(vector_f32(n, [0.0, 0.0, 99.0])),
        "Map::overlaps" => {
            let (radius, at) = (n.f32(8.0), vector_f32(n, [0.0, 0.0, 99.0]));
            if let Ok(ball) = Sphere::new(radius) {
                assert!(at.is_finite() || map.overlaps(&ball, at));
            }
        }
        "Map::liquid_at" | "Liquid::contains" => {
            let point = vector(n, [0.0, 0.0, 20.0]);
            let found = map.liquid_at(point);
            assert!(point.is_finite() || found.is_none(), "{point}");
            let holds = map.liquids().iter().any(|liquid| liquid.contains(point));
            assert_eq!(holds, found.is_some(), "{point}");
        }
        "Map::liquids_touching" => map.liquids_touching(&aabb(n), |index| assert!(index < 1)),
        "Map::solids_touching" => {
            let bounds = aabb(n);
            map.solids_touching(&bounds, |index| assert!((index as usize) < 7));
        }
        "clip_to_extent" => {
            let (start, end) = (vector(n, [0.0, 0.0, 99.0]), vector(n, [900.0, 0.0, 9.0]));
            if let Some(clipped) = clip_to_extent(start, end) {
                let edge = DVec3::splat(obsp::UNIVERSE.into());
                assert!(clipped.end.abs().cmple(edge).all(), "{clipped:?}");
                assert!((0.0..=1.0).contains(&clipped.share), "{clipped:?}");
            }
        }
        "clip_box_to_extent" => {
            let clipped = clip_box_to_extent(&aabb(n));
            assert!(clipped.is_none_or(|bounds| bounds.min.is_finite() && bounds.max.is_finite()));
        }
        _ => call_shapes(name, n),
    }
}

/// Calls a function of bodies and geometry.
fn call_shapes(name: &str, n: &mut Numbers) {
    match name {
        "Sphere::new" => _ = Sphere::new(n.f32(8.0)),
        "Cylinder::new" => _ = Cylinder::new(n.f32(8.0), n.f32(8.0)),
        "Cuboid::new" => _ = Cuboid::new(vector_f32(n, [8.0; 3])),
        "Cuboid::turned" => {
            use obsp::body::Support;
            let [x, y, z, w] = n.four([0.0, 0.6, 0.0, 0.8]).map(|number| number as f32);
            let cuboid = Cuboid::new(Vec3::ONE).expect("within range");
            if let Ok(turned) = cuboid.turned(Quat::from_xyzw(x, y, z, w)) {
                let reach = turned.support(Vec3::X);
                assert!((0.99..1.74).contains(&reach), "{turned:?}: {reach}");
            }
        }
        "ConvexPoints::new" => {
            _ = ConvexPoints::new(vec![vector_f32(n, [8.0; 3]), Vec3::ZERO]);
        }
        "BevelAngle::new" => _ = BevelAngle::new(n.f64(60.0)),
        "Material::new" => {
            if let Ok(material) = Material::new(n.f64(0.5), n.f64(0.5)) {
                assert!((0.0..=2.0).contains(&material.friction()), "{material:?}");
            }
        }
        "without_mark" => {
            let text = n.f64(1.0).to_string();
            assert_eq!(obsp::text::without_mark(&text), text);
        }
        "Material::with_angular_damping" => {
            if let Ok(material) = Material::USUAL.with_angular_damping(n.f64(0.4)) {
                assert!((0.0..=100.0).contains(&material.angular_damping()), "{material:?}");
            }
        }
        "Material::with_linear_damping" => {
            if let Ok(material) = Material::USUAL.with_linear_damping(n.f64(0.4)) {
                assert!((0.0..=100.0).contains(&material.linear_damping()), "{material:?}");
            }
        }
        "Material::with_gravity_scale" => {
            if let Ok(material) = Material::USUAL.with_gravity_scale(n.f64(-0.1)) {
                assert!((-10.0..=10.0).contains(&material.gravity_scale()), "{material:?}");
            }
        }
        "Material::with_density" => {
            if let Ok(material) = Material::USUAL.with_density(n.f64(0.001)) {
                assert!((0.00002..=0.2).contains(&material.density()), "{material:?}");
            }
        }
        "Aabb::around" => _ = Aabb::around([vector(n, [1.0; 3]), vector(n, [2.0; 3])]),
        "Aabb::contains" => _ = aabb(n).contains(vector(n, [1.0; 3])),
        "Aabb::from_centre" => _ = Aabb::from_centre(vector(n, [1.0; 3]), vector(n, [2.0; 3])),
        "Aabb::inflated" => _ = aabb(n).inflated(n.f64(1.0)),
        "Aabb::swept" => _ = aabb(n).swept(vector(n, [1.0; 3])),
        "Aabb::with" => _ = aabb(n).with(vector(n, [1.0; 3])),
        "ConvexSolid::contains" => _ = cube().contains(vector(n, [1.0; 3])),
        "ConvexSolid::extent" => _ = cube().extent(vector(n, [1.0; 3])),
        "ConvexSolid::support" => {
            assert!(usize::from(cube().support(vector(n, [1.0; 3]))) < 8);
        }
        "ConvexSolid::from_box" => _ = ConvexSolid::from_box(&aabb(n)).map(|box_| sound(&box_)),
        "ConvexSolid::from_planes" => {
            let mut planes: Vec<Plane> = cube().faces().iter().map(|face| face.plane).collect();
            planes[2] = plane(n);
            planes.push(plane(n));
            _ = ConvexSolid::from_planes(&planes).map(|solid| sound(&solid));
        }
        "ConvexSolid::from_parts" => {
            let (mut vertices, mut faces) = (cube().vertices().to_vec(), cube().faces().to_vec());
            vertices[3] = vector(n, vertices[3].to_array());
            faces[1].plane.normal = vector(n, faces[1].plane.normal.to_array());
            faces[1].plane.distance = n.f64(1.0);
            _ = ConvexSolid::from_parts(vertices, faces).map(|solid| sound(&solid));
        }
        "ConvexSolid::winding" => {
            let face = Face { plane: plane(n), vertices: vec![0, 1, 2] };
            assert_eq!(cube().winding(&face).vertices.len(), 3);
        }
        "Plane::signed_distance" => _ = plane(n).signed_distance(vector(n, [1.0; 3])),
        "Plane::through" => _ = Plane::through(vector(n, [0.0, 0.0, 1.0]), vector(n, [1.0; 3])),
        "Winding::on_plane" => _ = Winding::on_plane(&plane(n), n.f64(64.0)),
        "Winding::clipped_behind" => _ = winding(n).clipped_behind(&plane(n)),
        "Winding::split" => _ = winding(n).split(&plane(n)),
        "Polygon::new" => _ = Polygon::new(winding(n), plane(n)),
        "PolygonBsp::build" => {
            let polygons = [(); 3].map(|()| (plane(n), winding(n)));
            let bsp = PolygonBsp::build(polygons.to_vec());
            bsp.is_solid(DVec3::ZERO);
            assert!(bsp.solid_cells().len() < 16);
        }
        "PolygonBsp::is_solid" => {
            let solid = cube();
            let polygons = solid.faces().iter().map(|face| (face.plane, solid.winding(face)));
            PolygonBsp::build(polygons.collect()).is_solid(vector(n, [0.0; 3]));
        }
        _ => call_set_up(name, n),
    }
}

fn winding(n: &mut Numbers) -> Winding {
    let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    Winding { vertices: corners.map(|corner| vector(n, corner)).to_vec() }
}

/// Calls a function of the sizes, options, sources and models that maps are compiled with.
fn call_set_up(name: &str, n: &mut Numbers) {
    match name {
        "Spaces::new" | "PlayerSize::among" | "Expansion::new" => {
            let half_extents = vector_f32(n, [16.0, 16.0, 28.0]);
            let size = Size { name: "standing".into(), half_extents };
            match name {
                "Spaces::new" => {
                    let fits = |size: &Size| (0.0..=4096.0).contains(&size.half_extents.x);
                    let spaces = Spaces::new(vec![size]);
                    assert!(
                        spaces.is_ok_and(|spaces| spaces.sizes().iter().all(fits))
                            || !n.are_usual()
                    );
                }
                "PlayerSize::among" => _ = PlayerSize::among(&[size]),
                _ => {
                    let source = Source::from_text("room", room::text());
                    let sums = Expansion::new(&source, &size, &CompileOptions::default());
                    assert!(sums.is_ok() || !n.are_usual());
                }
            }
        }
        "Spaces::with_players" => {
            let [width, height, crouched_height] = n.three([32.0, 56.0, 36.0]);
            let text = format!(
                "[player]\nwidth = {width:?}\nheight = {height:?}\ncrouched_height = {crouched_height:?}\n"
            );
            if let Ok(Some(size)) = PlayerSize::parse(&text) {
                _ = Spaces::default().with_players(&size);
            }
        }
        "compile" => {
            let [x, y, z] = n.three([-400.0, 0.0, 24.0]);
            let corner = n.three([64.0, 64.0, 64.0]);
            let source = Source::from_text("odd", room::text_with(corner, [x, y, z]));
            let found =
                compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ());
            if let Ok(compiled) = found {
                compiled.map.solids().iter().for_each(sound);
                let origins = compiled.map.entities().iter().filter_map(|entity| entity.origin());
                origins.for_each(|origin| assert!(origin.is_finite()));
            }
        }
        "GameFileError::at" => {
            _ = GameFileError::at("a text", n.whole(3, u64::MAX) as usize, "odd");
        }
        "Model::convex_hull" => {
            let mut points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
            points.push(vector(n, [2.0; 3]));
            if let Ok(model) = Model::convex_hull("odd", &points) {
                model.parts().iter().for_each(sound);
            }
        }
        "Model::cuboid" => {
            if let Ok(model) = Model::cuboid("odd", vector(n, [4.0, 8.0, 2.0])) {
                model.parts().iter().for_each(sound);
            }
        }
        "Model::cylinder" => {
            let (radius, height) = (n.f64(4.0), n.f64(8.0));
            let sides = n.whole(8, u64::from(u32::MAX)) as u32;
            if let Ok(model) = Model::cylinder("odd", radius, height, sides) {
                model.parts().iter().for_each(sound);
            }
        }
        "Model::ball" => {
            let (radius, error) = (n.f64(4.0), n.f64(0.5));
            if let Ok(model) = Model::ball("odd", radius, error) {
                model.parts().iter().for_each(sound);
            }
        }
        "model" => {
            let corner = n.three([1.0, 1.0, 1.0]);
            let scale = n.f64(1.0);
            if let Ok(model) = Model::from_obj("odd", &room::obj(corner, scale)) {
                model.parts().iter().for_each(sound);
                assert!(model.volume() > 0.0 && model.radius().is_finite(), "{model:?}");
                assert!(model.inertia().is_finite() && model.inertia().determinant() > 0.0);
            }
        }
        _ => panic!("{name} takes numbers, and this test does not call it: add it here"),
    }
}

/// The list of functions is read from the sources, so a new function is noticed.
#[test]
fn no_public_function_panics_or_makes_what_is_none_by_odd_numbers() {
    let map = room();
    let skipped = ["bin/", "verify.rs", "map/shift"];
    let found = functions(env!("CARGO_MANIFEST_DIR"), &skipped, &TYPES);
    assert!(found.len() > 38, "{found:#?}");
    let names = found.iter().map(|function| function.name.as_str());
    // The text of a model also holds numbers. `model` stands for `Model::from_obj`.
    for name in names.filter(|name| *name != "Source::from_text").chain(["model"]) {
        if !["GameFileError::of", "PlayerSize::parse", "Spaces::parse"].contains(&name)
            && name != "Model::from_obj"
        {
            exercise(name, 1, |numbers| call(name, &map, numbers));
        }
    }
}
