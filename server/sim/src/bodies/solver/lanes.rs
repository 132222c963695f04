//! Arithmetic on four contacts at once, in single precision. It uses only operations that IEEE 754
//! rounds exactly, and never fuses a multiplication with an addition. So every machine computes the
//! same bits.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use glam::Vec3;
use wide::f32x4;

/// Number of contacts that are computed at once. Every 64-bit machine has registers of this width.
pub(super) const LANES: usize = 4;

/// One number for each lane.
pub(super) type Lanes = f32x4;

/// `value` where it is positive, else zero. The sign of a zero in the result is the same on every
/// machine. A maximum does not guarantee that.
#[inline(always)]
pub(super) fn positive_part(value: Lanes) -> Lanes {
    value & value.simd_gt(Lanes::ZERO)
}

/// `1 / value` where `value` is positive, else zero.
#[inline(always)]
pub(super) fn inverse_or_zero(value: Lanes) -> Lanes {
    let positive = value.simd_gt(Lanes::ZERO);
    (Lanes::ONE / positive.select(value, Lanes::ONE)) & positive
}

/// A vector for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vec3Lanes {
    x: Lanes,
    y: Lanes,
    z: Lanes,
}

impl Vec3Lanes {
    pub(super) const ZERO: Self = Self { x: Lanes::ZERO, y: Lanes::ZERO, z: Lanes::ZERO };

    pub(super) fn new(vectors: [Vec3; LANES]) -> Self {
        Self {
            x: Lanes::new(vectors.map(|vector| vector.x)),
            y: Lanes::new(vectors.map(|vector| vector.y)),
            z: Lanes::new(vectors.map(|vector| vector.z)),
        }
    }

    /// Reads one row `x y z _` for each lane.
    #[inline(always)]
    pub(super) fn from_rows(rows: [Lanes; LANES]) -> Self {
        let [x, y, z, _] = Lanes::transpose(rows);
        Self { x, y, z }
    }

    pub(super) fn from_components([x, y, z]: [Lanes; 3]) -> Self {
        Self { x, y, z }
    }

    /// These vectors in the lanes of a mask, and `others` elsewhere.
    pub(super) fn selected(self, lanes: Lanes, others: Self) -> Self {
        Self {
            x: lanes.select(self.x, others.x),
            y: lanes.select(self.y, others.y),
            z: lanes.select(self.z, others.z),
        }
    }

    pub(super) fn components(self) -> [Lanes; 3] {
        [self.x, self.y, self.z]
    }

    /// One row `x y z 0` for each lane.
    #[inline(always)]
    pub(super) fn to_rows(self) -> [Lanes; LANES] {
        Lanes::transpose([self.x, self.y, self.z, Lanes::ZERO])
    }

    #[inline(always)]
    pub(super) fn dot(self, other: Self) -> Lanes {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(super) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// The products of the components.
    #[inline(always)]
    pub(super) fn scaled(self, by: Self) -> Self {
        Self { x: self.x * by.x, y: self.y * by.y, z: self.z * by.z }
    }

    /// The z components.
    pub(super) fn z(self) -> Lanes {
        self.z
    }
}

impl Add for Vec3Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vec3Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl Mul<Lanes> for Vec3Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: Lanes) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl Neg for Vec3Lanes {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl AddAssign for Vec3Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vec3Lanes {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// A symmetric matrix for each lane: inverse inertias.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymmetricLanes([Lanes; 6]);

impl SymmetricLanes {
    /// Reads the entries `xx xy xz yy yz zz` of each lane.
    pub(super) fn new(entries: [[f32; 6]; LANES]) -> Self {
        Self(std::array::from_fn(|k| Lanes::new(entries.map(|entry| entry[k]))))
    }

    /// These matrices after rotations, whose matrices have these columns.
    pub(super) fn rotated(self, columns: [Vec3Lanes; 3]) -> Self {
        let [a, b, c] = columns.map(Vec3Lanes::components);
        let row = |k: usize| Vec3Lanes::from_components([a[k], b[k], c[k]]);
        let [x, y, z] = [row(0), row(1), row(2)].map(|row| {
            let [a, b, c] = (self * row).components();
            columns[0] * a + columns[1] * b + columns[2] * c
        });
        Self([x.x, x.y, x.z, y.y, y.z, z.z])
    }

    /// These matrices in the lanes of a mask, and `others` elsewhere.
    pub(super) fn selected(self, lanes: Lanes, others: Self) -> Self {
        Self(std::array::from_fn(|k| lanes.select(self.0[k], others.0[k])))
    }
}

impl Mul<Vec3Lanes> for SymmetricLanes {
    type Output = Vec3Lanes;

    #[inline(always)]
    fn mul(self, vector: Vec3Lanes) -> Vec3Lanes {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        let Vec3Lanes { x, y, z } = vector;
        Vec3Lanes {
            x: xx * x + xy * y + xz * z,
            y: xy * x + yy * y + yz * z,
            z: xz * x + yz * y + zz * z,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(of: [f32; LANES]) -> Lanes {
        Lanes::new(of)
    }

    /// The result of each lane equals the result of a vector alone.
    #[test]
    fn lanes_compute_what_vectors_do() {
        let mut random = crate::Random::new(3);
        let mut vectors = || -> [Vec3; LANES] {
            std::array::from_fn(|_| {
                let mut number = || random.between(-9.0, 9.0) as f32;
                Vec3::new(number(), number(), number())
            })
        };
        let (a, b) = (vectors(), vectors());
        let (first, second) = (Vec3Lanes::new(a), Vec3Lanes::new(b));
        let dots = first.dot(second).to_array();
        let crosses = first.cross(second).to_rows();
        for lane in 0..LANES {
            assert_eq!(dots[lane], a[lane].dot(b[lane]));
            let [x, y, z, rest] = crosses[lane].to_array();
            assert_eq!((Vec3::new(x, y, z), rest), (a[lane].cross(b[lane]), 0.0));
        }
        let rows = Vec3Lanes::from_rows(first.to_rows()).to_rows();
        assert_eq!(rows, first.to_rows());
    }

    #[test]
    fn the_positive_part_has_no_negative_zero() {
        let part = positive_part(lanes([-0.0, -1.0, 2.0, 0.0])).to_array();
        assert_eq!(part.map(f32::to_bits), [0.0_f32, 0.0, 2.0, 0.0].map(f32::to_bits));
        assert_eq!(inverse_or_zero(lanes([0.0, -4.0, 4.0, 1.0])).to_array(), [0.0, 0.0, 0.25, 1.0]);
    }
}
