//! Boxes that turn with their bodies, and a test of the six face directions of two such boxes. The
//! test does most of the work of the separating-axis test at a small part of its cost.

use glam::{DMat3, DVec3};

use crate::collision::distances::ROUNDING;

/// A box with its own axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrientedBox {
    pub(crate) axes: DMat3,
    pub(crate) centre: DVec3,
    /// Half of each side's length, along the axes.
    pub(crate) half_extents: DVec3,
}

impl OrientedBox {
    /// The point of the box that is nearest to another point.
    fn nearest_to(&self, point: DVec3) -> DVec3 {
        let local = self.axes.transpose() * (point - self.centre);
        self.centre + self.axes * local.clamp(-self.half_extents, self.half_extents)
    }

    /// A unit vector, roughly in the direction in which the two boxes are closest. Searches begin
    /// with it.
    pub(crate) fn direction_to(&self, other: &Self) -> DVec3 {
        let on_own = self.nearest_to(other.nearest_to(self.centre));
        let between = other.nearest_to(on_own) - on_own;
        // For overlapping boxes, `between` may be a rounding error.
        let overlap = between.length_squared() < ROUNDING * ROUNDING;
        let between = if overlap { other.centre - self.centre } else { between };
        between.normalize_or(DVec3::Z)
    }

    /// Whether a face direction of either box keeps the two more than `room` units apart. The
    /// cosines between the axes of the two boxes serve all six directions (Gottschalk et al.,
    /// "OBBTree", 1996).
    #[inline]
    pub(crate) fn is_apart_from(&self, other: &Self, room: f64) -> bool {
        let between = other.centre - self.centre;
        let room = DVec3::splat(room);
        // Column `i`: axis `i` of this box along the axes of the other.
        let cosines = (other.axes.transpose() * self.axes).abs();
        let along_own = (self.axes.transpose() * between).abs();
        if (along_own - self.half_extents - cosines.transpose() * other.half_extents)
            .cmpgt(room)
            .any()
        {
            return true;
        }
        let along_others = (other.axes.transpose() * between).abs();
        (along_others - other.half_extents - cosines * self.half_extents).cmpgt(room).any()
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::random::Random;

    /// For two boxes with the same axes that are apart, the gap along the direction found is about
    /// their least distance. For boxes that overlap, the direction is the one between their
    /// middles.
    #[test]
    fn the_direction_to_another_box_is_about_that_of_the_least_distance() {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 0.7);
        let own = OrientedBox {
            axes: DMat3::from_quat(turn),
            centre: DVec3::new(100.0, -40.0, 8.0),
            half_extents: DVec3::new(16.0, 4.0, 9.0),
        };
        let mut random = Random::new(9);
        let (mut apart, mut told) = (0, 0);
        for _ in 0..500 {
            let mut number = |reach: f64| random.between(-reach, reach);
            let offset = DVec3::new(number(40.0), number(40.0), number(40.0));
            let other = OrientedBox { centre: own.centre + offset, ..own };
            let direction = own.direction_to(&other);
            assert!((direction.length() - 1.0).abs() < 1e-9);
            // The gaps along the axes, which both share.
            let between = turn.inverse() * offset;
            let gaps = between.abs() - 2.0 * own.half_extents;
            if gaps.max_element() < 0.0 {
                assert!((direction - offset.normalize()).length() < 1e-9);
                continue;
            }
            let least = gaps.max(DVec3::ZERO).length();
            let along = (turn.inverse() * direction).abs();
            let gap = (turn.inverse() * direction).dot(between) - 2.0 * along.dot(own.half_extents);
            assert!(gap <= least + 1e-9, "{gap} of {least}");
            (apart, told) = (apart + 1, told + usize::from(gap > 0.9 * least));
        }
        assert!(apart > 300 && told == apart, "{told} of {apart}");
    }

    /// The test by cosines agrees with the corners of the boxes along each of the axes.
    #[test]
    fn boxes_are_apart_if_a_face_direction_divides_their_corners() {
        let mut random = Random::new(5);
        let mut number = |reach: f64| random.between(-reach, reach);
        let mut counts = [0; 2];
        for _ in 0..2000 {
            let [a, b] = [(); 2].map(|()| {
                let axis = DVec3::new(number(1.0), number(1.0), number(1.0));
                let turn = DQuat::from_axis_angle(axis.normalize_or(DVec3::Z), number(3.0));
                OrientedBox {
                    axes: DMat3::from_quat(turn),
                    centre: DVec3::new(number(12.0), number(12.0), number(12.0)),
                    half_extents: DVec3::new(5.0 + number(4.0), 5.0 + number(4.0), 3.0),
                }
            });
            let corners = |of: &OrientedBox| {
                let sign = |octant: usize, k: usize| if octant >> k & 1 == 0 { -1.0 } else { 1.0 };
                let of = *of;
                (0..8).map(move |octant| {
                    let signs = DVec3::new(sign(octant, 0), sign(octant, 1), sign(octant, 2));
                    of.centre + of.axes * (signs * of.half_extents)
                })
            };
            let gap = |axis: DVec3| {
                let greatest = corners(&a).map(|v| v.dot(axis)).fold(f64::NEG_INFINITY, f64::max);
                let least = corners(&b).map(|v| v.dot(axis)).fold(f64::INFINITY, f64::min);
                least - greatest
            };
            let directions = (0..3).flat_map(|k| [a.axes.col(k), b.axes.col(k)]);
            let widest = directions.flat_map(|axis| [gap(axis), gap(-axis)]).fold(-1e9, f64::max);
            assert_eq!(a.is_apart_from(&b, 1.0), widest > 1.0, "{a:?} {b:?} {widest}");
            counts[usize::from(widest > 1.0)] += 1;
        }
        assert!(counts.iter().all(|&count| count > 200), "{counts:?}");
    }
}
