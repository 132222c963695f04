//! The stages of the filter cascade, and the clock that times them.

/// The stages of Blow's filter cascade, in the order of their cost for a pair that was never
/// tested. For a pair whose last dividing plane is known, [`Stage::Plane`] is asked before
/// [`Stage::Boxes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The uniform 2D grid, which finds bodies near each other.
    Grid,
    /// Bounding spheres.
    Spheres,
    /// Oriented bounding boxes.
    Boxes,
    /// The plane that divided the pair last time.
    Plane,
    /// The polygon BSP of one body, with the other's box in place of the other.
    BspBox,
    /// The polygons of the smaller body down the BSP of the larger, Blow's hard case. It costs more
    /// than the exact tests that it could save. Where it is on, it is timed and counted only.
    BspHard,
    /// The exact distance between convex parts.
    Exact,
}

impl Stage {
    /// Number of stages.
    pub const COUNT: usize = 7;

    /// All stages, in the order in which they are reported.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Grid,
        Self::Spheres,
        Self::Boxes,
        Self::Plane,
        Self::BspBox,
        Self::BspHard,
        Self::Exact,
    ];

    /// The name under which the stage is reported.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Spheres => "spheres",
            Self::Boxes => "boxes",
            Self::Plane => "plane",
            Self::BspBox => "bsp_box",
            Self::BspHard => "bsp_hard",
            Self::Exact => "exact",
        }
    }
}

/// The set of stages that are switched on.
///
/// A stage that is off costs nothing until the exact test is about to stop a body. The stage is
/// then asked after all. So the results never depend on which stages are on, but the cost does.
/// [`Stage::Exact`] is the last stage, and it is always on. [`Stage::BspHard`] decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages(u8);

impl Stages {
    /// All stages.
    pub const ALL: Self = Self((1 << Stage::COUNT) - 1);

    /// Only the exact test.
    pub const EXACT: Self = Self(1 << Stage::Exact as u8);

    /// This set and `stage`.
    #[must_use]
    pub const fn with(self, stage: Stage) -> Self {
        Self(self.0 | 1 << stage as u8)
    }

    /// This set without `stage`. The exact test cannot be switched off.
    #[must_use]
    pub const fn without(self, stage: Stage) -> Self {
        Self((self.0 & !(1 << stage as u8)) | Self::EXACT.0)
    }

    /// Whether `stage` is on.
    pub const fn contains(self, stage: Stage) -> bool {
        self.0 & 1 << stage as u8 != 0
    }

    /// The stages that are asked before a body is stopped: the stages that are off, as far as they
    /// decide, and the exact test.
    #[must_use]
    pub(crate) const fn others(self) -> Self {
        Self(Self::ALL.0 & !self.0).without(Stage::BspHard)
    }
}

impl Default for Stages {
    /// All stages that decide.
    fn default() -> Self {
        Self::ALL.without(Stage::BspHard)
    }
}

/// A clock in nanoseconds from any origin. The simulation has no clock of its own. To time the
/// stages, the caller provides one. The clock is read about twenty times for each pair that comes
/// near, and the cost of reading it is part of the result.
#[derive(Clone, Copy, Debug)]
pub struct Clock(fn() -> u64);

impl Clock {
    /// A clock that calls `now`.
    pub const fn new(now: fn() -> u64) -> Self {
        Self(now)
    }

    #[inline]
    pub(crate) fn now(self) -> u64 {
        (self.0)()
    }
}

impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Clock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_is_off_is_asked_later_if_it_decides() {
        assert_eq!(Stages::default().others(), Stages::EXACT);
        assert_eq!(Stages::ALL.others(), Stages::EXACT);
        for stage in Stage::ALL {
            let others = Stages::default().without(stage).others();
            assert_eq!(others.contains(stage), stage != Stage::BspHard, "{}", stage.name());
        }
    }
}
