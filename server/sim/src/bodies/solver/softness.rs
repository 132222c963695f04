//! The soft constraint that pushes bodies apart.

/// Frequency of the soft constraint that pushes bodies apart, as a share of the rate of sub-steps.
/// Beyond a quarter of that rate it would ring. At half the stiffness, heaps creep for longer
/// before they sleep.
const CONTACT_FREQUENCY: f64 = 0.25;

/// Damping ratio of that constraint. It is far above critical, so that bodies do not bounce.
const CONTACT_DAMPING_RATIO: f64 = 10.0;

/// A soft constraint for one step length (Catto, "Soft Constraints", 2011).
#[derive(Clone, Copy, Debug)]
pub(super) struct Softness {
    /// Share of a missing distance that is made up per second.
    pub(super) bias_rate: f64,
    /// Share of the rigid impulse that is applied.
    pub(super) mass_scale: f64,
    /// Share of the accumulated impulse that is removed.
    pub(super) impulse_scale: f64,
}

impl Softness {
    pub(super) fn new(step: f64) -> Self {
        let omega = std::f64::consts::TAU * CONTACT_FREQUENCY / step;
        let a1 = 2.0 * CONTACT_DAMPING_RATIO + step * omega;
        let a2 = step * omega * a1;
        Self { bias_rate: omega / a1, mass_scale: a2 / (1.0 + a2), impulse_scale: 1.0 / (1.0 + a2) }
    }
}
