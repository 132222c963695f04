use super::{Judge, Subject, Wrong, shell, wide};
use crate::Random;
use crate::brushes::Judgement;
use crate::flood::Reach;

/// Results of querying points.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Points queried.
    pub asked: usize,
    /// Points that are solid for the subject.
    pub solid: usize,
    /// Points too close to a surface to judge.
    pub shell: usize,
    /// Solid points outside all brushes that only the void reaches.
    pub filled: usize,
    /// Solid points outside all brushes that no flood reached, neither from an entity nor from the
    /// void.
    pub doubtful: usize,
    /// Wrong answers.
    pub wrong: Wrong,
}

impl Judge {
    /// Queries `count` points.
    pub fn points(&self, subject: &dyn Subject, count: usize, random: &mut Random) -> Points {
        let mut points = Points { asked: count, ..Points::default() };
        for _ in 0..count {
            let point = self.any_point(random);
            let solid = subject.is_solid(point);
            points.solid += usize::from(solid);
            match (self.brushes.judge(wide(point), shell(&[wide(point)])), solid) {
                (Judgement::Shell, _) => points.shell += 1,
                (Judgement::Solid, true) | (Judgement::Empty, false) => {}
                (Judgement::Solid, false) => {
                    let line = self.brushes.holder(wide(point)).unwrap_or(0);
                    points
                        .wrong
                        .add(|| format!("{point:?} is empty, but in the brush of line {line}"));
                }
                (Judgement::Empty, true) => match self.reach(wide(point)) {
                    Reach::Entity => points.wrong.add(|| {
                        format!("{point:?} is solid, but in no brush, and an entity reaches it")
                    }),
                    Reach::Void => points.filled += 1,
                    Reach::Doubtful => points.doubtful += 1,
                },
            }
        }
        points
    }
}
