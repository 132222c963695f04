//! Passes over contacts, and the speeds that they aim for.

use super::lanes::Lanes;
use super::softness::Softness;

/// A kind of pass over contacts.
pub(super) enum Pass {
    /// Pushes bodies that are nearer than the rest gap apart by a soft constraint.
    Push(Softness),
    /// Like [`Push`](Self::Push), but repeated over the points that may take an impact.
    PushOn(Softness),
    /// Keeps bodies from coming nearer than the rest gap, repeated over the points that may take an
    /// impact.
    Meet,
    /// Keeps bodies from coming nearer than the rest gap.
    Land,
    /// Relaxes the push and applies friction. One such pass in each sub-step is enough, because
    /// friction is warm started.
    Relax,
}

/// The relative speed that a normal impulse aims for, and how softly.
pub(super) struct SpeedTarget {
    pub(super) speed: Lanes,
    pub(super) mass_scale: Lanes,
    pub(super) impulse_scale: Lanes,
}

impl SpeedTarget {
    #[inline(always)]
    pub(super) fn rigid(speed: Lanes) -> Self {
        Self { speed, mass_scale: Lanes::ONE, impulse_scale: Lanes::ZERO }
    }
}
