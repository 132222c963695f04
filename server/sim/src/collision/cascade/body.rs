//! A body as the cascade sees it: convex parts and a motion.

use glam::{DMat3, DVec3};
use obsp::geometry::{Aabb, ConvexSolid};

use super::mesh::{Mesh, is_angled};
use crate::collision::distances::ROUNDING;
use crate::collision::oriented_box::OrientedBox;
use crate::collision::pose::{Motion, Pose, arc, sagitta};
use crate::collision::separation::Part;
use crate::collision::shape::Shape;
use crate::collision::time_of_impact::Sweep;

/// A body, or a solid of the world, with its motion through the tick.
#[derive(Clone)]
pub(crate) struct Body<'a> {
    /// Convex parts, in body axes.
    pub(crate) parts: &'a [ConvexSolid],
    /// How the body moves.
    pub(crate) motion: Motion,
    /// Body axes in the world, at the beginning and at the end of the tick.
    pub(super) rotations: [DMat3; 2],
    pub(super) bounds: &'a Aabb,
    pub(super) radius: f64,
    pub(super) arc: f64,
    /// How far any point can leave the chord of its way, for `least_between`; infinite for a
    /// rotation beyond the proven range.
    pub(super) sagitta: f64,
    /// The whole surface; `None` for a solid of the world, which is one convex part.
    pub(super) mesh: Option<&'a Mesh>,
}

impl<'a> Body<'a> {
    pub(crate) fn moving(shape: &'a Shape, start: Pose, end: Pose) -> Self {
        let motion = Motion::new(start, end);
        let first = motion.start.rotation();
        let turns = motion.start.orientation != motion.end.orientation;
        let last = if turns { motion.end.rotation() } else { first };
        Self {
            parts: &shape.parts,
            rotations: [first, last],
            bounds: &shape.bounds,
            radius: shape.radius,
            arc: arc(motion.start.orientation, motion.end.orientation, shape.radius),
            sagitta: sagitta([&motion.start, &motion.end], shape.radius).unwrap_or(f64::INFINITY),
            mesh: Some(&shape.mesh),
            motion,
        }
    }

    pub(crate) fn standing(shape: &'a Shape, pose: Pose) -> Self {
        Self::moving(shape, pose, pose)
    }

    /// A solid of the world: its axes are the world's.
    pub(crate) fn fixed(solid: &'a ConvexSolid) -> Self {
        let origin = Pose::at(DVec3::ZERO);
        Self {
            parts: std::slice::from_ref(solid),
            motion: Motion::new(origin, origin),
            rotations: [DMat3::IDENTITY; 2],
            bounds: solid.bounds(),
            radius: f64::INFINITY,
            arc: 0.0,
            sagitta: 0.0,
            mesh: None,
        }
    }

    /// This body, at rest at `pose`.
    pub(crate) fn stopped(&self, pose: Pose) -> Self {
        Self {
            motion: Motion::new(pose, pose),
            rotations: [pose.rotation(); 2],
            arc: 0.0,
            sagitta: 0.0,
            ..self.clone()
        }
    }

    /// The speedbox: a box that contains the body throughout the tick.
    pub(crate) fn speedbox(&self) -> Aabb {
        let Motion { start, end } = &self.motion;
        let first = box_turned(self.bounds, &self.rotations[0], start.position);
        if self.motion.is_still() {
            return first;
        }
        let last = box_turned(self.bounds, &self.rotations[1], end.position);
        first.union(last).inflated(self.arc)
    }

    /// A point strictly inside of the body at the beginning of the tick.
    pub(crate) fn inner_point(&self) -> DVec3 {
        let centre = self.parts.first().map_or(DVec3::ZERO, ConvexSolid::centre);
        self.motion.start.position + self.rotations[0] * centre
    }

    /// The parts at the beginning of the tick.
    pub(crate) fn parts_at_start(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let (rotation, position) = (self.rotations[0], self.motion.start.position);
        self.parts.iter().map(move |solid| Part::turned(solid, rotation, position))
    }

