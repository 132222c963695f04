//! First contact of a moving body with the static world, in `f64`. It is computed from the corners
//! of each single brush, without a tree, planes or expansion.
//!
//! GJK finds the distance of two convex bodies from their *supports*, their farthest points in a
//! direction. The plane across the last direction proves the distance to within a millionth of a
//! unit, wherever the search ends.

use crate::brushes;
use crate::map_text::Entity;

type Vector = [f64; 3];

/// Bodies closer than this, in units, touch.
const TOUCHING: f64 = 1e-6;

/// A convex body centred at the origin.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A ball with this radius.
    Ball(f64),
    /// An upright cylinder with this radius and half height.
    Cylinder(f64, f64),
    /// A box, by three vectors at right angles. Each has the direction of a side and half of its
    /// length.
    Cuboid([Vector; 3]),
}

/// All solid brushes of a map.
#[derive(Clone, Debug)]
pub struct Solids(Vec<Solid>);

#[derive(Clone, Debug)]
struct Solid {
    corners: Vec<Vector>,
    min: Vector,
    max: Vector,
}

/// Bounds of the distance between two bodies.
struct Apart {
    /// Lower bound: the distance along `normal`.
    least: f64,
    /// Upper bound.
    most: f64,
    /// Direction from the solid to the body.
    normal: Vector,
}

impl Body {
    /// The same body, smaller by `margin` on every side.
    #[must_use]
    pub fn shrunk(&self, margin: f64) -> Self {
        match *self {
            Self::Ball(radius) => Self::Ball(radius - margin),
            Self::Cylinder(radius, half) => Self::Cylinder(radius - margin, half - margin),
            Self::Cuboid(sides) => Self::Cuboid(sides.map(|side| {
                let length = dot(side, side).sqrt();
                scaled(side, (length - margin) / length)
            })),
        }
    }

    /// The farthest point in a direction, whose length must not be zero.
    fn support(&self, direction: Vector) -> Vector {
        match *self {
            Self::Ball(radius) => scaled(direction, radius / length(direction)),
            Self::Cylinder(radius, half) => {
                let across = direction[0].hypot(direction[1]);
                let rim = if across > 0.0 { radius / across } else { 0.0 };
                [direction[0] * rim, direction[1] * rim, half.copysign(direction[2])]
            }
            Self::Cuboid(sides) => sides.iter().fold([0.0; 3], |sum, &side| {
                add(sum, scaled(side, 1.0_f64.copysign(dot(side, direction))))
            }),
        }
    }

    /// The greatest extent of the body along any axis.
    fn reach(&self) -> f64 {
        match *self {
            Self::Ball(radius) => radius,
            Self::Cylinder(radius, half) => radius.max(half),
            Self::Cuboid(sides) => sides.iter().map(|&side| length(side)).sum(),
        }
    }
}

impl Solids {
    /// The static solids of a map, including clip brushes.
    pub fn new(entities: &[Entity]) -> Self {
        let solid = |solid: &brushes::Solid| {
            let (min, max) = solid.polyhedron.bounds();
            Solid { corners: solid.polyhedron.points(), min, max }
        };
        Self(brushes::Solids::new(entities).iter().map(solid).collect())
    }

    /// The box around all solids.
    pub fn bounds(&self) -> (Vector, Vector) {
        let corner = |pick: fn(f64, f64) -> f64, start: f64, of: fn(&Solid) -> Vector| {
            [0, 1, 2].map(|i| self.0.iter().map(|s| of(s)[i]).fold(start, pick))
        };
        (corner(f64::min, f64::INFINITY, |s| s.min), corner(f64::max, f64::NEG_INFINITY, |s| s.max))
    }

    /// A lower bound of a body's distance from the nearest solid, in units: at most `reach`, and 0
    /// if they overlap.
    pub fn distance(&self, body: &Body, at: Vector, reach: f64) -> f64 {
        self.near(body, at, at, reach)
            .map(|solid| solid.apart(body, at).least.max(0.0))
            .fold(reach, f64::min)
    }

    /// How well `normal` agrees with the direction from a touched solid to the body: the greatest
    /// cosine of the angle between them, over all solids within `reach`.
    pub fn agreement(&self, body: &Body, at: Vector, normal: Vector, reach: f64) -> f64 {
        self.near(body, at, at, reach)
            .map(|solid| solid.apart(body, at))
            .filter(|apart| apart.least <= reach)
            .map(|apart| dot(apart.normal, normal))
            .fold(-1.0, f64::max)
    }

