//! Which plane divides a cell.

use std::collections::BTreeMap;

use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};

/// At most this many planes are weighed at one branch, those with the largest
/// area: where there are many polygons, a good plane is easy to find.
const CANDIDATES: usize = 64;

/// The plane of one of the polygons, or `None` if there are none.
pub(super) fn choose_splitter(polygons: &[Polygon], planes: &PlaneTable) -> Option<PlaneId> {
    #[derive(Default)]
    struct Candidate {
        area: f64,
        drawn: bool,
    }
    let mut candidates: BTreeMap<usize, Candidate> = BTreeMap::new();
    for polygon in polygons {
        let candidate = candidates.entry(polygon.plane.index()).or_default();
        candidate.area += polygon.winding().area();
        candidate.drawn |= !polygon.bevel;
    }
    let drawn = candidates.values().any(|c| c.drawn);
    let mut ranked: Vec<(usize, Candidate)> =
        candidates.into_iter().filter(|(_, c)| c.drawn == drawn).collect();
    ranked.sort_by(|(_, a), (_, b)| b.area.total_cmp(&a.area));
    ranked.truncate(CANDIDATES);
    let mut best: Option<(f64, PlaneId)> = None;
    for (index, _) in ranked {
        let id = PlaneId::from_index(index);
        let plane = planes.get(id);
        let (mut front, mut back, mut on, mut both) = (0.0, 0.0, 0.0, 0.0);
        for polygon in polygons {
            let count = if polygon.plane.index() == index {
                &mut on
            } else {
                match polygon.side(&plane) {
                    Side::Front => &mut front,
                    Side::Back => &mut back,
                    Side::On => &mut on,
                    Side::Both => &mut both,
                }
            };
            *count += 1.0;
        }
        let axial = plane.normal.abs().max_element() == 1.0;
        let balance: f64 = front - back;
        let mut value = 5.0 * on - 5.0 * both - balance.abs();
        if axial {
            value += 5.0 + 0.1 * value.abs();
        }
        if best.is_none_or(|(known, _)| value > known) {
            best = Some((value, id));
        }
    }
    best.map(|(_, id)| id)
}
