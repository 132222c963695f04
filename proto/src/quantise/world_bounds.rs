//! The lattice of quantised positions.

use glam::DVec3;

/// Lattice points per unit. A thirty-second of a unit is under a third of the gap that
/// bodies keep at rest (0.1), so rounding is never visible as jitter.
pub const STEPS_PER_UNIT: i32 = 32;

/// Maximum number of bits of a position on one axis: 24 bits are half a million units, far beyond
/// any map.
pub const MAX_POSITION_BITS: u8 = 24;

/// Maximum distance of a corner from zero on each axis, in units. Maps reach no further.
const MAX_ORIGIN: i32 = 1 << 20;

/// The box within which positions are rounded to lattice points. A position outside the box is
/// clamped to it.
///
/// ```
/// use glam::DVec3;
/// use obsp_proto::quantise::WorldBounds;
///
/// let bounds = WorldBounds::covering(DVec3::splat(-512.0), DVec3::splat(512.0))?;
/// let position = DVec3::new(1.3, 0.0, -40.01);
/// let rounded = bounds.position(bounds.quantise(position));
/// assert!((rounded - position).abs().max_element() <= 0.5 / 32.0);
/// # Ok::<(), obsp_proto::quantise::BoundsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorldBounds {
    origin: [i32; 3],
    bits: [u8; 3],
}

/// Why bounds are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// A corner is not a number, not in order, or too far from zero.
    #[error(
        "the world bounds on axis {axis} are empty, or farther than {MAX_ORIGIN} units from zero"
    )]
    Corner {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
    },
    /// An axis has no bits or too many.
    #[error(
        "a position on axis {axis} would take {bits} bits; 1 to {MAX_POSITION_BITS} are possible"
    )]
    Bits {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
        /// Number of bits.
        bits: u8,
    },
}

impl WorldBounds {
    /// Bounds whose least corner is `origin`, in whole units, and whose axes have 2^`bits`
    /// lattice points.
    ///
    /// # Errors
    /// The corner or a number of bits is out of range.
    pub fn new(origin: [i32; 3], bits: [u8; 3]) -> Result<Self, BoundsError> {
        for axis in 0..3 {
            if !(-MAX_ORIGIN..=MAX_ORIGIN).contains(&origin[axis]) {
                return Err(BoundsError::Corner { axis });
            }
            if !(1..=MAX_POSITION_BITS).contains(&bits[axis]) {
                return Err(BoundsError::Bits { axis, bits: bits[axis] });
            }
        }
        Ok(Self { origin, bits })
    }

    /// The smallest bounds that cover the box from `least` to `greatest`, in units.
    ///
    /// # Errors
    /// A corner is not a number, not in order, or too far from zero.
    pub fn covering(least: DVec3, greatest: DVec3) -> Result<Self, BoundsError> {
        let (least, greatest) = (least.to_array(), greatest.to_array());
        let limit = f64::from(MAX_ORIGIN);
        let (mut origin, mut bits) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let extent = greatest[axis] - least[axis].floor();
            // This form of the comparison also refuses a NaN.
            if !(extent >= 0.0 && least[axis].abs() <= limit && greatest[axis].abs() <= limit) {
                return Err(BoundsError::Corner { axis });
            }
            origin[axis] = least[axis].floor() as i32;
            let last = (extent * f64::from(STEPS_PER_UNIT)).ceil() as u32;
            bits[axis] = (u32::BITS - last.leading_zeros()).max(1) as u8;
        }
        Self::new(origin, bits)
    }

    /// The corner with the smallest coordinates, in whole units.
    pub fn origin(&self) -> [i32; 3] {
        self.origin
    }

    /// Bits of a position on each axis.
    pub fn bits(&self) -> [u8; 3] {
        self.bits
    }

    /// The greatest lattice coordinate of an axis.
    pub fn last(&self, axis: usize) -> i32 {
        (1 << self.bits[axis]) - 1
    }

    /// The lattice point nearest to `position`, which is clamped to the bounds.
    pub fn quantise(&self, position: DVec3) -> [i32; 3] {
        let position = position.to_array();
        std::array::from_fn(|axis| {
            let steps = (position[axis] - f64::from(self.origin[axis])) * f64::from(STEPS_PER_UNIT);
            // `as` saturates and turns NaN into 0.
            (steps.round() as i32).clamp(0, self.last(axis))
        })
    }

    /// The position of a lattice point, in units.
    pub fn position(&self, lattice: [i32; 3]) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|axis| {
            f64::from(self.origin[axis]) + f64::from(lattice[axis]) / f64::from(STEPS_PER_UNIT)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_inside_round_by_at_most_half_a_step() {
        let bounds =
            WorldBounds::covering(DVec3::new(-10.5, 0.0, -4096.0), DVec3::new(100.0, 0.5, 4095.0))
                .unwrap();
        assert_eq!(bounds.origin(), [-11, 0, -4096]);
        for position in [
            DVec3::new(-10.5, 0.0, -4096.0),
            DVec3::new(100.0, 0.5, 4095.0),
            DVec3::new(3.3, 0.21, 7.77),
        ] {
            let back = bounds.position(bounds.quantise(position));
            assert!((back - position).abs().max_element() <= 0.5 / 32.0, "{position} {back}");
        }
    }

    #[test]
    fn positions_outside_are_clamped_to_the_bounds() {
        let bounds = WorldBounds::new([0; 3], [5; 3]).unwrap();
        let wild = DVec3::new(f64::NEG_INFINITY, f64::NAN, 1e300);
        assert_eq!(bounds.quantise(wild), [0, 0, 31]);
    }

    #[test]
    fn impossible_bounds_are_rejected() {
        assert!(WorldBounds::new([0; 3], [5, 0, 5]).is_err());
        assert!(WorldBounds::new([0; 3], [5, 25, 5]).is_err());
        assert!(WorldBounds::new([i32::MIN, 0, 0], [5; 3]).is_err());
        assert!(WorldBounds::covering(DVec3::ZERO, DVec3::NAN).is_err());
        assert!(WorldBounds::covering(DVec3::ONE, DVec3::ZERO).is_err());
        assert!(WorldBounds::covering(DVec3::ZERO, DVec3::splat(1e6)).is_err());
    }
}