    /// The time at which a body that moves from `start` to `end` first touches a solid, as a
    /// fraction of the segment; `None` if it never does.
    pub fn first_contact(&self, body: &Body, start: Vector, end: Vector) -> Option<f64> {
        let contacts = self.near(body, start, end, TOUCHING);
        contacts.filter_map(|solid| solid.contact(body, start, end)).min_by(f64::total_cmp)
    }

    /// Solids whose bounding box the body approaches to within `margin`.
    fn near(&self, body: &Body, a: Vector, b: Vector, margin: f64) -> impl Iterator<Item = &Solid> {
        let reach = body.reach() + margin;
        let min = [0, 1, 2].map(|i| a[i].min(b[i]) - reach);
        let max = [0, 1, 2].map(|i| a[i].max(b[i]) + reach);
        self.0.iter().filter(move |s| (0..3).all(|i| s.min[i] <= max[i] && min[i] <= s.max[i]))
    }
}

/// A lower bound of the distance between a box of these half extents around `centre` and the hull
/// of `corners`; not above 0 if they meet.
pub(crate) fn gap(corners: &[Vector], half_extents: Vector, centre: Vector) -> f64 {
    let side = |axis: usize| [0, 1, 2].map(|i| if i == axis { half_extents[i] } else { 0.0 });
    let solid = Solid { corners: corners.to_vec(), min: [0.0; 3], max: [0.0; 3] };
    solid.apart(&Body::Cuboid([side(0), side(1), side(2)]), centre).least
}

impl Solid {
    /// The time of contact. A search advances it as long as a plane separates the two bodies.
    fn contact(&self, body: &Body, start: Vector, end: Vector) -> Option<f64> {
        let motion = sub(end, start);
        let mut time = 0.0;
        for _ in 0..1000 {
            let apart = self.apart(body, add(start, scaled(motion, time)));
            if apart.most <= TOUCHING {
                return Some(time);
            }
            let approach = -dot(apart.normal, motion);
            if apart.least > 0.0 && approach <= 0.0 {
                return None;
            }
            // The minimum advances the time even where the lower bound of the distance is 0.
            time += apart.least.max(TOUCHING * 0.1) / approach.max(1e-9);
            if time > 1.0 {
                return None;
            }
        }
        Some(time)
    }

    fn apart(&self, body: &Body, at: Vector) -> Apart {
        // The distance of the bodies is the distance of their Minkowski difference from zero.
        let support = |direction: Vector| {
            let solid = *self
                .corners
                .iter()
                .max_by(|a, b| dot(**b, direction).total_cmp(&dot(**a, direction)))
                .expect("a solid has corners");
            sub(add(at, body.support(direction)), solid)
        };
        let mut simplex = vec![support([1.0, 0.0, 0.0])];
        let mut nearest = simplex[0];
        let (mut least, mut normal) = (f64::NEG_INFINITY, [0.0; 3]);
        for _ in 0..200 {
            let distance = length(nearest);
            if distance < TOUCHING * 0.01 {
                return Apart { least: least.max(0.0), most: distance, normal };
            }
            let farther = support(scaled(nearest, -1.0));
            let proven = dot(nearest, farther) / distance;
            if proven > least {
                (least, normal) = (proven, scaled(nearest, 1.0 / distance));
            }
            if distance - least < TOUCHING * 0.01 || simplex.contains(&farther) {
                break;
            }
            simplex.push(farther);
            (nearest, simplex) = nearest_to_zero(&simplex);
        }
        Apart { least, most: length(nearest), normal }
    }
}

/// The point nearest to zero in the hull of up to five points, and the fewest of these points
/// whose hull contains it. Every subset is tried.
fn nearest_to_zero(points: &[Vector]) -> (Vector, Vec<Vector>) {
    let mut best = (points[0], vec![points[0]]);
    for subset in 1_u32..1 << points.len() {
        let chosen: Vec<Vector> =
            (0..points.len()).filter(|i| subset >> i & 1 == 1).map(|i| points[i]).collect();
        if let Some(nearest) = inside(&chosen)
            && dot(nearest, nearest) < dot(best.0, best.0)
        {
            best = (nearest, chosen);
        }
    }
    best
}

