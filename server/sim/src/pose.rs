use glam::{DMat3, DQuat, DVec3};

/// Where a body is and how it is turned. A bare pose is only a proposal: what
/// stands in the world is a [`Placement`](crate::guard::Placement).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    /// Centre of mass, in units.
    pub(crate) position: DVec3,
    /// Unit quaternion from body to world axes.
    pub(crate) orientation: DQuat,
}

impl Pose {
    /// Unturned, at `position`.
    pub(crate) fn at(position: DVec3) -> Self {
        Self { position, orientation: DQuat::IDENTITY }
    }

    /// The pose after `seconds` at these velocities. The rotation is the
    /// first-order quaternion step, renormalised: no trigonometry, so the
    /// same bits come out on every machine.
    pub(crate) fn advanced(&self, velocity: DVec3, angular: DVec3, seconds: f64) -> Self {
        let half = angular * (0.5 * seconds);
        let spin = DQuat::from_xyzw(half.x, half.y, half.z, 1.0);
        Self {
            position: self.position + velocity * seconds,
            orientation: (spin * self.orientation).normalize(),
        }
    }

    pub(crate) fn rotation(&self) -> DMat3 {
        DMat3::from_quat(self.orientation)
    }
}

/// What is added to a sagitta for a turn that is not quite even.
const UNEVEN: f64 = 1.1;

/// Cosine of half a radian.
const COS_HALF_RADIAN: f64 = 0.877_582_561_890_372_8;

/// The way from one pose to another over the unit interval: the position in
/// a straight line, the orientation about one fixed axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) start: Pose,
    pub(crate) end: Pose,
}

impl Motion {
    /// The shorter way round from `start` to `end`.
    pub(crate) fn new(start: Pose, mut end: Pose) -> Self {
        if start.orientation.dot(end.orientation) < 0.0 {
            end.orientation = -end.orientation;
        }
        Self { start, end }
    }

    /// The pose at `time` in `0..=1`.
    pub(crate) fn at(&self, time: f64) -> Pose {
        if time <= 0.0 {
            return self.start;
        }
        if time >= 1.0 {
            return self.end;
        }
        let (q0, q1) = (self.start.orientation, self.end.orientation);
        let orientation = if q0 == q1 { q0 } else { (q0 * (1.0 - time) + q1 * time).normalize() };
        Pose { position: self.start.position.lerp(self.end.position, time), orientation }
    }

    /// Whether nothing moves.
    pub(crate) fn is_still(&self) -> bool {
        self.start == self.end
    }

    /// [`arc`] between two times.
    pub(crate) fn arc(&self, from: f64, to: f64, radius: f64) -> f64 {
        arc(self.at(from).orientation, self.at(to).orientation, radius)
    }
}

/// How far any point within `radius` of the centre can leave, on its way
/// between two orientations, the halfspace that holds it at both.
///
/// The point's path is its chord plus an arc of angle θ about a fixed axis, so
/// it leaves the chord by the sagitta `r (1 − cos θ/2)`, and `cos θ/2` is the
/// dot product of the two quaternions. Position and chord are not traversed in
/// step; for θ ≤ 1 the turn is ahead of an even one by less than 0.004 θ³, a
/// thirtieth of the sagitta, which [`UNEVEN`] covers.
pub(crate) fn arc(from: DQuat, to: DQuat, radius: f64) -> f64 {
    if from == to {
        return 0.0;
    }
    let cosine = from.dot(to).abs();
    // Beyond a turn of one radian only this is sure: the point stays within
    // its sphere.
    if cosine < COS_HALF_RADIAN { 2.0 * radius } else { UNEVEN * radius * (1.0 - cosine).max(0.0) }
}

/// Chord of two unit quaternions a radian's turn apart, 2 sin ¼, rounded down.
const MAX_CHORD: f64 = 0.4948;

/// A turn of up to a radian is at most this many times the chord of its two
/// quaternions.
const TURN_OVER_CHORD: f64 = 2.03;

/// Quaternions are blended evenly, so the turn is not quite even: up to a
/// radian, and on any part of the way, its rate squared and its change of rate
/// together stay below this many times the turn squared.
const UNEVEN_TURN: f64 = 1.3;

/// How far a point of one body that comes within `margin` of another can leave
/// its chord, as one sees it who rides on the other; each body is where it
/// begins and ends, and the radius that holds it. `None` if either turns by
/// more than a radian.
///
/// In the axes of the one ridden on the way of a point is a curve, for both may
/// turn. With second derivative at most `k` it leaves its chord by at most
/// `k / 8`, and so any halfspace that holds both its ends. The terms of `k` are
/// the turn ridden on squared times the distance (centripetal), twice that turn
/// times the speed (Coriolis), and the body's own turn squared times its radius.
pub(crate) fn bend(
    (seen, radius): ([&Pose; 2], f64),
    (ridden, size): ([&Pose; 2], f64),
    margin: f64,
) -> Option<f64> {
    let chord = |[start, end]: [&Pose; 2]| (end.orientation - start.orientation).length();
    let chords = [chord(seen), chord(ridden)];
    if chords.iter().any(|&chord| chord > MAX_CHORD) {
        return None;
    }
    let [turn, carried] = chords.map(|chord| TURN_OVER_CHORD * chord);
    // What does not turn may be a solid without an end: no radius then.
    let swing = if turn > 0.0 { turn * radius } else { 0.0 };
    let mut second = turn * swing;
    if carried > 0.0 {
        let [from, to] = [0, 1].map(|end| seen[end].position - ridden[end].position);
        let travel = from.distance(to);
        let apart = f64::max(from.length(), to.length()) + radius;
        let near = size + margin + travel + swing;
        second += carried * carried * apart.min(near) + 2.0 * carried * (travel + swing);
    }
    Some(UNEVEN_TURN * second / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slack that [`Motion::arc`] promises holds for points of turning,
    /// moving bodies, seen from many directions.
    #[test]
    fn the_arc_bounds_how_far_a_point_leaves_a_halfspace() {
        let start = Pose::at(DVec3::new(3.0, -2.0, 5.0));
        for step in 1..=60 {
            let angular = DVec3::new(0.3, -0.9, 0.4).normalize() * f64::from(step) * 0.05;
            let end = start.advanced(DVec3::new(10.0, 4.0, -7.0), angular, 1.0);
            let motion = Motion::new(start, end);
            let point = DVec3::new(-6.0, 7.0, 3.0);
            let arc = motion.arc(0.0, 1.0, point.length());
            for k in 0..64 {
                let angle = f64::from(k) * 0.1;
                let normal = DVec3::new(angle.cos(), angle.sin(), (angle * 3.0).sin()).normalize();
                let height = |t: f64| {
                    let pose = motion.at(t);
                    normal.dot(pose.position + pose.orientation * point)
                };
                let limit = height(0.0).max(height(1.0)) + arc + 1e-12;
                for i in 0..=32 {
                    assert!(height(f64::from(i) / 32.0) <= limit, "step {step}, direction {k}");
                }
            }
        }
    }
}
