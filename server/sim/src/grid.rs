use maps::geometry::Aabb;

/// Side of a cell in units: a few players wide, so that most bodies lie in
/// one to four cells and most cells hold a handful of bodies.
const CELL: f64 = 128.0;

/// No map needs more; a larger one gets larger cells.
const MAX_CELLS_A_SIDE: f64 = 256.0;

/// The cells that a box covers, as inclusive ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRange {
    min: [u16; 2],
    max: [u16; 2],
}

/// Blow's uniform two-dimensional grid: who is near, seen from above. What
/// lies beyond the map's edge counts to the cells along the edge.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    origin: [f64; 2],
    cell: f64,
    counts: [u16; 2],
    /// Slots in ascending order.
    cells: Vec<Vec<u16>>,
    /// Whether cells out of range are skipped; else everyone is near.
    pub(crate) skips: bool,
}

impl Grid {
    pub(crate) fn new(bounds: &Aabb) -> Self {
        let size = if bounds.is_empty() { glam::DVec3::ONE } else { bounds.max - bounds.min };
        let cell = CELL.max(size.x.max(size.y) / MAX_CELLS_A_SIDE);
        let count = |length: f64| (length / cell).ceil().clamp(1.0, MAX_CELLS_A_SIDE) as u16;
        let counts = [count(size.x), count(size.y)];
        let origin = if bounds.is_empty() { [0.0; 2] } else { [bounds.min.x, bounds.min.y] };
        let cells = vec![Vec::new(); usize::from(counts[0]) * usize::from(counts[1])];
        Self { origin, cell, counts, cells, skips: true }
    }

    /// Its least corner and the side of its cells, in units, and how many cells
    /// there are along x and y.
    pub(crate) fn layout(&self) -> ([f64; 2], f64, [u16; 2]) {
        (self.origin, self.cell, self.counts)
    }

    pub(crate) fn range(&self, bounds: &Aabb) -> CellRange {
        // A float cast saturates, so the far outside lands in the edge cells.
        let index = |axis: usize, x: f64| {
            (((x - self.origin[axis]) / self.cell) as u16).min(self.counts[axis] - 1)
        };
        CellRange {
            min: [index(0, bounds.min.x), index(1, bounds.min.y)],
            max: [index(0, bounds.max.x), index(1, bounds.max.y)],
        }
    }

    pub(crate) fn insert(&mut self, slot: u16, range: CellRange) {
        for cell in self.indices(range) {
            let slots = &mut self.cells[cell];
            if let Err(at) = slots.binary_search(&slot) {
                slots.insert(at, slot);
            }
        }
    }

    pub(crate) fn remove(&mut self, slot: u16, range: CellRange) {
        for cell in self.indices(range) {
            let slots = &mut self.cells[cell];
            if let Ok(at) = slots.binary_search(&slot) {
                slots.remove(at);
            }
        }
    }

    /// Everyone registered in the cells that `bounds` covers, ascending, once
    /// each, into `found`.
    pub(crate) fn near(&self, bounds: &Aabb, found: &mut Vec<u16>) {
        found.clear();
        if self.skips {
            let range = self.range(bounds);
            for cell in self.indices(range) {
                found.extend_from_slice(&self.cells[cell]);
            }
            if range.min == range.max {
                return;
            }
        } else {
            found.extend(self.cells.iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
    }

    fn indices(&self, range: CellRange) -> impl Iterator<Item = usize> + use<> {
        let width = usize::from(self.counts[0]);
        (range.min[1]..=range.max[1]).flat_map(move |y| {
            (range.min[0]..=range.max[0]).map(move |x| usize::from(y) * width + usize::from(x))
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn boxed(x: f64, y: f64) -> Aabb {
        Aabb::from_centre(DVec3::new(x, y, 0.0), DVec3::splat(10.0))
    }

    #[test]
    fn neighbours_are_found_once_and_in_order_even_outside_the_map() {
        let mut grid = Grid::new(&Aabb::from_centre(DVec3::ZERO, DVec3::splat(1000.0)));
        let places = [boxed(0.0, 0.0), boxed(5.0, 5.0), boxed(1000.0, 0.0), boxed(5000.0, 0.0)];
        for (slot, place) in places.iter().enumerate() {
            grid.insert(slot as u16, grid.range(place));
        }
        let mut found = Vec::new();
        grid.near(&boxed(2.0, 2.0), &mut found);
        assert_eq!(found, [0, 1]);
        grid.near(&boxed(4000.0, 10.0), &mut found);
        assert_eq!(found, [2, 3]);
        grid.remove(0, grid.range(&places[0]));
        grid.near(&boxed(2.0, 2.0), &mut found);
        assert_eq!(found, [1]);
    }
}
