//! Which polygons of a map can be seen from inside.

use glam::{DVec3, Vec3};
use obsp::geometry::Polygon;
use obsp::{Map, SizeId, Trace};

/// Units by which a point is moved off a surface, to test whether the space in front of the surface
/// is free.
const IN_FRONT: f64 = 0.5;

/// Units by which a point is moved behind a surface, to test whether rays hit the surface. It is
/// less than the thinnest wall and more than the compiler's tolerance.
const BEHIND: f64 = 1.0 / 50.0;

/// Shares of the way from a corner to the middle of its polygon by which tested points are moved,
/// because the corner itself may touch a wall.
const INWARD: [f64; 2] = [0.1, 0.55];

/// Units between two places that are tested on a line of sight, and the number of these places.
const STEP: f32 = 24.0;
const STEPS: u16 = 14;

/// The view of a map from inside.
pub(super) struct Inside<'a> {
    map: &'a Map,
    /// The size of rays, if the map has it.
    point: Option<SizeId>,
    /// The smallest size for which the map is sealed. `None` if the map is sealed for rays too, or
    /// for no size.
    kept_in: Option<SizeId>,
    directions: Vec<Vec3>,
}

impl<'a> Inside<'a> {
    pub(super) fn of(map: &'a Map) -> Self {
        let with_ids = map.sizes().iter().filter_map(|size| Some((map.size(&size.name)?, size)));
        let point = with_ids.clone().find(|(_, size)| size.is_point()).map(|(id, _)| id);
        let sealed = with_ids.filter(|(id, _)| map.is_sealed_for(*id));
        let volume = |half: Vec3| half.element_product();
        let smallest = sealed
            .min_by(|(_, a), (_, b)| volume(a.half_extents).total_cmp(&volume(b.half_extents)));
        let kept_in = smallest.map(|(id, _)| id).filter(|id| Some(*id) != point);
        Self { map, point, kept_in, directions: directions() }
    }

    /// Whether somebody inside can see a polygon.
    ///
    /// If a map is sealed for rays, everything outside is solid. The outer walls would hide the
    /// rooms from above, but they have no free space in front of them, so they are left out. A map
    /// may also be sealed only for bodies of a size, because rays get out through a crack, or into
    /// a sky that a clip brush closes for bodies. The outside is then free for rays. A polygon of
    /// such a map counts only if a ray leads from it to a place at which a body of that size has
    /// room.
    pub(super) fn sees(&self, polygon: &Polygon) -> bool {
        let Some(point) = self.point else { return true };
        let (normal, centre) = (polygon.plane.normal, polygon.centre);
        let corners = &polygon.winding.vertices;
        let spots = INWARD.iter().flat_map(|&part| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).flat_map(move |(&corner, &next)| {
                [corner, corner.midpoint(next)].map(|place| place.lerp(centre, part))
            })
        });
        let is_free =
            |spot: &DVec3| !self.map.is_solid(point, (spot + normal * IN_FRONT).as_vec3());
        // Files of an older compiler have a surface for brushes that rays pass.
        let is_hit = |spot: &DVec3| self.map.is_solid(point, (spot - normal * BEHIND).as_vec3());
        let mut spots = [centre].into_iter().chain(spots);
        spots.any(|spot| is_free(&spot) && is_hit(&spot) && self.is_inside(spot, normal, point))
    }

    /// Whether a ray leads from this spot of a surface to a place inside.
    fn is_inside(&self, spot: DVec3, normal: DVec3, point: SizeId) -> bool {
        let Some(size) = self.kept_in else { return true };
        let start = (spot + normal * IN_FRONT).as_vec3();
        let normal = normal.as_vec3();
        let ahead = self.directions.iter().copied().filter(|way| way.dot(normal) > 0.2);
        [normal].into_iter().chain(ahead).any(|way| {
            let longest = STEP * f32::from(STEPS);
            let free = match self.map.find_first_transition(point, start, start + way * longest) {
                Trace::Clear => longest,
                Trace::Hit(hit) => longest * hit.time,
                Trace::StartSolid => return false,
            };
            let steps = (1..=STEPS).map(|step| f32::from(step) * STEP);
            let mut places = steps.take_while(|&away| away <= free);
            places.any(|away| !self.map.is_solid(size, start + way * away))
        })
    }
}

/// The directions to the neighbours of a cell.
fn directions() -> Vec<Vec3> {
    let steps = [-1.0, 0.0, 1.0];
    let all = steps.into_iter().flat_map(|x| {
        steps.into_iter().flat_map(move |y| steps.into_iter().map(move |z| Vec3::new(x, y, z)))
    });
    all.filter_map(Vec3::try_normalize).collect()
}
