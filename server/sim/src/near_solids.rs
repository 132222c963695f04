use maps::World;
use maps::geometry::Aabb;

/// Farther around a body than it looks this tick, in units, so that the list
/// serves it for some ticks to come.
const ROOM: f64 = 16.0;

/// The solids of the world around a body, asked of the world's tree once in a
/// while and not several times a tick. No answer depends on what it holds.
#[derive(Clone, Debug)]
pub(crate) struct NearSolids {
    /// All solids that touch this box are known.
    region: Aabb,
    indices: Vec<u32>,
}

impl NearSolids {
    /// Nothing known yet.
    pub(crate) const fn none() -> Self {
        Self { region: Aabb::EMPTY, indices: Vec::new() }
    }

    /// Sees to it that all is known that touches `bounds`.
    pub(crate) fn look_around(&mut self, map: &World, bounds: &Aabb) {
        if !self.region.encloses(bounds) {
            self.region = bounds.inflated(ROOM);
            self.indices.clear();
            map.solids_touching(&self.region, |index| self.indices.push(index));
        }
    }

    /// Visits the index of every solid whose box touches `bounds`, in the order
    /// of the world's tree.
    pub(crate) fn visit(&self, map: &World, bounds: &Aabb, mut each: impl FnMut(u32)) {
        if !self.region.encloses(bounds) {
            map.solids_touching(bounds, each);
            return;
        }
        let solids = map.solids();
        let touches = |index: &&u32| solids[**index as usize].bounds().overlaps(bounds);
        self.indices.iter().filter(touches).for_each(|&index| each(index));
    }
}
