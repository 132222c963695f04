use super::{At, MARGIN, Solid};
use crate::collision::cascade::{Body, pass};
use crate::collision::pose::{Motion, Pose};
use crate::collision::time_of_impact::{Passage, Resolution};
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
    /// The whole tick.
    Free,
    /// Up to this share of the tick.
    Until(f64),
    /// The two overlap before they move.
    Overlapping,
}

impl Way {
    /// The pose at this share of the tick; the first one if the share is no number, or one of
    /// the two is no pose.
    pub fn at(&self, time: f64) -> At {
        let Some([from, to]) = self.poses().filter(|_| !time.is_nan()) else { return self.from };
        let pose = Motion::new(from, to).at(time);
        (pose.position, pose.orientation)
    }

    /// First and last pose; `None` if one of them is none within the extent of worlds.
    fn poses(&self) -> Option<[Pose; 2]> {
        let pose = |(position, orientation): At| Pose::known(position, orientation);
        Some([pose(self.from)?, pose(self.to)?])
    }
}

/// How far two solids can move at once while they keep more than [`MARGIN`] apart, by
/// the cascade with these stages on. Two that begin nearer may not come nearer. Of a way that is
/// none within the extent of worlds nothing is free.
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
    match pass(&body, &other, (0.0, 1.0), MARGIN, None, &mut context) {
        Passage::Free => Passing::Free,
        Passage::Blocked(impact) => Passing::Until(impact.time),
        Passage::Overlapping => Passing::Overlapping,
    }
}
