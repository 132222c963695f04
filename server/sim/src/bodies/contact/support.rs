//! The support polygon of a body on flat ground: the hull of all points at which the body touches
//! one plane of the world.
//!
//! The manifold of each brush has corners where seams cross the body's footprint. These corners lie
//! inside the footprint, or on its sides. A rigid body that keeps the gaps at the corners of the
//! hull keeps the gaps there as well, so those points need no constraint. If they had one, they
//! would carry a share of the weight that depends on where the map is cut. Friction would then
//! brake a spin too little, and would push the body aside.

use glam::{DVec2, DVec3};

use super::Pair;
use super::warm_start::remember_among;

/// Two contacts are with the same plane if their normals differ by no more than this, and if the
/// plane's heights under them differ by no more than [`SAME_HEIGHT`]. The value is much larger than
/// any rounding.
const SAME_NORMAL: f64 = 1e-6;

/// See [`SAME_NORMAL`]; in units.
const SAME_HEIGHT: f64 = 1.0 / 256.0;

/// A point is on a side of the hull if its distance from the side is no more than this share of the
/// side's length. The corners of a regular polygon of 128 sides are ten times as far from the line
/// between their neighbours.
const STRAIGHT: f64 = 1e-3;

/// A point inside the hull is kept if its gap is smaller than the hull's gap at that place by more
/// than this, in units (a tenth of the rest gap). The body is not flat there.
const SAME_GAP: f64 = 0.01;

/// A contact point, seen along the normal.
#[derive(Clone, Copy)]
struct Spot {
    at: DVec2,
    gap: f64,
    /// Index of the pair, and of the point within the pair.
    index: [usize; 2],
}

/// Removes the points that are inside the support polygons of one body, or on their sides. `pairs`
/// are the pairs of the body with the world, `before` those of the last tick, and `to_local` turns
/// a direction into the body's axes. The points that are left get the impulses of the last tick,
/// because a corner of the body may have come over another brush.
pub(super) fn keep_hulls(pairs: &mut [Pair], before: &[Pair], to_local: impl Fn(DVec3) -> DVec3) {
    if pairs.iter().filter(|pair| !pair.points.is_empty()).count() < 2 {
        return;
    }
    let mut open: Vec<usize> =
        (0..pairs.len()).filter(|&at| !pairs[at].points.is_empty()).collect();
    while let Some(&first) = open.first() {
        let axis = pairs[first].axis;
        let normal = to_local(axis);
        let height = |pair: &Pair| {
            let heights = pair
                .points
                .iter()
                .map(|point| normal.dot(point.local.as_dvec3()) + f64::from(point.gap));
            heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], height| {
                [low.min(height), high.max(height)]
            })
        };
        let [low, high] = height(&pairs[first]);
        let belongs = |pair: &Pair| {
            let [least, most] = height(pair);
            is_same_normal(pair.axis, axis)
                && most - low <= SAME_HEIGHT
                && high - least <= SAME_HEIGHT
        };
        let (group, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&at| at == first || belongs(&pairs[at]));
        if group.len() > 1 {
            keep_hull(pairs, &group, normal);
            let is_same = |pair: &&Pair| is_same_normal(pair.axis, axis);
            remember_among(before.iter().filter(is_same), pairs, &group);
        }
        open = rest;
    }
}

fn is_same_normal(a: DVec3, b: DVec3) -> bool {
    a.distance_squared(b) <= SAME_NORMAL * SAME_NORMAL
}

