//! Segments straight through every brush. They find each wall that is missing for one size, however
//! thin it is. Random segments might miss it.

use super::traces::Fault;
use super::{Answer, Judge, Subject, Wrong, shell, wide};
use crate::brushes::Solids;

/// Distances from a brush, in units, at which the segments across it start and end.
const BEFORE: [f64; 3] = [0.5, 20.0, 3000.0];

/// Results of crossing brushes.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    /// Segments traced.
    pub asked: usize,
    /// Segments that start in solid, or do not pass through the inside of a brush.
    pub covered: usize,
    /// Wrong answers.
    pub wrong: Wrong,
}

impl Judge {
    /// Crosses each of the map's solids at its middle, both ways along the normal of its flattest
    /// face, from near and from far.
    pub fn crossings(&self, subject: &dyn Subject, solids: &Solids) -> Crossings {
        let mut crossings = Crossings::default();
        let point = self.half_extents == [0.0; 3];
        for solid in solids.iter().filter(|solid| !(solid.clip && point)) {
            let (normal, depth) = solid.polyhedron.flattest();
            let reach: f64 = (0..3).map(|i| normal[i].abs() * self.half_extents[i]).sum();
            let middle = solid.polyhedron.middle();
            for before in BEFORE {
                for sign in [1.0, -1.0] {
                    let away = (depth + reach + before) * sign;
                    let end =
                        |side: f64| [0, 1, 2].map(|i| (middle[i] + normal[i] * away * side) as f32);
                    self.cross(subject, solid.line, [end(1.0), end(-1.0)], &mut crossings);
                }
            }
        }
        crossings
    }

    fn cross(
        &self,
        subject: &dyn Subject,
        line: usize,
        [start, end]: [[f32; 3]; 2],
        crossings: &mut Crossings,
    ) {
        crossings.asked += 1;
        let answer = subject.trace(start, end);
        let describe =
            |fault: &str| format!("across the brush of line {line}, {start:?} to {end:?}: {fault}");
        match self.judge_trace(subject, start, end, &answer) {
            Ok(_) | Err(Fault::Normal(_)) => {}
            Err(Fault::Answer(fault)) => crossings.wrong.add(|| describe(&fault)),
        }
        // Other brushes may cover the ends of the segment, or all of it.
        let (a, b) = (wide(start), wide(end));
        let through = self.brushes.entry_with_margin(a, b, -shell(&[a, b])).is_some();
        crossings.covered += usize::from(answer == Answer::StartSolid || !through);
    }
}
