//! Spin without contacts, by Euler's equations: the angular momentum is kept, and the angular
//! velocity changes as the body turns.

use glam::{DMat3, DQuat, DVec3};

use crate::collision::pose::turned;

/// Largest turn of a step of the integration, in radians.
const STEP: f64 = 1.0 / 16.0;

/// Maximum number of steps of one integration: the solver limits the turn of a tick to a radian.
const MAX_STEPS: f64 = 16.0;

/// Moments of inertia that differ by no more than this share of them count as equal. The body
/// then keeps its angular velocity as well.
const EQUAL: f64 = 1e-9;

/// The numbers that the spin of a body depends on: its inertia per unit of mass, in its own axes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Top {
    /// The inertia and its inverse; `None` for a body whose moments are equal about all axes.
    moments: Option<[DMat3; 2]>,
}

impl Top {
    pub(crate) fn new(inertia: DMat3) -> Self {
        let mean = (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z) / 3.0;
        let alike = DMat3::from_diagonal(DVec3::splat(mean));
        let is_alike = inertia.abs_diff_eq(alike, EQUAL * mean);
        Self { moments: (!is_alike).then(|| [inertia, inertia.inverse()]) }
    }

    /// Whether the body's angular velocity changes as the body turns.
    pub(crate) fn precesses(&self) -> bool {
        self.moments.is_some()
    }

    /// The angular velocity after the body has turned between two orientations without a torque.
    pub(crate) fn turned(&self, angular: DVec3, [from, to]: [DQuat; 2]) -> DVec3 {
        let Some([inertia, inverse]) = self.moments else { return angular };
        let momentum = from * (inertia * (from.inverse() * angular));
        to * (inverse * (to.inverse() * momentum))
    }

    /// Orientation and angular velocity, in radians per second and world axes, after `seconds`
    /// without a torque. The integration is by the midpoint rule: in each step the body turns by
    /// the angular velocity that it has halfway.
    pub(crate) fn spun(&self, orientation: DQuat, angular: DVec3, seconds: f64) -> (DQuat, DVec3) {
        let Some([inertia, inverse]) = self.moments else {
            return (turned(orientation, angular * seconds), angular);
        };
        let momentum = orientation * (inertia * (orientation.inverse() * angular));
        let velocity = |at: DQuat| at * (inverse * (at.inverse() * momentum));
        let steps = (angular.length() * seconds / STEP).ceil().clamp(1.0, MAX_STEPS);
        let step = seconds / steps;
        let (mut at, mut angular) = (orientation, angular);
        for _ in 0..steps as u32 {
            for _ in 0..2 {
                angular = velocity(turned(at, angular * (0.5 * step)));
            }
            at = turned(at, angular * step);
            angular = velocity(at);
        }
        (at, angular)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Momentum is kept, and energy to a thousandth, in ten seconds about any axis.
    #[test]
    fn momentum_and_energy_are_kept() {
        let mut random = crate::Random::new(5);
        for seed in 0..40 {
            let mut number = |least: f64, most: f64| random.between(least, most);
            let inertia = DMat3::from_diagonal(DVec3::new(
                number(1.0, 3.0),
                number(3.0, 4.0),
                number(4.0, 5.0),
            ));
            let top = Top::new(inertia);
            let start = DVec3::from_array(std::array::from_fn(|_| number(-10.0, 10.0)));
            let (mut at, mut angular) = (DQuat::IDENTITY, start);
            for _ in 0..600 {
                (at, angular) = top.spun(at, angular, 1.0 / 60.0);
            }
            let momentum = at * (inertia * (at.inverse() * angular));
            let drift = (momentum - inertia * start).length() / (inertia * start).length();
            assert!(drift < 1e-9, "seed {seed}: {drift}");
            let carried = top.turned(start, [DQuat::IDENTITY, at]);
            assert!((carried - angular).length() < 1e-9 * angular.length(), "seed {seed}");
            let energy = angular.dot(momentum) / start.dot(inertia * start);
            assert!((energy - 1.0).abs() < 1e-3, "seed {seed}: {energy}");
        }
    }

    #[test]
    fn a_cube_keeps_its_spin() {
        let top = Top::new(DMat3::IDENTITY);
        assert!(!top.precesses());
        let angular = DVec3::new(1.0, 2.0, 3.0);
        assert_eq!(top.spun(DQuat::IDENTITY, angular, 0.1).1, angular);
        assert!(Top::new(DMat3::from_diagonal(DVec3::new(1.0, 1.0, 1.001))).precesses());
    }
}
