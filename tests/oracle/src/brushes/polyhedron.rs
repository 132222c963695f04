//! Unexpanded brushes with exact corners and edges, and their exact Minkowski sums with boxes.

use num_bigint::{BigInt, Sign};

use super::halfspace::{Halfspace, gcd, ratio};
use crate::map_text::Brush;

/// An unexpanded brush with its corners and edges, all exact.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    faces: Vec<Halfspace>,
    corners: Vec<Corner>,
    edges: Vec<Edge>,
}

/// A point where three or more faces meet: `numerators / denominator`.
#[derive(Clone, Debug, PartialEq)]
struct Corner {
    numerators: [BigInt; 3],
    denominator: BigInt,
}

#[derive(Clone, Debug)]
struct Edge {
    direction: [BigInt; 3],
    corner: usize,
}

/// A brush that extends this far, in units, counts as unbounded.
const UNIVERSE: i64 = 1 << 17;

/// A point this far in front of a face in floating point is not a corner. Closer cases are
/// decided exactly.
const SURELY_OUTSIDE: f64 = 1e-3;

/// Three points lie in a line if their triangle is lower than a unit divided by this: the last
/// written digit would decide their plane.
const LOWEST: u32 = 100_000;

/// The world ends at this distance from the origin along each axis, in units.
const WORLD: f64 = 32_768.0;

/// A brush is thin if all its corners are nearer than this to one of its faces. The distance is in
/// millionths of a unit: 1/32 of a unit, less a millionth for the rounding of decimals.
const THIN: u32 = 31_249;

impl Polyhedron {
    /// The solid of a brush, or `None` if its faces enclose no bounded volume. A face with the
    /// plane of another is redundant. A face whose points lie in a line, within a
    /// hundred-thousandth of a unit, has no plane and is left out.
    pub fn from_text(brush: &Brush) -> Option<Self> {
        let mut faces: Vec<Halfspace> = Vec::new();
        for face in &brush.faces {
            let places = face.points.iter().flatten().map(|c| c.places()).max().unwrap_or(0);
            let [p, q, r] = face.points.each_ref().map(|p| p.each_ref().map(|c| c.scaled(places)));
            let normal = cross(&difference(&p, &q), &difference(&r, &q));
            if is_line(&p, &q, &r, &normal, places) {
                continue;
            }
            let distance = dot(&normal, &p);
            let scale = BigInt::from(10).pow(places);
            let face = Halfspace::new(normal.map(|n| n * &scale), distance);
            if !faces.contains(&face) {
                faces.push(face);
            }
        }
        Self::from_faces(faces)
    }

    /// The solid behind all faces, or `None` as for [`Polyhedron::from_text`].
    pub fn from_faces(faces: Vec<Halfspace>) -> Option<Self> {
        let mut walls = faces.clone();
        for axis in 0..3 {
            for sign in [1, -1] {
                let mut normal = [0; 3].map(BigInt::from);
                normal[axis] = BigInt::from(sign);
                walls.push(Halfspace::new(normal, UNIVERSE.into()));
            }
        }
        let corners = corners(&walls);
        let on = |wall: &Halfspace, c: &Corner| c.height(wall).sign() == Sign::NoSign;
        if corners.iter().any(|c| walls[faces.len()..].iter().any(|w| on(w, c))) {
            return None;
        }
        // If one face holds every corner, the brush is flat. Without corners it is inside out.
        if corners.is_empty() || faces.iter().any(|f| corners.iter().all(|c| on(f, c))) {
            return None;
        }
        let on_faces: Vec<Vec<&Halfspace>> =
            corners.iter().map(|c| faces.iter().filter(|f| on(f, c)).collect()).collect();
        let mut edges = Vec::new();
        for (i, mine) in on_faces.iter().enumerate() {
            for other in &on_faces[i + 1..] {
                let shared: Vec<_> = mine.iter().filter(|f| other.contains(f)).collect();
                let direction = shared
                    .iter()
                    .flat_map(|f| shared.iter().map(|g| cross(f.normal(), g.normal())))
                    .find(|d| !is_zero(d));
                edges.extend(direction.map(|direction| Edge { direction, corner: i }));
            }
        }
        Some(Self { faces, corners, edges })
    }

    /// Whether the brush is thinner than 1/32 of a unit, from a face to the corner farthest
    /// behind it; exact.
    pub fn is_thin(&self) -> bool {
        let thin = |face: &&Halfspace| {
            let square = |n: &[BigInt; 3]| dot(n, n) * THIN * THIN;
            let bound = square(face.normal());
            self.corners.iter().all(|corner| {
                // Both sides are squared, in millionths, and multiplied by the squares of their
                // divisors.
                let height = corner.height(face) * 1_000_000;
                &height * &height < &bound * &corner.denominator * &corner.denominator
            })
        };
        self.faces.iter().filter(|face| self.has_area(face)).any(|face| thin(&face))
    }

