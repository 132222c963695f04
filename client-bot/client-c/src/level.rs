//! The level: the map, the sizes of players, and the models of bodies. All data are copied to the
//! caller, so the caller frees nothing.

use std::ffi::c_char;

use obsp::PlayerSize;
use obsp::geometry::{Aabb, Polygon};
use obsp::model::{BodyKind, Model};
use obsp_client::{LoadedMap, Prediction};

use crate::failure::{Failure, guard};
use crate::handle::ObspClient;
use crate::raw;

/// Bytes of the name of a map or model, its zero byte included. Longer names are cut.
pub const OBSP_LEVEL_NAME_BYTES: usize = 68;

/// The map that is played, and the sizes of players on it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspMap {
    /// The hash of the map, as `OBSP_EVENT_KIND_JOINED` gave it.
    pub hash: [u8; 32],
    /// The least corner of the box around all walls, in units.
    pub mins: [f64; 3],
    /// The greatest corner of that box. A map without walls has no box: `mins` is above `maxs`.
    pub maxs: [f64; 3],
    /// The width and depth of a player's box, in units.
    pub player_width: f64,
    /// The height of a player who stands.
    pub player_height: f64,
    /// The height of a player who crouches.
    pub player_crouched_height: f64,
    /// The map's name.
    pub name: [c_char; OBSP_LEVEL_NAME_BYTES],
}

/// How the bodies of a model move.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspBodyKind {
    /// By gravity, contacts and impulses.
    Dynamic,
    /// By the velocity that the game sets, as lifts and doors do.
    Kinematic,
    /// By the rules of missiles.
    Missile,
}

/// The model of bodies. Positions in a model are relative to the centre of mass, in the model's own
/// axes. An `ObspEntity` has the present position and orientation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspModel {
    /// How bodies of the model move.
    pub kind: ObspBodyKind,
    /// The number of convex hulls that fill the model. They touch, but do not overlap.
    pub hulls: u32,
    /// The greatest distance of the model's surface from the centre of mass, in units.
    pub radius: f64,
    /// The volume, in cubic units.
    pub volume: f64,
    /// The least corner of the smallest box around the model, in units.
    pub mins: [f64; 3],
    /// The greatest corner of that box.
    pub maxs: [f64; 3],
    /// The model's name.
    pub name: [c_char; OBSP_LEVEL_NAME_BYTES],
}

/// A triangle of a surface.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspTriangle {
    /// The corners, counter-clockwise seen from outside, in units.
    pub corners: [[f64; 3]; 3],
    /// The direction outward, of length 1.
    pub normal: [f64; 3],
}

/// Copies what the client knows of the map. False while the map is not loaded: before the first map
/// has arrived, and from `OBSP_EVENT_KIND_NEW_WORLD` until the next map has arrived.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_map(client: *mut ObspClient, map: *mut ObspMap) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some(loaded) = level(client) else { return Ok(false) };
        // SAFETY: the contract of the header.
        unsafe { raw::put(map, described(loaded)?)? };
        Ok(true)
    })
}

/// Copies the compiled map, the content of an .obsp file, at most `capacity` bytes of it. Returns
/// the number of bytes of the map, or 0 while the map is not loaded. Each call makes the bytes
/// again. So call it once for a map, with enough room, or twice: with a capacity of 0 to learn the
/// length, and then with that length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_map_bytes(
    client: *mut ObspClient,
    bytes: *mut u8,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some(loaded) = level(client) else { return Ok(0) };
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(bytes, capacity, loaded.map.to_bytes().into_iter()) }
    })
}

/// Copies the surface of the map's walls, at most `capacity` triangles of it. Returns the number of
/// all triangles: 0 while the map is not loaded, and at most 1,048,576.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_map_triangles(
    client: *mut ObspClient,
    triangles: *mut ObspTriangle,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let polygons = level(client).map_or(&[][..], |loaded| loaded.map.polygons());
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(triangles, capacity, polygons.iter().flat_map(fan)) }
    })
}

/// Copies the models of bodies, at most `capacity` of them. Returns the number of all models: 0
/// while the map is not loaded, and at most 128. The index of a model in this list is the `model`
/// of an `ObspEntity`. A client that joins another world has other models.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_models(
    client: *mut ObspClient,
    models: *mut ObspModel,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let known = level(client).map_or(&[][..], |loaded| &loaded.models);
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(models, capacity, known.iter().map(ObspModel::from)) }
    })
}

/// Copies the surface of a model, at most `capacity` triangles of it. Returns the number of all its
/// triangles. Fails if there is no such model, which is always so while the map is not loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_model_triangles(
    client: *mut ObspClient,
    model: u8,
    triangles: *mut ObspTriangle,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let model = self::model(unsafe { raw::client(client)? }, model)?;
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(triangles, capacity, model.polygons().iter().flat_map(fan)) }
    })
}

