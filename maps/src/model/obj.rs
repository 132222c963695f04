//! Reads OBJ text into polygons. Only the range of their coordinates is checked here.

mod fault;

use glam::DVec3;
use tobj::{LoadError, LoadOptions};

use super::ModelError;
use crate::geometry::Winding;
pub use fault::ObjPlace;

/// Maximum coordinate of a model, in units: the default map is 2,048 units across.
pub(super) const REACH: f64 = 1024.0;

/// Maximum number of polygons per model: building the polygon BSP takes quadratic time, and Blow's
/// most detailed model has 97.
pub(super) const MAX_POLYGONS: usize = 1024;

pub(super) fn read(name: &str, text: &str) -> Result<Vec<Winding>, ModelError> {
    // Polygons are kept whole; points and lines are also kept, to be rejected as faces without
    // area.
    let options = LoadOptions::default();
    let (objects, _) =
        tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| Err(LoadError::OpenFileFailed))
            .map_err(|e| ModelError::Syntax {
                model: name.to_owned(),
                place: fault::first_fault(text),
                reason: e.to_string(),
            })?;

    let mut windings = Vec::new();
    let corners: usize = objects.iter().map(|object| object.mesh.indices.len()).sum();
    if corners == 0 {
        let vertices = text.lines().filter(|line| line.trim_start().starts_with("v ")).count();
        let first = fault::first_words(text);
        return Err(ModelError::NoFaces { model: name.to_owned(), vertices, first });
    }
    for object in objects {
        let mesh = object.mesh;
        let mut indices = mesh.indices.iter();
        // The reader omits the numbers of corners if all faces are triangles.
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
    // The reader has checked all indices.
    let at = |axis| positions.get(3 * index + axis).map_or(f64::NAN, |&c| f64::from(c));
    // Adding zero turns negative zero positive: equal corners have equal bits.
    let vertex = DVec3::new(at(0), at(1), at(2)) + DVec3::ZERO;
    if vertex.abs().cmple(DVec3::splat(REACH)).all() {
        Ok(vertex)
    } else {
        Err(ModelError::OutOfReach { model: name.to_owned(), vertex })
    }
}
