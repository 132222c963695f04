//! OBJ text to polygons: vertex loops, nothing proven yet but that every
//! coordinate is a sane number.

use glam::DVec3;
use tobj::{LoadError, LoadOptions};

use super::ModelError;
use crate::geometry::Winding;

/// Models are things to throw about: the default map is 2,048 units across.
pub(super) const REACH: f64 = 1024.0;

/// Building the polygon BSP is quadratic, and Blow's most detailed model has
/// 97 polygons.
pub(super) const MAX_POLYGONS: usize = 1024;

pub(super) fn read(name: &str, text: &str) -> Result<Vec<Winding>, ModelError> {
    // Polygons stay whole; points and lines stay too, to be refused as faces
    // without area instead of vanishing.
    let options = LoadOptions::default();
    let (objects, _) =
        tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| Err(LoadError::OpenFileFailed))
            .map_err(|e| ModelError::Syntax { model: name.to_owned(), reason: e.to_string() })?;

    let mut windings = Vec::new();
    for object in objects {
        let mesh = object.mesh;
        let mut indices = mesh.indices.iter();
        // The reader leaves the arities out when all are three.
        let triangles =
            vec![3; if mesh.face_arities.is_empty() { mesh.indices.len() / 3 } else { 0 }];
        for &arity in mesh.face_arities.iter().chain(&triangles) {
            let vertices = indices
                .by_ref()
                .take(arity as usize)
                .map(|&i| vertex(name, &mesh.positions, i as usize))
                .collect::<Result<Vec<_>, _>>()?;
            windings.push(Winding { vertices });
        }
    }
    if windings.len() > MAX_POLYGONS {
        return Err(ModelError::TooComplex { model: name.to_owned(), polygons: windings.len() });
    }
    Ok(windings)
}

fn vertex(name: &str, positions: &[f32], index: usize) -> Result<DVec3, ModelError> {
    // The reader has checked every index it hands out.
    let at = |axis| positions.get(3 * index + axis).map_or(f64::NAN, |&c| f64::from(c));
    // Adding zero turns a negative zero positive: equal corners are equal bits.
    let vertex = DVec3::new(at(0), at(1), at(2)) + DVec3::ZERO;
    if vertex.abs().cmple(DVec3::splat(REACH)).all() {
        Ok(vertex)
    } else {
        Err(ModelError::OutOfReach { model: name.to_owned(), vertex })
    }
}
