//! Blow's uniform two-dimensional grid finds which bodies are near each other, seen
//! from above. Each entry holds the body's box, because a cell may be a tall column of a heap, and
//! looking up a body takes longer than comparing its box.

use std::ops::Range;

use glam::DVec3;
use obsp::geometry::Aabb;

use super::rounded_box::{Frame, RoundedBox};

/// Side of a cell in units. A cell is two players wide, so most bodies lie in one to four cells,
/// and most cells hold a handful of bodies.
const CELL: f64 = 64.0;

/// Maximum number of cells along a side. A map of more than 16,384 units gets larger cells, because
/// smaller ones would take megabytes.
const MAX_CELLS_A_SIDE: f64 = 256.0;

/// The cells that a box covers, as inclusive ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRange {
    min: [u8; 2],
    max: [u8; 2],
}

/// The grid over a map. Bodies beyond the map's edge are registered in the cells
/// along the edge.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    origin: [f64; 2],
    cell: f64,
    counts: [u16; 2],
    /// Boxes with the slots of their bodies, ascending. Each box is marked with its first cell.
    cells: Vec<Vec<RoundedBox>>,
    /// The frame in which boxes are rounded. The frame is half as large again as the map, because
    /// bodies fall out of the map.
    frame: Frame,
}

impl Grid {
    pub(crate) fn new(bounds: &Aabb) -> Self {
        let unit = || Aabb::from_centre(DVec3::ZERO, DVec3::splat(0.5));
        let bounds = if bounds.is_empty() { unit() } else { *bounds };
        let size = bounds.max - bounds.min;
        let cell = CELL.max(size.x.max(size.y) / MAX_CELLS_A_SIDE);
        let count = |length: f64| (length / cell).ceil().clamp(1.0, MAX_CELLS_A_SIDE) as u16;
        let counts = [count(size.x), count(size.y)];
        let origin = [bounds.min.x, bounds.min.y];
        let cells = vec![Vec::new(); usize::from(counts[0]) * usize::from(counts[1])];
        let frame = Frame::around(&bounds.inflated(0.25 * size.max_element()));
        Self { origin, cell, counts, cells, frame }
    }

    /// Lower corner of the grid and side of its cells, in units, and the number of
    /// cells along x and y.
    pub(crate) fn layout(&self) -> ([f64; 2], f64, [u16; 2]) {
        (self.origin, self.cell, self.counts)
    }

    pub(crate) fn range(&self, bounds: &Aabb) -> CellRange {
        // A cast from a float saturates, so a place far outside the grid is counted in a cell at
        // the edge.
        let index = |axis: usize, x: f64| {
            (((x - self.origin[axis]) / self.cell) as u16).min(self.counts[axis] - 1) as u8
        };
        CellRange {
            min: [index(0, bounds.min.x), index(1, bounds.min.y)],
            max: [index(0, bounds.max.x), index(1, bounds.max.y)],
        }
    }

    /// Registers a body in the cells of `range`, or updates its box there.
    pub(crate) fn insert(&mut self, slot: u16, range: CellRange, bounds: &Aabb) {
        let entry = RoundedBox::of(bounds, &self.frame, slot).marked(range.min);
        for row in self.rows(range) {
            for entries in &mut self.cells[row] {
                match entries.binary_search_by_key(&slot, RoundedBox::tag) {
                    Ok(at) => entries[at] = entry,
                    Err(at) => entries.insert(at, entry),
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, slot: u16, range: CellRange) {
        for row in self.rows(range) {
            for entries in &mut self.cells[row] {
                if let Ok(at) = entries.binary_search_by_key(&slot, RoundedBox::tag) {
                    entries.remove(at);
                }
            }
        }
    }

    /// Writes to `found` the slots of all bodies whose boxes overlap `bounds`, or nearly so,
    /// ascending, each once.
    pub(crate) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        found.clear();
        let range = self.range(bounds);
        let around = RoundedBox::of(bounds, &self.frame, 0).overlap_limits();
        let ([left, bottom], [right, top]) = (range.min, range.max);
        for (x, y) in (bottom..=top).flat_map(|y| (left..=right).map(move |x| (x, y))) {
            let entries =
                &self.cells[usize::from(y) * usize::from(self.counts[0]) + usize::from(x)];
            // A box that shares several cells with `bounds` is reported in the first of them.
            let is_first = |entry: &RoundedBox| {
                let [own_left, own_bottom] = entry.mark();
                (own_left.max(left), own_bottom.max(bottom)) == (x, y)
            };
            let near = entries.iter().filter(|entry| entry.overlaps(&around) && is_first(entry));
            found.extend(near.map(RoundedBox::tag));
        }
        if range.min == range.max {
            return;
        }
        found.sort_unstable();
    }

    /// The cells of a range, row by row.
    fn rows(&self, range: CellRange) -> impl Iterator<Item = Range<usize>> + use<> {
        let width = usize::from(self.counts[0]);
        let (first, last) = (usize::from(range.min[0]), usize::from(range.max[0]));
        (range.min[1]..=range.max[1]).map(move |y| {
            let start = usize::from(y) * width;
            // An empty box has an empty range.
            start + first..start + (last + 1).max(first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(x: f64, y: f64) -> Aabb {
        Aabb::from_centre(DVec3::new(x, y, 0.0), DVec3::splat(10.0))
    }

    #[test]
    fn neighbours_are_found_once_and_in_order_even_outside_the_map() {
        let mut grid = Grid::new(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(1000.0)));
        let places = [boxed(0.0, 0.0), boxed(5.0, 5.0), boxed(1000.0, 0.0), boxed(5000.0, 0.0)];
        for (slot, place) in places.iter().enumerate() {
            grid.insert(slot as u16, grid.range(place), place);
        }
        let mut found = Vec::new();
        grid.near(&boxed(2.0, 2.0), &mut found);
        assert_eq!(found, [0, 1]);
        grid.near(&boxed(5010.0, 10.0), &mut found);
        assert_eq!(found, [3], "the query is beyond the map's edge");
        grid.near(&Aabb::from_centre(DVec3::new(2.0, 2.0, 20.5), DVec3::splat(10.0)), &mut found);
        assert_eq!(found, [], "the query is far above the bodies");
        grid.remove(0, grid.range(&places[0]));
        grid.near(&boxed(2.0, 2.0), &mut found);
        assert_eq!(found, [1]);
    }
}