/// Removes the points of a group of pairs that are inside the hull of all points of the group, or
/// on its sides.
fn keep_hull(pairs: &mut [Pair], group: &[usize], normal: DVec3) {
    let [right, up] =
        [normal.any_orthonormal_vector(), normal.cross(normal.any_orthonormal_vector())];
    let mut spots: Vec<Spot> = Vec::new();
    for &at in group {
        spots.extend(pairs[at].points.iter().enumerate().map(|(k, point)| {
            let local = point.local.as_dvec3();
            Spot {
                at: DVec2::new(local.dot(right), local.dot(up)),
                gap: point.gap.into(),
                index: [at, k],
            }
        }));
    }
    // The points are sorted along their greatest extent. Along a side of the body, rounding would
    // decide the order.
    let from = spots[0].at;
    let ahead = spots.iter().fold(DVec2::ZERO, |ahead, spot| {
        let way = spot.at - from;
        if way.length_squared() > ahead.length_squared() { way } else { ahead }
    });
    spots.sort_by(|a, b| ahead.dot(a.at).total_cmp(&ahead.dot(b.at)));
    let hull = hull(&spots);
    let is_corner = |spot: &Spot| hull.iter().any(|corner| corner.index == spot.index);
    let is_kept = |spot: &Spot| is_corner(spot) || spot.gap < gap_of(&hull, spot.at) - SAME_GAP;
    let kept: Vec<[usize; 2]> =
        spots.iter().filter(|spot| is_kept(spot)).map(|spot| spot.index).collect();
    for &at in group {
        let mut k = 0;
        pairs[at].points.retain(|_| {
            k += 1;
            kept.contains(&[at, k - 1])
        });
    }
}

/// The corners of the convex hull of sorted points, counter-clockwise (Andrew 1979).
fn hull(sorted: &[Spot]) -> Vec<Spot> {
    let mut hull: Vec<Spot> = Vec::new();
    let mut chain = |spots: &mut dyn Iterator<Item = &Spot>| {
        let begin = hull.len();
        for spot in spots {
            while let [.., from, last] = hull[begin..] {
                let side = spot.at - from.at;
                if side.perp_dot(last.at - from.at) >= -STRAIGHT * side.length_squared() {
                    hull.pop();
                } else {
                    break;
                }
            }
            hull.push(*spot);
        }
        // The other chain begins here.
        hull.pop();
    };
    chain(&mut sorted.iter());
    chain(&mut sorted.iter().rev());
    // A chain does not test its own ends, and one of them may lie on a side.
    let mut at = 0;
    while at < hull.len() && hull.len() > 2 {
        let [before, after] = [hull.len() - 1, 1].map(|step| hull[(at + step) % hull.len()].at);
        let side = after - before;
        if side.perp_dot(hull[at].at - before) >= -STRAIGHT * side.length_squared() {
            hull.remove(at);
        } else {
            at += 1;
        }
    }
    hull
}

