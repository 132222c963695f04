//! The few distances that the whole simulation shares, in units.

/// No committed pose brings two bodies, or a body and the world, nearer to each other than this.
/// The margin is far too thin to see, and leaves room for rounding: positions are sent and audited
/// in `f32`, whose steps are 1/2048 at 4,096 units.
pub(crate) const MARGIN: f64 = 1.0 / 128.0;

/// The gap at which the solver lets bodies come to rest. A tenth of a unit (about 2 mm) is too thin
/// to see, and a dozen times the guard's margin.
pub(crate) const REST_GAP: f64 = 0.1;

/// No player ends a tick nearer to the world than this. The onion is traced in `f32`, and on the
/// largest maps rounding is a tenth of this distance.
pub(crate) const LEAST_CLEARANCE: f32 = 1.0 / 256.0;

/// All bounds are enlarged by this. The rounding of a rotated coordinate is below 1e-11 of a unit
/// on any map. This bound is far greater than that, and far smaller than anything in a map.
pub(crate) const ROUNDING: f64 = 1e-6;
