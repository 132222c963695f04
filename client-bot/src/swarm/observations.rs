//! A bot's observations of the match: gaps between snapshots, ages of visible entities, and
//! prediction errors.

use obsp_client::PredictionError;
use std::time::Duration;

use super::histogram::Histogram;

/// A [`Histogram`] holds durations, so a prediction error of one unit is recorded as this many
/// seconds. A bin is then a five-hundredth of a unit wide, up to twenty units.
pub(super) const SECONDS_PER_UNIT: f64 = 0.05;

/// A player who is rendered this many units farther on within one frame is seen to jump.
const VISIBLE_JUMP: f64 = 4.0;

/// A bot's observations over some part of its time.
#[derive(Clone, Debug)]
pub(super) struct Observations {
    /// Time between snapshots.
    pub(super) gaps: Histogram,
    /// Ages of the states of visible entities that move.
    pub(super) ages: Histogram,
    /// Prediction errors, with [`SECONDS_PER_UNIT`] for a unit.
    pub(super) errors: Histogram,
    /// Prediction errors of players whose motion nothing may have disturbed.
    pub(super) undisturbed_errors: Histogram,
    /// Corrections that moved the predicted position of the latest command by more than
    /// [`VISIBLE_JUMP`] units.
    pub(super) jumps: u64,
    /// Corrections that make the smoothed view move by more than [`VISIBLE_JUMP`] units within a
    /// frame.
    pub(super) smoothed_jumps: u64,
}

impl Observations {
    pub(super) fn new() -> Self {
        Self {
            gaps: Histogram::new(),
            ages: Histogram::new(),
            errors: Histogram::new(),
            undisturbed_errors: Histogram::new(),
            jumps: 0,
            smoothed_jumps: 0,
        }
    }

    /// Records a prediction error, and whether the smoothed view jumps because of it.
    pub(super) fn record_error(&mut self, error: PredictionError, view_jumps: bool) {
        let units = Duration::try_from_secs_f64(error.units * SECONDS_PER_UNIT).unwrap_or_default();
        self.errors.record(units);
        if !error.disturbed {
            self.undisturbed_errors.record(units);
        }
        self.jumps += u64::from(error.correction.length() > VISIBLE_JUMP);
        self.smoothed_jumps += u64::from(view_jumps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_jump_is_a_correction_of_more_than_four_units_at_the_latest_command() {
        let mut observations = Observations::new();
        let mut note = |correction, view_jumps| {
            let correction = DVec3::new(0.0, correction, 0.0);
            let error = PredictionError { units: 30.0, correction, disturbed: true };
            observations.record_error(error, view_jumps);
            (observations.jumps, observations.smoothed_jumps)
        };
        let noted = [note(3.9, false), note(-4.1, false), note(25.0, true)];
        assert_eq!(noted, [(0, 0), (1, 0), (2, 1)]);
        // The error of a tick is recorded as it was measured, however far the correction moves the
        // position after the latest command.
        assert_eq!((observations.errors.count(), observations.undisturbed_errors.count()), (3, 0));
        assert_eq!(observations.errors.max(), Duration::from_secs_f64(1.5));
    }
}
