//! Poses and motions, and how far a point of a turning body can leave a straight line. Every proof
//! about time rests on these bounds.

use glam::{DMat3, DQuat, DVec3, DVec4};
use serde::{Deserialize, Serialize};

/// Position and orientation of a body. A bare pose is only a proposal: bodies in
/// the world have a [`Placement`](crate::bodies::guard::Placement).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pose {
    /// Centre of mass, in units.
    pub(crate) position: DVec3,
    /// Unit quaternion from body to world axes.
    pub(crate) orientation: DQuat,
}

/// The rotation that a quaternion of any length stands for; `None` if it has no length, or is
/// not finite. A quaternion whose length is far from one is scaled first, because the squares of
/// its parts may overflow or underflow.
pub(crate) fn unit(quaternion: DQuat) -> Option<DQuat> {
    let greatest = DVec4::from(quaternion).abs().max_element();
    if !quaternion.is_finite() || greatest == 0.0 {
        return None;
    }
    let is_usual = (LEAST_USUAL..=1.0 / LEAST_USUAL).contains(&greatest);
    let scaled = if is_usual { quaternion } else { quaternion / greatest };
    Some(scaled.normalize()).filter(|unit| unit.is_finite())
}

/// The direction of a vector of any length; `None` if it has no length, or is not finite.
pub(crate) fn direction(vector: DVec3) -> Option<DVec3> {
    let greatest = vector.abs().max_element();
    if !vector.is_finite() || greatest == 0.0 {
        return None;
    }
    let is_usual = (LEAST_USUAL..=1.0 / LEAST_USUAL).contains(&greatest);
    let scaled = if is_usual { vector } else { vector / greatest };
    scaled.try_normalize()
}

/// The length of a finite vector, even if its square would overflow or underflow.
pub(crate) fn length(vector: DVec3) -> f64 {
    let greatest = vector.abs().max_element();
    let is_usual = (LEAST_USUAL..=1.0 / LEAST_USUAL).contains(&greatest);
    if is_usual || greatest == 0.0 {
        vector.length()
    } else {
        (vector / greatest).length() * greatest
    }
}

