//! `/scene`: the map's visible polygons, the models and the grid, as JSON. `seen` finds the
//! polygons that can be seen, and `weld` makes them share their corners.

mod intermission;
#[cfg(test)]
mod joints;
mod seen;
mod weld;

use bytes::Bytes;
use glam::DVec3;
use obsp::geometry::{Aabb, Face};
use obsp::model::Model;
use obsp::{Map, SurfaceTextures};
use obsp_proto::control::MapHash;
use serde::Serialize;

use intermission::Intermission;
use seen::Inside;
use weld::weld;

/// The part of the picture that never changes, as a page draws it.
#[derive(Serialize)]
struct Scene<'a> {
    map: &'a str,
    hash: String,
    bounds: Bounds,
    /// The visible polygons. Each is the list of its corners' x, y and z in units,
    /// counter-clockwise as seen from the front.
    polygons: Vec<Vec<f32>>,
    /// The names of textures, and for each polygon the index of its own. Both are empty if the
    /// server does not have the source of the map.
    textures: &'a [String],
    textured: Vec<usize>,
    /// The models, in the order of their numbers on the wire.
    models: Vec<Shape<'a>>,
    sizes: &'a [Size<'a>],
    grid: Grid,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    liquids: Vec<Liquid>,
    /// The cameras that the map names for the end of a round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    intermissions: Vec<Intermission>,
}

/// A volume of a liquid.
#[derive(Serialize)]
struct Liquid {
    kind: &'static str,
    /// The planes that bound it: outward normal, and distance from the origin in units.
    planes: Vec<[f64; 4]>,
    /// Its faces that look up into air, in the same form as the visible polygons.
    surfaces: Vec<Vec<f32>>,
}

#[derive(Serialize)]
struct Bounds {
    min: [f64; 3],
    max: [f64; 3],
}

#[derive(Serialize)]
struct Shape<'a> {
    name: &'a str,
    #[serde(flatten)]
    bounds: Bounds,
    polygons: Vec<Vec<f32>>,
}

#[derive(Serialize)]
struct Size<'a> {
    name: &'a str,
    half_extents: [f32; 3],
}

/// The cells of the simulation's grid.
#[derive(Serialize)]
struct Grid {
    origin: [f64; 2],
    cell: f64,
    counts: [u16; 2],
}

impl From<Aabb> for Bounds {
    fn from(bounds: Aabb) -> Self {
        Self { min: bounds.min.to_array(), max: bounds.max.to_array() }
    }
}

/// The content of `/scene`: the map, its sizes and grid, and the models, as JSON.
pub(crate) fn of(map: &Map, textures: Option<&SurfaceTextures>, models: &[Model]) -> Bytes {
    let sizes: Vec<Size<'_>> = map
        .sizes()
        .iter()
        .map(|size| Size { name: &size.name, half_extents: size.half_extents.to_array() })
        .collect();
    let (origin, cell, counts) = obsp_sim::query::grid(&map.bounds());
    let inside = Inside::of(map);
    let seen: Vec<(usize, &[DVec3])> = (0..)
        .zip(map.polygons())
        .filter(|(_, polygon)| inside.sees(polygon))
        .map(|(index, polygon)| (index, &polygon.winding.vertices[..]))
        .collect();
    let welded = weld(seen.iter().map(|(_, corners)| *corners));
    let texture = |of_seen: usize| textures.map(|all| all.of_polygons()[seen[of_seen].0]);
    let scene = Scene {
        map: map.name(),
        hash: MapHash(map.hash()).to_string(),
        bounds: map.bounds().into(),
        textures: textures.map(SurfaceTextures::names).unwrap_or_default(),
        textured: welded.iter().filter_map(|(index, _)| texture(*index)).collect(),
        polygons: welded.iter().map(|(_, polygon)| corners(polygon)).collect(),
        models: models
            .iter()
            .map(|model| Shape {
                name: model.name(),
                bounds: model.bounds().into(),
                polygons: model.polygons().iter().map(|p| corners(&p.winding.vertices)).collect(),
            })
            .collect(),
        sizes: &sizes,
        grid: Grid { origin, cell, counts },
        liquids: map.liquids().iter().map(|liquid| liquid_of(map, liquid)).collect(),
        intermissions: intermission::of(map),
    };
    // Numbers, strings and lists can always be written as JSON.
    serde_json::to_vec(&scene).unwrap_or_default().into()
}

/// A face of a liquid is a surface only if there is no liquid at this many units above it.
const ABOVE: f64 = 0.25;

fn liquid_of(map: &Map, liquid: &obsp::Liquid) -> Liquid {
    let solid = liquid.solid();
    let plane = |face: &Face| {
        let [x, y, z] = face.plane.normal.to_array();
        [x, y, z, face.plane.distance]
    };
    let surfaces = solid.faces().iter().filter_map(|face| {
        let winding = solid.winding(face);
        let above = winding.centre() + face.plane.normal * ABOVE;
        // The faces at the sides mostly lie on walls, which hide them.
        let is_surface = face.plane.normal.z > 0.0 && map.liquid_at(above).is_none();
        is_surface.then(|| corners(&winding.vertices))
    });
    Liquid {
        kind: liquid.kind().name(),
        planes: solid.faces().iter().map(plane).collect(),
        surfaces: surfaces.collect(),
    }
}

fn corners(polygon: &[DVec3]) -> Vec<f32> {
    polygon.iter().flat_map(|corner| corner.as_vec3().to_array()).collect()
}
