//! Models made by code: the convex hull of points, boxes, cylinders and balls.
//!
//! Each is written as OBJ text and read like any other. So it travels to clients and into
//! recordings in the same way, and the same checks hold for it.

use std::fmt::Write;

use glam::DVec3;

use super::surface::MAX_FACE_CORNERS;
use super::{Model, ModelError, obj};
use crate::geometry::hull::{self, Point, Span};
use crate::geometry::{Aabb, Winding};

/// A corner this near to the line between two others, in units, is left out of a hull: a file has
/// no triangles that thin. It is more than twice the precision to which corners of faces are
/// checked.
const SLIVER: f64 = 1.0 / 2048.0;

/// Range of the sides of a cylinder.
const SIDES: [u32; 2] = [3, MAX_FACE_CORNERS as u32];

/// Maximum number of pieces into which each edge of an icosahedron is cut for a ball.
const MAX_CUTS: u32 = 20;

impl Model {
    /// The convex hull of points, in units. The points may lie anywhere, in any order, and more
    /// than once. Up to 4,096 points always have a hull with few enough polygons. Only the shape
    /// counts: like all models it is about its centre of mass.
    ///
    /// Corners are rounded to 2⁻²³ of the hull's size. A corner that stands out by less than 1/2048
    /// unit from the edge between two others may be left out.
    ///
    /// ```
    /// use obsp::glam::DVec3;
    /// use obsp::model::{Model, ModelError};
    ///
    /// let mut points = vec![DVec3::ZERO, DVec3::X * 6.0, DVec3::Y * 6.0, DVec3::Z * 6.0];
    /// points.push(DVec3::ONE); // It is inside.
    /// let tetrahedron = Model::convex_hull("tetrahedron", &points)?;
    /// assert_eq!(tetrahedron.polygons().len(), 4);
    /// assert!((tetrahedron.volume() - 36.0).abs() < 1e-4);
    ///
    /// let flat = Model::convex_hull("flat", &points[..3]);
    /// assert!(matches!(flat, Err(ModelError::NoVolume { .. })));
    /// # Ok::<(), ModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::BadPoint`] for a point that is not finite, or is more than 1,024 units from
    /// the middle of all points. [`ModelError::NoVolume`] if all points lie within 1/2048 unit of
    /// one plane. [`ModelError::TooComplex`] if the hull has more than 8,192 polygons.
    pub fn convex_hull(name: &str, points: &[DVec3]) -> Result<Self, ModelError> {
        let (mut points, unit) = whole_numbers(name, points)?;
        let count = points.len();
        let flat = |span: Span| ModelError::NoVolume {
            model: name.to_owned(),
            points: count,
            span: match span {
                Span::Place => "in one place",
                Span::Line => "on one line",
                Span::Plane => "in one plane",
            },
        };
        loop {
            let faces = hull::faces(&points).map_err(flat)?;
            if is_flat(&points, &faces, unit) {
                return Err(flat(Span::Plane));
            }
            let hidden = slivers(&points, &faces, unit);
            if !hidden.contains(&true) {
                return Self::from_obj(name, &text(&points, &faces, unit));
            }
            let mut hidden = hidden.into_iter();
            points.retain(|_| hidden.next() == Some(false));
        }
    }

    /// A box with sides along its axes, by half of each side, in units.
    ///
    /// ```
    /// use obsp::glam::DVec3;
    /// use obsp::model::Model;
    ///
    /// let slab = Model::cuboid("slab", DVec3::new(32.0, 32.0, 2.0))?;
    /// assert_eq!((slab.polygons().len(), slab.volume()), (6, 64.0 * 64.0 * 4.0));
    /// # Ok::<(), obsp::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::BadSize`] for a half extent that is not between 0.001 and 1,024 units.
    pub fn cuboid(name: &str, half_extents: DVec3) -> Result<Self, ModelError> {
        for half in half_extents.to_array() {
            size(name, "half extent", half)?;
        }
        let corner = |octant: u32| {
            let sign = |axis: u32| if octant >> axis & 1 == 1 { 1.0 } else { -1.0 };
            half_extents * DVec3::new(sign(0), sign(1), sign(2))
        };
        Self::convex_hull(name, &(0..8).map(corner).collect::<Vec<_>>())
    }

