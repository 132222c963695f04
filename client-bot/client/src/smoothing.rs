//! Spreads corrections of the prediction over time, so that the rendered view does not
//! jump.

use std::time::Duration;

use glam::DVec3;
use obsp_proto::Time;

/// The time over which a correction is spread. It is long enough to look like motion, and short
/// enough that the view is right before the player acts on it.
const SMOOTHING: Duration = Duration::from_millis(100);

/// Corrections of more units than this are shown at once: the player was relocated, and
/// gliding there would lead through walls.
const SNAP: f64 = 64.0;

/// The view may move by this many units within a frame of a 60 Hz screen, besides the player's own
/// motion, without a visible jump. A running player moves further in a frame.
const VISIBLE: f64 = 4.0;

/// Length of a frame at 60 Hz, in seconds.
const FRAME: f64 = 1.0 / 60.0;

/// The difference between the smoothed view and the predicted position, which fades
/// linearly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothing {
    offset: DVec3,
    since: Time,
}

impl Smoothing {
    /// Adds a correction of the predicted position, in units, made at `now`. Returns whether the
    /// correction makes the view jump. The view jumps if all corrections together now move it by
    /// more than four units in a frame at 60 Hz, and did not before.
    pub(crate) fn correct(&mut self, now: Time, correction: DVec3) -> bool {
        if correction == DVec3::ZERO {
            return false;
        }
        let before = self.offset(now);
        let offset = before - correction;
        let snaps = offset.length() > SNAP;
        self.offset = if snaps { DVec3::ZERO } else { offset };
        self.since = now;
        snaps || (per_frame(offset) > VISIBLE && per_frame(before) <= VISIBLE)
    }

    /// The offset to be added to the predicted position at `now`, in units.
    pub(crate) fn offset(&self, now: Time) -> DVec3 {
        let passed = now.since(self.since).as_secs_f64() / SMOOTHING.as_secs_f64();
        self.offset * (1.0 - passed).max(0.0)
    }
}

/// Units by which the view moves in a frame while this offset fades.
fn per_frame(offset: DVec3) -> f64 {
    offset.length() * FRAME / SMOOTHING.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::since_start(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_correction_fades_within_a_tenth_of_a_second() {
        let mut view = Smoothing::default();
        view.correct(at(1000), DVec3::new(8.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1000)), DVec3::new(-8.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1050)), DVec3::new(-4.0, 0.0, 0.0));
        // A second correction adds to what is left of the first.
        view.correct(at(1050), DVec3::new(0.0, 2.0, 0.0));
        assert_eq!(view.offset(at(1050)), DVec3::new(-4.0, -2.0, 0.0));
        assert_eq!(view.offset(at(1150)), DVec3::ZERO);
    }

    #[test]
    fn corrections_are_seen_to_jump_from_four_units_a_frame_on_and_once() {
        let mut view = Smoothing::default();
        let mut correct = |time, units| view.correct(at(time), DVec3::new(0.0, units, 0.0));
        // Each of six frames shows a sixth of a correction.
        assert!(!correct(1000, 23.0));
        assert!(correct(2000, 25.0));
        assert!(!correct(2001, 10.0), "the player itself moves as fast");
        assert!(!correct(3000, 20.0));
        assert!(correct(3010, 8.0), "both motions together are too fast");
        assert!(correct(4000, 100.0), "a relocation");
    }

    #[test]
    fn a_relocation_is_shown_at_once() {
        let mut view = Smoothing::default();
        view.correct(at(1000), DVec3::new(500.0, 0.0, 0.0));
        assert_eq!(view.offset(at(1000)), DVec3::ZERO);
    }
}
