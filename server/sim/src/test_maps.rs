//! Small maps for tests: boxes and slopes, as `.map` text.

use std::sync::Arc;

use obsp::{CompileOptions, PlayerSize, Source, Spaces};

/// A point of a map.
pub(crate) type Point = [i32; 3];

/// A brush by its planes: three points each, clockwise as seen from outside.
fn brush(planes: &[[Point; 3]]) -> String {
    let point = |[x, y, z]: &Point| format!("( {x} {y} {z} ) ");
    let plane = |plane: &[Point; 3]| plane.iter().map(point).collect::<String>() + "t 0 0 0 1 1\n";
    format!("{{\n{}}}\n", planes.iter().map(plane).collect::<String>())
}

/// A brush that is a box.
pub(crate) fn block([x0, y0, z0]: Point, [x1, y1, z1]: Point) -> String {
    brush(&[
        [[x1, 0, 0], [x1, 0, 1], [x1, 1, 0]],
        [[x0, 0, 0], [x0, 1, 0], [x0, 0, 1]],
        [[0, y1, 0], [1, y1, 0], [0, y1, 1]],
        [[0, y0, 0], [0, y0, 1], [1, y0, 0]],
        [[0, 0, z1], [0, 1, z1], [1, 0, z1]],
        [[0, 0, z0], [1, 0, z0], [0, 1, z0]],
    ])
}

/// A brush of water that is a box.
pub(crate) fn water(from: Point, to: Point) -> String {
    block(from, to).replace(") t 0", ") *water 0")
}

/// A brush that fills the box below a slope, which falls towards +x over the whole box.
pub(crate) fn slope([x0, y0, z0]: Point, [x1, y1, z1]: Point) -> String {
    brush(&[
        [[x0, 0, z1], [x0, 1, z1], [x1, 0, z0]],
        [[x0, 0, 0], [x0, 1, 0], [x0, 0, 1]],
        [[0, y1, 0], [1, y1, 0], [0, y1, 1]],
        [[0, y0, 0], [0, y0, 1], [1, y0, 0]],
        [[0, 0, z0], [1, 0, z0], [0, 1, z0]],
    ])
}

/// Four slopes that fall to a square about `x`, `y`, `z` with sides of twice `least` units. They
/// rise to a square with sides of twice `greatest` units, `height` units higher.
pub(crate) fn funnel([x, y, z]: Point, least: i32, greatest: i32, height: i32) -> String {
    let top = z + height;
    let slope = |[a, b]: [i32; 2]| {
        // Along (a, b) the slope rises; (-b, a) is level.
        let at = |out: i32, side: i32, z: i32| [x + a * out - b * side, y + b * out + a * side, z];
        let (inner, outer, wide) = (least, greatest, greatest + 8);
        brush(&[
            [at(inner, 0, z), at(outer, 0, top), at(inner, -1, z)],
            [at(outer, 0, z), at(outer, 0, top), at(outer, 1, z)],
            [at(0, 0, z), at(1, 0, z), at(0, 1, z)],
            [at(0, wide, z), at(1, wide, z), at(0, wide, top)],
            [at(0, -wide, z), at(0, -wide, top), at(1, -wide, z)],
        ])
    };
    [[1, 0], [0, 1], [-1, 0], [0, -1]].into_iter().map(slope).collect()
}

/// The map of these brushes, with a spawn point at `spawn` and more `entities`.
pub(crate) fn compiled(brushes: &str, spawn: Point, entities: &str) -> Arc<obsp::Map> {
    compiled_for(&PlayerSize::default(), brushes, spawn, entities)
}

/// The map of these brushes, compiled for players of another size.
pub(crate) fn compiled_for(
    players: &PlayerSize,
    brushes: &str,
    spawn: Point,
    entities: &str,
) -> Arc<obsp::Map> {
    let [x, y, z] = spawn;
    let text = format!(
        "{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n\
         {{\n\"classname\" \"info_player_start\"\n\"origin\" \"{x} {y} {z}\"\n}}\n{entities}"
    );
    let options = CompileOptions { strict: true, ..CompileOptions::default() };
    let source = Source::from_text("test map", text);
    let spaces = Spaces::default().with_players(players).expect("the sizes are valid");
    let compiled = obsp::compile(&source, &spaces, &options, &mut |_, _, _| {});
    Arc::new(compiled.expect("the test map compiles").map)
}
