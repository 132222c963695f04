//! The check that polygons are the surface of a solid: each is flat and
//! convex, and every edge joins exactly two of them in opposite directions.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{FaceFault, ModelError};
use crate::geometry::Winding;

/// Maximum distance of a corner from its face's plane, in units. Corners are read as `f32`, which
/// is exact to 6e-5 at the greatest coordinate of a model. Intended details are far larger.
pub(super) const FLATNESS: f64 = 2e-4;

/// Maximum number of corners of a face. The time to check that a face is convex grows with the
/// square of this number.
pub(super) const MAX_FACE_CORNERS: usize = 1024;

/// Checks the polygons. Returns their outward unit normals.
pub(super) fn check(model: &str, windings: &[Winding]) -> Result<Vec<DVec3>, ModelError> {
    let normals =
        windings.iter().map(|w| normal(model, w)).collect::<Result<Vec<_>, ModelError>>()?;
    closed(model, windings)?;
    Ok(normals)
}

fn normal(model: &str, winding: &Winding) -> Result<DVec3, ModelError> {
    let corners = &winding.vertices;
    let corner = |i: usize| corners[i % corners.len()];
    let fault = |at: usize, fault| ModelError::BadFace {
        model: model.to_owned(),
        from: corner(at),
        to: corner(at + 1),
        fault,
    };
    if corners.len() < 3 {
        return Err(fault(0, FaceFault::NoArea));
    }
    if corners.len() > MAX_FACE_CORNERS {
        return Err(fault(0, FaceFault::TooManyCorners { corners: corners.len() }));
    }
    let area = winding.area_vector();
    let centre = winding.centre();
    let reach = corners.iter().map(|c| c.distance(centre)).fold(0.0, f64::max);
    if area.length() <= FLATNESS * reach {
        return Err(fault(0, FaceFault::NoArea));
    }
    let normal = area.normalize();
    if let Some(i) = corners.iter().position(|&c| normal.dot(c - centre).abs() > FLATNESS) {
        return Err(fault(i, FaceFault::NotFlat));
    }
    // Convex and simple: no corner lies outside any edge. (A check that every corner turns
    // left would accept a pentagram.)
    for i in 0..corners.len() {
        let inward = normal.cross(corner(i + 1) - corner(i));
        if inward.length() <= FLATNESS {
            return Err(fault(i, FaceFault::NoArea));
        }
        let inward = inward.normalize();
        if corners.iter().any(|&c| inward.dot(c - corner(i)) < -FLATNESS) {
            return Err(fault(i, FaceFault::NotConvex));
        }
    }
    Ok(normal)
}

fn closed(model: &str, windings: &[Winding]) -> Result<(), ModelError> {
    let key = |v: DVec3| v.to_array().map(f64::to_bits);
    let mut uses: BTreeMap<_, usize> = BTreeMap::new();
    for winding in windings {
        for (from, to) in edges(winding) {
            *uses.entry((key(from), key(to))).or_default() += 1;
        }
    }
    for (from, to) in windings.iter().flat_map(edges) {
        let count = |a, b| uses.get(&(key(a), key(b))).copied().unwrap_or(0);
        let (forth, back) = (count(from, to), count(to, from));
        if (forth, back) != (1, 1) {
            return Err(ModelError::OpenEdge {
                model: model.to_owned(),
                from,
                to,
                uses: forth,
                returns: back,
            });
        }
    }
    Ok(())
}

fn edges(winding: &Winding) -> impl Iterator<Item = (DVec3, DVec3)> {
    let corners = &winding.vertices;
    (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]))
}
