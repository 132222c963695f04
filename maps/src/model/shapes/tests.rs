//! Compares hulls with a search through all planes of three points, and shapes with their formulas.

use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;

/// Largest error of a hull of these points, by rounding and by the corners that are left out.
fn tolerance(points: &[DVec3]) -> f64 {
    let bounds = Aabb::around(points.iter().copied());
    ((bounds.max - bounds.min).max_element() * 1e-6).max(2.0 * SLIVER)
}

/// The vector by which the model has moved `points`.
fn shift(model: &Model, points: &[DVec3]) -> DVec3 {
    let bounds = Aabb::around(points.iter().copied());
    model.bounds().centre() - bounds.centre()
}

/// Checks that the model is the hull: every point is inside, and every corner is a point.
fn is_hull(model: &Model, points: &[DVec3]) {
    let (shift, near) = (shift(model, points), tolerance(points));
    assert_eq!(model.parts().len(), 1, "a hull is convex");
    for face in model.parts()[0].faces() {
        for &point in points {
            let height = face.plane.signed_distance(point + shift);
            assert!(height <= near, "{point} is {height} outside");
        }
    }
    for polygon in model.polygons() {
        for &corner in &polygon.winding.vertices {
            let gap = |point: &DVec3| (*point + shift).distance(corner);
            let nearest = points.iter().map(gap).fold(f64::INFINITY, f64::min);
            assert!(nearest <= near, "{corner} is {nearest} from all points");
        }
    }
}

/// The volume of a hull by its planes: all planes of three points that have no point in front, each
/// with the polygon of its points.
fn volume_by_all_planes(points: &[DVec3]) -> f64 {
    let size = points.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let level = size * 1e-9;
    let inside = points.iter().sum::<DVec3>() / points.len() as f64;
    let mut planes: Vec<DVec3> = Vec::new();
    let mut volume = 0.0;
    for (i, &a) in points.iter().enumerate() {
        for (j, &b) in points.iter().enumerate().skip(i + 1) {
            for &c in &points[j + 1..] {
                let across = (b - a).cross(c - a);
                if across.length() < size * size * 1e-9 {
                    continue;
                }
                let mut normal = across.normalize();
                if normal.dot(inside - a) > 0.0 {
                    normal = -normal;
                }
                let known = planes.iter().any(|plane| plane.distance(normal) < 1e-7);
                if known || points.iter().any(|&p| normal.dot(p - a) > level) {
                    continue;
                }
                planes.push(normal);
                let on: Vec<DVec3> =
                    points.iter().copied().filter(|&p| normal.dot(p - a).abs() <= level).collect();
                volume += area(&on, normal) * normal.dot(a - inside) / 3.0;
            }
        }
    }
    volume
}

