//! Traces along random segments, and the judgement of a subject's answers.

use super::{ALONG, Answer, Judge, Subject, Wrong, shell, wide};
use crate::Random;
use crate::brushes::{Entry, Judgement};
use crate::flood::Reach;

/// Largest lengths of segments along each axis, in units: steps and rays.
const REACHES: [f64; 4] = [8.0, 8.0, 64.0, 512.0];

/// Number of consecutive segments that start at the end of the previous one.
const IN_A_ROW: usize = 20;

/// Results of tracing segments.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Segments traced.
    pub asked: usize,
    /// Segments that hit a surface, by the subject's answers.
    pub hits: usize,
    /// Answers that are right only within the shell about surfaces.
    pub shell: usize,
    /// Wrong answers, except wrong normals.
    pub wrong: Wrong,
    /// Answers with a wrong normal that are right otherwise.
    pub stray: Wrong,
}

/// A fault in an answer.
#[derive(Debug)]
pub(super) enum Fault {
    /// No face at the contact has this normal.
    Normal(String),
    /// Any other fault.
    Answer(String),
}

/// How exactly an answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The answer is right within the tolerance along the segment.
    Right,
    /// The answer is right for some position of the surfaces within their shells.
    Shell,
}

impl Judge {
    /// Traces `count` segments, each from the end or contact of the previous one, or from a
    /// new start.
    pub fn traces(&self, subject: &dyn Subject, count: usize, random: &mut Random) -> Traces {
        let mut traces = Traces::default();
        let mut position = None;
        while traces.asked < count {
            if traces.asked.is_multiple_of(IN_A_ROW) {
                position = None;
            }
            let Some(start) = position.or_else(|| self.start(subject, random)) else { break };
            let (start, end) = segment(subject, start, random);
            let answer = subject.trace(start, end);
            traces.asked += 1;
            traces.hits += usize::from(matches!(answer, Answer::Hit { .. }));
            match self.judge_trace(subject, start, end, &answer) {
                Ok(verdict) => traces.shell += usize::from(verdict == Verdict::Shell),
                Err(Fault::Answer(fault)) => {
                    traces.wrong.add(|| format!("{start:?} to {end:?}: {fault}"));
                }
                Err(Fault::Normal(fault)) => {
                    traces.stray.add(|| format!("{start:?} to {end:?}: {fault}"));
                }
            }
            position = match answer {
                Answer::Clear => Some(end),
                Answer::Hit { point, .. } if random.one_in(4) && !subject.is_solid(point) => {
                    Some(point)
                }
                Answer::Hit { end, .. } => Some(end),
                Answer::StartSolid => None,
            };
        }
        traces
    }

