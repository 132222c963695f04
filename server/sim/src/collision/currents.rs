//! Currents: volumes in which liquids flow.

use glam::DVec3;
use obsp::geometry::ConvexSolid;

/// No current is faster than this, in units per second.
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
        let speeds = volumes.iter().map(|(_, velocity)| velocity.length());
        let fastest = speeds.fold(0.0, f64::max).min(MAX_SPEED);
        Self { volumes, fastest }
    }

    /// The velocity of a liquid at `point`, in units per second: the sum of all currents there,
    /// limited to the speed of the fastest of them. So crossing currents flow diagonally, and
    /// opposed currents cancel each other. Quake II limits the sum of several currents on a swimmer
    /// in the same way.
    #[inline]
    pub(crate) fn at(&self, point: DVec3) -> DVec3 {
        let here = self
            .volumes
            .iter()
            .filter(|(volume, _)| volume.bounds().contains(point) && volume.contains(point));
        let add = |(sum, most): (DVec3, f64), (_, velocity): &(ConvexSolid, DVec3)| {
            (sum + *velocity, most.max(velocity.length()))
        };
        let (sum, most) = here.fold((DVec3::ZERO, 0.0), add);
        sum.clamp_length_max(most.min(MAX_SPEED))
    }

    /// Upper bound of the speed of the flow, in units per second; zero without any current.
    pub(crate) fn fastest(&self) -> f64 {
        self.fastest
    }
}