    /// An upright cylinder of this radius and height, in units, as a prism of 3 to 1,024 sides. The
    /// corners lie on the cylinder, so its sides are up to `radius · (1 − cos(π / sides))` within
    /// it.
    ///
    /// ```
    /// let drum = obsp::model::Model::cylinder("drum", 16.0, 40.0, 12)?;
    /// assert_eq!(drum.polygons().len(), 14);
    /// # Ok::<(), obsp::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::BadSize`] for a radius or half of a height that is not between 0.001 and 1,024
    /// units, or for another number of sides.
    pub fn cylinder(name: &str, radius: f64, height: f64, sides: u32) -> Result<Self, ModelError> {
        size(name, "radius", radius)?;
        size(name, "half of the height", height * 0.5)?;
        within(name, "number of sides", sides.into(), SIDES.map(f64::from))?;
        let corners = (0..sides).flat_map(|side| {
            let angle = std::f64::consts::TAU * f64::from(side) / f64::from(sides);
            let (x, y) = (radius * libm::cos(angle), radius * libm::sin(angle));
            [-0.5, 0.5].map(|end| DVec3::new(x, y, height * end))
        });
        Self::convex_hull(name, &corners.collect::<Vec<_>>())
    }

    /// A ball of this radius, in units, as a polyhedron whose surface is nowhere farther than
    /// `error` units from the ball's: its corners lie outside the ball, and the middles of its
    /// faces inside. It has the fewest faces that an icosahedron with divided sides needs for this,
    /// from 20 to 8,000. The least error is 0.00037 of the radius.
    ///
    /// ```
    /// let ball = obsp::model::Model::ball("ball", 16.0, 0.1)?;
    /// assert_eq!(ball.polygons().len(), 500);
    /// assert!(ball.radius() < 16.1);
    /// let exact = 4.0 / 3.0 * std::f64::consts::PI * 16.0_f64.powi(3);
    /// assert!((ball.volume() / exact - 1.0).abs() < 0.01);
    /// # Ok::<(), obsp::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::BadSize`] for a radius that is not between 0.001 and 1,024 units, or for an
    /// error below the least one.
    pub fn ball(name: &str, radius: f64, error: f64) -> Result<Self, ModelError> {
        size(name, "radius", radius)?;
        let mut least = f64::INFINITY;
        for cuts in 1..=MAX_CUTS {
            let (directions, depth) = icosphere(cuts);
            // The gap is the same outside the corners and inside the faces.
            let gap = radius * (1.0 - depth) / (1.0 + depth);
            least = least.min(gap);
            if gap <= error {
                let corners: Vec<DVec3> =
                    directions.into_iter().map(|at| at * (radius + gap)).collect();
                return Self::convex_hull(name, &corners);
            }
        }
        let (model, what, most) = (name.to_owned(), "error", radius);
        Err(ModelError::BadSize { model, what, seen: error, least, most })
    }
}

/// Whether a length is one that a model may have.
fn size(name: &str, what: &'static str, seen: f64) -> Result<(), ModelError> {
    within(name, what, seen, [0.001, obj::REACH])
}

fn within(
    name: &str,
    what: &'static str,
    seen: f64,
    [least, most]: [f64; 2],
) -> Result<(), ModelError> {
    if (least..=most).contains(&seen) {
        return Ok(());
    }
    Err(ModelError::BadSize { model: name.to_owned(), what, seen, least, most })
}

/// Points as whole numbers of a unit about their middle, and that unit. The unit is a power of two,
/// so the numbers times the unit are exact in an `f32`.
fn whole_numbers(name: &str, points: &[DVec3]) -> Result<(Vec<Point>, f64), ModelError> {
    if let Some(index) = points.iter().position(|point| !point.is_finite()) {
        let point = points[index];
        return Err(ModelError::BadPoint { model: name.to_owned(), index, point });
    }
    let bounds = Aabb::around(points.iter().copied());
    let middle = bounds.min * 0.5 + bounds.max * 0.5;
    let mut reach = f64::MIN_POSITIVE;
    for (index, &point) in points.iter().enumerate() {
        let from_middle = (point - middle).abs();
        if !from_middle.cmple(DVec3::splat(obj::REACH)).all() {
            return Err(ModelError::BadPoint { model: name.to_owned(), index, point });
        }
        reach = reach.max(from_middle.max_element());
    }
    let mut unit = obj::REACH / hull::REACH as f64;
    while unit * 0.5 * hull::REACH as f64 >= reach && unit > 1e-9 {
        unit *= 0.5;
    }
    let whole = |point: &DVec3| ((*point - middle) / unit).to_array().map(|of| of.round() as i64);
    let mut whole: Vec<Point> = points.iter().map(whole).collect();
    whole.sort_unstable();
    whole.dedup();
    Ok((whole, unit))
}

fn place(point: Point, unit: f64) -> DVec3 {
    DVec3::from_array(point.map(|of| of as f64 * unit))
}

/// The corners of a face.
fn winding(points: &[Point], face: &[usize], unit: f64) -> Winding {
    Winding { vertices: face.iter().map(|&corner| place(points[corner], unit)).collect() }
}