    /// Judges an answer.
    pub(super) fn judge_trace(
        &self,
        subject: &dyn Subject,
        start: [f32; 3],
        end: [f32; 3],
        answer: &Answer,
    ) -> Result<Verdict, Fault> {
        let wrong = |what: String| Err(Fault::Answer(what));
        let (a, b) = (wide(start), wide(end));
        let length = distance(a, b).max(1e-6);
        let shell = shell(&[a, b]);
        let along = ALONG * shell;
        let surely = self.brushes.entry_with_margin(a, b, -shell);
        let possibly = self.brushes.entry_with_margin(a, b, shell);
        // The slow exact entry is computed only where the two bounds do not decide.
        let verdict_at = |time: f64| {
            let near =
                |edge: Option<f64>| edge.is_some_and(|edge| (edge - time).abs() * length <= along);
            let exactly = || match self.brushes.first_entry(a, b) {
                Some(Entry::At { time, .. }) => near(Some(time.rounded())),
                Some(Entry::StartsInside) | None => false,
            };
            if (near(possibly) && near(surely)) || exactly() {
                Verdict::Right
            } else {
                Verdict::Shell
            }
        };
        let start_is = self.brushes.judge(a, shell);
        match *answer {
            Answer::StartSolid => match start_is {
                Judgement::Solid => Ok(Verdict::Right),
                Judgement::Shell => Ok(Verdict::Shell),
                Judgement::Empty if self.reach(a) != Reach::Entity => Ok(Verdict::Shell),
                Judgement::Empty => {
                    wrong("the answer is that the start is in solid, but the start is free".into())
                }
            },
            _ if start_is == Judgement::Solid => {
                wrong("the start is in solid, which the answer does not say".into())
            }
            Answer::Clear => match (possibly, surely) {
                (_, Some(time)) => {
                    wrong(format!("the trace is clear, but the segment is in solid at {time}"))
                }
                (Some(_), None) if self.brushes.first_entry(a, b).is_some() => Ok(Verdict::Shell),
                _ => Ok(Verdict::Right),
            },
            Answer::Hit { time, point, normal, end: stop } => {
                let motion = [0, 1, 2].map(|i| b[i] - a[i]);
                if surely.is_some_and(|surely| (time - surely) * length > along) {
                    return wrong(format!(
                        "the trace hits at {time}, but is in solid at {surely:?} already"
                    ));
                }
                if possibly.is_none_or(|possibly| (possibly - time) * length > along) {
                    return wrong(format!(
                        "the trace hits at {time}, but there is nothing to hit before {possibly:?}"
                    ));
                }
                let contact = [0, 1, 2].map(|i| a[i] + motion[i] * time);
                if distance(contact, wide(point)) > shell {
                    return wrong(format!(
                        "the trace hits at {time}, but the box is not at {point:?} then"
                    ));
                }
                let normal = wide(normal);
                if dot(normal, motion) > shell {
                    return wrong(format!(
                        "the normal {normal:?} points along the motion, not against it"
                    ));
                }
                if !self.brushes.has_face(contact, normal, along, shell) {
                    let what = format!("no face at {contact:?} has the normal {normal:?}");
                    return Err(Fault::Normal(what));
                }
                self.judge_stop(subject, a, contact, normal, stop, shell).map_err(Fault::Answer)?;
                Ok(verdict_at(time))
            }
        }
    }

    /// Checks that a hit's end is free and on the segment. Its distance from the surface must be
    /// the promised one, or the distance of the start if the start is nearer.
    fn judge_stop(
        &self,
        subject: &dyn Subject,
        start: [f64; 3],
        contact: [f64; 3],
        normal: [f64; 3],
        stop: [f32; 3],
        shell: f64,
    ) -> Result<(), String> {
        let at = wide(stop);
        let height = |p: [f64; 3]| dot(normal, [0, 1, 2].map(|i| p[i] - contact[i]));
        let around = distance(start, at) + distance(at, contact) - distance(start, contact);
        if around > shell {
            return Err(format!("the end {stop:?} is not on the segment"));
        }
        if height(at) < subject.surface_distance().min(height(start)) - shell {
            return Err(format!(
                "the end {stop:?} is only {} units in front of the surface",
                height(at)
            ));
        }
        if subject.is_solid(stop) || self.brushes.judge(at, shell) == Judgement::Solid {
            return Err(format!("the end {stop:?} is in solid"));
        }
        Ok(())
    }
}

/// A random segment from `start` or near it: in any direction, along axes, or between whole
/// coordinates, which often lie in planes and edges of brushes.
pub(super) fn segment(
    subject: &dyn Subject,
    start: [f32; 3],
    random: &mut Random,
) -> ([f32; 3], [f32; 3]) {
    let reach = REACHES[random.below(REACHES.len())];
    let mut motion = [(); 3].map(|()| random.between(-reach, reach) as f32);
    let mut start = start;
    match random.below(5) {
        0 => motion[2] = 0.0,
        1 => motion = [0.0, 0.0, -reach as f32],
        2 => {
            let whole = start.map(f32::round);
            if !subject.is_solid(whole) {
                start = whole;
            }
            motion = motion.map(f32::round);
        }
        3 => {
            let axis = random.below(3);
            motion = [0, 1, 2].map(|i| if i == axis { motion[i] } else { 0.0 });
        }
        _ => {}
    }
    (start, [0, 1, 2].map(|i| start[i] + motion[i]))
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d = [0, 1, 2].map(|i| b[i] - a[i]);
    dot(d, d).sqrt()
}
