use glam::{DMat3, DVec3};
use maps::geometry::{Aabb, Plane};

use super::Body;

/// Planes of a tree and corners of parts may miss each other by this: what
/// welding corners and faces read as flat leave, in units.
const SURFACE: f64 = 1e-3;

/// Chord of two unit quaternions a radian's turn apart, 2 sin ¼, rounded down.
const MAX_CHORD: f64 = 0.4948;

/// A turn of up to a radian is at most this many times the chord of its two
/// quaternions.
const TURN_OVER_CHORD: f64 = 2.03;

/// Quaternions are blended evenly, so the turn is not quite even: up to a
/// radian, its rate squared and its change of rate together stay below this
/// many times the turn squared.
const UNEVEN: f64 = 1.3;

/// A body on its way, as one sees it who rides on another.
///
/// In the other's axes the way of a point is a curve, for both may turn. With
/// second derivative at most `k` it leaves its chord by at most `k / 8`, and
/// so any halfspace that holds both its ends. The terms of `k` are the other's
/// turn squared times the distance (centripetal), twice that turn times the
/// speed (Coriolis), and the body's own turn squared times its radius.
pub(super) struct Relative {
    rotations: [DMat3; 2],
    translations: [DVec3; 2],
    still: bool,
    /// Whatever is not proven to be farther from a plane than this may be on
    /// its other side.
    slack: f64,
}

/// Distances from a plane, over the whole tick.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Front,
    Back,
    Both,
}

impl Relative {
    /// `a` as seen from `b`; `None` if either turns farther than the bound is
    /// proven for.
    pub(super) fn new(a: &Body, b: &Body, margin: f64) -> Option<Self> {
        let still = a.motion.is_still() && b.motion.is_still();
        let at = |end: usize| {
            let poses = |body: &Body| [body.motion.start.position, body.motion.end.position][end];
            let inverse = b.rotations[end].transpose();
            (inverse * a.rotations[end], inverse * (poses(a) - poses(b)))
        };
        let (first, last) = (at(0), if still { at(0) } else { at(1) });
        let bend = if still { 0.0 } else { bend(a, b, margin)? };
        Some(Self {
            rotations: [first.0, last.0],
            translations: [first.1, last.1],
            still,
            slack: margin + bend + SURFACE,
        })
    }

    /// `plane`, given in the axes of the one ridden on, in the axes of the
    /// body: at the beginning and at the end.
    pub(super) fn seen_from_body(&self, plane: &Plane) -> [Plane; 2] {
        let at = |end: usize| Plane {
            normal: self.rotations[end].transpose() * plane.normal,
            distance: plane.distance - plane.normal.dot(self.translations[end]),
        };
        let first = at(0);
        [first, if self.still { first } else { at(1) }]
    }

    /// On which side of the plane, given in body axes, a box stays.
    #[inline]
    pub(super) fn side_of_box(&self, planes: &[Plane; 2], bounds: &Aabb) -> Side {
        let (centre, half) = (bounds.centre(), bounds.half_extents());
        self.side(planes, |plane| {
            let (middle, reach) = (plane.signed_distance(centre), plane.normal.abs().dot(half));
            (middle - reach, middle + reach)
        })
    }

    /// On which side of the plane, given in body axes, something stays whose
    /// least and greatest distance `extent` measures.
    #[inline]
    pub(super) fn side(&self, planes: &[Plane; 2], extent: impl Fn(&Plane) -> (f64, f64)) -> Side {
        let (mut least, mut greatest) = extent(&planes[0]);
        if !self.still {
            let last = extent(&planes[1]);
            (least, greatest) = (least.min(last.0), greatest.max(last.1));
        }
        if least > self.slack {
            Side::Front
        } else if greatest < -self.slack {
            Side::Back
        } else {
            Side::Both
        }
    }
}

/// How far a point of `a` that comes within `margin` of `b` can leave its
/// chord, seen from `b`.
fn bend(a: &Body, b: &Body, margin: f64) -> Option<f64> {
    let chord =
        |body: &Body| (body.motion.end.orientation - body.motion.start.orientation).length();
    let chords = [chord(a), chord(b)];
    if chords.iter().any(|&chord| chord > MAX_CHORD) {
        return None;
    }
    let [turn, ridden] = chords.map(|chord| TURN_OVER_CHORD * chord);
    // What does not turn may be a solid without an end: no radius then.
    let swing = if turn > 0.0 { turn * a.radius } else { 0.0 };
    let mut second = turn * swing;
    if ridden > 0.0 {
        let from = a.motion.start.position - b.motion.start.position;
        let to = a.motion.end.position - b.motion.end.position;
        let travel = from.distance(to);
        let apart = f64::max(from.length(), to.length()) + a.radius;
        let near = b.radius + margin + travel + swing;
        second += ridden * ridden * apart.min(near) + 2.0 * ridden * (travel + swing);
    }
    Some(UNEVEN * second / 8.0)
}
