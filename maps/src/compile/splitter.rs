//! Which plane divides a cell.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::parallel::in_order;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};

/// At most this many planes are weighed at one branch, those with the largest
/// area: where there are many polygons, a good plane is easy to find. Four
/// times as many take as long again and save one branch in a hundred.
const CANDIDATES: usize = 64;

// What a plane is worth, in polygons: those in the plane are settled by it,
// those cut are there twice afterwards, and what one side outweighs the other by
// makes the tree deeper, the more the larger its share of all is. These values
// were measured to give traces the fewest branches on real maps at about the
// fewest branches of the tree. Weighed in proportion, hills peel off one wedge at
// a time and are twice as deep.
const SETTLED: f64 = 2.0;
const CUT: f64 = 5.0;
const UNBALANCED: f64 = 1.0;

/// Fewer polygons than these are weighed against sooner than threads are started.
const MANY: usize = 4096;

/// The plane of one of the polygons, or `None` if there are none. The threads
/// decide nothing about which.
pub(super) fn choose_splitter(
    polygons: &[Polygon],
    planes: &PlaneTable,
    threads: NonZeroUsize,
) -> Option<PlaneId> {
    let mut areas: BTreeMap<usize, f64> = BTreeMap::new();
    for polygon in polygons {
        *areas.entry(polygon.plane.index()).or_default() += polygon.winding().area();
    }
    let mut candidates: Vec<(usize, f64)> = areas.into_iter().collect();
    candidates.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    candidates.truncate(CANDIDATES);
    let threads = if polygons.len() < MANY { NonZeroUsize::MIN } else { threads };
    let weigh = |(index, _)| {
        let id = PlaneId::from_index(index);
        (value(id, polygons, planes), id)
    };
    let mut best: Option<(f64, PlaneId)> = None;
    for (value, id) in in_order(threads, candidates, weigh, |_| ()) {
        if best.is_none_or(|(known, _)| value > known) {
            best = Some((value, id));
        }
    }
    best.map(|(_, id)| id)
}

fn value(id: PlaneId, polygons: &[Polygon], planes: &PlaneTable) -> f64 {
    let plane = planes.get(id);
    let (mut settled, mut cut, mut front, mut back) = (0.0, 0.0, 0.0_f64, 0.0);
    for polygon in polygons {
        let count = if polygon.plane.index() == id.index() {
            &mut settled
        } else {
            match polygon.side(&plane) {
                Side::On => &mut settled,
                Side::Both => &mut cut,
                Side::Front => &mut front,
                Side::Back => &mut back,
            }
        };
        *count += 1.0;
    }
    let unbalanced = (front - back).powi(2) / polygons.len() as f64;
    SETTLED * settled - CUT * cut - UNBALANCED * unbalanced
}
