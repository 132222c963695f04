//! Warm starting: contact points keep the impulses of the last tick, so that the solver begins near
//! its result.

use arrayvec::ArrayVec;
use glam::DVec3;

use super::pair::{ContactPoint, MAX_POINTS};
use super::{Pair, Points, tangents};

/// A point is matched with a point of the last tick if the two are nearer to each other than this,
/// in units, in the body's axes. Corners of props are farther apart.
const SAME_POINT: f32 = 4.0;

/// Copies the impulses of the last tick to the points that are still there. Each impulse goes to
/// one point: the points of a small body are nearer to each other than [`SAME_POINT`], and an
/// impulse that two of them took would act twice. Friction keeps its direction in the world,
/// although the tangents of the normal `axis` may differ from those of the last tick.
pub(super) fn remember(known: Option<&Pair>, axis: DVec3, points: &mut Points) {
    let Some(known) = known else { return };
    let mut open: ArrayVec<&mut ContactPoint, MAX_POINTS> = points.iter_mut().collect();
    let mut left: ArrayVec<&ContactPoint, MAX_POINTS> = known.points.iter().collect();
    while let Some([new, old]) = nearest(&open, &left) {
        let impulse = left.swap_remove(old).impulse;
        open.swap_remove(new).impulse = handed_on(known.axis, axis, impulse);
    }
}

/// Like [`remember`], for all pairs of a body with one plane of the world, because a point may have
/// moved to another brush. `known` are the pairs of the last tick. `group` holds the indices of the
/// new pairs in `pairs`.
pub(super) fn remember_among<'a>(
    known: impl Iterator<Item = &'a Pair>,
    pairs: &mut [Pair],
    group: &[usize],
) {
    let mut left: Vec<(&Pair, &ContactPoint)> =
        known.flat_map(|pair| pair.points.iter().map(move |point| (pair, point))).collect();
    let mut open: Vec<[usize; 2]> = Vec::new();
    for &at in group {
        open.extend((0..pairs[at].points.len()).map(|point| [at, point]));
        pairs[at].points.iter_mut().for_each(|point| point.impulse = [0.0; 3]);
    }
    loop {
        let (mut nearest, mut found) = (SAME_POINT * SAME_POINT, None);
        for (i, &[at, point]) in open.iter().enumerate() {
            for (j, (_, old)) in left.iter().enumerate() {
                let distance = old.local.distance_squared(pairs[at].points[point].local);
                if distance < nearest {
                    (nearest, found) = (distance, Some([i, j]));
                }
            }
        }
        let Some([new, old]) = found else { break };
        let ([at, point], (known, old)) = (open.swap_remove(new), left.swap_remove(old));
        pairs[at].points[point].impulse = handed_on(known.axis, pairs[at].axis, old.impulse);
    }
}

/// Converts the impulses of the last tick, along the axes of a contact with the normal `before`, to
/// the axes of a contact with the normal `axis`.
fn handed_on(before: DVec3, axis: DVec3, impulse: [f32; 3]) -> [f32; 3] {
    // Normals whose z components are 0.0 and -0.0 compare as equal, but their tangents differ.
    let same_sign = before.z.is_sign_negative() == axis.z.is_sign_negative();
    if before == axis && same_sign {
        return impulse;
    }
    let [normal, along_first, along_second] = impulse;
    let [before, now] = [before, axis].map(tangents);
    let friction = before[0] * along_first + before[1] * along_second;
    [normal, friction.dot(now[0]), friction.dot(now[1])]
}

/// The indices of the two points that are nearest to each other, one from each list. `None` if no
/// two points count as the same.
fn nearest(new: &[&mut ContactPoint], old: &[&ContactPoint]) -> Option<[usize; 2]> {
    let (mut nearest, mut found) = (SAME_POINT * SAME_POINT, None);
    for (i, new) in new.iter().enumerate() {
        for (j, old) in old.iter().enumerate() {
            let distance = old.local.distance_squared(new.local);
            if distance < nearest {
                (nearest, found) = (distance, Some([i, j]));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::bodies::blocker::Blocker;
    use crate::bodies::contact::{ContactPoint, PairKey};
    use crate::collision::separation::Features;

    /// Symptom: a prism with sides of 3.5 units moved aside on a lift. Cause: two of its points
    /// took the impulse of one point of the last tick. Cure: each impulse goes to one point.
    #[test]
    fn an_impulse_goes_to_one_point() {
        let at = |x: f32, normal: f32| ContactPoint {
            local: Vec3::X * x,
            impulse: [normal, 0.0, 0.0],
            ..ContactPoint::default()
        };
        let key = PairKey { body: 0, other: Blocker::Solid(0), parts: (0, 0) };
        let points = Points::from_iter([at(0.0, 9.0), at(3.0, 4.0)]);
        let known = Pair { key, axis: DVec3::Z, features: Features::NONE, gap: 0.1, points };
        let mut points = Points::from_iter([at(1.0, 0.0), at(0.5, 0.0), at(-1.0, 0.0)]);
        remember(Some(&known), DVec3::Z, &mut points);
        let impulses: Vec<f32> = points.iter().map(|point| point.impulse[0]).collect();
        assert_eq!(impulses, [4.0, 9.0, 0.0]);
        let mut points = Points::from_iter([at(SAME_POINT, 0.0), at(SAME_POINT + 3.0, 0.0)]);
        remember(Some(&known), DVec3::Z, &mut points);
        let impulses: Vec<f32> = points.iter().map(|point| point.impulse[0]).collect();
        assert_eq!(impulses, [4.0, 0.0], "beyond four units no point is the same");
    }

    /// Symptom: crates that lean against each other crept for seconds. Cause: the normal of a wall
    /// is level except for rounding, and the tangents are reversed where its z component changes
    /// its sign. The friction of the last tick then pushed the other way. Cure: friction is
    /// converted to the new tangents.
    #[test]
    fn friction_keeps_its_direction_where_the_tangents_turn_round() {
        for height in [1e-9, 0.0] {
            turns_round(height);
        }
    }

    /// Tests a normal that is level except for a tiny height that changes its sign.
    fn turns_round(height: f64) {
        let [before, now] = [height, -height].map(|z| DVec3::new(1.0, 0.0, z));
        assert!(tangents(before)[0].dot(tangents(now)[0]) < -0.9);
        let point = ContactPoint { impulse: [9.0, 3.0, -2.0], ..ContactPoint::default() };
        let key = PairKey { body: 0, other: Blocker::Solid(0), parts: (0, 0) };
        let points = Points::from_iter([point]);
        let known = Pair { key, axis: before, features: Features::NONE, gap: 0.1, points };
        let mut points = Points::from_iter([ContactPoint::default()]);
        remember(Some(&known), now, &mut points);
        let in_world = |axis: DVec3, [_, first, second]: [f32; 3]| -> Vec3 {
            tangents(axis)[0] * first + tangents(axis)[1] * second
        };
        let turned = in_world(now, points[0].impulse) - in_world(before, point.impulse);
        assert!(turned.length() < 1e-5, "{turned}");
        assert_eq!(points[0].impulse[0], 9.0);
        remember(Some(&known), before, &mut points);
        assert_eq!(points[0].impulse, point.impulse, "with the same normal no bit changes");
    }
}
