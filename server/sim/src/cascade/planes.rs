use glam::DVec3;

/// What divided two bodies last time, as unit directions from the first to the
/// second: what a test tries before it searches. Wrong ones cost time only.
pub(crate) trait Planes: Copy {
    /// A plane between the bodies as a whole.
    fn whole(self) -> Option<DVec3>;

    /// A plane between a part of the first and a part of the second.
    fn between(self, ours: usize, theirs: usize) -> Option<DVec3>;
}

/// One plane, for bodies and parts alike.
impl Planes for Option<DVec3> {
    fn whole(self) -> Self {
        self
    }

    fn between(self, _: usize, _: usize) -> Self {
        self
    }
}

/// The same planes, with the bodies named the other way round.
#[derive(Clone, Copy)]
pub(crate) struct Reversed<P>(pub(crate) P);

impl<P: Planes> Planes for Reversed<P> {
    fn whole(self) -> Option<DVec3> {
        self.0.whole().map(|axis| -axis)
    }

    fn between(self, ours: usize, theirs: usize) -> Option<DVec3> {
        self.0.between(theirs, ours).map(|axis| -axis)
    }
}
