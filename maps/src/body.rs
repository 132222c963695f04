//! Convex bodies, described by their support functions.
//!
//! For the shifted planes (Melax 2000, section 3) a moving body is given by its *support function*:
//! how far the body extends from its reference point in any direction. [`Support`] is that
//! function. A sphere, an upright cylinder, a cuboid and the hull of some points implement it, and
//! users can implement it for any other convex body.

mod convex_points;
mod cuboid;
mod cylinder;
mod sphere;
mod support;

pub use convex_points::ConvexPoints;
pub use cuboid::{Cuboid, TurnedCuboid};
pub use cylinder::Cylinder;
pub use sphere::Sphere;
pub use support::{BodyError, GREATEST_EXTENT, LEAST_EXTENT, Support};

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};
    use proptest::prelude::*;

    use super::*;

    fn agrees(body: &impl Support, direction: Vec3) {
        let (reach, point) = (body.support(direction), body.support_point(direction));
        assert!((reach - point.dot(direction)).abs() < 1e-4, "{direction}: {reach} and {point}");
        assert!(reach >= LEAST_EXTENT);
    }

    proptest! {
        #[test]
        fn the_farthest_point_is_as_far_as_the_body_reaches(
            direction in prop::array::uniform3(-1.0_f32..1.0),
            extents in prop::array::uniform3(0.5_f32..64.0),
            angle in 0.0_f32..6.0,
        ) {
            let Some(direction) = Vec3::from(direction).try_normalize() else { return Ok(()) };
            let extents = Vec3::from(extents);
            agrees(&Sphere::new(extents.x).expect("in range"), direction);
            agrees(&Cylinder::new(extents.x, extents.z).expect("in range"), direction);
            let cuboid = Cuboid::new(extents).expect("in range");
            agrees(&cuboid, direction);
            let turned = cuboid.turned(Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle)).unwrap();
            agrees(&turned, direction);
            // A cuboid is the hull of its corners.
            let corner = |i: u32| {
                let sign = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                cuboid.support_point(Vec3::new(sign(0), sign(1), sign(2)).normalize())
            };
            let hull = ConvexPoints::new((0..8).map(corner).collect()).expect("points");
            agrees(&hull, direction);
            let rounded = cuboid.support(direction) + LEAST_EXTENT;
            prop_assert!((hull.support(direction) - rounded).abs() < 1e-4);
        }
    }

    #[test]
    fn a_body_without_extent_is_refused() {
        for extent in [0.0, -1.0, f32::NAN, f32::INFINITY, 5000.0] {
            assert!(Sphere::new(extent).is_err());
            assert!(Cylinder::new(extent, 8.0).is_err());
            assert!(Cylinder::new(8.0, extent).is_err());
            assert!(Cuboid::new(Vec3::new(8.0, extent, 8.0)).is_err());
        }
        assert_eq!(ConvexPoints::new(vec![]).err(), Some(BodyError::Empty));
        assert!(ConvexPoints::new(vec![Vec3::splat(f32::NAN)]).is_err());
    }
}
