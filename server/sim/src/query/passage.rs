use super::{At, MARGIN, Solid};
use crate::collision::cascade::{Body, first_impact};
use crate::collision::pose::{Motion, Pose};
use crate::collision::time_of_impact::{Resolution, TimeOfImpact};
use crate::context::StepContext;
use crate::counters::Stages;

/// The motion of a solid within a tick: in a straight line, turning about one axis the
/// shorter way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// First pose.
    pub from: At,
    /// Last pose.
    pub to: At,
}

/// How far two motions are free, by the guard's rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passing {
    /// The two motions are free during the whole tick.
    Free,
    /// The two motions are free up to this share of the tick.
    Until(f64),
    /// The two solids overlap before they move.
    Overlapping,
}

impl Way {
    /// The pose at this share of the tick. The result is the first pose if the share is NaN, or if
    /// one of the two poses is not valid.
    pub fn at(&self, time: f64) -> At {
        let Some([from, to]) = self.poses().filter(|_| !time.is_nan()) else { return self.from };
        let pose = Motion::new(from, to).at(time);
        (pose.position, pose.orientation)
    }

    /// First and last pose; `None` if one of them is not valid or beyond the extent of worlds.
    fn poses(&self) -> Option<[Pose; 2]> {
        let pose = |(position, orientation): At| Pose::known(position, orientation);
        Some([pose(self.from)?, pose(self.to)?])
    }
}

/// How far two solids can move at once while they keep more than [`MARGIN`] apart, by the cascade
/// with these stages on. Two solids that begin nearer than that may not come nearer. If a pose is
/// not valid or beyond the extent of worlds, nothing is free: `Until(0.0)`.
pub fn passing(
    (a, way_a): (&Solid, &Way),
    (b, way_b): (&Solid, &Way),
    stages: Stages,
    resolution: Resolution,
) -> Passing {
    let (Some([a_from, a_to]), Some([b_from, b_to])) = (way_a.poses(), way_b.poses()) else {
        return Passing::Until(0.0);
    };
    let (body, other) = (Body::moving(&a.0, a_from, a_to), Body::moving(&b.0, b_from, b_to));
    let mut context = StepContext { stages, resolution, ..StepContext::default() };
    match first_impact(&body, &other, (0.0, 1.0), MARGIN, None, &mut context) {
        TimeOfImpact::Free => Passing::Free,
        TimeOfImpact::Blocked(impact) => Passing::Until(impact.time),
        TimeOfImpact::Overlapping => Passing::Overlapping,
    }
}
