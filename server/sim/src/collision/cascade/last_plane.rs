use glam::DVec3;

use crate::collision::separation::Features;

/// The planes that divided two bodies last time, as unit normals from the
/// first to the second. A test tries them before it searches. A wrong plane only costs
/// time.
pub(crate) trait LastPlane: Copy {
    /// A plane between the bodies as a whole.
    fn whole(self) -> Option<DVec3>;

    /// The plane between a part of the first and a part of the second.
    fn between(self, ours: usize, theirs: usize) -> Option<NearParts>;

    /// A lower bound of the distance between near parts when the search for contacts
    /// tested them; zero if nothing is known.
    fn gap(self) -> f64;

    /// The pair of near parts with this index, counted from zero; `None` beyond the
    /// last.
    fn near_parts(self, index: usize) -> Option<NearParts>;
}

/// Two parts that the search for contacts found near each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearParts {
    /// Index of the part of each body.
    pub(crate) parts: [usize; 2],
    /// Normal of a plane between them, from the first to the second.
    pub(crate) axis: DVec3,
    /// The vertices between which they were closest, if that is known.
    pub(crate) features: Features,
    /// The gap along `axis` when the search tested them, in units; zero if nothing is known.
    pub(crate) gap: f64,
}

impl NearParts {
    /// Two parts for which only the normal of a plane is known.
    pub(crate) fn along(axis: DVec3, parts: [usize; 2]) -> Self {
        Self { parts, axis, features: Features::NONE, gap: 0.0 }
    }

    fn reversed(self) -> Self {
        let [ours, theirs] = self.parts;
        let features = self.features.reversed();
        Self { parts: [theirs, ours], axis: -self.axis, features, gap: self.gap }
    }
}

/// One plane, for the bodies and for all their parts.
impl LastPlane for Option<DVec3> {
    fn whole(self) -> Self {
        self
    }

    fn between(self, ours: usize, theirs: usize) -> Option<NearParts> {
        self.map(|axis| NearParts::along(axis, [ours, theirs]))
    }

    fn gap(self) -> f64 {
        0.0
    }

    fn near_parts(self, index: usize) -> Option<NearParts> {
        self.filter(|_| index == 0).map(|axis| NearParts::along(axis, [0; 2]))
    }
}

/// One plane for each pair of parts that may meet.
impl LastPlane for &[NearParts] {
    fn whole(self) -> Option<DVec3> {
        None
    }

    fn between(self, ours: usize, theirs: usize) -> Option<NearParts> {
        self.iter().find(|near| near.parts == [ours, theirs]).copied()
    }

    fn gap(self) -> f64 {
        self.iter().map(|near| near.gap).fold(f64::INFINITY, f64::min)
    }

    fn near_parts(self, index: usize) -> Option<NearParts> {
        self.get(index).copied()
    }
}

/// The planes of `P` with the two bodies exchanged.
#[derive(Clone, Copy)]
pub(crate) struct Reversed<P>(pub(crate) P);

impl<P: LastPlane> LastPlane for Reversed<P> {
    fn whole(self) -> Option<DVec3> {
        self.0.whole().map(|axis| -axis)
    }

    fn between(self, ours: usize, theirs: usize) -> Option<NearParts> {
        self.0.between(theirs, ours).map(NearParts::reversed)
    }

    fn gap(self) -> f64 {
        self.0.gap()
    }

    fn near_parts(self, index: usize) -> Option<NearParts> {
        self.0.near_parts(index).map(NearParts::reversed)
    }
}
