//! The shipped models, and texts that are accepted or refused as models.

use super::*;
use crate::geometry::Winding;
use proptest::prelude::*;

/// A tetrahedron, whole and correctly oriented.
const TETRAHEDRON: &str =
    "v 0 0 0\nv 6 0 0\nv 0 6 0\nv 0 0 6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Inside or outside by the number of polygons that a ray crosses, without trees or
/// parts. `None` if the ray passes too close to an edge.
fn inside_by_parity(model: &Model, point: DVec3) -> Option<bool> {
    let direction = DVec3::new(0.267_261, 0.534_522, 0.801_784).normalize();
    let mut crossings = 0;
    for polygon in model.polygons() {
        let speed = polygon.plane.normal.dot(direction);
        let time = -polygon.plane.signed_distance(point) / speed;
        if speed.abs() < 1e-9 || time < 0.0 {
            continue;
        }
        let hit = point + direction * time;
        let corners = &polygon.winding.vertices;
        let depth = (0..corners.len())
            .map(|i| {
                let edge = corners[(i + 1) % corners.len()] - corners[i];
                polygon.plane.normal.cross(edge.normalize()).dot(hit - corners[i])
            })
            .fold(f64::INFINITY, f64::min);
        if depth.abs() < 1e-6 {
            return None;
        }
        crossings += usize::from(depth > 0.0);
    }
    Some(crossings % 2 == 1)
}

#[test]
fn every_shipped_model_loads_under_its_own_name() {
    for (name, text) in SHIPPED {
        let model = Model::from_obj(name, text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.name(), name);
    }
}

/// Ids are sent over the wire and depend on the order of the models.
#[test]
fn models_keep_their_numbers() {
    let names: Vec<String> = shipped().iter().map(|m| m.name().to_owned()).collect();
    assert_eq!(names[..6], ["crate", "small_crate", "barrel", "plank", "l_block", "u_block"]);
    assert_eq!(names[6..8], ["rocket", "grenade"]);
    assert_eq!(names[8..], ["hovertank", "cargo_box", "repair_pad", "star"]);
    for name in EVERYDAY {
        assert!(names.iter().any(|known| known == name), "there is no {name}");
    }
}

fn named(name: &str) -> Model {
    shipped().into_iter().find(|model| model.name() == name).expect("a shipped model")
}

/// Blow 1997, "Let's Rock": the polygons of the paper's landing scene.
#[test]
fn the_landing_scene_has_the_papers_polygons() {
    let counts = ["hovertank", "cargo_box", "repair_pad"].map(|n| named(n).polygons().len());
    assert_eq!(counts, [97, 12, 69]);
}

/// The tank fits into the pad's bowl with room to spare. Both shapes are concave where they meet.
#[test]
fn a_hovertank_fits_into_the_pad() {
    let (tank, pad) = (named("hovertank"), named("repair_pad"));
    let half = tank.bounds().half_extents();
    assert_eq!(half, DVec3::new(48.0, 32.0, 16.0));
    assert_eq!(pad.bounds().half_extents(), DVec3::new(80.0, 64.0, 12.0));
    let floor = pad.bounds().min.z + 6.0;
    for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0), (0.0, 0.0)] {
        let foot = DVec3::new(x * (half.x + 12.0), y * (half.y + 12.0), floor);
        assert!(
            !pad.bsp().unwrap().is_solid(foot + DVec3::Z * 0.01),
            "the floor is not free at {foot}"
        );
        assert!(pad.bsp().unwrap().is_solid(foot - DVec3::Z * 0.01), "there is no floor at {foot}");
    }
    let underside = DVec3::new(0.0, 0.0, tank.bounds().min.z + 4.0);
    assert!(!tank.bsp().unwrap().is_solid(underside), "the tank is not hollow underneath");
}

#[test]
fn parts_are_as_few_as_the_shape_needs_and_fill_it() {
    let parts: Vec<usize> = shipped().iter().map(|m| m.parts().len()).collect();
    assert_eq!(&parts[..8], [1, 1, 1, 1, 2, 3, 1, 1]);
    let star = parts[parts.len() - 1];
    assert!((2..=8).contains(&star), "the star has {star} parts");
    for model in shipped() {
        let sum: f64 = model.parts().iter().map(ConvexSolid::volume).sum();
        assert!((sum / model.volume() - 1.0).abs() < 1e-9, "{}", model.name());
    }
}

