//! Makes polygons that meet share their corners.
//!
//! Where a corner lies on the edge of another polygon, the two edges are drawn with pixels of their
//! own, and the background shows through between them. So every such edge gets that corner, too.

use std::collections::HashMap;

use glam::{DVec3, IVec3};

/// Corners nearer to each other than this, in units, become one. It is more than the compiler's
/// tolerance.
const SAME: f64 = 1.0 / 64.0;

/// A corner nearer to an edge than this, in units, lies on it.
const ON_EDGE: f64 = 1.0 / 32.0;

/// Side of the cells in which corners are looked up, in units.
const CELL: f64 = 64.0;

/// Welds polygons, and returns each with its index among `polygons`. A polygon without an
/// inside is left out. A polygon that touches itself becomes several.
pub(super) fn weld<'a>(
    polygons: impl IntoIterator<Item = &'a [DVec3]>,
) -> Vec<(usize, Vec<DVec3>)> {
    let mut corners = Corners::default();
    let rings: Vec<Vec<u32>> = polygons
        .into_iter()
        .map(|polygon| polygon.iter().map(|&corner| corners.number(corner)).collect())
        .collect();
    let mut parts = HashMap::new();
    let mut welded = Vec::new();
    for (index, ring) in rings.iter().enumerate() {
        let mut all = Vec::new();
        for (at, &from) in ring.iter().enumerate() {
            let to = ring[(at + 1) % ring.len()];
            all.push(from);
            all.extend(corners.between(from, to, &mut parts));
        }
        let rings = simple(&all).into_iter();
        welded.extend(rings.map(|ring| (index, ring.iter().map(|&i| corners.at(i)).collect())));
    }
    welded
}

/// Divides a ring where it comes to a corner again, so that no part touches itself.
fn simple(ring: &[u32]) -> Vec<Vec<u32>> {
    let (mut found, mut open) = (Vec::new(), Vec::<u32>::new());
    for &corner in ring {
        if let Some(before) = open.iter().position(|&known| known == corner) {
            found.push(open.split_off(before));
        }
        open.push(corner);
    }
    found.push(open);
    found.retain(|part| part.len() >= 3);
    found
}

/// All corners, each once.
#[derive(Default)]
struct Corners {
    places: Vec<DVec3>,
    cells: HashMap<IVec3, Vec<u32>>,
}

/// The corners on each edge that was looked up, in order from the end with the smaller number.
type Parts = HashMap<(u32, u32), Vec<u32>>;

fn cell(at: DVec3) -> IVec3 {
    (at / CELL).floor().as_ivec3()
}

impl Corners {
    fn at(&self, number: u32) -> DVec3 {
        self.places[number as usize]
    }

    /// The number of the corner at this place, or so near that it is the same.
    fn number(&mut self, place: DVec3) -> u32 {
        let mut near = self.around(place, place, SAME);
        if let Some(known) = near.find(|&known| self.at(known).distance(place) < SAME) {
            return known;
        }
        drop(near);
        let number = self.places.len() as u32;
        self.places.push(place);
        self.cells.entry(cell(place)).or_default().push(number);
        number
    }

    /// The corners in the cells of the box around two places, grown by `reach`.
    fn around(&self, a: DVec3, b: DVec3, reach: f64) -> impl Iterator<Item = u32> {
        let (low, high) = (cell(a.min(b) - reach), cell(a.max(b) + reach));
        let cells = (low.x..=high.x).flat_map(move |x| {
            (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
        });
        cells.filter_map(|cell| self.cells.get(&cell)).flatten().copied()
    }

    /// The corners on the edge between two others, in their order. The edges on both sides get the
    /// same corners, because they are sought from the same end.
    fn between(&self, from: u32, to: u32, known: &mut Parts) -> Vec<u32> {
        let ends = (from.min(to), from.max(to));
        if let Some(part) = known.get(&ends) {
            let part = part.iter().copied();
            return if from < to { part.collect() } else { part.rev().collect() };
        }
        let mut part = self.on_edge(ends.0, ends.1);
        if !part.is_empty() {
            // An edge through other corners is bent a little, so its parts may pass further
            // corners.
            let stops: Vec<u32> = [ends.0].into_iter().chain(part).chain([ends.1]).collect();
            part = Vec::new();
            for pair in stops.windows(2) {
                part.extend(self.between(pair[0], pair[1], known));
                part.push(pair[1]);
            }
            part.pop();
        }
        known.insert(ends, part);
        self.between(from, to, known)
    }

    fn on_edge(&self, from: u32, to: u32) -> Vec<u32> {
        let (a, b) = (self.at(from), self.at(to));
        let length = a.distance(b);
        if length == 0.0 {
            return Vec::new();
        }
        let along = (b - a) / length;
        let mut found: Vec<(f64, u32)> = self
            .around(a, b, ON_EDGE)
            .filter(|&corner| corner != from && corner != to)
            .filter_map(|corner| {
                let way = self.at(corner) - a;
                let at = way.dot(along);
                let is_on = (way - along * at).length() < ON_EDGE;
                (is_on && at > 0.0 && at < length).then_some((at, corner))
            })
            .collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        found.into_iter().map(|(_, corner)| corner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(polygon: &[[f64; 2]]) -> Vec<DVec3> {
        polygon.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect()
    }

    #[test]
    fn an_edge_gets_the_corners_that_lie_on_it() {
        let below = points(&[[0.0, 0.0], [300.0, 0.0], [300.0, 100.0], [0.0, 100.0]]);
        let left = points(&[[0.0, 100.0], [100.0, 100.01], [100.0, 200.0], [0.0, 200.0]]);
        let right = points(&[[100.0, 100.0], [300.0, 100.0], [300.0, 200.0], [100.0, 200.0]]);
        let welded = weld([&below[..], &left[..], &right[..]]);
        assert_eq!(welded.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(welded[0].1.len(), 5);
        assert_eq!(welded[0].1[3], welded[1].1[1], "the corners are one");
        assert_eq!(welded[1].1[1], welded[2].1[0]);
        assert_eq!((welded[1].1.len(), welded[2].1.len()), (4, 4));
    }

    #[test]
    fn a_polygon_without_an_inside_is_left_out() {
        let splinter = points(&[[0.0, 0.0], [50.0, 0.01], [100.0, 0.0]]);
        let square = points(&[[0.0, 0.0], [100.0, 0.0], [100.0, -100.0], [0.0, -100.0]]);
        let welded = weld([&splinter[..], &square[..]]);
        assert_eq!(welded.len(), 1);
        // The square has taken the corner that was on its edge.
        assert_eq!((welded[0].0, welded[0].1.len()), (1, 5));
    }

    #[test]
    fn a_thin_end_is_cut_off_and_the_rest_stays() {
        let wedge = points(&[[0.0, 0.0], [200.0, 0.0], [200.0, 1.0]]);
        let beside = points(&[[0.0, 0.0], [2.0, 0.0], [2.0, -5.0]]);
        let welded = weld([&wedge[..], &beside[..]]);
        let rest = &welded.iter().find(|(index, _)| *index == 0).expect("most of it is wide").1;
        assert!(rest.iter().all(|corner| corner.x >= 2.0), "{rest:?}");
    }
}
