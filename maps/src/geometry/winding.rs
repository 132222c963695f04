use glam::DVec3;

use super::Plane;

/// A convex polygon on a plane, counter-clockwise seen from the plane's front.
#[derive(Clone, Debug, PartialEq)]
pub struct Winding {
    /// At least three vertices, in order.
    pub vertices: Vec<DVec3>,
}

/// A vertex closer to a plane than this counts as on it. Map coordinates are below 2^16, and their
/// products in `f64` are exact to about 1e-9, so this is far above rounding and far below the
/// details of maps.
pub(crate) const ON_PLANE: f64 = 1e-6;

impl Winding {
    /// The square of `plane` that extends `half_extent` units from the point
    /// of the plane nearest to the origin.
    pub fn on_plane(plane: &Plane, half_extent: f64) -> Self {
        let n = plane.normal.abs();
        let up = if n.z < n.x || n.z < n.y { DVec3::Z } else { DVec3::X };
        let right = up.cross(plane.normal).normalize() * half_extent;
        let up = plane.normal.cross(right);
        let centre = plane.normal * plane.distance;
        Self {
            vertices: vec![
                centre - right - up,
                centre + right - up,
                centre + right + up,
                centre - right + up,
            ],
        }
    }

    /// [`clipped_behind`](Self::clipped_behind) without a copy of a winding that is wholly behind
    /// the plane.
    pub(crate) fn clipped(self, plane: &Plane) -> Option<Self> {
        if self.vertices.iter().all(|&v| plane.signed_distance(v) <= ON_PLANE) {
            return Some(self);
        }
        self.clipped_behind(plane)
    }

    /// The part behind `plane`, or `None` if nothing with an area is left. A winding on the plane
    /// counts as behind.
    pub fn clipped_behind(&self, plane: &Plane) -> Option<Self> {
        let distances: Vec<f64> = self.vertices.iter().map(|&v| plane.signed_distance(v)).collect();
        if distances.iter().all(|&d| d <= ON_PLANE) {
            return Some(self.clone());
        }
        if distances.iter().all(|&d| d >= -ON_PLANE) {
            return None;
        }
        let mut vertices = Vec::with_capacity(self.vertices.len() + 1);
        for i in 0..self.vertices.len() {
            let j = (i + 1) % self.vertices.len();
            let (a, b) = (self.vertices[i], self.vertices[j]);
            let (da, db) = (distances[i], distances[j]);
            if da <= ON_PLANE {
                vertices.push(a);
            }
            if (da > ON_PLANE && db < -ON_PLANE) || (da < -ON_PLANE && db > ON_PLANE) {
                vertices.push(a + (b - a) * (da / (da - db)));
            }
        }
        (vertices.len() >= 3).then_some(Self { vertices })
    }

    /// The parts in front of and behind `plane`. A part without an area is `None`. A winding on the
    /// plane counts as on both sides.
    pub fn split(&self, plane: &Plane) -> (Option<Self>, Option<Self>) {
        (self.clipped_behind(&plane.flipped()), self.clipped_behind(plane))
    }

    /// Twice the area times the unit normal (Newell).
    pub fn area_vector(&self) -> DVec3 {
        let origin = self.vertices[0];
        let mut sum = DVec3::ZERO;
        for pair in self.vertices[1..].windows(2) {
            sum += (pair[0] - origin).cross(pair[1] - origin);
        }
        sum
    }

    /// Area in square units.
    pub fn area(&self) -> f64 {
        self.area_vector().length() * 0.5
    }

    /// Mean of the vertices. It is inside, because the polygon is convex.
    pub fn centre(&self) -> DVec3 {
        self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64
    }
}