    /// The sweep of one of the parts.
    pub(super) fn sweep_of<'b>(&'b self, solid: &'b ConvexSolid) -> Sweep<'b> {
        let Self { motion, rotations, radius, sagitta, .. } = self;
        Sweep { solid, motion, rotations, radius: *radius, sagitta: *sagitta }
    }

    /// Radius about the centre of mass that contains the body, in units.
    pub(crate) fn radius(&self) -> f64 {
        self.radius
    }

    /// Middle of its box at the beginning of the tick.
    pub(crate) fn box_centre(&self) -> DVec3 {
        self.motion.start.position + self.rotations[0] * self.bounds.centre()
    }

    /// Its box at the beginning of the tick.
    pub(super) fn oriented_box(&self) -> OrientedBox {
        let half_extents = self.bounds.half_extents();
        OrientedBox { axes: self.rotations[0], centre: self.box_centre(), half_extents }
    }

    /// Whether some face is aligned with none of the body's axes. Otherwise the body's box has the
    /// same planes as the body.
    pub(super) fn is_angled(&self) -> bool {
        self.mesh.map_or_else(|| self.parts[0].faces().iter().any(is_angled), |s| s.is_angled)
    }

    /// Whether the body is a solid of the world, whose axes are the world's.
    fn is_fixed(&self) -> bool {
        self.mesh.is_none()
    }

    /// Greatest `axis · x` at the beginning and at the end.
    fn extents(&self, axis: DVec3, extent: impl Fn(&DMat3, DVec3) -> f64) -> [f64; 2] {
        let [start, end] = &self.rotations;
        let first = extent(start, axis);
        let last = if start == end { first } else { extent(end, axis) };
        let Motion { start, end } = &self.motion;
        [first + axis.dot(start.position), last + axis.dot(end.position)]
    }

    pub(super) fn box_extents(&self, axis: DVec3) -> [f64; 2] {
        let (centre, half) = (self.bounds.centre(), self.bounds.half_extents());
        if self.is_fixed() {
            return [axis.dot(centre) + axis.abs().dot(half); 2];
        }
        self.extents(axis, |rotation, axis| {
            let local = rotation.transpose() * axis;
            local.dot(centre) + local.abs().dot(half)
        })
    }

    pub(super) fn part_extents(&self, axis: DVec3) -> [f64; 2] {
        if self.is_fixed() {
            return [self.parts[0].extent(axis); 2];
        }
        self.extents(axis, |rotation, axis| {
            let local = rotation.transpose() * axis;
            self.parts.iter().fold(f64::NEG_INFINITY, |reach, part| reach.max(part.extent(local)))
        })
    }
}

/// The axis-aligned box around `bounds`, given in body axes, at `pose`.
pub(crate) fn box_at(bounds: &Aabb, pose: &Pose) -> Aabb {
    box_turned(bounds, &pose.rotation(), pose.position)
}

/// The axis-aligned box around `bounds` on its way from one position to another. The body has the
/// orientation of the world's axes throughout, so this is exactly its speedbox.
pub(crate) fn box_along(bounds: &Aabb, [start, end]: [DVec3; 2]) -> Aabb {
    let (centre, reach) = (bounds.centre(), bounds.half_extents() + ROUNDING);
    let last = Aabb::from_centre(end + centre, reach);
    Aabb::from_centre(start + centre, reach).union(last)
}

/// The axis-aligned box around `bounds`, for body axes with this rotation and position.
fn box_turned(bounds: &Aabb, rotation: &DMat3, position: DVec3) -> Aabb {
    let half = bounds.half_extents();
    let reach = rotation.x_axis.abs() * half.x
        + rotation.y_axis.abs() * half.y
        + rotation.z_axis.abs() * half.z;
    Aabb::from_centre(position + *rotation * bounds.centre(), reach + ROUNDING)
}
