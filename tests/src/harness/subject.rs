use maps::{SURFACE_DISTANCE, SizeId, Trace, World};
use oracle::verify::{Answer, Subject};

/// One size of a compiled world, for the oracle to question.
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
