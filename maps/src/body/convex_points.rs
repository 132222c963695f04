use glam::Vec3;

use super::support::{BodyError, GREATEST_EXTENT, LEAST_EXTENT, Support};

/// The hull of some points, grown by [`LEAST_EXTENT`] in every direction, so that even a flat hull
/// does not slip through where cells meet.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPoints {
    points: Vec<Vec3>,
}

impl ConvexPoints {
    /// The hull of `points`, given relative to the reference point, which should lie in the hull.
    /// Every query takes time in proportion to the number of points.
    ///
    /// # Errors
    /// [`BodyError`] if there are no points, or one is too far from the reference point.
    pub fn new(points: Vec<Vec3>) -> Result<Self, BodyError> {
        if points.is_empty() {
            return Err(BodyError::Empty);
        }
        for point in &points {
            let reach = point.length();
            if reach.is_nan() || reach > GREATEST_EXTENT {
                return Err(BodyError::Extent(reach));
            }
        }
        Ok(Self { points })
    }
}

impl Support for ConvexPoints {
    #[inline]
    fn support_point(&self, direction: Vec3) -> Vec3 {
        let mut farthest = (f32::NEG_INFINITY, Vec3::ZERO);
        for &point in &self.points {
            let reach = point.dot(direction);
            if reach > farthest.0 {
                farthest = (reach, point);
            }
        }
        farthest.1 + direction * LEAST_EXTENT
    }
}
