use glam::DVec3;

/// The planes that divided two bodies last time, as unit directions from the
/// first to the second: a test tries them before it searches. A wrong plane costs
/// time only.
pub(crate) trait LastPlane: Copy {
    /// A plane between the bodies as a whole.
    fn whole(self) -> Option<DVec3>;

    /// A plane between a part of the first and a part of the second.
    fn between(self, ours: usize, theirs: usize) -> Option<DVec3>;

    /// A lower bound of the distance between near parts when the search for contacts
    /// tested them; zero if nothing is known.
    fn gap(self) -> f64;

    /// The pair of near parts with this index, counted from zero, and a plane
    /// between them; `None` beyond the last.
    fn near_parts(self, index: usize) -> Option<([usize; 2], DVec3)>;
}

/// One plane, for the bodies and for all their parts.
impl LastPlane for Option<DVec3> {
    fn whole(self) -> Self {
        self
    }

    fn between(self, _: usize, _: usize) -> Self {
        self
    }

    fn gap(self) -> f64 {
        0.0
    }

    fn near_parts(self, index: usize) -> Option<([usize; 2], DVec3)> {
        self.filter(|_| index == 0).map(|axis| ([0; 2], axis))
    }
}

/// The same planes with the two bodies exchanged.
#[derive(Clone, Copy)]
pub(crate) struct Reversed<P>(pub(crate) P);

impl<P: LastPlane> LastPlane for Reversed<P> {
    fn whole(self) -> Option<DVec3> {
        self.0.whole().map(|axis| -axis)
    }

    fn between(self, ours: usize, theirs: usize) -> Option<DVec3> {
        self.0.between(theirs, ours).map(|axis| -axis)
    }

    fn gap(self) -> f64 {
        self.0.gap()
    }

    fn near_parts(self, index: usize) -> Option<([usize; 2], DVec3)> {
        self.0.near_parts(index).map(|([theirs, ours], axis)| ([ours, theirs], -axis))
    }
}
