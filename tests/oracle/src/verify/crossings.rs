//! Segments straight through every brush: a wall that is missing for one size is found
//! however thin it is, which random segments leave to chance.

use super::traces::Fault;
use super::{Answer, Judge, Subject, Wrong, shell, wide};
use crate::brushes::Solids;

/// Distances before and behind a brush, in units, between which it is crossed.
const BEFORE: [f64; 3] = [0.5, 20.0, 3000.0];

/// Results of crossing brushes.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    /// Segments traced.
    pub asked: usize,
    /// Segments that start or end in the brush, beside it or in another.
    pub covered: usize,
    /// Wrong answers.
    pub wrong: Wrong,
}

impl Judge {
    /// Crosses each of the solids of its map at its middle, both ways along the normal of
    /// its flattest side, from near and from far.
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
        let told =
            |fault: &str| format!("across the brush of line {line}, {start:?} to {end:?}: {fault}");
        match self.judge_trace(subject, start, end, &answer) {
            Ok(_) | Err(Fault::Normal(_)) => {}
            Err(Fault::Answer(fault)) => crossings.wrong.add(|| told(&fault)),
        }
        // Brushes beside it may cover its ends, or all of it.
        let (a, b) = (wide(start), wide(end));
        let through = self.brushes.entry_with_margin(a, b, -shell(&[a, b])).is_some();
        crossings.covered += usize::from(answer == Answer::StartSolid || !through);
    }
}
