//! Planes that divide brushes with very many faces before the planes of their faces do.
//!
//! A convex solid lies behind the plane of each of its faces. So a tree of the faces' planes alone
//! peels off one face at a time, and its depth is the number of faces. Planes through the middle of
//! the solid first halve the faces. Maps without a brush of very many faces have no dividers, and
//! their trees are divided by the faces' planes alone.

use glam::DVec3;

use super::cell::Cell;
use super::parsed_map::StaticBrush;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};
use crate::geometry::Plane;

/// Brushes with more faces than this have dividers. A branch with more polygons than this may
/// use one.
const MANY: usize = 64;

/// Maximum number of dividers that are evaluated at one branch.
const CANDIDATES: usize = 64;

/// A divider leaves no more than this share of the polygons on either side.
const MOST: f64 = 0.75;

/// The planes through the middle of each brush with many faces: around each axis, at even
/// angles, one for every [`MANY`] faces.
pub(super) fn dividers(statics: &[StaticBrush], planes: &mut PlaneTable) -> Vec<PlaneId> {
    let mut dividers: Vec<PlaneId> = Vec::new();
    for brush in statics.iter().filter(|brush| brush.solid.faces().len() > MANY) {
        let bounds = brush.solid.bounds();
        let (centre, reach) = (bounds.centre(), bounds.half_extents().length());
        let count = brush.solid.faces().len().div_ceil(MANY) as u32;
        for [across, up, axis] in [
            [DVec3::X, DVec3::Y, DVec3::Z],
            [DVec3::Y, DVec3::Z, DVec3::X],
            [DVec3::Z, DVec3::X, DVec3::Y],
        ] {
            for step in 0..count {
                let angle = std::f64::consts::PI * f64::from(step) / f64::from(count);
                let normal = across * libm::cos(angle) + up * libm::sin(angle);
                let plane = Plane::through(normal, centre);
                let along = normal.cross(axis);
                let points = [axis, -axis, along, -along].map(|by| centre + by * reach);
                let id = PlaneId::from_index(planes.intern(&plane, &points).index());
                if !dividers.contains(&id) {
                    dividers.push(id);
                }
            }
        }
    }
    dividers
}

/// The divider that parts the polygons of a cell best. `None` if `splitter`, the best of the
/// polygons' own planes, parts them well enough, or if no divider does.
pub(super) fn choose_divider(
    dividers: &[PlaneId],
    splitter: PlaneId,
    polygons: &[Polygon],
    cell: &Cell,
    planes: &PlaneTable,
) -> Option<PlaneId> {
    if dividers.is_empty() || polygons.len() <= MANY {
        return None;
    }
    let sides = |id: PlaneId| {
        let plane = planes.get(id);
        let mut counts = [0_usize; 2];
        for polygon in polygons.iter().filter(|polygon| polygon.plane.index() != id.index()) {
            match polygon.side(&plane) {
                Side::Front => counts[0] += 1,
                Side::Back => counts[1] += 1,
                Side::Both => counts = counts.map(|count| count + 1),
                Side::On => (),
            }
        }
        counts
    };
    let larger = |id: PlaneId| sides(id).into_iter().max().unwrap_or(0);
    let most = MOST * polygons.len() as f64;
    if larger(splitter) as f64 <= most {
        return None;
    }
    let crossing = dividers.iter().filter(|id| cell.side(&planes.get(**id)) == Side::Both);
    let best = crossing.take(CANDIDATES).map(|&id| (larger(id), id)).min()?;
    (best.0 as f64 <= most).then_some(best.1)
}
