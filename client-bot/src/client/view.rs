//! Spreads corrections of the prediction over time, so that the rendered view does not
//! jump.

use std::time::Duration;

use glam::DVec3;
use obsp_proto::Time;

/// How long a correction is spread: long enough to look like motion, short enough that
/// the view is right again before the player acts on it.
const SMOOTHING: Duration = Duration::from_millis(100);

/// Corrections of more units than this are shown at once: the player was relocated, and
/// gliding there would lead through walls.
const SNAP: f64 = 64.0;

/// How far, in units, a correction moves the smoothed view within one frame of a 60 Hz
/// screen.
pub fn smoothed_jump(correction: DVec3) -> f64 {
    const FRAME: f64 = 1.0 / 60.0;
    let length = correction.length();
    if length > SNAP { length } else { length * FRAME / SMOOTHING.as_secs_f64() }
}

/// The difference between the smoothed view and the predicted position, which fades
/// linearly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViewSmoothing {
    offset: DVec3,
    since: Time,
}

impl ViewSmoothing {
    /// Adds a correction of the predicted position, in units, made at `now`.
    pub(super) fn correct(&mut self, now: Time, correction: DVec3) {
        if correction == DVec3::ZERO {
            return;
        }
        let offset = self.offset(now) - correction;
        self.offset = if offset.length() > SNAP { DVec3::ZERO } else { offset };
        self.since = now;
    }

    /// The offset to be added to the predicted position at `now`, in units.
    pub(super) fn offset(&self, now: Time) -> DVec3 {
        let passed = now.since(self.since).as_secs_f64() / SMOOTHING.as_secs_f64();
        self.offset * (1.0 - passed).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::since_start(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_correction_fades_within_a_tenth_of_a_second() {
        let mut view = ViewSmoothing::default();
        view.correct(at(1000), DVec3::new(8.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1000)), DVec3::new(-8.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1050)), DVec3::new(-4.0, 0.0, 0.0));
        // A second correction adds to what is left of the first.
        view.correct(at(1050), DVec3::new(0.0, 2.0, 0.0));
        assert_eq!(view.offset(at(1050)), DVec3::new(-4.0, -2.0, 0.0));
        assert_eq!(view.offset(at(1150)), DVec3::ZERO);
    }

    #[test]
    fn a_correction_moves_the_smoothed_view_by_one_frames_share() {
        assert!((smoothed_jump(DVec3::new(0.0, 24.0, 0.0)) - 4.0).abs() < 1e-9);
        assert_eq!(smoothed_jump(DVec3::new(0.0, 0.0, 100.0)), 100.0);
    }

    #[test]
    fn a_relocation_is_shown_at_once() {
        let mut view = ViewSmoothing::default();
        view.correct(at(1000), DVec3::new(500.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1000)), DVec3::ZERO);
    }
}
