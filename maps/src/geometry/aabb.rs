use glam::DVec3;
use serde::{Deserialize, Serialize};

/// An axis-aligned box, closed. The box is empty if `min > max` on any axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Least corner.
    pub min: DVec3,
    /// Greatest corner.
    pub max: DVec3,
}

impl Aabb {
    /// The box that contains nothing: the start of every union.
    pub const EMPTY: Self =
        Self { min: DVec3::splat(f64::INFINITY), max: DVec3::splat(f64::NEG_INFINITY) };

    /// The box around `centre`.
    pub fn from_centre(centre: DVec3, half_extents: DVec3) -> Self {
        Self { min: centre - half_extents, max: centre + half_extents }
    }

    /// The smallest box around `points`.
    pub fn around(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| b.with(p))
    }

    /// This box grown to contain `point`.
    #[must_use]
    pub fn with(self, point: DVec3) -> Self {
        Self { min: self.min.min(point), max: self.max.max(point) }
    }

    /// The smallest box around both boxes.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box, grown by `margin` on every side.
    #[must_use]
    pub fn inflated(self, margin: f64) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }

    /// The smallest box around the box and every place that it passes when it moves by `way`.
    #[must_use]
    pub fn swept(self, way: DVec3) -> Self {
        self.union(Self { min: self.min + way, max: self.max + way })
    }

    /// Whether the two boxes overlap or touch.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Whether `point` lies inside or on the box.
    pub fn contains(&self, point: DVec3) -> bool {
        self.min.cmple(point).all() && point.cmple(self.max).all()
    }

    /// Whether all of `other` lies inside or on the box.
    pub fn encloses(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// Middle of the box.
    pub fn centre(&self) -> DVec3 {
        (self.min + self.max) * 0.5
    }

    /// Half of each side's length.
    pub fn half_extents(&self) -> DVec3 {
        (self.max - self.min) * 0.5
    }

    /// Whether no point is inside.
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }
}