/// Whether all points lie nearly in the plane of the largest face of their hull.
fn is_flat(points: &[Point], faces: &[Vec<usize>], unit: f64) -> bool {
    let windings = faces.iter().map(|face| winding(points, face, unit));
    let largest = windings.max_by(|a, b| a.area().total_cmp(&b.area()));
    largest.is_none_or(|face| {
        let normal = face.area_vector().normalize();
        let depth = |&point: &Point| normal.dot(face.vertices[0] - place(point, unit));
        points.iter().map(depth).all(|depth| depth < SLIVER)
    })
}

/// Marks the corners that a hull hardly needs. Of three corners of a narrow face that lie nearly on
/// one line, this is the middle one; of two corners nearly in one place, one of the two. The
/// neighbours of a marked corner are kept until the next look.
fn slivers(points: &[Point], faces: &[Vec<usize>], unit: f64) -> Vec<bool> {
    let mut hidden = vec![false; points.len()];
    let mut kept = vec![false; points.len()];
    for face in faces {
        let winding = winding(points, face, unit);
        let around = Aabb::around(winding.vertices.iter().copied());
        let length = (around.max - around.min).length();
        let is_narrow = winding.area_vector().length() < 2.0 * SLIVER * length;
        for at in 0..face.len() {
            let three = [0, 1, 2].map(|next| (at + next) % face.len());
            let [a, b, c] = three.map(|corner| winding.vertices[corner]);
            let sides = [c - b, a - c, b - a].map(DVec3::length);
            // The corner opposite the longest side is the one nearest to the other two.
            let middle = match () {
                () if sides[1] >= sides[0].max(sides[2]) => 1,
                () if sides[0] > sides[2] => 0,
                () => 2,
            };
            let height = (b - a).cross(c - a).length() / sides[middle];
            let is_double = sides[0].min(sides[2]) < SLIVER;
            if !(is_double || is_narrow && height < SLIVER) {
                continue;
            }
            let (middle, others) =
                (face[three[middle]], [1, 2].map(|next| three[(middle + next) % 3]));
            let others = others.map(|corner| face[corner]);
            if !kept[middle] && !others.iter().any(|&other| hidden[other]) {
                hidden[middle] = true;
                others.into_iter().for_each(|other| kept[other] = true);
            }
        }
    }
    hidden
}

/// The OBJ text of a hull.
fn text(points: &[Point], faces: &[Vec<usize>], unit: f64) -> String {
    let mut text = String::new();
    let mut numbers = vec![0; points.len()];
    let mut count = 0;
    for &corner in faces.iter().flatten() {
        if numbers[corner] == 0 {
            count += 1;
            numbers[corner] = count;
            let DVec3 { x, y, z } = place(points[corner], unit);
            // Writing to a string never fails.
            let _ = writeln!(text, "v {x} {y} {z}");
        }
    }
    for face in faces {
        text.push('f');
        for &corner in face {
            let _ = write!(text, " {}", numbers[corner]);
        }
        text.push('\n');
    }
    text
}

/// The corners of an icosahedron with each side cut into `cuts²` triangles, as directions; some
/// corners come more than once. Also the least distance of a triangle's plane from the middle, for
/// corners at a distance of 1.
fn icosphere(cuts: u32) -> (Vec<DVec3>, f64) {
    let golden = (1.0 + 5.0_f64.sqrt()) * 0.5;
    let mut corners: Vec<DVec3> = Vec::with_capacity(12);
    for one in [-1.0, 1.0] {
        for long in [-golden, golden] {
            corners.push(DVec3::new(0.0, one, long));
            corners.push(DVec3::new(one, long, 0.0));
            corners.push(DVec3::new(long, 0.0, one));
        }
    }
    let is_edge = |a: usize, b: usize| corners[a].distance_squared(corners[b]) < 4.5;
    let mut directions = Vec::new();
    let mut depth = 1.0_f64;
    for a in 0..12 {
        for b in (a + 1..12).filter(|&b| is_edge(a, b)) {
            for c in (b + 1..12).filter(|&c| is_edge(a, c) && is_edge(b, c)) {
                let at = |i: u32, j: u32| {
                    let [k, i, j] = [cuts - i - j, i, j].map(f64::from);
                    (corners[a] * k + corners[b] * i + corners[c] * j).normalize()
                };
                let far =
                    |x: DVec3, y: DVec3, z: DVec3| (y - x).cross(z - x).normalize().dot(x).abs();
                for i in 0..=cuts {
                    for j in 0..=cuts - i {
                        directions.push(at(i, j));
                        if i + j < cuts {
                            depth = depth.min(far(at(i, j), at(i + 1, j), at(i, j + 1)));
                        }
                        if i + j + 1 < cuts {
                            let opposite = at(i + 1, j + 1);
                            depth = depth.min(far(at(i + 1, j), opposite, at(i, j + 1)));
                        }
                    }
                }
            }
        }
    }
    (directions, depth)
}

#[cfg(test)]
mod tests;
