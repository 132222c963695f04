//! The plane of a face as written: through three points, which may lie anywhere.
//!
//! The points of a face serve only to determine its plane, and some editors write them far outside
//! the brush. Far points are scaled first, so that no product overflows. The rounding of their
//! digits makes the plane uncertain near the brush, and this uncertainty is bounded.

use glam::DVec3;

use super::brush::{DegenerateBrush, MAX_COORDINATE};
use super::source::map::SourceFace;
use crate::geometry::{Aabb, Plane};

/// Largest uncertainty of a face's plane anywhere on its brush, in units: a tenth of the compiler's
/// tolerance. A large triangle reaches it if its points are about a million million units away.
/// Points with whole coordinates in an axial plane never reach it.
pub(super) const PLANE_ERROR: f64 = 1e-4;

/// Points that are all nearer than this, along each axis, are certain to give a plane that
/// is precise within the world.
const NEAR: f64 = 2.0 * MAX_COORDINATE;

/// A triangle lower than this, in units, has no plane, because the last written digit would decide
/// it.
const LOWEST: f64 = 1e-5;

/// The plane of a face, with its number in the brush, counted from 1.
pub(super) struct WrittenPlane {
    pub(super) number: usize,
    pub(super) plane: Plane,
    /// Bounds of the plane's error; `None` if no point is farther away than [`NEAR`].
    far: Option<Far>,
}

/// Bounds of the error of a plane through far points.
struct Far {
    /// A point of the plane.
    at: DVec3,
    /// Error of the plane's distance at that point.
    offset: f64,
    /// Error of the unit normal, by component.
    tilt: DVec3,
    /// Error per unit of distance from the point: the digits of the points divided by the height of
    /// their triangle.
    slope: f64,
}

impl WrittenPlane {
    /// The plane of a face; `None` if its points lie in one line.
    pub(super) fn of(face: &SourceFace, number: usize) -> Result<Option<Self>, DegenerateBrush> {
        let points = face.points;
        if !points.iter().all(|point| point.is_finite()) {
            return Err(DegenerateBrush::NotFinite(number));
        }
        let most = points.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        if most > NEAR {
            return Ok(Self::through_far(points, most, number));
        }
        let [a, b, c] = points;
        let Some((normal, length)) = spanned(a - b, c - b, a - c, 1.0) else { return Ok(None) };
        let plane = Plane { normal: normal / length, distance: normal.dot(b) / length };
        Ok(Some(Self { number, plane, far: None }))
    }

    fn through_far(points: [DVec3; 3], most: f64, number: usize) -> Option<Self> {
        // The scale is a power of two, so that scaling rounds nothing.
        let scale = power_of_two_below(1.0 / most);
        let [a, b, c] = points.map(|point| point * scale);
        let (u, v) = (a - b, c - b);
        let (normal, length) = spanned(u, v, a - c, scale)?;
        let unit = normal / length;
        let nearest =
            |p: &&DVec3, q: &&DVec3| p.abs().max_element().total_cmp(&q.abs().max_element());
        let at = *points.iter().min_by(nearest)?;
        let digits = points.iter().map(|p| digit(*p)).fold(DVec3::ZERO, DVec3::max);
        let across = unit.abs().dot(digits);
        // Each component is a difference of two rounded products.
        let products = DVec3::new(u.y * v.z, u.z * v.x, u.x * v.y).abs()
            + DVec3::new(u.z * v.y, u.x * v.z, u.y * v.x).abs();
        let longest = u.length().max(v.length()).max((a - c).length());
        let far = Far {
            at,
            offset: unit.abs().dot(digit(at) + at.abs() * (4.0 * f64::EPSILON)),
            tilt: products * (4.0 * f64::EPSILON / length),
            slope: across * scale * longest / length,
        };
        Some(Self { number, plane: Plane::through(unit, at), far: Some(far) })
    }

