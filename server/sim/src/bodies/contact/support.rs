//! The support polygon of a body on flat ground: the hull of all points at which the body touches
//! one plane of the world.
//!
//! The manifold of each brush has corners where seams cross the body's footprint. These corners lie
//! inside the footprint, or on its sides. A rigid body that keeps the gaps at the corners of the
//! hull keeps the gaps there as well, so those points need no constraint. If they had one, they
//! would carry a share of the weight that depends on where the map is cut. Friction would then brake
//! a spin too little, and would push the body aside.

use glam::{DVec2, DVec3};

use super::Pair;

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

/// A point is kept if its gap is smaller than that of the hull there by more than this, in units (a
/// tenth of the rest gap): there the body is not flat.
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
/// are the pairs of the body with the world, and `to_local` turns a direction into the body's axes.
pub(super) fn keep_hulls(pairs: &mut [Pair], to_local: impl Fn(DVec3) -> DVec3) {
    if pairs.iter().filter(|pair| !pair.points.is_empty()).count() < 2 {
        return;
    }
    let mut open: Vec<usize> = (0..pairs.len()).filter(|&at| !pairs[at].points.is_empty()).collect();
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
            pair.axis.distance_squared(axis) <= SAME_NORMAL * SAME_NORMAL
                && most - low <= SAME_HEIGHT
                && high - least <= SAME_HEIGHT
        };
        let (group, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&at| at == first || belongs(&pairs[at]));
        if group.len() > 1 {
            keep_hull(pairs, &group, normal);
        }
        open = rest;
    }
}

/// Removes the points of a group of pairs that are inside the hull of all points of the group, or on
/// its sides.
fn keep_hull(pairs: &mut [Pair], group: &[usize], normal: DVec3) {
    let [right, up] = [normal.any_orthonormal_vector(), normal.cross(normal.any_orthonormal_vector())];
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
    spots.sort_by(|a, b| a.at.x.total_cmp(&b.at.x).then(a.at.y.total_cmp(&b.at.y)));
    let hull = hull(&spots);
    let is_corner = |spot: &Spot| hull.iter().any(|corner| corner.index == spot.index);
    let is_kept =
        |spot: &Spot| is_corner(spot) || spot.gap < gap_of(&hull, spot.at) - SAME_GAP;
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

/// The corners of the convex hull of some points, which are sorted, counter-clockwise (Andrew 1979).
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