/// The share of the way from `start` to `end` that leads to `reached`, a point on it, from 0 to 1.
/// A trace stops in front of a surface, so this share is less than the time at which the trace
/// would meet the surface. The smaller the angle to the surface is, the greater is the difference.
pub(crate) fn share_of_way([start, end]: [DVec3; 2], reached: DVec3) -> f64 {
    let way = end - start;
    let share = (reached - start).dot(way) / way.length_squared();
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// Maximum difference between 1 and the square of an orientation's length, for an orientation that
/// was rounded to `f32` on its way.
const ROUNDED: f64 = 1e-6;

/// Maximum difference of the square of an orientation's length from 1, for an orientation that was
/// normalised in `f64`.
const UNIT: f64 = 1e-12;

/// The squares of numbers from this to its inverse neither overflow nor underflow.
const LEAST_USUAL: f64 = 1e-100;

impl Pose {
    /// The pose with this position and orientation, as a game or a map gives them. The orientation
    /// is normalised. `None` if a number is not finite, or the orientation has no length.
    pub(crate) fn checked(position: DVec3, orientation: DQuat) -> Option<Self> {
        let orientation = unit(orientation)?;
        position.is_finite().then_some(Self { position, orientation })
    }

    /// The pose with this position and orientation, as a snapshot or a tool gives them. An
    /// orientation of length one is kept, and any other is normalised. `None` as for
    /// [`Pose::checked`], and for a position beyond the extent of worlds.
    pub(crate) fn known(position: DVec3, orientation: DQuat) -> Option<Self> {
        let extent = DVec3::splat(obsp::UNIVERSE.into());
        let pose = Self { position, orientation };
        let known = if pose.is_sound() { pose } else { Self::checked(position, orientation)? };
        position.abs().cmple(extent).all().then_some(known)
    }

    /// The pose with its orientation normalised as exactly as audits require. A pose that already
    /// meets this is kept. `None` if the pose is not sound.
    pub(crate) fn of_unit_length(self) -> Option<Self> {
        let square = self.orientation.length_squared();
        if !self.is_sound() {
            None
        } else if (square - 1.0).abs() < UNIT {
            Some(self)
        } else {
            Some(Self { orientation: self.orientation.normalize(), ..self })
        }
    }

    /// Whether the position is finite and the orientation of length one.
    pub(crate) fn is_sound(&self) -> bool {
        let square = self.orientation.length_squared();
        self.position.is_finite() && (square - 1.0).abs() < ROUNDED
    }

    /// The pose at `position` in the axes of the world.
    pub(crate) fn at(position: DVec3) -> Self {
        Self { position, orientation: DQuat::IDENTITY }
    }

    /// The pose after `seconds` at these velocities.
    pub(crate) fn advanced(&self, velocity: DVec3, angular: DVec3, seconds: f64) -> Self {
        Self {
            position: self.position + velocity * seconds,
            orientation: turned(self.orientation, angular * seconds),
        }
    }

    pub(crate) fn rotation(&self) -> DMat3 {
        DMat3::from_quat(self.orientation)
    }
}

/// Longest tick that a prediction or a search for contacts accepts, in seconds. The longest tick of
/// a match is a tenth of a second.
const LONGEST_TICK: f64 = 1.0;

/// Limit of the speed and the spin of a body, in units and radians per second. Bodies in a match
/// stay below a thousandth of it.
const FASTEST: f64 = 1e7;

/// Whether a tick may last this many seconds.
pub(crate) fn is_tick(seconds: f64) -> bool {
    seconds > 0.0 && seconds <= LONGEST_TICK
}

/// Whether a body may move or spin at this velocity.
pub(crate) fn is_speed(velocity: DVec3) -> bool {
    velocity.abs().cmple(DVec3::splat(FASTEST)).all()
}

/// An orientation turned by a rotation vector in world axes, in radians: exact to a millionth of
/// a turn of up to a radian. The tangent of half the angle is a polynomial, so the bits are the
/// same on every machine.
pub(crate) fn turned(orientation: DQuat, rotation: DVec3) -> DQuat {
    let half = rotation * 0.5;
    let squared = half.length_squared();
    let [third, fifth, seventh] = TANGENT;
    let tangent = half * (1.0 + squared * (third + squared * (fifth + squared * seventh)));
    let spin = DQuat::from_xyzw(tangent.x, tangent.y, tangent.z, 1.0);
    (spin * orientation).normalize()
}

/// Coefficients of the tangent's series for the powers three, five and seven. The last coefficient
/// is a little greater than in the series. The excess stands for all later powers, up to an angle
/// of half a radian.
const TANGENT: [f64; 3] = [1.0 / 3.0, 2.0 / 15.0, 0.060_6];

/// Factor on a sagitta for a rotation whose rate is not constant.
const UNEVEN: f64 = 1.1;

/// Cosine of half a radian.
const COS_HALF_RADIAN: f64 = 0.877_582_561_890_372_8;

/// The motion from one pose to another over the unit interval: the position
/// follows a straight line, the orientation turns about one fixed axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) start: Pose,
    pub(crate) end: Pose,
}

impl Motion {
    /// The motion from `start` to `end`, turning the shorter way round.
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

    /// Upper bound of how far any point within `radius` of the centre moves.
    pub(crate) fn travel(&self, radius: f64) -> f64 {
        self.shift().length() + self.swing(radius)
    }

    /// The displacement of the centre.
    pub(crate) fn shift(&self) -> DVec3 {
        self.end.position - self.start.position
    }

    /// Upper bound of how far the rotation alone moves any point within `radius` of the centre.
    pub(crate) fn swing(&self, radius: f64) -> f64 {
        let chord = (self.end.orientation - self.start.orientation).length();
        if chord > MAX_CHORD { f64::INFINITY } else { TURN_OVER_CHORD * chord * radius }
    }
}

