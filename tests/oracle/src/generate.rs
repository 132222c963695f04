//! Generators of difficult maps. Brushes are rotated off the grid and rounded to a few decimals,
//! nearly parallel, or on eighths of a unit. Some are thinner than a unit, or about as thin as
//! walls may be. Some have faces that are written twice, or by far points. In some maps thousands
//! of brushes overlap, some have recesses that touch the outside, and some are open.
//!
//! [`rotated`] rotates an existing map, [`World`] generates one. Both return text, so that compiler
//! and oracle read the same rounded numbers.

mod room;
mod shape;
mod world;

use std::fmt::Write;

use crate::brushes::Polyhedron;
use crate::map_text::{Brush, Entity};
pub use shape::{Faces, Turn};
use shape::{Shape, write_point};
pub use world::{World, wide};

/// The text of a map rotated about the origin, with every coordinate of brushes and entities
/// rounded to `places` decimals.
///
/// Each face is written by corners of the brush, as editors do. A brush that encloses no volume
/// is written by its original points.
pub fn rotated(entities: &[Entity], turn: &Turn, places: usize, faces: Faces) -> String {
    let mut text = String::new();
    for entity in entities {
        text += "{\n";
        for (key, value) in &entity.pairs {
            let origin = (key == "origin").then(|| entity.origin()).flatten();
            match origin.map(|at| turn.apply(at)) {
                Some([x, y, z]) => {
                    writeln!(text, "\"origin\" \"{x:.places$} {y:.places$} {z:.places$}\"")
                }
                None => writeln!(text, "\"{key}\" \"{value}\""),
            }
            .expect("writing to a String cannot fail");
        }
        for brush in &entity.brushes {
            text += &rotated_brush(brush, turn, places, faces);
        }
        text += "}\n";
    }
    text
}

fn rotated_brush(brush: &Brush, turn: &Turn, places: usize, faces: Faces) -> String {
    let texture = |face: usize| brush.faces[face].texture.as_str();
    if let Some(polyhedron) = Polyhedron::from_text(brush) {
        let loops = polyhedron.loops();
        let texture = texture(0);
        return Shape { faces: loops }.turned(turn).to_text(places, faces, texture);
    }
    let mut text = String::from("{\n");
    for (index, face) in brush.faces.iter().enumerate() {
        for point in &face.points {
            let point = turn.apply(point.each_ref().map(|c| c.rounded()));
            write_point(&mut text, point, places);
        }
        writeln!(text, "{} 0 0 0 1 1", texture(index)).expect("writing to a String cannot fail");
    }
    text + "}\n"
}
