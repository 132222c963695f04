//! The case `messages`: errors that stated the likeliest cause as a fact, or named no place.

use std::fmt::Write;

use obsp::model::Model;
use obsp::{BrushFault, CompileOptions, DegenerateBrush, Source, Spaces, compile};

/// An upright prism with this number of sides.
fn prism(sides: u32) -> String {
    let at = |i: u32, z: f64| {
        let (y, x) = (std::f64::consts::TAU * f64::from(i) / f64::from(sides)).sin_cos();
        [x * 300.0, y * 300.0, z]
    };
    let mut faces = vec![
        [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]],
        [[0.0, 9.0, 64.0], [9.0, 0.0, 64.0], [0.0, 0.0, 64.0]],
    ];
    faces.extend((0..sides).map(|i| [at(i + 1, 0.0), at(i, 0.0), at(i, 64.0)]));
    let mut text = String::from("{\n");
    for [x, y, z] in faces.into_iter().flat_map(|face| face.into_iter().chain([[f64::NAN; 3]])) {
        if x.is_nan() {
            text += "stone 0 0 0 1 1\n";
        } else {
            write!(text, "( {x:.9} {y:.9} {z:.9} ) ").expect("a string grows");
        }
    }
    text + "}\n"
}

#[test]
fn messages() {
    // For a brush of 1,000 sides the error was "draw terrain with fewer brushes", without a line.
    // Such a brush compiles now, and the error about a brush with too many faces has its line, its
    // faces and the limit.
    let map = |brushes: &str| {
        let text = format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n");
        let source = Source::from_text("round.map", text);
        compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {})
    };
    let compiled = map(&prism(1000)).unwrap_or_else(|error| panic!("{error}"));
    assert!(compiled.report.warnings.is_empty(), "{:?}", compiled.report.warnings);
    let compiled = map(&(prism(8) + &prism(1100))).unwrap_or_else(|error| panic!("{error}"));
    let warning = &compiled.report.warnings[0];
    assert_eq!(warning.fault, BrushFault::LeftOut(DegenerateBrush::TooManyFaces(1102)));
    assert_eq!(
        warning.to_string(),
        "round.map:15: brush left out: it has 1102 faces; at most 1024 are possible: divide it"
    );

    // For a text that is no OBJ the error was "its volume is 0".
    let error = Model::from_obj("door", "\n{ \"classname\" \"func_door\" }\n");
    let error = error.expect_err("the map is refused").to_string();
    let seen = "door.obj:2:1: \"{ \\\"classname\\\" \\\"func_door\\\" }\" was seen: no faces";
    assert!(error.contains(seen) && !error.contains("volume"), "{error}");

    // For an OBJ with a byte order mark the error was "index out of bounds". Now the mark is not
    // part of the text.
    let text = "v 0 0 0\nv 6 0 0\nv 0 6 0\nv 0 0 6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let marked = Model::from_obj("corner", &format!("\u{feff}{text}"));
    let marked = marked.unwrap_or_else(|error| panic!("{error}"));
    assert!((marked.volume() - 36.0).abs() < 1e-9);
    let error = Model::from_obj("corner", &format!("\u{feff}{text}f 1 2 9\n"));
    let error = error.expect_err("the model is refused").to_string();
    assert!(error.contains("corner.obj:9:7: \"9\" was seen"), "{error}");
}

#[test]
fn a_map_without_a_solid_brush_tells_the_likely_reason() {
    let told = |text: String| {
        let source = Source::from_text("bare.map", text);
        compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {})
            .expect_err("nothing is solid")
            .to_string()
    };
    let entity = |class: &str, brushes: &str| format!("{{\n{class}\n{brushes}}}\n");
    assert_eq!(told(String::new()), "bare.map: no brush is solid; it has no brushes");
    let start = "\"classname\" \"info_player_start\"\n\"origin\" \"0 0 0\"";
    let unnamed = told(entity(start, "") + &entity("", &prism(4)));
    let fault = "the entity of line 5 has brushes, but no classname";
    assert!(unnamed.contains(fault), "{unnamed}");
    let door = told(entity("\"classname\" \"func_door\"", &prism(4)));
    assert!(door.contains("the entity of line 1, func_door, has brushes"), "{door}");
    // Water needs no solid brush, and is none.
    let water = entity("\"classname\" \"worldspawn\"", &prism(4).replace("stone", "*water"));
    assert_eq!(told(water), "bare.map: no brush is solid");
}