/// The area of the hull of points in a plane: each edge has all points on one side.
fn area(on: &[DVec3], normal: DVec3) -> f64 {
    let middle = on.iter().sum::<DVec3>() / on.len() as f64;
    let mut area = 0.0;
    for &a in on {
        // The farthest of the points `b` for which no point is right of the line from `a` to `b`.
        let is_next = |b: DVec3| {
            let across = normal.cross(b - a);
            b != a && on.iter().all(|&p| across.dot(p - a) >= -1e-9 * across.length())
        };
        let next = on.iter().copied().filter(|&b| is_next(b));
        let farthest = next.max_by(|b, c| b.distance(a).total_cmp(&c.distance(a)));
        // A point within an edge is no corner.
        let is_corner = farthest.is_some_and(|b| {
            let along = (b - a).normalize();
            let beyond = |&p: &DVec3| {
                let beside = (p - a).cross(along).length() <= 1e-9 * (1.0 + a.length());
                beside && (p - a).dot(along) < -1e-12
            };
            !on.iter().any(beyond)
        });
        if let Some(b) = farthest.filter(|_| is_corner) {
            area += (a - middle).cross(b - middle).length() * 0.5;
        }
    }
    area
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Points on a coarse grid, so that many lie in one plane, on one line, or in one place.
    #[test]
    fn a_hull_of_points_on_a_grid_is_that_of_all_planes(
        points in prop::collection::vec(prop::array::uniform3(-3_i8..=3), 4..24),
        scale in prop::sample::select(vec![1.0, 0.37, 12.0, 300.0]),
        offset in prop::array::uniform3(-1e4_f64..1e4),
    ) {
        let at = |p: &[i8; 3]| DVec3::from(p.map(f64::from)) * scale;
        let mut whole: Vec<DVec3> = points.iter().map(at).collect();
        whole.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap());
        whole.dedup();
        let expected = volume_by_all_planes(&whole);
        let moved: Vec<DVec3> =
            points.iter().map(|p| at(p) + DVec3::from(offset)).collect();
        match Model::convex_hull("grid", &moved) {
            Ok(model) => {
                is_hull(&model, &moved);
                prop_assert!((model.volume() / expected - 1.0).abs() < 1e-5);
                // Where rounding moves no point, each plane is one face.
                let (polygons, faces) = (model.polygons().len(), model.parts()[0].faces().len());
                let is_exact = scale.fract() == 0.0;
                prop_assert!(polygons == faces || polygons > faces && !is_exact);
            }
            Err(ModelError::NoVolume { .. }) => {
                // The oracle rounds, more for larger points.
                let rounding = 1e-9 * scale.powi(3).max(1.0);
                prop_assert!(expected.abs() < rounding, "{}", expected);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_hull_of_any_points_holds_them_all(
        points in prop::collection::vec(prop::array::uniform3(-1.0_f64..1.0), 4..40),
        stretch in prop::array::uniform3(0.02_f64..1.0),
        size in 1.0_f64..1000.0,
    ) {
        let stretch = DVec3::from(stretch) * size;
        let points: Vec<DVec3> = points.into_iter().map(|p| DVec3::from(p) * stretch).collect();
        let model = Model::convex_hull("any", &points).unwrap_or_else(|e| panic!("{e}"));
        is_hull(&model, &points);
        let expected = volume_by_all_planes(&points);
        let surface: f64 = model.polygons().iter().map(|p| p.winding.area()).sum();
        let allowed = surface * tolerance(&points);
        prop_assert!((model.volume() - expected).abs() <= allowed, "{}", model.volume() - expected);
    }
}

/// Points on a sphere, without order, from a spiral of the golden angle.
fn on_a_sphere(count: u32, radius: f64) -> Vec<DVec3> {
    let at = |k: u32| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
        let (sin, cos) = (f64::from(k) * 2.399_963_229_728_653).sin_cos();
        DVec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
    };
    (0..count).map(|k| at(k) * radius).collect()
}

#[test]
fn the_hull_of_4096_points_is_within_the_limit_of_polygons() {
    for radius in [4.0, 16.0, 900.0] {
        let points = on_a_sphere(4096, radius);
        let model = Model::convex_hull("many", &points).unwrap_or_else(|e| panic!("{e}"));
        assert!(model.polygons().len() > 8000, "{}", model.polygons().len());
        is_hull(&model, &points);
        let exact = 4.0 / 3.0 * PI * radius.powi(3);
        assert!((model.volume() / exact - 1.0).abs() < 3e-3, "{}", model.volume() / exact);
    }
    // One point more may be too many.
    let error = Model::convex_hull("many", &on_a_sphere(4100, 900.0)).unwrap_err().to_string();
    assert!(error.contains("8196 polygons") && error.contains("at most 8192"), "{error}");
    assert!(error.contains("simplify"), "{error}");
}

#[test]
fn points_in_one_plane_or_beyond_reach_are_refused_by_name() {
    let refused = |points: &[DVec3]| Model::convex_hull("odd", points).unwrap_err().to_string();
    assert!(refused(&[]).contains("its 0 different points lie in one place"));
    assert!(refused(&[DVec3::ONE; 9]).contains("its 1 different points lie in one place"));
    let line: Vec<DVec3> = (0..9).map(|k| DVec3::new(1.0, 2.0, 3.0) * f64::from(k)).collect();
    assert!(refused(&line).contains("its 9 different points lie on one line"));
    let plane: Vec<DVec3> =
        (0..9).map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3), 0.0)).collect();
    let error = refused(&plane);
    assert!(error.contains("in one plane") && error.contains("add a point"), "{error}");
    for odd in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e155, -1e308, 3000.0] {
        let mut points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        points[2].y = odd;
        let error = refused(&points);
        assert!(error.contains("within 1024 units") && error.contains("scale"), "{error}");
    }
    // Far from the origin they are as good as anywhere.
    let far = |p: DVec3| p * 8.0 + DVec3::splat(1e4);
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(far);
    is_hull(&Model::convex_hull("far", &points).unwrap(), &points);
}

