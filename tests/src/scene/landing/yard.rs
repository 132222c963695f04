use std::fmt::Write;

use obsp::{CompileError, CompileOptions, Source, Spaces};
use obsp_sim::Random;

use crate::scene::pen::block;

/// Distance of two pads, in units. In any rotation, at most half a tank's width is between two of
/// them, so the path to a pad leads over others.
const SPACING: f64 = 216.0;

/// A pad is at most this far from its place in the grid, in units.
const OFF: f64 = 4.0;

/// Distance of two parked tanks, in units.
const LOT_SPACING: f64 = 160.0;

/// Width of the strips between the pads and the lots, in units.
const STRIP: f64 = 256.0;

/// Floor beyond the last lot, in units.
const MARGIN: i32 = 256;

/// Thickness of the floor, in units.
const FLOOR: i32 = 32;

/// A map for `landers` hovertanks. It has a floor at height zero, a repair pad for each tank in a
/// grid in the middle, and spawn points in two lots west and east of the grid. Each pad is turned
/// and put a little off its place, both from `seed`.
///
/// # Errors
/// [`CompileError`] if the map does not compile, which would be a defect.
pub fn yard(landers: u16, seed: u64) -> Result<obsp::Map, CompileError> {
    let count = i32::from(landers.max(1));
    let columns = (1..).find(|side| side * side >= count).unwrap_or(count);
    let side = f64::from(columns) * SPACING;
    let mut random = Random::new(seed);
    let mut entities = String::new();
    let mut entity = |class: &str, x: f64, y: f64, z: f64, keys: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            entities,
            "{{\n\"classname\" \"{class}\"\n\"origin\" \"{x} {y} {z}\"\n{keys}}}"
        );
    };
    for index in 0..count {
        let mut along =
            |cell: i32| (f64::from(cell) + 0.5) * SPACING - side / 2.0 + random.between(-OFF, OFF);
        let (x, y) = (along(index % columns), along(index / columns));
        let angle = random.between(0.0, 360.0);
        entity("prop", x, y, 16.0, &format!("\"model\" \"repair_pad\"\n\"angle\" \"{angle}\"\n"));
    }
    let rows = ((side / LOT_SPACING) as i32).max(1);
    let mut farthest = 0.0_f64;
    for index in 0..count {
        let (lot, place) = (index % 2, index / 2);
        let out = side / 2.0 + STRIP + f64::from(place / rows) * LOT_SPACING;
        let along = (f64::from(place % rows) - f64::from(rows - 1) / 2.0) * LOT_SPACING;
        entity("info_player_start", if lot == 0 { -out } else { out }, along, 32.0, "");
        farthest = farthest.max(out);
    }
    let (x, y) = (farthest as i32 + MARGIN, side as i32 / 2 + MARGIN);
    let floor = block([-x, -y, -FLOOR], [x, y, 0]);
    let text = format!("{{\n\"classname\" \"worldspawn\"\n{floor}}}\n{entities}");
    let source = Source::from_text("yard", text);
    let compiled =
        obsp::compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {})?;
    Ok(compiled.map)
}
