//! Half-spaces in integers, with exact signs.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// The points with `normal · x ≤ distance`, in integers without a common divisor.
#[derive(Clone, Debug)]
pub struct Halfspace {
    normal: [BigInt; 3],
    distance: BigInt,
    unit: [f64; 3],
    offset: f64,
}

/// A distance computed in `f64` has the right sign if it exceeds this: products of coordinates
/// below 2^18 with unit vectors that are exact to 2^-51 are exact to 1e-9.
const CERTAIN: f64 = 1e-7;

impl Halfspace {
    /// The half-space behind a plane, whose normal must not be zero.
    pub fn new(normal: [BigInt; 3], distance: BigInt) -> Self {
        let [x, y, z] = &normal;
        let divisor = gcd(gcd(gcd(x.clone(), y.clone()), z.clone()), distance.clone());
        let normal = normal.map(|n| n / &divisor);
        let distance = distance / divisor;
        // 62 bits exceed the precision of a float and fit an integer type.
        let excess = normal.iter().map(BigInt::bits).max().unwrap_or(0).saturating_sub(62);
        let [x, y, z] = normal.each_ref().map(|n| small(&(n >> excess)));
        let length = (x * x + y * y + z * z).sqrt();
        // The distance may have many more bits than the normal, so it is shifted separately.
        let spare = distance.bits().saturating_sub(126).max(excess);
        let more = i32::try_from(spare - excess).unwrap_or(i32::MAX);
        let offset = small(&(&distance >> spare)) / length * 2_f64.powi(more);
        Self { normal, distance, unit: [x / length, y / length, z / length], offset }
    }

    /// The integer normal, outward.
    pub fn normal(&self) -> &[BigInt; 3] {
        &self.normal
    }

    /// The integer distance, in multiples of the normal's length.
    pub fn whole_distance(&self) -> &BigInt {
        &self.distance
    }

    /// The unit normal, rounded.
    pub fn unit(&self) -> [f64; 3] {
        self.unit
    }

    /// Signed distance of a point in front of the plane, in units, inexact.
    pub fn distance(&self, point: [f64; 3]) -> f64 {
        let [x, y, z] = self.unit;
        x * point[0] + y * point[1] + z * point[2] - self.offset
    }

    /// The side of the plane that the point is on, exactly: `Less` is inside.
    pub fn side(&self, point: [f64; 3]) -> Ordering {
        let distance = self.distance(point);
        if distance > CERTAIN {
            Ordering::Greater
        } else if distance < -CERTAIN {
            Ordering::Less
        } else {
            match self.scaled_distances([point])[0].sign() {
                Sign::Plus => Ordering::Greater,
                Sign::NoSign => Ordering::Equal,
                Sign::Minus => Ordering::Less,
            }
        }
    }

    /// The exact `normal · point - distance` of each point, multiplied by a power of two that is
    /// the same for all.
    pub fn scaled_distances<const N: usize>(&self, points: [[f64; 3]; N]) -> [BigInt; N] {
        let parts = points.map(|p| p.map(parts));
        let exponent = parts.iter().flatten().map(|&(_, e)| e).min().unwrap_or(0).min(0);
        parts.map(|point| {
            let mut sum = -(&self.distance << exponent.unsigned_abs());
            for (n, (mantissa, e)) in self.normal.iter().zip(point) {
                sum += (n * mantissa) << (e - exponent).unsigned_abs();
            }
            sum
        })
    }

    /// The half-space moved out by the support of a box, whose half extents must be finite.
    #[must_use]
    pub fn expanded(&self, half_extents: [f64; 3]) -> Self {
        let extents = half_extents.map(parts);
        let exponent = extents.iter().map(|&(_, e)| e).min().unwrap_or(0).min(0);
        let mut distance = &self.distance << exponent.unsigned_abs();
        for (n, (mantissa, e)) in self.normal.iter().zip(extents) {
            let magnitude = BigInt::from(n.magnitude().clone());
            distance += (magnitude * mantissa) << (e - exponent).unsigned_abs();
        }
        let normal = self.normal.each_ref().map(|n| n << exponent.unsigned_abs());
        Self::new(normal, distance)
    }
}

impl PartialEq for Halfspace {
    fn eq(&self, other: &Self) -> bool {
        self.normal == other.normal && self.distance == other.distance
    }
}

/// A float as `mantissa · 2^exponent`, exactly. The mantissa is odd or zero.
fn parts(x: f64) -> (i64, i32) {
    assert!(x.is_finite(), "a point of the world is finite");
    let bits = x.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let magnitude = if biased == 0 { fraction } else { fraction | (1 << 52) };
    let mantissa = if x < 0.0 { -magnitude } else { magnitude };
    // Trailing zeros would lengthen the integers for nothing.
    let spare = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
    if mantissa == 0 { (0, 0) } else { (mantissa >> spare, biased.max(1) - 1075 + spare as i32) }
}

pub(super) fn gcd(mut a: BigInt, mut b: BigInt) -> BigInt {
    while b.sign() != Sign::NoSign {
        (a, b) = (b.clone(), a % b);
    }
    if a.sign() == Sign::Minus { -a } else { a }
}

/// Rounds an integer of at most 127 bits to a float.
pub(super) fn small(n: &BigInt) -> f64 {
    i128::try_from(n).expect("the caller has shifted it to fit") as f64
}

/// Rounds a fraction to a float. The fraction must be at most 2^60 in size.
pub(super) fn ratio(numerator: &BigInt, denominator: &BigInt) -> f64 {
    let excess = denominator.bits().saturating_sub(62);
    small(&(numerator >> excess)) / small(&(denominator >> excess))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_decomposed_exactly() {
        for x in [0.0, 1.0, -3.0, 0.1, -1e-30, 65_535.75, f64::from(0.1_f32), 5e-324] {
            let (mantissa, exponent) = parts(x);
            let half = exponent / 2;
            let back = mantissa as f64 * 2_f64.powi(half) * 2_f64.powi(exponent - half);
            assert_eq!(back, x);
        }
    }

    /// The plane of a face with points at 1e300 is farther away than a machine integer can
    /// express.
    #[test]
    fn a_plane_may_be_far_away() {
        let far = Halfspace::new([1.into(), 2.into(), 2.into()], BigInt::from(10).pow(300));
        assert_eq!(far.side([1.0, 2.0, 3.0]), Ordering::Less);
        assert!((far.distance([0.0; 3]) / -1e300 * 3.0 - 1.0).abs() < 1e-9);
        let beyond = Halfspace::new([1.into(), 2.into(), 2.into()], -BigInt::from(10).pow(999));
        assert_eq!(beyond.side([1.0, 2.0, 3.0]), Ordering::Greater);
    }

    #[test]
    fn a_point_closer_than_rounding_is_on_the_right_side() {
        // No float lies exactly on the plane x + y + z = 3·0.1.
        let plane = Halfspace::new([10.into(), 10.into(), 10.into()], 3.into());
        assert_eq!(plane.side([0.1; 3]), Ordering::Greater, "0.1 rounds up");
        let below = f64::from_bits(0.1_f64.to_bits() - 1);
        assert_eq!(plane.side([below; 3]), Ordering::Less);
        let whole = Halfspace::new([1.into(), 1.into(), 1.into()], 3.into());
        assert_eq!(whole.side([1.0; 3]), Ordering::Equal);
        assert_eq!(whole.side([1.0, 1.0, 1.0 + f64::EPSILON]), Ordering::Greater);
    }
}