#[test]
fn the_centre_of_mass_is_the_origin() {
    for model in shipped() {
        let polygons: Vec<Winding> = model.polygons().iter().map(|p| p.winding.clone()).collect();
        assert!(mass::integrate(&polygons).centre.length() < 1e-9, "{}", model.name());
        for polygon in model.polygons() {
            for corner in &polygon.winding.vertices {
                assert!(polygon.plane.signed_distance(*corner).abs() < 1e-3);
                assert!(corner.distance(polygon.centre) <= polygon.radius);
                assert!(corner.length() <= model.radius());
                assert!(model.bounds().contains(*corner));
            }
        }
    }
}

#[test]
fn a_box_has_the_inertia_of_a_box() {
    let plank = &shipped()[3];
    let (x, y, z) = (64.0_f64, 16.0_f64, 8.0_f64);
    let expected = DVec3::new(y * y + z * z, x * x + z * z, x * x + y * y) / 12.0;
    assert!(plank.inertia().abs_diff_eq(DMat3::from_diagonal(expected), 1e-9));
    assert!((plank.volume() - x * y * z).abs() < 1e-9);
    assert_eq!(plank.bounds().half_extents(), DVec3::new(x, y, z) / 2.0);
    assert!((plank.radius() - DVec3::new(x, y, z).length() / 2.0).abs() < 1e-12);
}

/// Each cell of a block is a cube of 16 units; Steiner's theorem adds them up.
#[test]
fn a_block_has_the_inertia_of_its_cells() {
    let cells = [(8.0, 8.0), (24.0, 8.0), (40.0, 8.0), (8.0, 24.0), (40.0, 24.0)];
    let centre: DVec3 =
        cells.iter().map(|&(x, y)| DVec3::new(x, y, 8.0)).sum::<DVec3>() / cells.len() as f64;
    let mut expected = DMat3::ZERO;
    for (x, y) in cells {
        let d = DVec3::new(x, y, 8.0) - centre;
        let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
        let own = 16.0 * 16.0 / 6.0 + d.length_squared();
        expected += (DMat3::from_diagonal(DVec3::splat(own)) - outer) * (1.0 / cells.len() as f64);
    }
    let block = &shipped()[5];
    assert!(block.inertia().abs_diff_eq(expected, 1e-9), "{} {expected}", block.inertia());
}

proptest! {
    #[test]
    fn parts_tree_and_surface_agree_on_every_point(
        x in -1.0..1.0_f64, y in -1.0..1.0_f64, z in -1.0..1.0_f64,
    ) {
        for model in shipped() {
            let bounds = model.bounds().inflated(1.0);
            let point = bounds.centre() + bounds.half_extents() * DVec3::new(x, y, z);
            let near = |p: &Polygon| p.plane.signed_distance(point).abs() < 1e-3;
            if model.polygons().iter().any(near) {
                continue;
            }
            let Some(inside) = inside_by_parity(&model, point) else { continue };
            let in_parts = model.parts().iter().filter(|p| p.contains(point)).count();
            // A point on the cut between two parts is in both.
            prop_assert_eq!(in_parts > 0, inside, "{} parts at {}", model.name(), point);
            prop_assert_eq!(model.bsp().unwrap().is_solid(point), inside, "{} tree at {}", model.name(), point);
        }
    }
}

