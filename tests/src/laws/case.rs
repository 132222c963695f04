//! Scenes with the laws that judge them, and the measured numbers.

use super::engine::{Run, Start};
use super::scene::Scene;

/// A number that a law predicts, and its measured value.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Name of the measured number, with its unit.
    pub what: &'static str,
    /// The smallest and the largest value that the law allows.
    pub law: [f64; 2],
    /// Maximum distance of the measured value beyond the values that the law allows. It allows for
    /// the errors of an integration by ticks, which are derived in the documentation of the law.
    pub bound: f64,
    /// The measured value.
    pub seen: f64,
}

impl Reading {
    /// A number whose value the law gives.
    pub fn equal(what: &'static str, law: f64, bound: f64, seen: f64) -> Self {
        Self { what, law: [law, law], bound, seen }
    }

    /// A number that the law bounds from both sides.
    pub fn between(what: &'static str, law: [f64; 2], bound: f64, seen: f64) -> Self {
        Self { what, law, bound, seen }
    }

    /// A number that the law bounds from above.
    pub fn at_most(what: &'static str, law: f64, bound: f64, seen: f64) -> Self {
        Self { what, law: [f64::NEG_INFINITY, law], bound, seen }
    }

    /// The distance of the measured value beyond the values that the law allows, or infinity if the
    /// measured value is not finite.
    pub fn deviation(&self) -> f64 {
        let [least, most] = self.law;
        if self.seen.is_finite() {
            (self.seen - most).max(least - self.seen).max(0.0)
        } else {
            f64::INFINITY
        }
    }

    /// The deviation as a share of the bound.
    pub fn share(&self) -> f64 {
        self.deviation() / self.bound
    }

    /// Whether the measured value is beyond the law by no more than the bound.
    pub fn holds(&self) -> bool {
        self.share() <= 1.0
    }
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { what, law: [least, most], bound, seen } = self;
        let law = if least == most {
            format!("{most:.4}")
        } else if least.is_finite() {
            format!("{least:.4} to {most:.4}")
        } else {
            format!("at most {most:.4}")
        };
        write!(f, "{what}: {seen:.4}, law {law}, bound {bound:.4}")
    }
}

type Judge = Box<dyn Fn(&mut Run) -> Vec<Reading>>;

/// A scene and the law that judges it.
pub struct Case {
    /// Shapes, materials and speeds of the scene, in words.
    pub told: String,
    /// The scene that is played.
    pub scene: Scene,
    judge: Judge,
}

impl Case {
    /// A scene and its judge.
    pub fn new(
        told: String,
        scene: Scene,
        judge: impl Fn(&mut Run) -> Vec<Reading> + 'static,
    ) -> Self {
        Self { told, scene, judge: Box::new(judge) }
    }

    /// Plays the scene in an engine, and returns the measured numbers.
    ///
    /// # Errors
    /// The reason why the scene could not be played to its end.
    pub fn play(&self, start: Start) -> Result<Vec<Reading>, String> {
        let mut run = Run::new(&self.scene, start)?;
        let readings = (self.judge)(&mut run);
        run.fault().map_or(Ok(readings), Err)
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Scene { rate, threads, turn, shift, floor, .. } = &self.scene;
        write!(f, "{}; {rate} Hz, threads {threads}, floor {floor:?}", self.told)?;
        write!(f, ", turned {turn:.3}, at {:.0} {:.0} {:.0}", shift.x, shift.y, shift.z)
    }
}
