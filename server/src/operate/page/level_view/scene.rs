//! `/scene`: the map's visible polygons, the models and the grid, as JSON.

use bytes::Bytes;
use glam::DVec3;
use obsp::World;
use obsp::geometry::{Aabb, Polygon};
use obsp::model::Model;
use obsp_proto::control::MapHash;
use serde::Serialize;

/// Units by which a point is moved off a surface, to test whether the space in front of the surface
/// is free.
const IN_FRONT: f64 = 0.5;

/// Share of the way from a corner to the middle of its polygon by which a tested point is moved,
/// because the corner itself may touch a wall.
const INWARD: f64 = 0.1;

/// The part of the picture that never changes, as a page draws it.
#[derive(Serialize)]
struct Scene<'a> {
    map: &'a str,
    hash: String,
    bounds: Bounds,
    /// The visible polygons. Each is the list of its corners' x, y and z in units,
    /// counter-clockwise as seen from the front.
    polygons: Vec<Vec<f32>>,
    /// The models, in the order of their numbers on the wire.
    models: Vec<Shape<'a>>,
    sizes: &'a [Size<'a>],
    grid: Grid,
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
pub(crate) fn of(map: &World, models: &[Model]) -> Bytes {
    let sizes: Vec<Size<'_>> = map
        .sizes()
        .iter()
        .map(|size| Size { name: &size.name, half_extents: size.half_extents.to_array() })
        .collect();
    let (origin, cell, counts) = obsp_sim::query::grid(&map.bounds());
    let seen = map.polygons().iter().filter(|polygon| is_seen(map, polygon));
    let scene = Scene {
        map: map.name(),
        hash: MapHash(map.hash()).to_string(),
        bounds: map.bounds().into(),
        polygons: seen.map(corners).collect(),
        models: models
            .iter()
            .map(|model| Shape {
                name: model.name(),
                bounds: model.bounds().into(),
                polygons: model.polygons().iter().map(corners).collect(),
            })
            .collect(),
        sizes: &sizes,
        grid: Grid { origin, cell, counts },
    };
    // Numbers, strings and lists can always be written as JSON.
    serde_json::to_vec(&scene).unwrap_or_default().into()
}

fn corners(polygon: &Polygon) -> Vec<f32> {
    let vertices = &polygon.winding.vertices;
    vertices.iter().flat_map(|corner| corner.as_vec3().to_array()).collect()
}

/// Whether there is free space in front of a polygon. Outside of a sealed map the onion is solid.
/// So the outer walls, which would hide the rooms from above, have no free space in front of them.
fn is_seen(map: &World, polygon: &Polygon) -> bool {
    let point = map.sizes().iter().find(|size| size.is_point());
    let Some(point) = point.and_then(|size| map.size(&size.name)) else { return true };
    let off = polygon.plane.normal * IN_FRONT;
    let probes = polygon.winding.vertices.iter().map(|corner| corner.lerp(polygon.centre, INWARD));
    let is_free = |at: DVec3| !map.is_solid(point, (at + off).as_vec3());
    is_free(polygon.centre) || probes.into_iter().any(is_free)
}
