//! The solids of the world around a body, kept for several ticks.

use obsp::Map;
use obsp::geometry::Aabb;

/// How far the list reaches beyond the requested bounds, in units, so that it lasts for several
/// ticks.
const ROOM: f64 = 16.0;

/// A cache of the solids around a body, so that the world's tree is not queried several times a
/// tick. No result depends on what the cache contains.
#[derive(Clone, Debug)]
pub(crate) struct NearSolids {
    /// All solids that touch this box are in the list.
    region: Aabb,
    indices: Vec<u32>,
}

impl Default for NearSolids {
    /// An empty cache.
    fn default() -> Self {
        Self { region: Aabb::EMPTY, indices: Vec::new() }
    }
}

impl NearSolids {
    /// Makes the list contain all solids that touch `bounds`.
    pub(crate) fn look_around(&mut self, map: &Map, bounds: &Aabb) {
        if !self.region.encloses(bounds) {
            self.region = bounds.inflated(ROOM);
            self.indices.clear();
            map.solids_touching(&self.region, |index| self.indices.push(index));
        }
    }

    /// Visits the index of every solid whose box touches `bounds`, in the order
    /// of the world's tree.
    pub(crate) fn visit(&self, map: &Map, bounds: &Aabb, mut each: impl FnMut(u32)) {
        if !self.region.encloses(bounds) {
            map.solids_touching(bounds, each);
            return;
        }
        let solids = map.solids();
        let touches = |index: &&u32| solids[**index as usize].bounds().overlaps(bounds);
        self.indices.iter().filter(touches).for_each(|&index| each(index));
    }
}
