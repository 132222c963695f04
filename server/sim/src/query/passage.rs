use super::{At, MARGIN, Solid};
use crate::cascade::{Body, pass};
use crate::counters::{Counters, Stages};
use crate::impact::{Passage, Resolution};
use crate::pose::{Motion, Pose};

/// How a solid moves within a tick: in a straight line, turning about one axis
/// the shorter way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// Where it begins.
    pub from: At,
    /// Where it ends.
    pub to: At,
}

/// Whether two ways are free, as the guard judges it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passing {
    /// From end to end.
    Free,
    /// Up to this share of the tick.
    Until(f64),
    /// The two overlap before they move.
    Overlapping,
}

impl Way {
    /// Where the solid is at this share of the tick.
    pub fn at(&self, time: f64) -> At {
        let pose = Motion::new(pose(self.from), pose(self.to)).at(time);
        (pose.position, pose.orientation)
    }
}

fn pose((position, orientation): At) -> Pose {
    Pose { position, orientation }
}

/// How far two solids can go at once and keep more than [`MARGIN`] apart, by the
/// cascade with these stages on. Two that begin nearer to each other keep no
/// less than they have.
pub fn passing(
    (a, way_a): (&Solid, &Way),
    (b, way_b): (&Solid, &Way),
    stages: Stages,
    resolution: Resolution,
) -> Passing {
    let [body, other] =
        [(a, way_a), (b, way_b)].map(|(s, way)| Body::moving(&s.0, pose(way.from), pose(way.to)));
    let mut counters = Counters { stages, resolution, ..Counters::default() };
    match pass(&body, &other, (0.0, 1.0), MARGIN, None, &mut counters) {
        Passage::Free => Passing::Free,
        Passage::Blocked(impact) => Passing::Until(impact.time),
        Passage::Overlapping => Passing::Overlapping,
    }
}
