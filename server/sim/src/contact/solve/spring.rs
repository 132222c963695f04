/// Frequency in hertz of the spring that eases bodies apart. Half as stiff
/// again, stacks begin to sway; a spring beyond a quarter of the sub-steps'
/// rate rings.
const SPRING_FREQUENCY: f64 = 60.0;

/// Damping of that spring; far beyond critical, so that it creeps, not bounces.
const SPRING_DAMPING: f64 = 10.0;

/// A damped spring as an implicit step sees it (Catto, "Soft Constraints",
/// 2011).
pub(super) struct Spring {
    /// Share of a missing distance made up per second.
    pub(super) rate: f64,
    /// Share of the rigid answer given at once.
    pub(super) stiffness: f64,
    /// Share of the impulse so far that is let go.
    pub(super) leak: f64,
}

impl Spring {
    pub(super) fn new(step: f64) -> Self {
        let omega = std::f64::consts::TAU * SPRING_FREQUENCY.min(0.25 / step);
        let a1 = 2.0 * SPRING_DAMPING + step * omega;
        let a2 = step * omega * a1;
        Self { rate: omega / a1, stiffness: a2 / (1.0 + a2), leak: 1.0 / (1.0 + a2) }
    }
}
