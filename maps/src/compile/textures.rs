//! The textures of a map's surface. An `.obsp` has none, because no query needs them. Programs that
//! draw a map may read the textures' names from the source.

use std::collections::HashMap;

use super::options::CompileOptions;
use super::parsed_map::ParsedMap;
use super::source::map::SourceBrush;
use super::source::{Curves, Source};
use super::written_plane::WrittenPlane;
use crate::geometry::{ConvexSolid, Face};
use crate::map::Map;

/// The names of the textures on the surface of a map.
///
/// ```
/// use std::path::Path;
///
/// use obsp::{Map, Source, SurfaceTextures};
///
/// # let arena = Map::load(Path::new("arena.obsp"))?;
/// # let terrain = Map::load(Path::new("terrain.obsp"))?;
/// let source = Source::read(Path::new("arena.map"))?;
/// let textures = SurfaceTextures::read(&source, &arena).expect("the source of this world");
/// assert_eq!(textures.of_polygons().len(), arena.polygons().len());
/// assert!(textures.names().iter().any(|name| name == "wall_stone"));
/// // Another map has another source.
/// assert!(SurfaceTextures::read(&source, &terrain).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceTextures {
    names: Vec<String>,
    of_polygons: Vec<usize>,
}

impl SurfaceTextures {
    /// The textures of the surface of `map`, by its source. `None` if the map was not compiled from
    /// this text, because its solids are then different.
    pub fn read(source: &Source, map: &Map) -> Option<Self> {
        [Curves::LeftOut, Curves::Solid].into_iter().find_map(|curves| {
            let options = CompileOptions { curves, ..CompileOptions::default() };
            let parsed = ParsedMap::read(source, &options).ok()?;
            let solids = parsed.statics.iter().map(|brush| &brush.solid);
            solids.eq(map.solids()).then(|| Self::of(&parsed, map))
        })
    }

    fn of(parsed: &ParsedMap, map: &Map) -> Self {
        let (mut names, mut known) = (Vec::new(), HashMap::new());
        let mut number = |name: &str| {
            *known.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let polygons = map.surface().iter();
        let of_polygons = polygons
            .map(|(at, _)| number(&parsed.statics[at.solid as usize].textures[at.face as usize]))
            .collect();
        Self { names, of_polygons }
    }

    /// The names, each once.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each of [`Map::polygons`] the index of its texture's name.
    pub fn of_polygons(&self) -> &[usize] {
        &self.of_polygons
    }
}

/// The names of the textures on the faces of a solid that was made of `brush`.
pub(super) fn of_faces(solid: &ConvexSolid, brush: &SourceBrush) -> Vec<String> {
    let written: Vec<(WrittenPlane, &str)> = (1..)
        .zip(&brush.faces)
        .filter_map(|(number, face)| {
            let plane = WrittenPlane::of(face, number).ok()??;
            Some((plane, face.texture.name.as_str()))
        })
        .collect();
    let texture = |face: &Face| {
        let likeness = |(written, _): &&(WrittenPlane, &str)| {
            let away = (written.plane.distance - face.plane.distance).abs();
            // Planes that face the same way differ in their distance.
            written.plane.normal.dot(face.plane.normal) - 1e-9 * away
        };
        let nearest = written.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        nearest.map_or("", |(_, name)| name).to_owned()
    };
    solid.faces().iter().map(texture).collect()
}