fn refusal(text: &str) -> String {
    match Model::from_obj("broken", text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_open_surface_is_refused_by_edge() {
    let open = TETRAHEDRON.replace("f 2 3 4\n", "");
    let error = refusal(&open);
    assert!(error.contains("model broken.obj: edge"), "{error}");
    assert!(error.contains("used 1 times in this direction and 0 times"), "{error}");
}

#[test]
fn a_face_turned_round_is_refused_by_edge() {
    let error = refusal(&TETRAHEDRON.replace("f 2 3 4", "f 2 4 3"));
    assert!(error.contains("used 2 times in this direction and 0 times"), "{error}");
}

#[test]
fn a_surface_inside_out_is_refused() {
    let error = refusal("v 0 0 0\nv 6 0 0\nv 0 6 0\nv 0 0 6\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
    assert!(error.contains("volume is -36"), "{error}");
}

/// Case `messages`: for a text that is not an OBJ file, the error said that the volume is 0, and
/// that faces must run counter-clockwise. The text has no faces at all.
#[test]
fn a_text_without_faces_is_told_what_was_seen() {
    for (text, seen) in [
        ("", "broken.obj: no faces and 0 vertices were found"),
        ("# a comment\n\n", "broken.obj: no faces and 0 vertices were found"),
        (
            "\n  ply\nformat ascii 1.0\n",
            "broken.obj:2:3: \"ply\" was seen: no faces and 0 vertices",
        ),
        ("{\n\"classname\" \"worldspawn\"\n}", "broken.obj:1:1: \"{\" was seen: no faces"),
        ("v 0 0 0\nv 1 0 0\n", "broken.obj:1:1: \"v 0 0 0\" was seen: no faces and 2 vertices"),
    ] {
        let error = refusal(text);
        assert!(error.contains(seen) && error.contains("export the model as OBJ"), "{error}");
        assert!(!error.contains("volume"), "{error}");
    }
}

/// Case `byte-order-mark`: the reader skipped the first vertex, so it failed with "face vertex
/// index out of bounds".
#[test]
fn a_byte_order_mark_before_an_obj_is_no_part_of_it() {
    let marked = Model::from_obj("plain", &format!("\u{feff}{TETRAHEDRON}")).expect("a model");
    let plain = Model::from_obj("plain", TETRAHEDRON).expect("a model");
    assert!(marked.is_same(&plain), "the byte-order mark makes another model");
}

#[test]
fn faults_of_an_obj_have_their_line_column_and_text() {
    for (text, seen) in [
        ("v 0 0 zero\n", ":1:7: \"zero\" was seen"),
        ("v 0 0 0\n\n f 1 2//3 9\n", ":3:6: \"2//3\" was seen"),
        ("v 0 0 0\r\nv 0 0\r\n", ":2:1: \"v 0 0\" was seen"),
        ("v 0 0 0\nf 1 1 -2\n", ":2:7: \"-2\" was seen"),
        ("f 0 0 0\n", ":1:3: \"0\" was seen"),
        ("v 0 0 0\nv 1 0 0 9 9\n", ":2:1: \"v 1 0 0 9 9\" was seen"),
        ("v 0 0 0 0\n", ":1:9: \"0\" was seen"),
        ("v 0 0 0\nf 1 1 1/x\n", ":2:7: \"1/x\" was seen"),
        ("v 0 0 0\nf 1 1 1/1/1/1\n", ":2:7: \"1/1/1/1\" was seen"),
        ("v 0 0 0\ng a\nf 1 2 1\ng b\nv 0 0 1\nf 1 3 1\n", ":6:5: \"3\" was seen"),
        ("v 0 0 0\nf 1 1 \\\n  1 99999999999999999999\n", ":3:5: \"999999"),
        ("f\n", ":1:1: \"f\" was seen"),
    ] {
        let error = refusal(text);
        assert!(error.contains(seen) && error.contains("not a readable OBJ file"), "{error}");
    }
}

/// In an earlier version, a polyline was read as a face, and points, curves and surfaces were
/// skipped.
#[test]
fn a_shape_that_encloses_nothing_is_refused_by_line() {
    for (more, place) in [
        ("l 1 2 3\n", ":9:1: \"l\" was seen: points and lines"),
        ("p 1\n", ":9:1: \"p\" was seen: points and lines"),
        ("surf 0 1 0 1 1 2 3 4\n", ":9:1: \"surf\" was seen: curves and curved surfaces"),
    ] {
        let error = refusal(&(TETRAHEDRON.to_owned() + more));
        assert!(error.contains(place), "{error}");
    }
    // Three polylines and a face are no surface.
    let error = refusal(&TETRAHEDRON.replace("f 1", "l 1"));
    assert!(error.contains("points and lines enclose nothing"), "{error}");
}

/// In an earlier version, each of these texts was refused.
#[test]
fn an_obj_may_have_all_that_the_format_allows() {
    let plain = Model::from_obj("plain", TETRAHEDRON).expect("a model");
    let comments: String = TETRAHEDRON.lines().map(|line| format!("{line} # a b\n")).collect();
    for text in [
        comments,
        TETRAHEDRON.replace('\n', "\r"),
        TETRAHEDRON.replace("f 1 3 2", "f 1 \\\n 3 \\\r\n 2"),
        TETRAHEDRON.replace("v 0 0 0", "vt 0.5\nvt 0 1 0\nvn 1 0\nvp 1\nv 0 0 0"),
        TETRAHEDRON.replace("f 1 3 2", "f 1/7/9 3//8 2/6"),
        TETRAHEDRON.replace("v 0 0 6", "v 0 0 6 1 0.5 0 1"),
        TETRAHEDRON.replace("v 0 0 6", "v 0 0 12 2"),
        format!("mtllib a b.mtl\no x\ng y z\ns off\nusemtl none\n{TETRAHEDRON}"),
    ] {
        let model = Model::from_obj("other", &text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let same = model.polygons().iter().zip(plain.polygons());
        assert!(same.clone().all(|(a, b)| a.winding.vertices == b.winding.vertices), "{text}");
        assert_eq!((model.polygons().len(), model.volume()), (4, plain.volume()), "{text}");
    }
}

#[test]
fn bad_faces_are_refused() {
    let crooked = SHIPPED[0].1.replacen("v 16 16 16", "v 16 16 17", 1);
    assert!(refusal(&crooked).contains("not flat"));
    let concave = "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\nf 1 2 3 4\nf 4 3 2 1\n";
    assert!(refusal(concave).contains("not convex"));
    assert!(refusal("v 0 0 0\nv 1 0 0\nf 1 2\n").contains("without area"));
    assert!(refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").contains("without area"));
}

#[test]
fn unreadable_texts_are_refused() {
    for text in ["v 0 0 zero\n", "v 0 0 0\nf 1 2 9\n", "f 0 0 0\n", "f -9223372036854775808 1 2\n"]
    {
        assert!(refusal(text).contains("not a readable OBJ file"), "{text}");
    }
    let far = TETRAHEDRON.replace("v 6 0 0", "v 6e9 0 0");
    assert!(refusal(&far).contains("not within 1024 units"));
    let nan = TETRAHEDRON.replace("v 6 0 0", "v NaN 0 0");
    assert!(refusal(&nan).contains("not within 1024 units"));
    let many = TETRAHEDRON.to_owned() + &"f 1 2 3\n".repeat(8189);
    let error = refusal(&many);
    assert!(error.contains("8193 polygons") && error.contains("at most 8192"), "{error}");
    assert!(error.contains("simplify its mesh, or divide the model into several"), "{error}");
    let wide = TETRAHEDRON.to_owned() + &format!("f{}\n", " 1 2 3".repeat(100_000));
    assert!(refusal(&wide).contains("5 polygons with 300012 corners; at most 8192 with 65536"));
}

#[test]
fn overlapping_solids_in_one_file_are_refused() {
    let second = SHIPPED[0].1.lines().filter(|l| !l.starts_with('o')).collect::<Vec<_>>();
    let shifted: String = second
        .iter()
        .map(|l| match l.strip_prefix("v ") {
            Some(v) => {
                let c: Vec<f64> = v.split(' ').map(|c| c.parse().expect("a number")).collect();
                format!("v {} {} {}\n", c[0] + 5.0, c[1] + 3.0, c[2] + 2.0)
            }
            None => format!("{l}\n"),
        })
        .collect();
    // Indices from the end name the second cube's own corners.
    let relative = shifted
        .lines()
        .map(|l| match l.strip_prefix("f ") {
            Some(f) => {
                let i: Vec<i32> = f.split(' ').map(|i| i.parse().expect("an index")).collect();
                let i: Vec<String> = i.iter().map(|i| (i - 9).to_string()).collect();
                format!("f {}\n", i.join(" "))
            }
            None => format!("{l}\n"),
        })
        .collect::<String>();
    let error = refusal(&(SHIPPED[0].1.to_owned() + &relative));
    assert!(error.contains("model broken.obj: edge"), "{error}");
    assert!(error.contains("meets the face around"), "{error}");
}

/// Two tetrahedra, the second moved by `offset` and scaled by `scale`.
fn two_tetrahedra(scale: f64, offset: DVec3) -> String {
    let mut text = String::from("v 0 0 0\nv 6 0 0\nv 0 6 0\nv 0 0 6\n");
    for v in [DVec3::ZERO, DVec3::X * 6.0, DVec3::Y * 6.0, DVec3::Z * 6.0] {
        let v = v * scale + offset;
        text += &format!("v {} {} {}\n", v.x, v.y, v.z);
    }
    text + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"
}

#[test]
fn surfaces_that_touch_or_nest_are_refused_and_those_apart_are_not() {
    assert!(Model::from_obj("two", &two_tetrahedra(1.0, DVec3::X * 7.0)).is_ok());
    // Corner on face, edge on edge, edge through face.
    for offset in [DVec3::splat(2.0), DVec3::X * 3.0, DVec3::new(1.0, 1.0, -1.0)] {
        let error = refusal(&two_tetrahedra(1.0, offset));
        assert!(error.contains("meets the face around"), "{offset}: {error}");
    }
    let error = refusal(&two_tetrahedra(0.25, DVec3::splat(0.5)));
    assert!(error.contains("one of its bodies may lie inside another"), "{error}");
}

/// A sheet of two faces back to back encloses no volume.
#[test]
fn a_sheet_without_thickness_is_refused() {
    let text = TETRAHEDRON.to_owned() + "v 9 0 0\nv 9 4 0\nv 9 0 4\nf 5 6 7\nf 7 6 5\n";
    assert!(refusal(&text).contains("meets the face around"));
}

#[test]
fn a_ball_with_quadrangles_that_are_hardly_flat_is_refused() {
    // The corners are rounded to four decimals. In an earlier version, the tree of the surface was
    // divided by the plane of such a quadrangle, whose corners lie beside that plane. So the same
    // plane was chosen again until the memory was full.
    let (radius, around) = (13.0_f64, 10);
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    let mut text = format!("v 0 0 {}\n", -radius);
    for latitude in [-54.0_f64, -18.0, 18.0, 54.0] {
        let (height, wide) = latitude.to_radians().sin_cos();
        for step in 0..around {
            let (y, x) = (std::f64::consts::TAU * f64::from(step) / f64::from(around)).sin_cos();
            let corner = [x * wide, y * wide, height].map(|part| rounded(part * radius));
            text += &format!("v {} {} {}\n", corner[0], corner[1], corner[2]);
        }
    }
    text += &format!("v 0 0 {radius}\n");
    let at = |ring: i32, step: i32| 2 + ring * around + step.rem_euclid(around);
    for step in 0..around {
        text += &format!("f 1 {} {}\n", at(0, step + 1), at(0, step));
        for ring in 0..3 {
            let [a, b] = [at(ring, step), at(ring, step + 1)];
            text += &format!("f {a} {b} {} {}\n", at(ring + 1, step + 1), at(ring + 1, step));
        }
        text += &format!("f {} {} {}\n", 4 * around + 2, at(3, step), at(3, step + 1));
    }
    let error = Model::from_obj("ball", &text).expect_err("a face that is not flat is refused");
    assert!(matches!(error, ModelError::Nested { .. }), "{error}");
    assert!(error.to_string().contains("divide them into triangles"), "{error}");
}

/// A saw with many teeth is cut into as many parts within a second. A surface whose planes all cut
/// each other is refused with an error.
#[test]
fn a_surface_of_endless_folds_is_refused_with_a_way_out() {
    let saw = |teeth: usize, turn: f64| {
        // A disc whose rim goes in and out, with a middle that is pulled out on both sides.
        let (mut text, around) = (String::from("v 0 0 300\nv 0 0 -300\n"), 2 * teeth);
        for step in 0..around {
            let radius = if step % 2 == 0 { 700.0 } else { 640.0 };
            let (sin, cos) = (std::f64::consts::TAU * step as f64 / around as f64).sin_cos();
            let height = turn * (step as f64 * 0.37).sin();
            text += &format!("v {} {} {height}\n", radius * cos, radius * sin);
        }
        for step in 0..around {
            let (a, b) = (3 + step, 3 + (step + 1) % around);
            text += &format!("f 1 {a} {b}\nf 2 {b} {a}\n");
        }
        text
    };
    let model = Model::from_obj("saw", &saw(100, 0.0)).unwrap_or_else(|e| panic!("{e}"));
    assert!(model.parts().len() >= 50, "{} parts", model.parts().len());
    let error = Model::from_obj("saw", &saw(2000, 40.0)).unwrap_err().to_string();
    assert!(error.contains("its 8000 polygons are not convex"), "{error}");
    assert!(error.contains("more than 1048576 steps") && error.contains("smooth it"), "{error}");
}
