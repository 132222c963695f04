//! Ladders: volumes of the map in which players climb (`trigger_ladder`, and Half-Life's
//! `func_ladder`).

use glam::DVec3;
use obsp::geometry::{Aabb, ConvexSolid};

use crate::arena::triggers::entry;

/// Classes of entities whose brushes are ladders.
const CLASSES: [&str; 2] = ["trigger_ladder", "func_ladder"];

/// All ladders of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ladders(Vec<ConvexSolid>);

impl Ladders {
    pub(crate) fn new(map: &obsp::Map) -> Self {
        let ladders = map.entities().iter().filter(|it| CLASSES.contains(&it.classname()));
        Self(ladders.flat_map(|it| it.solids()).cloned().collect())
    }

    /// Whether a box overlaps a ladder.
    pub(crate) fn meet(&self, centre: DVec3, half_extents: DVec3) -> bool {
        let bounds = Aabb::from_centre(centre, half_extents);
        self.0.iter().any(|solid| {
            solid.bounds().overlaps(&bounds)
                && entry(solid, [centre, centre], half_extents).is_some()
        })
    }
}