    /// Largest error of the plane within `bounds`, in units.
    pub(super) fn error(&self, bounds: &Aabb) -> f64 {
        let Some(Far { at, offset, tilt, slope }) = &self.far else { return 0.0 };
        let reach = (bounds.min - at).abs().max((bounds.max - at).abs());
        offset + tilt.dot(reach) + slope * reach.length()
    }
}

/// The cross product of two sides of a triangle, and its length. The sides were multiplied by
/// `scale`. `None` if the triangle is lower than [`LOWEST`].
fn spanned(u: DVec3, v: DVec3, third: DVec3, scale: f64) -> Option<(DVec3, f64)> {
    let normal = u.cross(v);
    let length = normal.length();
    let longest = u.length().max(v.length()).max(third.length());
    (length > LOWEST * scale * longest).then_some((normal, length))
}

/// The greatest error of each coordinate that was read from decimals. Whole numbers have no error.
fn digit(point: DVec3) -> DVec3 {
    const WHOLE: f64 = (1_u64 << 53) as f64;
    let error = |x: f64| {
        if x.fract() == 0.0 && x.abs() <= WHOLE { 0.0 } else { x.abs() * f64::EPSILON }
    };
    DVec3::new(error(point.x), error(point.y), error(point.z))
}

/// The greatest power of two that is not above a positive normal number.
fn power_of_two_below(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    f64::from_bits(x.to_bits() & !MANTISSA).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(points: [[f64; 3]; 3]) -> Result<Option<WrittenPlane>, DegenerateBrush> {
        let face = SourceFace { points: points.map(DVec3::from), texture: "x".into() };
        WrittenPlane::of(&face, 3)
    }

    const BOUNDS: Aabb =
        Aabb { min: DVec3::new(-20.0, -200.0, 0.0), max: DVec3::new(20.0, 200.0, 200.0) };

    /// The face at x = 20 of case `far-plane-points`, with points farther and farther out.
    #[test]
    fn whole_numbers_in_an_axial_plane_are_exact_however_far_they_lie() {
        for far in [65_537.0, 90_000.0, 1e9, 1e12, 1e15] {
            let points = [[20.0, -200.0, 0.0], [20.0, -200.0, far], [20.0, far, 0.0]];
            let plane = written(points).expect("finite").expect("a plane");
            assert_eq!(plane.plane, Plane { normal: DVec3::X, distance: 20.0 }, "{far}");
            assert!(plane.error(&BOUNDS) < 1e-9, "{far}: {}", plane.error(&BOUNDS));
        }
    }

    /// Points on a slope, with fractions: some within the limit and some beyond it.
    #[test]
    fn the_uncertainty_of_far_points_is_bounded_and_true() {
        let plane = |far: f64| {
            let third = far / 3.0;
            let points = [[third, third, third], [far, -far, 0.0], [-far, far, far * 0.7]];
            written(points).expect("finite").expect("a plane")
        };
        assert!(plane(1e9).error(&BOUNDS) <= PLANE_ERROR);
        assert!(plane(1e14).error(&BOUNDS) > PLANE_ERROR);
        // A plane through nearer points passes through them, except for rounding.
        let near = plane(1e6);
        assert!(near.plane.signed_distance(DVec3::splat(1e6 / 3.0)).abs() < 1e-8);
    }

    #[test]
    fn no_product_of_finite_coordinates_overflows() {
        for far in [1e100, 1e155, f64::MAX] {
            let points = [[1.5, 0.0, far], [far, 2.5, 0.0], [0.0, far, 3.5]];
            let plane = written(points).expect("finite").expect("a plane");
            assert!((plane.plane.normal.length() - 1.0).abs() < 1e-9, "{far}");
            let error = plane.error(&BOUNDS);
            assert!(error.is_nan() || error > PLANE_ERROR, "{far}: {error}");
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = written([[0.0; 3], [bad, 1.0, 1.0], [2.0, 2.0, 2.0]]);
            assert_eq!(refused.err(), Some(DegenerateBrush::NotFinite(3)));
        }
    }
}
