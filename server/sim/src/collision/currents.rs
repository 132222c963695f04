//! Currents: volumes in which liquids flow.

use glam::DVec3;
use obsp::geometry::ConvexSolid;

/// No current is faster than this, in units per second, also where several overlap.
pub(crate) const MAX_SPEED: f64 = 1000.0;

/// The currents of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Currents {
    /// Volumes, and the velocity of the flow in each, in units per second.
    volumes: Vec<(ConvexSolid, DVec3)>,
    /// Upper bound of the speed of the flow, in units per second.
    fastest: f64,
}

impl Currents {
    /// The currents with these volumes and velocities, none of which is faster than [`MAX_SPEED`].
    pub(crate) fn new(volumes: Vec<(ConvexSolid, DVec3)>) -> Self {
        let sum: f64 = volumes.iter().map(|(_, velocity)| velocity.length()).sum();
        Self { volumes, fastest: sum.min(MAX_SPEED) }
    }

    /// The velocity of a liquid at `point`, in units per second: the sum of all currents there.
    #[inline]
    pub(crate) fn at(&self, point: DVec3) -> DVec3 {
        let here = self
            .volumes
            .iter()
            .filter(|(volume, _)| volume.bounds().contains(point) && volume.contains(point));
        here.map(|(_, velocity)| *velocity).sum::<DVec3>().clamp_length_max(MAX_SPEED)
    }

    /// Upper bound of the speed of the flow, in units per second; zero without any current.
    pub(crate) fn fastest(&self) -> f64 {
        self.fastest
    }
}