#[test]
fn a_ball_is_as_near_to_a_ball_as_it_says() {
    for (radius, error) in [(16.0, 2.0), (16.0, 0.1), (1.0, 0.001), (500.0, 0.2), (16.0, 0.0061)] {
        let ball = Model::ball("ball", radius, error).unwrap_or_else(|e| panic!("{e}"));
        let near = error + radius * 1e-6;
        assert!(ball.radius() <= radius + near, "{radius}, {error}: {}", ball.radius());
        for polygon in ball.polygons() {
            assert!(polygon.plane.distance >= radius - near, "{radius}, {error}");
        }
        let [x, y, z] = [0, 1, 2].map(|axis| ball.inertia().col(axis)[axis]);
        assert!((x / z - 1.0).abs() < 1e-5 && (y / z - 1.0).abs() < 1e-5);
    }
    let finest = Model::ball("ball", 16.0, 16.0 * 0.000_37).unwrap();
    assert_eq!(finest.polygons().len(), 8000);
    for error in [0.0, -1.0, f64::NAN, 16.0 * 0.000_34] {
        let error = Model::ball("ball", 16.0, error).unwrap_err().to_string();
        assert!(
            error.contains("the error is") && error.contains("which is not between 0.005"),
            "{error}"
        );
    }
}

#[test]
fn boxes_and_cylinders_have_the_volumes_of_their_formulas() {
    let slab = Model::cuboid("slab", DVec3::new(48.0, 3.5, 0.1)).unwrap();
    assert!((slab.volume() / (8.0 * 48.0 * 3.5 * 0.1) - 1.0).abs() < 1e-4);
    assert_eq!((slab.polygons().len(), slab.parts()[0].vertices().len()), (6, 8));
    for (radius, height, sides) in
        [(16.0, 40.0, 3), (0.5, 700.0, 12), (900.0, 2.0, 200), (16.0, 4.0, 1024)]
    {
        let drum = Model::cylinder("drum", radius, height, sides).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(drum.polygons().len(), sides as usize + 2, "{radius} {sides}");
        let turn = 2.0 * PI / f64::from(sides);
        let exact = 0.5 * f64::from(sides) * radius * radius * turn.sin() * height;
        assert!((drum.volume() / exact - 1.0).abs() < 1e-4, "{sides}: {}", drum.volume() / exact);
    }
    for odd in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e155, 1e-155] {
        assert!(matches!(
            Model::cuboid("odd", DVec3::new(1.0, odd, 1.0)),
            Err(ModelError::BadSize { .. })
        ));
        assert!(matches!(Model::cylinder("odd", odd, 1.0, 8), Err(ModelError::BadSize { .. })));
        assert!(matches!(Model::cylinder("odd", 1.0, odd, 8), Err(ModelError::BadSize { .. })));
    }
    for sides in [0, 2, 1025, u32::MAX] {
        let error = Model::cylinder("odd", 1.0, 1.0, sides).unwrap_err().to_string();
        assert!(
            error.contains("number of sides") && error.contains("between 3 and 1024"),
            "{error}"
        );
    }
}

/// A large convex model takes its corners from its polygons, a small one is cut out by its planes.
#[test]
fn a_large_hull_has_the_part_that_its_planes_cut_out() {
    let ball = Model::ball("ball", 16.0, 0.04).unwrap();
    let planes: Vec<_> = ball.polygons().iter().map(|polygon| polygon.plane).collect();
    let cut = crate::geometry::ConvexSolid::from_planes(&planes).expect("a solid");
    let part = &ball.parts()[0];
    assert!(planes.len() > super::super::LARGE);
    assert_eq!(part.vertices().len(), cut.vertices().len());
    assert_eq!(part.edges().len(), cut.edges().len());
    for vertex in part.vertices() {
        let nearest = cut.vertices().iter().map(|v| v.distance(*vertex));
        // Cutting counts a corner within 1e-6 units of a plane as on it, and neighbouring
        // planes meet at an angle of five degrees.
        assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-4);
    }
}

/// The polygons of a face in pieces are one face of the part.
#[test]
fn a_large_hull_with_faces_in_pieces_has_whole_faces() {
    let drum = Model::cylinder("drum", 64.0, 40.0, 200).unwrap();
    let mut text = String::new();
    for line in drum.source().lines() {
        match line.strip_prefix("f ").map(|corners| corners.split(' ').collect::<Vec<_>>()) {
            Some(corners) => {
                for pair in corners[1..].windows(2) {
                    text += &format!("f {} {} {}\n", corners[0], pair[0], pair[1]);
                }
            }
            None => text += &format!("{line}\n"),
        }
    }
    let pieces = Model::from_obj("pieces", &text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(pieces.polygons().len(), 2 * 200 + 2 * 198);
    let [whole, pieces] = [&drum, &pieces].map(|model| &model.parts()[0]);
    assert_eq!(pieces.faces().len(), whole.faces().len());
    assert_eq!(pieces.vertices().len(), whole.vertices().len());
    assert!((pieces.volume() / whole.volume() - 1.0).abs() < 1e-9);
}