/// How far any point within `radius` of the centre can leave a halfspace that
/// contains it at both orientations, while it turns from one to the other.
///
/// The point's path is its chord plus an arc of angle θ about a fixed axis, so
/// it leaves the chord by the sagitta `r (1 − cos θ/2)`, and `cos θ/2` is the
/// dot product of the two quaternions. Position and chord are not traversed in
/// step: for θ ≤ 1 the rotation is ahead of a rotation at constant rate by less than
/// 0.004 θ³, a thirtieth of the sagitta, which [`UNEVEN`] covers.
pub(crate) fn arc(from: DQuat, to: DQuat, radius: f64) -> f64 {
    if from == to {
        return 0.0;
    }
    let cosine = from.dot(to).abs();
    // Beyond a rotation of one radian only one bound is proven: the point stays within a sphere of
    // `radius`.
    if cosine < COS_HALF_RADIAN { 2.0 * radius } else { UNEVEN * radius * (1.0 - cosine).max(0.0) }
}

/// Chord of two unit quaternions whose rotations differ by a radian: 2 sin ¼, rounded down.
const MAX_CHORD: f64 = 0.4948;

/// A rotation of up to a radian is at most this many times the chord of its
/// two quaternions.
const TURN_OVER_CHORD: f64 = 2.03;

/// Blending quaternions linearly turns at a rate that is not quite constant: up
/// to a radian, and on any part of the motion, the rate squared and the change of
/// rate together stay below this many times the angle squared.
const UNEVEN_TURN: f64 = 1.3;

/// How far a point within `radius` of the centre can leave its chord between two poses: an eighth
/// of its greatest second derivative, which is the angle squared times the radius. That derivative
/// is a bound for all times between the two poses, so for a part of the time the bound is
/// multiplied by the square of that part. `None` if the body turns by more than a radian.
pub(crate) fn sagitta([start, end]: [&Pose; 2], radius: f64) -> Option<f64> {
    if start.orientation == end.orientation {
        return Some(0.0);
    }
    let chord = (end.orientation - start.orientation).length();
    let turn = TURN_OVER_CHORD * chord;
    (chord <= MAX_CHORD).then_some(UNEVEN_TURN * turn * turn * radius / 8.0)
}

/// Lower bound of a quantity between its values `first` and `last`. Its second derivative is
/// at most eight times `sagitta`, so the bound is the minimum of
/// `first + (last − first) t − 4 sagitta t (1 − t)`.
pub(crate) fn least_between(first: f64, last: f64, sagitta: f64) -> f64 {
    if (last - first).abs() >= 4.0 * sagitta {
        return first.min(last);
    }
    let short = 1.0 - (last - first) / (4.0 * sagitta);
    first - sagitta * short * short
}

