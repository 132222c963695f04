//! Where the impulses of two bodies act that meet fast within a tick.

use glam::DVec3;

use super::restitution::RESTITUTION_THRESHOLD;
use crate::collision::distances::REST_GAP;

/// Half of the way that two bodies which meet fast slip past each other until they do, the
/// second beyond the first, in a tick of `seconds`. `velocities` are the linear and the angular
/// one of both, `arms` lead from their centres to the points that meet, `gap` apart along `axis`.
///
/// Impulses act between the places that the two points have then: else they would turn the two
/// bodies as a whole.
pub(super) fn slip(
    velocities: [[DVec3; 2]; 2],
    arms: [DVec3; 2],
    axis: DVec3,
    gap: f32,
    seconds: f64,
) -> DVec3 {
    let at = |k: usize| velocities[k][0] + velocities[k][1].cross(arms[k]);
    let relative = at(1) - at(0);
    let approach = -relative.dot(axis);
    if approach < RESTITUTION_THRESHOLD {
        return DVec3::ZERO;
    }
    let until = (f64::from(gap) - REST_GAP).max(0.0) / approach;
    // Two that do not meet in this tick touch nowhere in it.
    if until > seconds {
        return DVec3::ZERO;
    }
    (relative + axis * approach) * (0.5 * until)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bodies that pass each other at 4,000 units per second, and approach by this speed.
    fn glancing(approach: f64, gap: f32) -> DVec3 {
        let second = [DVec3::new(4000.0, 0.0, -approach), DVec3::ZERO];
        slip([[DVec3::ZERO; 2], second], [DVec3::ZERO; 2], DVec3::Z, gap, 1.0 / 60.0)
    }

    #[test]
    fn points_slip_until_they_meet_within_the_tick_and_no_farther() {
        let meets = glancing(600.0, 5.1);
        assert!((meets - DVec3::X * (4000.0 * 5.0 / 600.0 / 2.0)).length() < 1e-3, "{meets}");
        // 600 units per second are ten in a tick.
        assert!(glancing(600.0, 10.0).x > 30.0);
        assert_eq!(glancing(600.0, 10.2), DVec3::ZERO);
        assert_eq!(glancing(59.0, 0.5), DVec3::ZERO);
        assert_eq!(glancing(600.0, 0.05), DVec3::ZERO);
    }
}
