//! Blow's hard case: every polygon of the smaller body is sent, with its own centre and radius,
//! down the BSP of the larger.
//!
//! If no polygon comes near the inside of the larger body, the surfaces never meet. A second check
//! finds whether the smaller body, which may be hollow, contains a whole part of the larger one.
//! One point of each part decides this. The reverse needs no check: if the larger body contains the
//! smaller one, the first check finds polygons inside the larger.

use obsp::geometry::{Child, ConvexSolid, Plane, PolygonBsp};
use obsp::model::Polygon;

use super::Body;
use super::relative::{Relative, Side};
use crate::collision::separation::Part;

/// Whether the stage is worth its time: two convex bodies are left to the exact test.
pub(super) fn applies(a: &Body, b: &Body) -> bool {
    a.parts.len() > 1 || b.parts.len() > 1
}

/// Whether the two keep more than `margin` apart.
pub(super) fn apart(a: &Body, b: &Body, margin: f64) -> bool {
    let (small, large) = if a.radius <= b.radius { (a, b) } else { (b, a) };
    let Some(mesh) = small.mesh else { return false };
    let Some(relative) = Relative::new(small, large, margin) else { return false };
    let polygons: Vec<&Polygon> = mesh.polygons.iter().collect();
    let meets = match large.mesh.and_then(|mesh| mesh.bsp.as_ref()) {
        Some(bsp) => descend(bsp, bsp.root(), &relative, &polygons),
        None if large.parts.len() > 1 => return false,
        None => {
            let mut left = polygons;
            for face in large.parts[0].faces() {
                let planes = relative.seen_from_body(&face.plane);
                left.retain(|polygon| !matches!(side(&relative, &planes, polygon), Side::Front));
            }
            !left.is_empty()
        }
    };
    !meets && !holds_some(small, large)
}

/// Whether some of the polygons may come near a solid leaf below `at`.
fn descend(bsp: &PolygonBsp, at: Child, relative: &Relative, polygons: &[&Polygon]) -> bool {
    match at {
        _ if polygons.is_empty() => false,
        Child::Empty => false,
        Child::Solid(_) => true,
        Child::Node(index) => {
            let node = &bsp.nodes()[index];
            let planes = relative.seen_from_body(&node.plane);
            let (mut front, mut back) = (Vec::new(), Vec::new());
            for &polygon in polygons {
                let side = side(relative, &planes, polygon);
                if !matches!(side, Side::Back) {
                    front.push(polygon);
                }
                if !matches!(side, Side::Front) {
                    back.push(polygon);
                }
            }
            descend(bsp, node.back, relative, &back) || descend(bsp, node.front, relative, &front)
        }
    }
}

/// The side of a plane on which a polygon stays, decided by its sphere or, if that is not enough,
/// by its corners.
fn side(relative: &Relative, planes: &[Plane; 2], polygon: &Polygon) -> Side {
    let of_sphere = relative.side(planes, |plane| {
        let distance = plane.signed_distance(polygon.centre);
        (distance - polygon.radius, distance + polygon.radius)
    });
    if !matches!(of_sphere, Side::Both) {
        return of_sphere;
    }
    relative.side(planes, |plane| {
        let corners = &polygon.winding.vertices;
        corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &corner| {
            let distance = plane.signed_distance(corner);
            (least.min(distance), greatest.max(distance))
        })
    })
}

/// Whether `outer` contains a part of `inner` at the beginning of the tick. If their surfaces never
/// meet, `outer` then contains that part throughout the tick.
fn holds_some(outer: &Body, inner: &Body) -> bool {
    let pose = inner.motion.start;
    let mut points =
        inner.parts.iter().map(|solid| Part::new(solid, &pose).to_world(solid.centre()));
    let pose = outer.motion.start;
    points.any(|point| {
        let inside =
            |solid: &ConvexSolid| solid.contains(Part::new(solid, &pose).point_to_local(point));
        outer.parts.iter().any(inside)
    })
}