    /// The unit normal of the flattest face, and half of the distance from its plane to the corner
    /// that is farthest behind it; both rounded. For the flattest face this distance is least.
    pub fn flattest(&self) -> ([f64; 3], f64) {
        let points = self.points();
        let depth =
            |face: &Halfspace| points.iter().map(|p| -face.distance(*p)).fold(0.0, f64::max);
        let faces = self.faces.iter().filter(|face| self.has_area(face));
        let flattest = faces.map(|face| (face.unit(), 0.5 * depth(face)));
        flattest.min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("a solid has faces")
    }

    fn has_area(&self, face: &Halfspace) -> bool {
        // Three corners suffice, because no three corners of a convex solid are in one line.
        self.corners.iter().filter(|c| c.height(face).sign() == Sign::NoSign).count() >= 3
    }

    /// Whether a corner is beyond ±32,768 units by more than rounding.
    pub fn is_too_far(&self) -> bool {
        self.points().iter().flatten().any(|x| x.abs() > WORLD + 1e-6)
    }

    /// The half-spaces whose intersection is the Minkowski sum of the solid and a box. They are the
    /// faces, moved out; a bevel for each direction along an axis; and a bevel for each pair of an
    /// edge and an axis that makes a face of the sum.
    pub fn expanded(&self, half_extents: [f64; 3]) -> Vec<Halfspace> {
        let mut sum: Vec<Halfspace> = self.faces.clone();
        let mut add = |normal: [BigInt; 3], corner: &Corner| {
            let distance = dot(&normal, &corner.numerators);
            let plane = Halfspace::new(normal.map(|n| n * &corner.denominator), distance);
            let supports = self.corners.iter().all(|c| c.height(&plane).sign() != Sign::Plus);
            if supports && !sum.contains(&plane) {
                sum.push(plane);
            }
        };
        for axis in 0..3 {
            let mut unit = [0; 3].map(BigInt::from);
            unit[axis] = BigInt::from(1);
            for corner in &self.corners {
                add(unit.clone(), corner);
                add(unit.clone().map(|n| -n), corner);
            }
            for edge in &self.edges {
                let normal = cross(&edge.direction, &unit);
                if !is_zero(&normal) {
                    let corner = &self.corners[edge.corner];
                    add(normal.clone(), corner);
                    add(normal.map(|n| -n), corner);
                }
            }
        }
        sum.iter().map(|h| h.expanded(half_extents)).collect()
    }

    /// The box around the solid, rounded outward by less than a millionth.
    pub fn bounds(&self) -> ([f64; 3], [f64; 3]) {
        let points = self.points();
        let bound = |axis: usize, sign: f64| {
            sign * (points.iter().map(|p| sign * p[axis]).fold(f64::NEG_INFINITY, f64::max) + 1e-7)
        };
        ([0, 1, 2].map(|i| bound(i, -1.0)), [0, 1, 2].map(|i| bound(i, 1.0)))
    }

    /// The corners, each coordinate rounded to the nearest float or one next to it.
    pub fn points(&self) -> Vec<[f64; 3]> {
        self.corners.iter().map(Corner::rounded).collect()
    }

    /// A point strictly inside: the mean of the corners.
    pub fn middle(&self) -> [f64; 3] {
        let points = self.points();
        [0, 1, 2].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / points.len() as f64)
    }

    /// The distance of a point behind the nearest face, rounded.
    pub fn depth(&self, point: [f64; 3]) -> f64 {
        self.faces.iter().map(|face| -face.distance(point)).fold(f64::INFINITY, f64::min)
    }

    /// The faces with an area as loops of corners, counter-clockwise from outside.
    pub fn loops(&self) -> Vec<Vec<[f64; 3]>> {
        self.faces.iter().filter_map(|face| self.face_loop(face)).collect()
    }

    fn face_loop(&self, face: &Halfspace) -> Option<Vec<[f64; 3]>> {
        let mut points: Vec<[f64; 3]> = self
            .corners
            .iter()
            .filter(|c| c.height(face).sign() == Sign::NoSign)
            .map(Corner::rounded)
            .collect();
        if points.len() < 3 {
            return None;
        }
        let n = face.unit();
        let count = points.len() as f64;
        let middle = [0, 1, 2].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / count);
        let from = |p: &[f64; 3]| [0, 1, 2].map(|i| p[i] - middle[i]);
        let right = from(&points[0]);
        let up = [
            n[1] * right[2] - n[2] * right[1],
            n[2] * right[0] - n[0] * right[2],
            n[0] * right[1] - n[1] * right[0],
        ];
        let along = |p: &[f64; 3], axis: [f64; 3]| {
            let d = from(p);
            d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]
        };
        let angle = |p: &[f64; 3]| along(p, up).atan2(along(p, right));
        points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        Some(points)
    }
}

impl Corner {
    /// The distance of the corner in front of a plane, times a positive factor.
    fn height(&self, plane: &Halfspace) -> BigInt {
        dot(plane.normal(), &self.numerators) - plane.whole_distance() * &self.denominator
    }

