use obsp::geometry::Aabb;

use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;

/// A pose that was free when the guard checked it. Only the guard makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    shape: ShapeId,
    pose: Pose,
    bounds: Aabb,
}

impl Placement {
    /// A pose that the guard has found free; `bounds` is the box around the shape at this pose.
    pub(super) fn checked(shape: ShapeId, pose: Pose, bounds: Aabb) -> Self {
        Self { shape, pose, bounds }
    }

    pub(crate) fn shape(&self) -> ShapeId {
        self.shape
    }

    pub(crate) fn pose(&self) -> &Pose {
        &self.pose
    }

    pub(crate) fn bounds(&self) -> &Aabb {
        &self.bounds
    }
}
