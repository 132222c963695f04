//! Wedges: surfaces that are each too steep to stand on, and together leave no way down.

use glam::{DVec3, Vec3};
use obsp::SURFACE_DISTANCE;

use super::Surroundings;
use crate::players::agent::SweepHit;
use crate::state::Posture;

/// A way that leads down by less than this share of its length, about half a degree, counts as
/// level. Along a gully that falls no more steeply, steering in the air leads upward as well.
const LEVEL: f64 = 0.01;

/// Two normals whose cosine is greater than this belong to one surface.
const SAME_SURFACE: f64 = 0.9999;

/// A way that enters a surface by less than this counts as free of the surface. Rounding is smaller
/// than this.
const ROUNDING: f64 = 1e-6;

/// The share by which a way along surfaces is turned away from them, so that rounding does not lead
/// it into them again.
const TURNED_AWAY: f64 = 0.002;

/// The factor by which [`TURNED_AWAY`] grows for a way that still meets the surfaces.
const TURNED_FURTHER: f64 = 8.0;

/// Maximum number of ways that are tested. Each one meets a surface that the earlier ways did not,
/// or is turned farther away from a surface. If this many ways are closed, all ways count as
/// closed.
const MAX_WAYS: usize = 12;

/// How far a way is followed, in units. A player who slips down by this much between walls of 89
/// degrees comes no nearer to the walls than the margin.
const REACH: f64 = 2.0;

/// A surface touches the player if a sweep brings the player nearer to it by no more than this, in
/// units along its normal. The value is above zero, because a sweep stops at a distance from the
/// surface.
const TOUCH: f64 = 0.25 * SURFACE_DISTANCE as f64;

/// The lowest of the surfaces that touch the box of `posture` at `position`, if together they leave
/// the box no way down: wherever one surface would let the box slip, another one is in the way.
pub(super) fn find_wedge(
    (posture, position): (Posture, Vec3),
    surroundings: &mut impl Surroundings,
) -> Option<SweepHit> {
    let (mut normals, mut below) = (Vec::new(), None);
    let mut turned_away = TURNED_AWAY;
    for _ in 0..MAX_WAYS {
        let Some(down) = steepest_way(&normals) else { return below };
        let away: DVec3 = normals.iter().sum();
        let way = (down + away * turned_away).normalize_or_zero() * REACH;
        let sweep = surroundings.sweep(posture, position, position + way.as_vec3());
        let hit = sweep.hit?;
        if sweep.time * -way.dot(hit.normal) > TOUCH {
            return None;
        }
        if normals.iter().any(|normal: &DVec3| normal.dot(hit.normal) > SAME_SURFACE) {
            turned_away *= TURNED_FURTHER;
            continue;
        }
        normals.push(hit.normal);
        below = below.or(Some(hit));
    }
    // This is a funnel of many sides, because all ways that were tested are closed.
    below
}

/// The direction that leads down most steeply and enters no surface; `None` if none leads down. The
/// direction is straight down, along one surface, or along the crease of two.
fn steepest_way(normals: &[DVec3]) -> Option<DVec3> {
    let along = normals.iter().map(|normal| normal * normal.z - DVec3::Z);
    let creases = normals.iter().enumerate().flat_map(|(index, first)| {
        normals[index + 1..].iter().map(move |second| {
            let crease = first.cross(*second);
            if crease.z > 0.0 { -crease } else { crease }
        })
    });
    let ways = std::iter::once(-DVec3::Z).chain(along).chain(creases);
    let leads_down = |way: &DVec3| way.z < -LEVEL;
    let enters = |way: &DVec3| normals.iter().any(|normal| way.dot(*normal) < -ROUNDING);
    ways.filter_map(DVec3::try_normalize)
        .filter(|way| leads_down(way) && !enters(way))
        .min_by(|first, second| first.z.total_cmp(&second.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The normal of a slope of this many degrees that falls in the direction `turn`.
    fn slope(degrees: f64, turn: f64) -> DVec3 {
        let (steep, turn) = (degrees.to_radians(), turn.to_radians());
        let across = DVec3::new(libm::cos(turn), libm::sin(turn), 0.0);
        across * libm::sin(steep) + DVec3::Z * libm::cos(steep)
    }

    #[test]
    fn one_surface_or_two_that_fall_leave_a_way_down_and_three_around_do_not() {
        for degrees in [46.0, 60.0, 75.0, 89.0] {
            let one = [slope(degrees, 10.0)];
            let way = steepest_way(&one).expect("a slope");
            assert!((way.z + libm::sin(f64::to_radians(degrees))).abs() < 1e-9, "{way}");
            // The crease of slopes a quarter turn apart falls.
            assert!(steepest_way(&[slope(degrees, 0.0), slope(degrees, 90.0)]).is_some());
            for count in 3..9 {
                let turn = 360.0 / f64::from(count);
                let mut pit: Vec<DVec3> =
                    (0..count).map(|side| slope(degrees, f64::from(side) * turn)).collect();
                assert_eq!(
                    steepest_way(&pit),
                    None,
                    "{count} slopes of {degrees} degrees enclose \
                    the player"
                );
                // A pit that lacks one of its sides leaves a way out, if no two sides face each
                // other.
                pit.pop();
                let open = pit.len() < 3 && turn * 2.0 != 360.0;
                assert!(
                    !open || steepest_way(&pit).is_some(),
                    "one of {count} slopes of {degrees} \
                    degrees is missing"
                );
            }
        }
    }

    #[test]
    fn a_level_gully_holds_and_one_that_falls_by_a_degree_does_not() {
        let gully = [slope(60.0, 0.0), slope(60.0, 180.0)];
        assert_eq!(steepest_way(&gully), None);
        let (sin, cos) = (libm::sin(1_f64.to_radians()), libm::cos(1_f64.to_radians()));
        let tilted = gully.map(|DVec3 { x, y, z }| DVec3::new(x, y * cos + z * sin, z * cos));
        let way = steepest_way(&tilted).expect("the player falls along the gully");
        assert!(way.y.abs() > 0.99, "{way}");
    }
}