/// Copies the corners of a convex hull of a model, at most `capacity` of them. Returns the number
/// of all its corners. `hull` is below the `hulls` of the model. Fails if there is no such model or
/// hull, which is always so while the map is not loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_model_hull(
    client: *mut ObspClient,
    model: u8,
    hull: u32,
    corners: *mut [f64; 3],
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let model = self::model(unsafe { raw::client(client)? }, model)?;
        let hulls = model.parts();
        let part = usize::try_from(hull).ok().and_then(|hull| hulls.get(hull));
        let part = part.ok_or_else(|| {
            Failure::invalid(format!(
                "the model {} has no hull {hull}: it has {} hulls, and the first is 0",
                model.name(),
                hulls.len()
            ))
        })?;
        let vertices = part.vertices().iter().map(|vertex| vertex.to_array());
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(corners, capacity, vertices) }
    })
}

/// The map with the models, once it is loaded.
fn level(client: &ObspClient) -> Option<&LoadedMap> {
    client.client.prediction().map(Prediction::map).map(AsRef::as_ref)
}

fn model(client: &ObspClient, model: u8) -> Result<&Model, Failure> {
    let loaded = level(client).ok_or_else(|| {
        Failure::invalid(format!(
            "there is no model {model}, because the map is not loaded: wait until \
             obsp_client_map returns true"
        ))
    })?;
    loaded.models.get(usize::from(model)).ok_or_else(|| {
        Failure::invalid(format!(
            "there is no model {model}: the game has {}, and the first is 0; the number may be \
             from another world",
            loaded.models.len()
        ))
    })
}

fn described(loaded: &LoadedMap) -> Result<ObspMap, Failure> {
    let map = &loaded.map;
    let size = PlayerSize::among(map.sizes()).ok_or_else(|| {
        Failure::wrong_map(format!(
            "the map {} is compiled for players who are not upright boxes: compile it anew for \
             the sizes of its game",
            map.name()
        ))
    })?;
    let (mins, maxs) = corners(&map.bounds());
    Ok(ObspMap {
        hash: map.hash(),
        mins,
        maxs,
        player_width: size.width.into(),
        player_height: size.height.into(),
        player_crouched_height: size.crouched_height.into(),
        name: raw::fixed(map.name()),
    })
}

impl From<&Model> for ObspModel {
    fn from(model: &Model) -> Self {
        let (mins, maxs) = corners(&model.bounds());
        Self {
            kind: match model.kind() {
                BodyKind::Dynamic => ObspBodyKind::Dynamic,
                BodyKind::Kinematic => ObspBodyKind::Kinematic,
                BodyKind::Missile => ObspBodyKind::Missile,
            },
            // The number of a model's corners is limited, and so is the number of its hulls.
            hulls: model.parts().len().try_into().unwrap_or(u32::MAX),
            radius: model.radius(),
            volume: model.volume(),
            mins,
            maxs,
            name: raw::fixed(model.name()),
        }
    }
}

fn corners(bounds: &Aabb) -> ([f64; 3], [f64; 3]) {
    (bounds.min.to_array(), bounds.max.to_array())
}

/// The triangles of a convex polygon, all from its first corner.
fn fan(polygon: &Polygon) -> impl Iterator<Item = ObspTriangle> + '_ {
    let corners = &polygon.winding.vertices;
    let normal = polygon.plane.normal.to_array();
    corners.windows(2).skip(1).map(move |edge| ObspTriangle {
        corners: [corners[0], edge[0], edge[1]].map(|corner| corner.to_array()),
        normal,
    })
}

#[cfg(test)]
mod tests {
    use obsp::model::shipped;

    use super::*;

    /// The volume that triangles enclose, by the tetrahedra to the origin.
    fn volume(triangles: impl Iterator<Item = ObspTriangle>) -> f64 {
        let sixfold = triangles.map(|triangle| {
            let [a, b, c] = triangle.corners.map(obsp::glam::DVec3::from);
            a.dot(b.cross(c))
        });
        sixfold.sum::<f64>() / 6.0
    }

    #[test]
    fn the_triangles_of_a_model_enclose_its_volume() {
        for model in shipped() {
            let described = ObspModel::from(&model);
            let enclosed = volume(model.polygons().iter().flat_map(fan));
            assert!((enclosed / described.volume - 1.0).abs() < 1e-9, "{}", model.name());
            assert!(described.hulls > 0 && described.radius > 0.0);
            for triangle in model.polygons().iter().flat_map(fan) {
                let inside = |corner: &[f64; 3]| {
                    let reach = described.mins.iter().zip(&described.maxs);
                    reach.zip(corner).all(|((least, most), at)| (*least..=*most).contains(at))
                };
                assert!(triangle.corners.iter().all(inside), "{triangle:?}");
            }
        }
    }
}
