//! Ray casts: what a shot hits, what is below a hovertank's probe.

use glam::DVec3;
use obsp::Trace;
use obsp::geometry::Aabb;

use crate::arena::Arena;
use crate::bodies::entities::Entities;
use crate::bodies::guard::Space;
use crate::collision::cascade::Body;
use crate::collision::separation::Part;

/// A segment from a point, `reach` units along a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) from: DVec3,
    pub(crate) direction: DVec3,
    pub(crate) reach: f64,
}

/// Where a ray ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RayEnd {
    /// Units along the ray: zero if it begins inside something, its reach if
    /// it meets nothing.
    pub(crate) distance: f64,
    /// The slot of the entity that it meets, if it is one.
    pub(crate) entity: Option<u16>,
}

impl Ray {
    /// Where the ray ends if the entity in slot `ignored` is left out.
    pub(crate) fn cast(&self, arena: &Arena, entities: &Entities, ignored: Option<u16>) -> RayEnd {
        let mut end = self.in_world(arena);
        let space = Space { map: &arena.map, shapes: &arena.shapes, entities };
        space.visit_entities(&self.bounds(&end), ignored, &mut |slot, body| {
            self.meet(&mut end, slot, &body);
        });
        end
    }

    /// Where the ray ends in the world without entities.
    pub(crate) fn in_world(&self, arena: &Arena) -> RayEnd {
        let (from, to) = (self.from.as_vec3(), self.at(self.reach).as_vec3());
        let distance = match arena.map.find_first_transition(arena.sight, from, to) {
            Trace::Clear => self.reach,
            Trace::Hit(hit) => f64::from(hit.time) * self.reach,
            Trace::StartSolid => 0.0,
        };
        RayEnd { distance, entity: None }
    }

    /// Moves `end` to the body in `slot`, if the ray enters it before.
    pub(crate) fn meet(&self, end: &mut RayEnd, slot: u16, body: &Body) {
        for part in body.parts_at_start() {
            if let Some(distance) = self.enters(&part)
                && distance < end.distance
            {
                *end = RayEnd { distance, entity: Some(slot) };
            }
        }
    }

    /// The box around the ray up to its end.
    pub(crate) fn bounds(&self, end: &RayEnd) -> Aabb {
        Aabb::around([self.from, self.at(end.distance)])
    }

    /// The point at `distance` units along the ray.
    pub(crate) fn at(&self, distance: f64) -> DVec3 {
        self.from + self.direction * distance
    }

    /// Distance along the infinite ray at which it enters a part.
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
