//! Generated worlds: a closed room with difficult brushes.

use std::f64::consts::TAU;

use super::room::Room;
use super::shape::{Faces, Shape, Turn};
use crate::Random;

/// Half the side of the room around a world, in units.
const ROOM: f64 = 512.0;

/// A kind of world: a room with a player in it, and difficult brushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum World {
    /// Rotated boxes whose faces are written as triangles.
    Triangles,
    /// Rotated boxes with faces doubled within 0.0001 to 0.01 units.
    Doubled,
    /// Rotated planks down to a twentieth of a unit thick.
    Planks,
    /// Boxes, ramps and posts on eighths of a unit.
    Eighths,
    /// Wedges of 0.02 to 2 degrees, some against each other.
    Wedges,
    /// Many boxes that overlap each other and the walls.
    Overlapping,
    /// Walls about as thick as the thinnest solid one, with gaps as narrow between them.
    Thin,
    /// Boxes and ramps whose faces are written by points up to a hundred million units away.
    FarPoints,
    /// Boxes, and recesses in a wall, whose tips may touch the outside and have lights in them.
    Recesses,
    /// Boxes in a room that lacks a wall or has a slot in one.
    Open,
}

/// The text of a closed room with `count` boxes and ramps in it, some of them rotated. The size of
/// the room grows with their number: about a tenth of it is solid.
pub fn wide(count: usize, random: &mut Random) -> String {
    let reach = (88.0 * (count as f64).cbrt()).ceil();
    let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
    for wall in walls(reach) {
        text += &wall.to_text(0, Faces::Once, "wall");
    }
    for _ in 0..count {
        // Most coordinates are on a grid, as in real maps.
        let grid = |x: f64, step: f64| (x / step).round() * step;
        let size = [(); 3].map(|()| grid(random.between(16.0, 160.0), 16.0));
        let shape = if random.one_in(4) {
            Shape::prism(&[[0.0, 0.0], [size[0], 0.0], [0.0, size[1]]], 0.0, size[2])
        } else {
            Shape::cuboid([0.0; 3], size)
        };
        let angle = if random.one_in(8) { TAU / 8.0 } else { 0.0 };
        let turn = Turn::new([0.0, 0.0, 1.0], angle);
        let by = place(random, reach).map(|x| grid(x, 64.0));
        text += &shape.turned(&turn).moved(by).to_text(3, Faces::Once, "wall");
    }
    text += "}\n{\n\"classname\" \"info_player_start\"\n";
    text + &format!("\"origin\" \"0 0 {}\"\n}}\n", -reach + 64.0)
}

