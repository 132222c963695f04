//! The point of a body that is nearest to a given point.

use glam::DVec3;
use obsp::geometry::ConvexSolid;

use super::cascade::Body;

/// The point of a body nearest to `point`; `point` itself if it is inside.
pub(crate) fn nearest_on(body: &Body, point: DVec3) -> Option<DVec3> {
    let on_parts = body.parts_at_start().map(|part| {
        let local = part.point_to_local(point);
        nearest_in(part.solid, local).map_or(point, |nearest| part.to_world(nearest))
    });
    on_parts.min_by(|a, b| a.distance_squared(point).total_cmp(&b.distance_squared(point)))
}

/// The point on the surface of a solid nearest to a point outside; `None` for a point inside. It
/// lies on a face that has the point in front.
fn nearest_in(solid: &ConvexSolid, point: DVec3) -> Option<DVec3> {
    let faces = solid.faces().iter().map(|face| (face, face.plane.signed_distance(point)));
    let in_front = faces.filter(|(_, height)| *height > 0.0);
    let on_faces = in_front.map(|(face, height)| {
        let corner = |at: usize| solid.vertices()[usize::from(face.vertices[at])];
        let count = face.vertices.len();
        let edges = || (0..count).map(|at| (corner(at), corner((at + 1) % count)));
        let foot = point - face.plane.normal * height;
        let beside =
            |(from, to): (DVec3, DVec3)| face.plane.normal.cross(to - from).dot(foot - from) < 0.0;
        if !edges().any(beside) {
            return foot;
        }
        let on_edges = edges().map(|(from, to)| nearest_between(from, to, point));
        let near =
            |a: &DVec3, b: &DVec3| a.distance_squared(point).total_cmp(&b.distance_squared(point));
        on_edges.min_by(near).unwrap_or(foot)
    });
    on_faces.min_by(|a, b| a.distance_squared(point).total_cmp(&b.distance_squared(point)))
}

/// The point of a segment nearest to a point.
fn nearest_between(from: DVec3, to: DVec3, point: DVec3) -> DVec3 {
    let way = to - from;
    let share = (point - from).dot(way) / way.length_squared();
    from + way * share.clamp(0.0, 1.0)
}
