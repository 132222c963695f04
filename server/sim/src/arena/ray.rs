//! Ray casts: what a shot hits, what is below a hovertank's probe.
//!
//! A game's ray is clipped to the extent of worlds: see [`ClippedRay`].

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp::{SizeId, Trace, clip_to_extent};

use crate::bodies::guard::{Seeker, Space};
use crate::collision::cascade::Body;
use crate::collision::pose::direction;
use crate::collision::separation::Part;

/// A segment from a point, `reach` units along a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) from: DVec3,
    pub(crate) direction: DVec3,
    pub(crate) reach: f64,
}

/// The part of a ray that lies within the extent of worlds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClippedRay {
    pub(crate) ray: Ray,
    /// The share of the given ray that lies within the extent.
    pub(crate) share: f64,
}

/// A direction whose length differs from one by less than this is a unit vector.
const UNIT: f64 = 1e-9;

impl ClippedRay {
    /// The ray from one point to another. `None` if it starts beyond the extent, where everything
    /// is solid, or if a number is not finite.
    pub(crate) fn between(from: DVec3, to: DVec3) -> Option<Self> {
        let clipped = clip_to_extent(from, to)?;
        let way = clipped.end - from;
        // A ray without length tests its start alone.
        let ray = match direction(way) {
            Some(direction) => Ray { from, direction, reach: way.length() },
            None => Ray { from, direction: DVec3::ZERO, reach: 0.0 },
        };
        Some(Self { ray, share: clipped.share })
    }

    /// The ray of `reach` units along a direction; a negative reach counts as zero. `None` if the
    /// ray starts beyond the extent, a number is not finite, or the direction has no length.
    pub(crate) fn along(from: DVec3, way: DVec3, reach: f64) -> Option<Self> {
        let unit = direction(way)?;
        // A unit vector is kept unchanged, because rounding would turn it if it were normalised
        // again.
        let direction = if (way.length() - 1.0).abs() < UNIT { way } else { unit };
        let ray = Ray { from, direction, reach: reach.max(0.0) };
        if !reach.is_finite() {
            return None;
        }
        let clipped = clip_to_extent(from, ray.at(ray.reach))?;
        let is_whole = clipped.share == 1.0;
        let reach = if is_whole { ray.reach } else { clipped.end.distance(from) };
        Some(Self { ray: Ray { reach, ..ray }, share: clipped.share })
    }
}

/// The end of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RayEnd {
    /// Distance along the ray, in units: zero if the ray begins inside something, its reach if it
    /// meets nothing.
    pub(crate) distance: f64,
    /// The slot of the entity that the ray meets; `None` if it meets the world or nothing.
    pub(crate) entity: Option<u16>,
    /// Whether the ray begins inside that entity or inside the world.
    pub(crate) start_solid: bool,
}

impl Ray {
    /// Where the ray of `seeker` ends. The world is traced with the size `sight`.
    pub(crate) fn cast(&self, space: &Space, sight: SizeId, seeker: Seeker) -> RayEnd {
        let mut end = self.in_world(space.map, sight);
        space.visit_entities(&self.bounds(&end), seeker, &mut |slot, body| {
            self.meet(&mut end, slot, &body);
        });
        end
    }

    /// Where the ray ends in the world without entities.
    pub(crate) fn in_world(&self, map: &obsp::Map, sight: SizeId) -> RayEnd {
        let (from, to) = (self.from.as_vec3(), self.at(self.reach).as_vec3());
        let trace = map.find_first_transition(sight, from, to);
        let distance = match trace {
            Trace::Clear => self.reach,
            Trace::Hit(hit) => f64::from(hit.time) * self.reach,
            Trace::StartSolid => 0.0,
        };
        RayEnd { distance, entity: None, start_solid: trace == Trace::StartSolid }
    }

    /// Moves `end` to the body in `slot`, if the ray enters the body before `end`.
    pub(crate) fn meet(&self, end: &mut RayEnd, slot: u16, body: &Body) {
        for part in body.parts_at_start() {
            let Some(distance) = self.enters(&part) else { continue };
            let start_solid = distance == 0.0 && self.begins_in(&part);
            if distance < end.distance || start_solid && !end.start_solid {
                *end = RayEnd { distance, entity: Some(slot), start_solid };
            }
        }
    }

    /// Whether the ray starts inside a part, and not just on its surface.
    fn begins_in(&self, part: &Part) -> bool {
        let start = part.point_to_local(self.from);
        part.solid.faces().iter().all(|face| face.plane.signed_distance(start) < 0.0)
    }

    /// The box around the ray up to its end.
    pub(crate) fn bounds(&self, end: &RayEnd) -> Aabb {
        Aabb::around([self.from, self.at(end.distance)])
    }

    /// The point at `distance` units along the ray.
    pub(crate) fn at(&self, distance: f64) -> DVec3 {
        self.from + self.direction * distance
    }

    /// Distance along the infinite ray at which it enters a part; `None` if it misses the part.
    fn enters(&self, part: &Part) -> Option<f64> {
        let start = part.point_to_local(self.from);
        let along = part.direction_to_local(self.direction);
        let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
        for face in part.solid.faces() {
            let distance = face.plane.signed_distance(start);
            let speed = face.plane.normal.dot(along);
            if speed < 0.0 {
                enter = enter.max(distance / -speed);
            } else if speed > 0.0 {
                leave = leave.min(-distance / speed);
            } else if distance > 0.0 {
                return None;
            }
        }
        (enter <= leave && leave > 0.0).then_some(enter)
    }
}