impl World {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Triangles,
        Self::Doubled,
        Self::Planks,
        Self::Eighths,
        Self::Wedges,
        Self::Overlapping,
        Self::Thin,
        Self::FarPoints,
        Self::Recesses,
        Self::Open,
    ];

    /// The text of a map of this kind, with about `count` brushes in its room.
    pub fn text(self, count: usize, random: &mut Random) -> String {
        let places = match self {
            Self::Eighths => 3,
            // With fewer decimals, rounding would remove most of these brushes.
            Self::Thin => [6, 9][random.below(2)],
            _ => [2, 3, 6, 9][random.below(4)],
        };
        let upright = matches!(self, Self::Eighths | Self::Overlapping)
            || matches!(self, Self::Thin | Self::Recesses | Self::Open) && random.one_in(2);
        let whole = if upright { Turn::new([0.0, 0.0, 1.0], 0.0) } else { Turn::any(random) };
        let room = match self {
            Self::Recesses => Room::with_recesses(ROOM, random),
            Self::Open => Room::open(ROOM, random),
            _ => Room { walls: walls(ROOM), lights: Vec::new() },
        };
        let mut text = String::from("{\n\"classname\" \"worldspawn\"\n");
        for wall in room.walls {
            text += &wall.turned(&whole).to_text(places, Faces::Once, "wall");
        }
        for _ in 0..count {
            let (shape, faces) = self.shape(random);
            text += &shape.turned(&whole).to_text(places, faces, "wall");
        }
        text += "}\n";
        let mut entity = |classname: &str, at: [f64; 3]| {
            let [x, y, z] = whole.apply(at);
            text += &format!("{{\n\"classname\" \"{classname}\"\n");
            text += &format!("\"origin\" \"{x:.places$} {y:.places$} {z:.places$}\"\n}}\n");
        };
        entity("info_player_start", [0.0, 0.0, -ROOM + 64.0]);
        for light in room.lights {
            entity("light", light);
        }
        text
    }

    fn shape(self, random: &mut Random) -> (Shape, Faces) {
        let mut log = |low: f64, high: f64| low * (high / low).powf(random.between(0.0, 1.0));
        let (fine, thin, angle) = (log(1e-4, 1e-2), log(0.05, 4.0), log(0.02, 2.0).to_radians());
        let by = place(random, 400.0);
        let size = [(); 3].map(|()| random.between(8.0, 160.0));
        let half = size.map(|s| 0.5 * s);
        let cuboid = Shape::cuboid(half.map(|h| -h), half);
        let turn = Turn::any(random);
        match self {
            Self::Triangles => (cuboid.turned(&turn).moved(by), Faces::Triangles),
            Self::Doubled => (cuboid.turned(&turn).moved(by), Faces::Doubled(fine)),
            Self::Planks => {
                let plank = [half[0], half[1] * 0.2, thin * 0.5];
                let plank = Shape::cuboid(plank.map(|h| -h), plank);
                let faces = if random.one_in(2) { Faces::Once } else { Faces::Triangles };
                (plank.turned(&turn).moved(by), faces)
            }
            Self::Eighths => {
                let eighth = |x: f64| (x * 8.0).round() / 8.0;
                let (by, size) = (by.map(eighth), size.map(eighth));
                let shape = match random.below(3) {
                    0 => Shape::cuboid([0.0; 3], size),
                    1 => {
                        let ramp = [[0.0, 0.0], [size[0], 0.0], [0.0, size[1]]];
                        Shape::prism(&ramp, 0.0, size[2])
                    }
                    _ => {
                        let corner = |i: u32| {
                            let (s, c) = (TAU * f64::from(i) / 8.0).sin_cos();
                            [eighth(c * half[0]), eighth(s * half[0])]
                        };
                        Shape::prism(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner), 0.0, size[2])
                    }
                };
                (shape.moved(by), Faces::Once)
            }
            Self::Wedges => {
                let rise = size[0] * angle.tan();
                let wedge = [[0.0, 0.0], [size[0], 0.0], [size[0], rise]];
                let other = [[0.0, 0.0], [size[0], rise], [0.0, rise]];
                let polygon = if random.one_in(2) { wedge } else { other };
                let step = [16.0, 32.0][random.below(2)];
                // Positions on a grid let some wedges share one, so that they touch each other.
                let by = by.map(|x| (x / step).round() * step);
                let turn = if random.one_in(2) { turn } else { Turn::new([0.0, 0.0, 1.0], 0.0) };
                (Shape::prism(&polygon, 0.0, size[2]).turned(&turn).moved(by), Faces::Once)
            }
            Self::Thin => (slab(random).turned(&turn).moved(by), Faces::Once),
            Self::FarPoints => {
                let by = by.map(f64::round);
                let times = 10_f64.powf(random.between(2.0, 6.0)).round();
                let turn = if random.one_in(2) { turn } else { Turn::new([0.0, 0.0, 1.0], 0.0) };
                let ramp = [[0.0, 0.0], [size[0], 0.0], [0.0, size[1]]];
                let ramp = Shape::prism(&ramp, 0.0, size[2]);
                let shape = if random.one_in(2) { ramp } else { cuboid };
                (shape.turned(&turn).moved(by), Faces::Far(times))
            }
            Self::Overlapping | Self::Recesses | Self::Open => {
                let by = place(random, 560.0).map(f64::round);
                let turn = Turn::new([0.0, 0.0, 1.0], [0.0, TAU / 8.0, 0.3][random.below(3)]);
                (cuboid.turned(&turn).moved(by), Faces::Once)
            }
        }
    }
}

/// A slab about as thick as the thinnest solid, and sometimes exactly as thick.
fn slab(random: &mut Random) -> Shape {
    const LIMIT: f64 = 1.0 / 32.0;
    let around = LIMIT * 10_f64.powf(random.between(-2.0, 1.0));
    let thickness = match random.below(4) {
        0 => LIMIT,
        1 => LIMIT + [-1e-5, 1e-5][random.below(2)],
        _ => around,
    };
    let [x, y] = [(); 2].map(|()| random.between(16.0, 240.0));
    Shape::cuboid([-x, -y, 0.0], [x, y, thickness])
}

fn place(random: &mut Random, reach: f64) -> [f64; 3] {
    [(); 3].map(|()| random.between(-reach, reach))
}

/// The walls of a closed room whose inside extends this far from the origin. They are 32 units
/// thick, and each is as wide as the room with its walls.
pub(super) fn walls(reach: f64) -> Vec<Shape> {
    let mut walls = Vec::new();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let (mut min, mut max) = ([-reach - 32.0; 3], [reach + 32.0; 3]);
            let edges = [reach * side, (reach + 32.0) * side];
            (min[axis], max[axis]) = (edges[0].min(edges[1]), edges[0].max(edges[1]));
            walls.push(Shape::cuboid(min, max));
        }
    }
    walls
}
