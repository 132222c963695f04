//! The choice of the plane that divides a cell.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::parallel::in_order;
use super::planes::{PlaneId, PlaneTable};
use super::polygon::{Polygon, Side};

/// Maximum number of planes that are evaluated at one branch. They are the planes whose polygons
/// have the largest area. Among many polygons a good plane is easy to find. Evaluating four times
/// as many takes twice as long and saves one branch in a hundred.
const CANDIDATES: usize = 64;

// The weights of a plane's score, in polygons. Polygons in the plane need no further division,
// polygons that it splits count twice afterwards, and a surplus on one side makes the tree deeper.
// The surplus counts as its square over the number of all polygons. With these values, traces
// visited the fewest branches on real maps, and the trees had nearly the fewest branches. With a
// linear term, hills peel off one wedge at a time, and their trees are twice as deep.
const COPLANAR_WEIGHT: f64 = 2.0;
const SPLIT_WEIGHT: f64 = 5.0;
const IMBALANCE_WEIGHT: f64 = 1.0;

/// For fewer polygons than this, evaluation takes less time than starting threads.
const MIN_PARALLEL: usize = 4096;

/// The plane of one of the polygons, or `None` if there are none. The choice does not
/// depend on the number of threads.
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
    let threads = if polygons.len() < MIN_PARALLEL { NonZeroUsize::MIN } else { threads };
    let evaluate = |(index, _)| {
        let id = PlaneId::from_index(index);
        (score(id, polygons, planes), id)
    };
    let mut best: Option<(f64, PlaneId)> = None;
    for (score, id) in in_order(threads, candidates, evaluate, |_| ()) {
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, id));
        }
    }
    best.map(|(_, id)| id)
}

fn score(id: PlaneId, polygons: &[Polygon], planes: &PlaneTable) -> f64 {
    let plane = planes.get(id);
    let (mut coplanar, mut split, mut front, mut back) = (0.0, 0.0, 0.0_f64, 0.0);
    for polygon in polygons {
        let count = if polygon.plane.index() == id.index() {
            &mut coplanar
        } else {
            match polygon.side(&plane) {
                Side::On => &mut coplanar,
                Side::Both => &mut split,
                Side::Front => &mut front,
                Side::Back => &mut back,
            }
        };
        *count += 1.0;
    }
    let imbalance = (front - back).powi(2) / polygons.len() as f64;
    COPLANAR_WEIGHT * coplanar - SPLIT_WEIGHT * split - IMBALANCE_WEIGHT * imbalance
}
