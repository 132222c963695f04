//! A convex polygon cut at a plane (Sutherland and Hodgman 1974).

use glam::DVec3;

/// Writes the part of a convex polygon that lies behind a plane to `kept`, unless the whole polygon
/// is behind the plane. Returns whether it wrote anything. Each plane adds one corner at most.
pub(super) fn clip(polygon: &[DVec3], normal: DVec3, distance: f64, kept: &mut Vec<DVec3>) -> bool {
    let height = |corner: DVec3| normal.dot(corner) - distance;
    let (Some(&last), true) = (polygon.last(), polygon.iter().any(|&corner| height(corner) > 0.0))
    else {
        return false;
    };
    kept.clear();
    let (mut from, mut before) = (last, height(last));
    for &to in polygon {
        let after = height(to);
        if (before > 0.0) != (after > 0.0) {
            kept.push(from + (to - from) * (before / (before - after)));
        }
        if after <= 0.0 {
            kept.push(to);
        }
        (from, before) = (to, after);
    }
    true
}
