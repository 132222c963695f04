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
    /// The pose at this share of the tick.
    pub fn at(&self, time: f64) -> At {
        let pose = Motion::new(pose(self.from), pose(self.to)).at(time);
        (pose.position, pose.orientation)
    }
}

fn pose((position, orientation): At) -> Pose {
    Pose { position, orientation }
}

/// How far two solids can move at once while they keep more than [`MARGIN`] apart, by
/// the cascade with these stages on. Two that begin nearer may not come nearer.
pub fn passing(
    (a, way_a): (&Solid, &Way),
    (b, way_b): (&Solid, &Way),
    stages: Stages,
    resolution: Resolution,
) -> Passing {
    let [body, other] =
        [(a, way_a), (b, way_b)].map(|(s, way)| Body::moving(&s.0, pose(way.from), pose(way.to)));
    let mut context = StepContext { stages, resolution, ..StepContext::default() };
    match pass(&body, &other, (0.0, 1.0), MARGIN, None, &mut context) {
        Passage::Free => Passing::Free,
        Passage::Blocked(impact) => Passing::Until(impact.time),
        Passage::Overlapping => Passing::Overlapping,
    }
}
