//! A compiled world as a subject of the oracle, for `mapc verify` and the tests.

use oracle::verify::{Answer, Subject, Sum};

use crate::{Expansion, SURFACE_DISTANCE, SizeId, Trace, World};

/// One size of a compiled world.
#[derive(Clone, Copy, Debug)]
pub struct OneSize<'a> {
    /// The world.
    pub world: &'a World,
    /// The size.
    pub size: SizeId,
}

impl Subject for OneSize<'_> {
    fn is_solid(&self, point: [f32; 3]) -> bool {
        self.world.is_solid(self.size, point.into())
    }

    fn trace(&self, start: [f32; 3], end: [f32; 3]) -> Answer {
        match self.world.find_first_transition(self.size, start.into(), end.into()) {
            Trace::Clear => Answer::Clear,
            Trace::StartSolid => Answer::StartSolid,
            Trace::Hit(hit) => Answer::Hit {
                time: hit.time.into(),
                point: hit.point.into(),
                normal: hit.normal.into(),
                end: hit.end.into(),
            },
        }
    }

    fn surface_distance(&self) -> f64 {
        SURFACE_DISTANCE.into()
    }
}

/// The expanded brushes of a size, as the oracle judges them.
pub fn sums(expansion: &Expansion) -> Vec<Sum> {
    let sum = |(solid, &line): (&crate::geometry::ConvexSolid, &u64)| Sum {
        line: line as usize,
        planes: solid.faces().iter().map(|f| (f.plane.normal.into(), f.plane.distance)).collect(),
        corners: solid.vertices().iter().map(|&corner| corner.into()).collect(),
    };
    expansion.solids.iter().zip(&expansion.lines).map(sum).collect()
}