/// How far a point of one body (`seen`) that comes within `margin` of another
/// (`frame`) can leave its chord in the axes of the other. Each body is given by
/// its first and last pose and its radius. `None` if either turns by more than
/// a radian.
///
/// In the frame's axes the path of a point is a curve, for both bodies may turn. With second
/// derivative at most `k`, the path leaves its chord, and any halfspace that contains both its
/// ends, by at most `k / 8`. The terms of `k` are the frame's angle squared times the distance
/// (centripetal), twice that angle times the speed (Coriolis), and the body's own angle squared
/// times its radius: each is taken at its greatest between the poses. So for a part of the time,
/// the bound is multiplied by the square of that part.
pub(crate) fn relative_sagitta(
    (seen, radius): ([&Pose; 2], f64),
    (frame, size): ([&Pose; 2], f64),
    margin: f64,
) -> Option<f64> {
    let chord = |[start, end]: [&Pose; 2]| (end.orientation - start.orientation).length();
    let chords = [chord(seen), chord(frame)];
    if chords.iter().any(|&chord| chord > MAX_CHORD) {
        return None;
    }
    let [turn, carried] = chords.map(|chord| TURN_OVER_CHORD * chord);
    // A body that does not turn may be a solid of the world, of infinite radius.
    let swing = if turn > 0.0 { turn * radius } else { 0.0 };
    let mut second = turn * swing;
    if carried > 0.0 {
        let [from, to] = [0, 1].map(|end| seen[end].position - frame[end].position);
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

    /// In an earlier version a quaternion of length 1e155 passed as finite and was normalised to
    /// zero, because its square is infinite. The square of the length 1e-170 is zero.
    #[test]
    fn a_quaternion_of_any_length_is_a_rotation() {
        let turned = DQuat::from_xyzw(1.0, -2.0, 3.0, 4.0).normalize();
        for exponent in [-307, -170, -155, -101, -100, -30, 0, 30, 99, 100, 153, 155, 200, 307] {
            let found = unit(turned * 10_f64.powi(exponent)).expect("the quaternion has a length");
            assert!(found.angle_between(turned) < 1e-7, "1e{exponent}: {found}");
            assert!((found.length() - 1.0).abs() < 1e-12, "1e{exponent}: {found}");
            let way = DVec3::new(1.0, -2.0, 3.0);
            let along = direction(way * 10_f64.powi(exponent)).expect("the vector has a length");
            assert!(along.distance(way.normalize()) < 1e-12, "1e{exponent}: {along}");
        }
        let least = f64::from_bits(1);
        assert_eq!(unit(DQuat::from_xyzw(0.0, least, 0.0, 0.0)).map(|q| q.y), Some(1.0));
        assert_eq!(direction(DVec3::new(0.0, 0.0, -least)), Some(-DVec3::Z));
        for none in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(unit(DQuat::from_xyzw(0.0, none, 0.0, 0.0)), None, "{none}");
            assert_eq!(direction(DVec3::new(0.0, none, 0.0)), None, "{none}");
            assert_eq!(none == 0.0, Pose::checked(DVec3::splat(none), DQuat::IDENTITY).is_some());
        }
        assert_eq!(unit(DQuat::from_xyzw(1.0, f64::NAN, 0.0, 1e200)), None);
    }

    /// The heights of a point of a turning, moving body lie above the bound of
    /// [`least_between`], on the whole motion and on parts of it, and no point moves
    /// farther than [`Motion::travel`].
    #[test]
    fn the_sagitta_bounds_a_height_from_below_all_along_the_way() {
        let start = Pose::at(DVec3::new(3.0, -2.0, 5.0));
        let point = DVec3::new(-6.0, 7.0, 3.0);
        for step in 1..=60 {
            let angular = DVec3::new(0.3, -0.9, 0.4).normalize() * f64::from(step) * 0.016;
            let velocity = DVec3::new(0.4, 0.1, -0.3) * f64::from(step % 7);
            let motion = Motion::new(start, start.advanced(velocity, angular, 1.0));
            let place = |t: f64| {
                let pose = motion.at(t);
                pose.position + pose.orientation * point
            };
            let travel = motion.travel(point.length()) + 1e-12;
            assert!((0..=16).all(|i| place(f64::from(i) / 16.0).distance(place(0.0)) <= travel));
            let whole = sagitta([&motion.start, &motion.end], point.length()).unwrap();
            for (from, to) in [(0.0, 1.0), (0.0, 0.3), (0.4, 1.0)] {
                let sagitta = sagitta([&motion.at(from), &motion.at(to)], point.length()).unwrap();
                for k in 0..64 {
                    let angle = f64::from(k) * 0.1;
                    let up = DVec3::new(angle.cos(), angle.sin(), (angle * 3.0).sin()).normalize();
                    let height = |t: f64| up.dot(place(from + (to - from) * t));
                    // The bound of the whole motion also holds on a part of it.
                    for sagitta in [sagitta, whole * (to - from) * (to - from)] {
                        let least = least_between(height(0.0), height(1.0), sagitta) - 1e-12;
                        for i in 0..=32 {
                            let seen = height(f64::from(i) / 32.0);
                            assert!(seen >= least, "step {step}, direction {k}: {seen} < {least}");
                        }
                    }
                }
            }
        }
    }

    /// The bound of [`Motion::arc`] holds for points of turning, moving bodies,
    /// measured along many directions.
    #[test]
    fn the_arc_bounds_how_far_a_point_leaves_a_halfspace() {
        let start = Pose::at(DVec3::new(3.0, -2.0, 5.0));
        for step in 1..=60 {
            let angular = DVec3::new(0.3, -0.9, 0.4).normalize() * f64::from(step) * 0.05;
            let end = start.advanced(DVec3::new(10.0, 4.0, -7.0), angular, 1.0);
            let motion = Motion::new(start, end);
            let point = DVec3::new(-6.0, 7.0, 3.0);
            let arc = arc(motion.start.orientation, motion.end.orientation, point.length());
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
