//! Bodies that are drawn in a map, from the text of the map alone.

use std::sync::Arc;

use glam::DVec3;

use super::Shape;
use crate::oracle::brushes::{Content, Polyhedron, content};
use crate::oracle::map_text::Entity;

/// The brushes of each entity that is not part of the static world, in the order of the text. Their
/// corners are relative to the point that the body turns about: the entity's `origin`, or else the
/// middle of the box around the brushes, rounded to whole units. As in Quake, the first of these
/// entities is the model `*1`.
///
/// # Panics
/// If a brush has no volume.
pub fn drawn_bodies(entities: &[Entity]) -> Vec<Vec<Arc<Shape>>> {
    let is_static = |entity: &Entity| {
        entity.brushes.iter().any(|brush| content(entity, brush) != Content::Nothing)
            || entity.get("classname") == Some("worldspawn")
    };
    let drawn = entities.iter().filter(|it| !it.brushes.is_empty() && !is_static(it));
    drawn.map(body).collect()
}

fn body(entity: &Entity) -> Vec<Arc<Shape>> {
    let solids = entity.brushes.iter().map(|brush| {
        let solid = Polyhedron::from_text(brush);
        solid.unwrap_or_else(|| panic!("the brush of line {} has no volume", brush.line))
    });
    let loops: Vec<Vec<Vec<DVec3>>> = solids
        .map(|solid| {
            let polygon =
                |polygon: &Vec<[f64; 3]>| polygon.iter().map(|c| DVec3::from(*c)).collect();
            solid.loops().iter().map(polygon).collect()
        })
        .collect();
    let corners = || loops.iter().flatten().flatten().copied();
    let low = corners().fold(DVec3::INFINITY, DVec3::min);
    let high = corners().fold(DVec3::NEG_INFINITY, DVec3::max);
    let middle = entity.origin().map_or(low.midpoint(high).round(), DVec3::from);
    loops
        .iter()
        .map(|solid| {
            let about = |polygon: &Vec<DVec3>| polygon.iter().map(|&c| c - middle).collect();
            Shape::from_loops(&solid.iter().map(about).collect::<Vec<_>>())
        })
        .collect()
}
