//! Maps of one room, and their judgement by `mapc`.

use std::fmt::Write;
use std::process::Output;

use serde_json::Value;

pub(crate) use crate::command::{Folder, mapc};

/// The output of a command that succeeds, and its warnings.
pub(crate) fn done(arguments: &[&str], input: &str) -> (String, String) {
    let Output { status, stdout, stderr } = mapc(arguments, input);
    let [out, errors] = [stdout, stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(status.code(), Some(0), "{arguments:?}: {errors}{out}");
    (out, errors)
}

/// The message of a command that fails.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = mapc(arguments, "");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// The part of a face's text that follows the points.
pub(crate) type Surface = String;

pub(crate) fn standard(name: &str) -> Surface {
    format!("{name} 0 0 0 1 1")
}

pub(crate) fn with_flags(name: &str, contents: u32, surface: u32) -> Surface {
    format!("{name} 0 0 0 1 1 {contents} {surface} 0")
}

pub(crate) fn primitive(name: &str) -> Surface {
    format!("( ( 0.0078125 0 0 ) ( 0 0.0078125 0 ) ) {name} 0 0 0")
}

pub(crate) fn brush(min: [i32; 3], max: [i32; 3], surface: &str) -> String {
    let ([x, y, z], [u, v, w]) = (min, max);
    let planes = [
        [[x, y, w], [x, v, w], [u, y, w]],
        [[x, y, z], [u, y, z], [x, v, z]],
        [[u, y, z], [u, y, w], [u, v, z]],
        [[x, y, z], [x, v, z], [x, y, w]],
        [[x, v, z], [u, v, z], [x, v, w]],
        [[x, y, z], [x, y, w], [u, y, z]],
    ];
    let matrix = surface.starts_with('(');
    let mut text = String::from(if matrix { "{\nbrushDef\n{\n" } else { "{\n" });
    for plane in planes {
        for [x, y, z] in plane {
            write!(text, "( {x} {y} {z} ) ").expect("writing to a String never fails");
        }
        writeln!(text, "{surface}").expect("writing to a String never fails");
    }
    text + if matrix { "}\n}\n" } else { "}\n" }
}

/// A sealed room of 576 by 576 by 128 units with a spawn point in a corner. `keys` are the keys of
/// the world.
pub(crate) fn room(keys: &str, wall: &str, brushes: &[String]) -> String {
    const FAR: i32 = 288;
    let mut text = format!("{{\n\"classname\" \"worldspawn\"\n{keys}");
    for (min, max) in [
        ([-FAR, -FAR, -16], [FAR, FAR, 0]),
        ([-FAR, -FAR, 128], [FAR, FAR, 144]),
        ([-FAR - 16, -FAR, -16], [-FAR, FAR, 144]),
        ([FAR, -FAR, -16], [FAR + 16, FAR, 144]),
        ([-FAR, -FAR - 16, -16], [FAR, -FAR, 144]),
        ([-FAR, FAR, -16], [FAR, FAR + 16, 144]),
    ] {
        text += &brush(min, max, wall);
    }
    text += &brushes.concat();
    text + "}\n{\n\"classname\" \"info_player_start\"\n\"origin\" \"-268 -268 28\"\n}\n"
}

/// The queries that the middle of a brush stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stops {
    All,
    /// Players, but no rays.
    Players,
    Nothing,
}

/// Compiles a map, compares the answers at points with the expected ones, and verifies the
/// world. Returns the report of the compiler.
pub(crate) fn judged(
    folder: &Folder,
    map: &str,
    at: &[([i32; 3], Stops, &str)],
    form: &[&str],
) -> Value {
    let source = folder.file("map.map", map);
    let world = folder.0.join("map.obsp").display().to_string();
    // With the other sizes the oracle would take three times as long, and show nothing more.
    let sizes = [("point", "[0, 0, 0]"), ("standing", "[16, 16, 28]")];
    let sizes =
        sizes.map(|(name, half)| format!("[[size]]\nname = \"{name}\"\nhalf_extents = {half}\n"));
    let spaces = folder.file("spaces.toml", sizes.concat());
    let compile = ["compile", &source, "-o", &world, "--json", "--spaces", &spaces];
    let compile = [&compile, form].concat();
    let report = serde_json::from_str(&done(&compile, "").0).expect("a report");
    let points: String = at.iter().map(|([x, y, z], ..)| format!("{x} {y} {z}\n")).collect();
    let answers = ["point", "standing"].map(|space| {
        let answers = done(&["points", &world, "--space", space], &points).0;
        answers.lines().map(|answer| answer == "solid").collect::<Vec<_>>()
    });
    assert_eq!([answers[0].len(), answers[1].len()], [at.len(); 2]);
    for (index, (_, expected, what)) in at.iter().enumerate() {
        use Stops::{All, Nothing, Players};
        let stops = match [answers[0][index], answers[1][index]] {
            [true, true] => All,
            [false, true] => Players,
            [false, false] => Nothing,
            [true, false] => panic!("{what} stops rays but no players"),
        };
        assert_eq!(stops, *expected, "{what}");
    }
    let verify = ["verify", &world, "--source", &source, "--points", "60", "--traces", "10"];
    done(&[&verify, form].concat(), "");
    report
}

/// Brushes in a grid, one for each row of a table, and their middles.
pub(crate) fn grid<'a>(rows: &[(&'a str, Stops)], surface: fn(&str) -> Surface) -> Grid<'a> {
    assert!(rows.len() <= 64, "the row has no place for more brushes");
    let mut grid = Grid { brushes: Vec::new(), at: Vec::new() };
    for (index, &(name, stops)) in rows.iter().enumerate() {
        let [x, y] = [index % 8, index / 8].map(|i| 64 * i as i32 - 224);
        let (min, max) = ([x - 8, y - 8, 56], [x + 8, y + 8, 72]);
        grid.brushes.push(brush(min, max, &surface(name)));
        grid.at.push(([x, y, 64], stops, name));
    }
    grid
}

pub(crate) struct Grid<'a> {
    pub(crate) brushes: Vec<String>,
    pub(crate) at: Vec<([i32; 3], Stops, &'a str)>,
}
