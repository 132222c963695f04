use super::traces::{Fault, dot, segment};
use super::{Answer, Judge, Subject, Wrong, shell, wide};
use crate::Random;
use crate::brushes::Judgement;

/// Number of consecutive moves before the walk continues at another place.
const IN_A_ROW: usize = 200;

/// Maximum number of traces per move.
const BUMPS: usize = 4;

/// Results of a walk.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Number of moves.
    pub moves: usize,
    /// Moves that were stopped or deflected.
    pub blocked: usize,
    /// Moves that ended inside a brush, but within its shell.
    pub grazing: usize,
    /// Moves that ended in solid, and wrong traces, except wrong normals.
    pub wrong: Wrong,
    /// Traces with a wrong normal that were right otherwise.
    pub stray: Wrong,
}

impl Judge {
    /// Makes `count` moves like a player's, each from the end of the previous one. Each move's
    /// traces and its end are judged.
    pub fn walk(&self, subject: &dyn Subject, count: usize, random: &mut Random) -> Walk {
        let mut walk = Walk::default();
        let mut position = None;
        while walk.moves < count {
            if walk.moves.is_multiple_of(IN_A_ROW) {
                position = None;
            }
            let Some(from) = position.or_else(|| self.start(subject, random)) else { break };
            let (from, goal) = segment(subject, from, random);
            let end = self.slide(subject, from, goal, &mut walk);
            walk.moves += 1;
            walk.blocked += usize::from(end != goal);
            walk.grazing += usize::from(self.brushes.holds(wide(end)));
            let solid = self.brushes.judge(wide(end), shell(&[wide(end)])) == Judgement::Solid;
            if solid || subject.is_solid(end) {
                walk.wrong.add(|| format!("{from:?} towards {goal:?} ended in solid at {end:?}"));
                position = None;
            } else {
                position = Some(end);
            }
        }
        walk
    }

    /// Moves by at most [`BUMPS`] traces. After each, the motion is clipped against the surface
    /// that it hit.
    fn slide(
        &self,
        subject: &dyn Subject,
        from: [f32; 3],
        goal: [f32; 3],
        walk: &mut Walk,
    ) -> [f32; 3] {
        let (mut position, mut goal) = (from, goal);
        let mut normals: Vec<[f64; 3]> = Vec::new();
        for _ in 0..BUMPS {
            let answer = subject.trace(position, goal);
            match self.judge_trace(subject, position, goal, &answer) {
                Ok(_) => {}
                Err(Fault::Answer(fault)) => {
                    walk.wrong.add(|| format!("{position:?} to {goal:?}: {fault}"));
                }
                Err(Fault::Normal(fault)) => {
                    walk.stray.add(|| format!("{position:?} to {goal:?}: {fault}"));
                }
            }
            let Answer::Hit { time, normal, end, .. } = answer else {
                return if answer == Answer::Clear { goal } else { position };
            };
            let (a, b) = (wide(position), wide(goal));
            let mut motion = [0, 1, 2].map(|i| (b[i] - a[i]) * (1.0 - time));
            normals.push(wide(normal));
            for &normal in &normals {
                let into = dot(motion, normal).min(0.0);
                motion = [0, 1, 2].map(|i| motion[i] - normal[i] * into);
            }
            position = end;
            goal = [0, 1, 2].map(|i| position[i] + motion[i] as f32);
            // Clipping by one plane may turn the motion into another plane. Then the mover is
            // stuck in a corner.
            let held = normals.iter().any(|&normal| dot(motion, normal) < -1e-4);
            if held || dot(motion, motion) < 1e-6 {
                break;
            }
        }
        position
    }
}