    fn rounded(&self) -> [f64; 3] {
        self.numerators.each_ref().map(|n| ratio(n, &self.denominator))
    }
}

/// The points where three walls meet, each once. Points in front of another wall are left out.
fn corners(walls: &[Halfspace]) -> Vec<Corner> {
    let mut corners: Vec<Corner> = Vec::new();
    for (k, c) in walls.iter().enumerate() {
        for (j, b) in walls[..k].iter().enumerate() {
            for a in &walls[..j] {
                if surely_outside(a, b, c, walls) {
                    continue;
                }
                let Some(corner) = meeting(a, b, c) else { continue };
                let point = corner.rounded();
                let inside = walls.iter().all(|w| w.distance(point) < SURELY_OUTSIDE)
                    && walls.iter().all(|w| corner.height(w).sign() != Sign::Plus);
                if inside && !corners.contains(&corner) {
                    corners.push(corner);
                }
            }
        }
    }
    corners
}

/// If the determinant of three unit normals is smaller than this, floating point cannot tell to a
/// thousandth of a unit where the planes meet.
const MEET_WELL: f64 = 1e-5;

/// Whether three planes certainly meet in front of a wall. Most triples of a brush with many faces
/// do, and exact arithmetic for all of them would take hours.
fn surely_outside(a: &Halfspace, b: &Halfspace, c: &Halfspace, walls: &[Halfspace]) -> bool {
    let cross =
        |[a, b, c]: [f64; 3], [x, y, z]: [f64; 3]| [b * z - c * y, c * x - a * z, a * y - b * x];
    let (bc, ca, ab) =
        (cross(b.unit(), c.unit()), cross(c.unit(), a.unit()), cross(a.unit(), b.unit()));
    let det: f64 = (0..3).map(|i| a.unit()[i] * bc[i]).sum();
    // The distance of each plane from the origin along its normal.
    let [d, e, f] = [a, b, c].map(|h| -h.distance([0.0; 3]));
    let point = [0, 1, 2].map(|i| (d * bc[i] + e * ca[i] + f * ab[i]) / det);
    let reach = (4 * UNIVERSE) as f64;
    det.abs() > MEET_WELL
        && [d, e, f].iter().chain(&point).all(|x| x.abs() < reach)
        && walls.iter().any(|wall| wall.distance(point) > SURELY_OUTSIDE)
}

/// The point where three planes meet, by Cramer's rule; reduced, so that equal points have equal
/// integers. `None` if they do not meet in one point, or too far away.
fn meeting(a: &Halfspace, b: &Halfspace, c: &Halfspace) -> Option<Corner> {
    let bc = cross(b.normal(), c.normal());
    let mut denominator = dot(a.normal(), &bc);
    if denominator.sign() == Sign::NoSign {
        return None;
    }
    let (ca, ab) = (cross(c.normal(), a.normal()), cross(a.normal(), b.normal()));
    let mut numerators = [0, 1, 2].map(|i| {
        &bc[i] * a.whole_distance() + &ca[i] * b.whole_distance() + &ab[i] * c.whole_distance()
    });
    let mut divisor = numerators.iter().fold(denominator.clone(), |d, n| gcd(d, n.clone()));
    if denominator.sign() == Sign::Minus {
        divisor = -divisor;
    }
    numerators = numerators.map(|n| n / &divisor);
    denominator /= divisor;
    // A point beyond the universe is left out.
    let reach = &denominator * (UNIVERSE * 2);
    numerators
        .iter()
        .all(|n| n.magnitude() <= reach.magnitude())
        .then_some(Corner { numerators, denominator })
}

fn cross(a: &[BigInt; 3], b: &[BigInt; 3]) -> [BigInt; 3] {
    [&a[1] * &b[2] - &a[2] * &b[1], &a[2] * &b[0] - &a[0] * &b[2], &a[0] * &b[1] - &a[1] * &b[0]]
}

fn dot(a: &[BigInt; 3], b: &[BigInt; 3]) -> BigInt {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn difference(a: &[BigInt; 3], b: &[BigInt; 3]) -> [BigInt; 3] {
    [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
}

/// Whether a triangle's height above its longest side is less than a unit divided by [`LOWEST`].
/// Its points are integers in units of `10^-places`; the length of `normal` is twice its area.
fn is_line(
    p: &[BigInt; 3],
    q: &[BigInt; 3],
    r: &[BigInt; 3],
    normal: &[BigInt; 3],
    places: u32,
) -> bool {
    let square = |v: &[BigInt; 3]| dot(v, v);
    let sides = [(p, q), (q, r), (r, p)].map(|(a, b)| square(&difference(a, b)));
    let longest = sides.into_iter().max().unwrap_or_default();
    let unit = BigInt::from(10).pow(places);
    square(normal) * LOWEST * LOWEST < longest * &unit * &unit
}

fn is_zero(v: &[BigInt; 3]) -> bool {
    v.iter().all(|c| c.sign() == Sign::NoSign)
}