/// The point nearest to zero of the point, line, plane or space through up to four points, if it
/// is inside their hull.
fn inside(points: &[Vector]) -> Option<Vector> {
    let (&base, others) = points.split_first()?;
    let edges: Vec<Vector> = others.iter().map(|&p| sub(p, base)).collect();
    let shares = match *edges.as_slice() {
        [] => vec![],
        [a] => vec![-dot(base, a) / dot(a, a)],
        [a, b] => {
            let (aa, ab, bb) = (dot(a, a), dot(a, b), dot(b, b));
            let (pa, pb) = (-dot(base, a), -dot(base, b));
            let det = aa * bb - ab * ab;
            vec![(pa * bb - pb * ab) / det, (pb * aa - pa * ab) / det]
        }
        [a, b, c] => {
            let det = dot(a, cross(b, c));
            let to = scaled(base, -1.0);
            let share = |u, v| dot(to, cross(u, v)) / det;
            vec![share(b, c), share(c, a), share(a, b)]
        }
        _ => return None,
    };
    let sound =
        shares.iter().all(|s| s.is_finite() && *s >= 0.0) && shares.iter().sum::<f64>() <= 1.0;
    let sum = |point, (edge, share): (&Vector, &f64)| add(point, scaled(*edge, *share));
    sound.then(|| edges.iter().zip(&shares).fold(base, sum))
}

fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn scaled(a: Vector, by: f64) -> Vector {
    a.map(|x| x * by)
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cube of 64 units about the origin.
    fn cube() -> Solids {
        let corners = (0..8).map(|i| [0, 1, 2].map(|axis| f64::from((i >> axis & 1) * 64 - 32)));
        Solids(vec![Solid { corners: corners.collect(), min: [-32.0; 3], max: [32.0; 3] }])
    }

    const BOX: Body = Body::Cuboid([[16.0, 0.0, 0.0], [0.0, 16.0, 0.0], [0.0, 0.0, 28.0]]);

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-5, "{a} is not {b}");
    }

    #[test]
    fn distances_are_those_of_elementary_geometry() {
        let cube = cube();
        near(cube.distance(&Body::Ball(8.0), [50.0, 0.0, 0.0], 100.0), 10.0);
        // The first ball is beside an edge, the second beside a corner.
        near(cube.distance(&Body::Ball(1.0), [35.0, 36.0, 5.0], 100.0), 4.0);
        near(cube.distance(&Body::Ball(1.0), [34.0, 35.0, 38.0], 100.0), 6.0);
        near(cube.distance(&Body::Cylinder(16.0, 28.0), [0.0, 0.0, 70.0], 100.0), 10.0);
        near(cube.distance(&Body::Cylinder(1.0, 28.0), [35.0, 36.0, 0.0], 100.0), 4.0);
        near(cube.distance(&BOX, [51.0, 52.0, 0.0], 100.0), 5.0);
        near(cube.distance(&BOX, [40.0, 40.0, 40.0], 100.0), 0.0);
        near(cube.distance(&Body::Ball(8.0), [500.0, 0.0, 0.0], 20.0), 20.0);
    }

    #[test]
    fn contact_is_at_distance_zero() {
        let cube = cube();
        let ball = Body::Ball(8.0);
        let when = |body: &Body, a, b| cube.first_contact(body, a, b);
        near(when(&ball, [80.0, 0.0, 0.0], [0.0, 0.0, 0.0]).expect("hit"), 0.5);
        assert_eq!(when(&ball, [80.0, 0.0, 0.0], [41.0, 0.0, 0.0]), None);
        // The ball passes the edge at a distance, or touches it.
        let pass = |gap: f64| {
            let diagonal = 32.0 + (8.0 + gap) / 2.0_f64.sqrt();
            when(
                &ball,
                [diagonal - 30.0, diagonal + 30.0, 0.0],
                [diagonal + 30.0, diagonal - 30.0, 0.0],
            )
        };
        assert_eq!(pass(0.001), None);
        assert!(pass(-0.001).is_some_and(|t| (t - 0.5).abs() < 0.01));
        near(when(&BOX, [80.0, 40.0, 0.0], [0.0, 40.0, 0.0]).expect("hit"), 0.4);
        // The box moves along a face at a distance, then too close to it.
        assert_eq!(when(&BOX, [-99.0, 0.0, 60.01], [99.0, 0.0, 60.01]), None);
        assert!(when(&BOX.shrunk(0.1), [-99.0, 0.0, 59.8], [99.0, 0.0, 59.8]).is_some());
    }
}
