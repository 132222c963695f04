//! A closed room, and models, as text.

use std::fmt::Write;

use obsp::{CompileOptions, Map, Source, Spaces, compile};

/// A brush that is a box.
pub(crate) fn block([x0, y0, z0]: [f64; 3], [x1, y1, z1]: [f64; 3]) -> String {
    let planes = [
        [[x1, 0.0, 0.0], [x1, 0.0, 1.0], [x1, 1.0, 0.0]],
        [[x0, 0.0, 0.0], [x0, 1.0, 0.0], [x0, 0.0, 1.0]],
        [[0.0, y1, 0.0], [1.0, y1, 0.0], [0.0, y1, 1.0]],
        [[0.0, y0, 0.0], [0.0, y0, 1.0], [1.0, y0, 0.0]],
        [[0.0, 0.0, z1], [0.0, 1.0, z1], [1.0, 0.0, z1]],
        [[0.0, 0.0, z0], [1.0, 0.0, z0], [0.0, 1.0, z0]],
    ];
    let mut text = String::from("{\n");
    for plane in planes {
        for [x, y, z] in plane {
            write!(text, "( {x:?} {y:?} {z:?} ) ").expect("a string grows");
        }
        text += "stone 0 0 0 1 1\n";
    }
    text + "}\n"
}

/// A room of 1,024 units, 512 high, with a box in it up to `corner`, water on a part of its floor,
/// and a spawn point.
pub(crate) fn text_with(corner: [f64; 3], [x, y, z]: [f64; 3]) -> String {
    let walls = [
        ([-512.0, -512.0, -16.0], [512.0, 512.0, 0.0]),
        ([-512.0, -512.0, 512.0], [512.0, 512.0, 528.0]),
        ([-528.0, -528.0, -16.0], [-512.0, 528.0, 528.0]),
        ([512.0, -528.0, -16.0], [528.0, 528.0, 528.0]),
        ([-512.0, -528.0, -16.0], [512.0, -512.0, 528.0]),
        ([-512.0, 512.0, -16.0], [512.0, 528.0, 528.0]),
        ([32.0, 32.0, 0.0], corner),
    ];
    let water = block([-200.0, -64.0, 0.0], [64.0, 32.0, 40.0]).replace("stone", "*water");
    let brushes: String = walls.map(|(min, max)| block(min, max)).concat() + &water;
    format!(
        "{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n\
         {{\n\"classname\" \"info_player_start\"\n\"origin\" \"{x:?} {y:?} {z:?}\"\n}}\n"
    )
}

pub(crate) fn text() -> String {
    text_with([64.0; 3], [-400.0, 0.0, 24.0])
}

pub(crate) fn room() -> Map {
    room_with(false)
}

/// The room. The space around it is solid, or empty with `keep_outside`.
pub(crate) fn room_with(keep_outside: bool) -> Map {
    let source = Source::from_text("room", text());
    let options = CompileOptions { strict: true, keep_outside, ..CompileOptions::default() };
    let found = compile(&source, &Spaces::default(), &options, &mut |_, _, _| ());
    found.expect("the room compiles").map
}

/// A tetrahedron with one corner at `corner`, scaled by `scale`.
pub(crate) fn obj(corner: [f64; 3], scale: f64) -> String {
    let corners = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], corner];
    let mut text = String::new();
    for [x, y, z] in corners.map(|corner| corner.map(|number| number * scale)) {
        writeln!(text, "v {x:?} {y:?} {z:?}").expect("a string grows");
    }
    text + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
}