/// The gap at a place within the hull, if the gap is linear between the hull's corners.
fn gap_of(hull: &[Spot], at: DVec2) -> f64 {
    let [first, others @ ..] = hull else { return f64::INFINITY };
    let mut best = (f64::NEG_INFINITY, first.gap);
    for ends in others.windows(2) {
        let [a, b] = [ends[0].at - first.at, ends[1].at - first.at];
        let (from, area) = (at - first.at, a.perp_dot(b));
        let [share_a, share_b] = [from.perp_dot(b) / area, a.perp_dot(from) / area];
        let inside = share_a.min(share_b).min(1.0 - share_a - share_b);
        if inside > best.0 {
            let gap = first.gap
                + share_a * (ends[0].gap - first.gap)
                + share_b * (ends[1].gap - first.gap);
            best = (inside, gap);
        }
    }
    if let [other] = others {
        let side = other.at - first.at;
        let share = (at - first.at).dot(side) / side.length_squared();
        return first.gap + share * (other.gap - first.gap);
    }
    best.1
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::bodies::blocker::Blocker;
    use crate::bodies::contact::{ContactPoint, PairKey, Points};
    use crate::collision::separation::Features;

    /// A contact of a body with a brush below it, at these points: place and gap.
    fn on_brush(index: u32, axis: DVec3, points: &[([f32; 2], f32)]) -> Pair {
        let point = |&([x, y], gap): &([f32; 2], f32)| ContactPoint {
            local: Vec3::new(x, y, gap),
            gap,
            ..ContactPoint::default()
        };
        let points = points.iter().map(point).collect::<Points>();
        let key = PairKey { body: 0, other: Blocker::Solid(index), parts: (0, 0) };
        Pair { key, axis, features: Features::NONE, gap: 0.1, points }
    }

    /// How many points each pair keeps.
    fn kept<const COUNT: usize>(mut pairs: [Pair; COUNT]) -> [usize; COUNT] {
        keep_hulls(&mut pairs, &[], |direction| direction);
        pairs.map(|pair| pair.points.len())
    }

    /// A square of 20 units over two brushes with a seam at x = 2. The gap at the seam is `inner`,
    /// and 0.1 at the corners. The second brush has the normal `axis`.
    fn over_seam(inner: f32, axis: DVec3) -> [Pair; 2] {
        let side = |x: f32| {
            [([x, -10.0], 0.1), ([x, 10.0], 0.1), ([2.0, 10.0], inner), ([2.0, -10.0], inner)]
        };
        [on_brush(0, DVec3::NEG_Z, &side(-10.0)), on_brush(1, axis, &side(10.0))]
    }

    #[test]
    fn points_at_a_seam_are_dropped_where_the_body_is_flat() {
        assert_eq!(kept(over_seam(0.1, DVec3::NEG_Z)), [2, 2]);
        let gap = SAME_GAP as f32;
        assert_eq!(kept(over_seam(0.1 - 0.9 * gap, DVec3::NEG_Z)), [2, 2]);
        assert_eq!(kept(over_seam(0.1 - 1.1 * gap, DVec3::NEG_Z)), [4, 4], "the body bulges");
    }

    #[test]
    fn brushes_of_two_planes_keep_their_points() {
        let tilted = |by: f64| DVec3::new(0.0, by, -1.0);
        assert_eq!(kept(over_seam(0.1, tilted(0.9 * SAME_NORMAL))), [2, 2]);
        assert_eq!(kept(over_seam(0.1, tilted(1.1 * SAME_NORMAL))), [4, 4]);
        let lower = |by: f64| {
            let [first, mut second] = over_seam(0.1, DVec3::NEG_Z);
            second.points.iter_mut().for_each(|point| point.gap += by as f32);
            kept([first, second])
        };
        assert_eq!(lower(0.9 * SAME_HEIGHT), [2, 2]);
        assert_eq!(lower(1.1 * SAME_HEIGHT), [4, 4]);
    }

    #[test]
    fn a_point_beyond_a_side_is_a_corner() {
        let out = |share: f64| {
            let beyond = (20.0 * share) as f32;
            let [first, mut second] = over_seam(0.1, DVec3::NEG_Z);
            // A point half way along the side, a little outside.
            second.points[2].local = Vec3::new(0.0, 10.0 + beyond, 0.1);
            kept([first, second])
        };
        assert_eq!(out(0.9 * STRAIGHT), [2, 2]);
        assert_eq!(out(1.1 * STRAIGHT), [2, 3]);
    }

    /// Where four brushes meet under a body, none of the points at their common corner carries
    /// anything. A brush that is wholly inside the footprint has no points.
    #[test]
    fn a_brush_inside_the_footprint_has_no_points() {
        let corner =
            |x: f32, y: f32| [([x, y], 0.1), ([x, 0.0], 0.1), ([0.0, 0.0], 0.1), ([0.0, y], 0.1)];
        let brush = |index: u32, x: f32, y: f32| on_brush(index, DVec3::NEG_Z, &corner(x, y));
        let four =
            [brush(0, 9.0, 7.0), brush(1, -9.0, 7.0), brush(2, -9.0, -7.0), brush(3, 9.0, -7.0)];
        assert_eq!(kept(four.clone()), [1; 4]);
        let [a, b, c, d] = four;
        assert_eq!(kept([a, b, c, d, brush(4, 1.0, 1.0)]), [1, 1, 1, 1, 0]);
    }

    /// An edge that lies across two brushes is carried at its ends.
    #[test]
    fn an_edge_is_carried_at_its_ends() {
        let part = |index: u32, from: f32, to: f32| {
            on_brush(index, DVec3::NEG_Z, &[([from, 0.0], 0.1), ([to, 0.0], 0.1)])
        };
        assert_eq!(kept([part(0, -5.0, 1.0), part(1, 1.0, 4.0), part(2, 4.0, 9.0)]), [1, 0, 1]);
    }
}
