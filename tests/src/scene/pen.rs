//! The pen that a heap is dropped into, and the bodies of a heap.

use std::fmt::Write;

use clap::ValueEnum;
use obsp::{CompileError, CompileOptions, Source, Spaces};
use obsp_sim::Random;
use serde::Serialize;

/// The models of a heap's bodies. From body to body, the models are used in rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum HeapModels {
    /// Crates alone.
    Crates,
    /// Convex models: crates, barrels, small crates, planks.
    Mixed,
    /// Models of several parts, and crates.
    Concave,
}

impl HeapModels {
    /// Names of the models.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Crates => &["crate"],
            Self::Mixed => &["crate", "barrel", "small_crate", "plank"],
            Self::Concave => &["l_block", "u_block", "star", "crate"],
        }
    }
}

/// Each body adds a square of floor with this side, in units. So all heaps are about equally high,
/// with any number of bodies.
const ROOM: f64 = 16.0;

/// Distance of two bodies in the grid that they are dropped in, in units. Every other layer lies in
/// the gaps of the one below, so that no towers form.
const SPACING: i32 = 56;

/// A body is at most this far from its place in the grid, in units.
const OFF: f64 = 4.0;

/// Thickness of the walls, in units.
pub(super) const WALL: i32 = 32;

/// How large a pen is, in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct PenSize {
    /// Half the side of the pen's floor.
    pub(super) half: i32,
    /// Height of the pen's walls above its floor.
    pub(super) top: i32,
}

impl PenSize {
    /// The size for this many bodies.
    pub(super) fn of(objects: u32) -> Self {
        let side = (f64::from(objects).sqrt() * ROOM) as i32;
        let half = side.max(2 * SPACING) / 2;
        let columns = Self { half, top: 0 }.columns();
        let layers = objects.div_ceil((columns * columns) as u32) as i32;
        Self { half, top: (layers + 1) * SPACING }
    }

    /// Columns of the grid that the bodies are dropped in.
    fn columns(self) -> i32 {
        (2 * self.half / SPACING - 1).max(1)
    }
}

/// The map of a heap: a pen without a roof, whose floor is at height zero, and `objects` props in a
/// grid above it. Each body is turned about the vertical and put a little off its place, both from
/// `seed`.
///
/// # Errors
/// [`CompileError`] if the map does not compile, which would be a defect.
pub fn pen(objects: u32, models: HeapModels, seed: u64) -> Result<obsp::Map, CompileError> {
    let PenSize { half, top } = PenSize::of(objects);
    let outer = half + WALL;
    let mut brushes = block([-outer, -outer, -WALL], [outer + 256, outer, 0]);
    brushes += &block([-outer, -outer, 0], [-half, outer, top]);
    brushes += &block([half, -outer, 0], [outer, outer, top]);
    brushes += &block([-half, -outer, 0], [half, -half, top]);
    brushes += &block([-half, half, 0], [half, outer, top]);
    heap_over(&brushes, objects, models, seed, 0)
}

/// A map of level ground, with the bodies of [`pen`] higher by `lift` units. The map has no pen,
/// because a pen that is shaken is a body.
///
/// # Errors
/// [`CompileError`] if the map does not compile, which would be a defect.
pub(super) fn ground(
    objects: u32,
    models: HeapModels,
    seed: u64,
    lift: i32,
) -> Result<obsp::Map, CompileError> {
    let side = PenSize::of(objects).half + WALL + 256;
    heap_over(&block([-side, -side, -WALL], [side, side, 0]), objects, models, seed, lift)
}

/// The map of a heap over some brushes.
fn heap_over(
    brushes: &str,
    objects: u32,
    models: HeapModels,
    seed: u64,
    lift: i32,
) -> Result<obsp::Map, CompileError> {
    let size = PenSize::of(objects);
    let columns = size.columns();
    // Nobody plays, but a match needs a spawn point. It is beside the pen.
    let mut entities = format!(
        "{{\n\"classname\" \"info_player_start\"\n\"origin\" \"{} 0 25\"\n}}\n",
        size.half + WALL + 128
    );
    let mut random = Random::new(seed);
    let names = models.names();
    for index in 0..objects {
        let (place, layer) =
            (index as i32 % (columns * columns), index as i32 / (columns * columns));
        let mut along = |cell: i32| {
            let aside = if layer % 2 == 0 { -SPACING / 4 } else { SPACING / 4 };
            let middle =
                f64::from(cell * SPACING + aside) - f64::from((columns - 1) * SPACING) / 2.0;
            middle + random.between(-OFF, OFF)
        };
        let (x, y) = (along(place % columns), along(place / columns));
        let z = f64::from(layer * SPACING + SPACING / 2 + lift);
        let angle = random.between(0.0, 360.0);
        let model = names[index as usize % names.len()];
        // Writing to a string cannot fail.
        let _ = writeln!(
            entities,
            "{{\n\"classname\" \"prop\"\n\"model\" \"{model}\"\n\"origin\" \"{x} {y} {z}\"\n\"angle\" \"{angle}\"\n}}"
        );
    }
    let text = format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n{entities}");
    let source = Source::from_text("pen", text);
    let compiled =
        obsp::compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {})?;
    Ok(compiled.map)
}

/// A brush that is a box.
pub(super) fn block([x0, y0, z0]: [i32; 3], [x1, y1, z1]: [i32; 3]) -> String {
    // Three points of each face, clockwise as seen from outside.
    let faces = [
        [[x1, 0, 0], [x1, 0, 1], [x1, 1, 0]],
        [[x0, 0, 0], [x0, 1, 0], [x0, 0, 1]],
        [[0, y1, 0], [1, y1, 0], [0, y1, 1]],
        [[0, y0, 0], [0, y0, 1], [1, y0, 0]],
        [[0, 0, z1], [0, 1, z1], [1, 0, z1]],
        [[0, 0, z0], [1, 0, z0], [0, 1, z0]],
    ];
    let point = |[x, y, z]: [i32; 3]| format!("( {x} {y} {z} ) ");
    let face = |face: [[i32; 3]; 3]| face.map(point).concat() + "plain 0 0 0 1 1\n";
    format!("{{\n{}}}\n", faces.map(face).concat())
}
