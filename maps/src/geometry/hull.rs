//! The convex hull of points, by quickhull (Barber, Dobkin and Huhdanpaa 1996) in whole numbers.
//!
//! The points are whole numbers of at most [`REACH`]. So the side of a plane on which a point lies
//! is exact, and the hull is exactly convex, even if points lie on one face, on one line, or in one
//! place.

use std::collections::HashMap;

/// Maximum coordinate of a point: 23 bits, so a point is exact in an `f32`.
pub(crate) const REACH: i64 = 1 << 23;

/// A point in whole numbers.
pub(crate) type Point = [i64; 3];

/// The span of points whose hull has no volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// One place, or there are no points.
    Place,
    /// A line.
    Line,
    /// A plane.
    Plane,
}

/// The faces of the hull of `points`: for each face its corners by index, counter-clockwise from
/// outside. Every corner is a true corner of the hull, and each plane has one face.
///
/// # Errors
/// The span of the points, if their hull has no volume.
pub(crate) fn faces(points: &[Point]) -> Result<Vec<Vec<usize>>, Span> {
    let mut hull = Hull::around(points, simplex(points)?);
    while let Some((facet, point)) = hull.farthest() {
        hull.extend_to(point, facet);
    }
    Ok(hull.into_faces())
}

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Point, b: Point) -> i128 {
    (0..3).map(|axis| i128::from(a[axis]) * i128::from(b[axis])).sum()
}

/// Four points that span a volume, the first three counter-clockwise seen from outside.
fn simplex(points: &[Point]) -> Result<[usize; 4], Span> {
    let all = 0..points.len();
    let first = all.clone().min_by_key(|&i| points[i]).ok_or(Span::Place)?;
    let from_first = |i: usize| minus(points[i], points[first]);
    let farthest = |distance: &dyn Fn(usize) -> i128| {
        all.clone().max_by_key(|&i| distance(i)).filter(|&i| distance(i) > 0)
    };
    let square = |v: Point| dot(v, v);
    let second = farthest(&|i| square(from_first(i))).ok_or(Span::Place)?;
    let along = from_first(second);
    let third = farthest(&|i| square(cross(along, from_first(i)))).ok_or(Span::Line)?;
    let normal = cross(along, from_first(third));
    let height = |i: usize| dot(normal, from_first(i));
    let fourth = farthest(&|i| height(i).abs()).ok_or(Span::Plane)?;
    Ok(if height(fourth) < 0 {
        [first, second, third, fourth]
    } else {
        [first, third, second, fourth]
    })
}

/// A triangle of a hull under construction.
struct Facet {
    corners: [usize; 3],
    /// The facet beyond each edge. Edge `i` leads from corner `i` to the next one.
    beyond: [usize; 3],
    /// Normal that points outward. Its length does not matter.
    normal: Point,
    /// Points in front of the facet, each of which only one facet lists.
    outside: Vec<usize>,
    is_part: bool,
}

struct Hull<'a> {
    points: &'a [Point],
    facets: Vec<Facet>,
    /// Facets that may have points in front.
    waiting: Vec<usize>,
}

impl<'a> Hull<'a> {
    /// The tetrahedron of four points, with all other points in front of its facets.
    fn around(points: &'a [Point], [a, b, c, d]: [usize; 4]) -> Self {
        let mut hull = Self { points, facets: Vec::new(), waiting: Vec::new() };
        hull.add([a, b, c], [1, 2, 3]);
        hull.add([b, a, d], [0, 3, 2]);
        hull.add([c, b, d], [0, 1, 3]);
        hull.add([a, c, d], [0, 2, 1]);
        hull.share_out(0..points.len(), 0);
        hull
    }

    fn add(&mut self, corners: [usize; 3], beyond: [usize; 3]) {
        let [a, b, c] = corners.map(|corner| self.points[corner]);
        let normal = cross(minus(b, a), minus(c, a));
        self.facets.push(Facet { corners, beyond, normal, outside: Vec::new(), is_part: true });
    }

    /// How far a point is in front of a facet, times the length of the facet's normal.
    fn height(&self, facet: usize, point: usize) -> i128 {
        let Facet { normal, corners, .. } = &self.facets[facet];
        dot(*normal, minus(self.points[point], self.points[corners[0]]))
    }

    /// Lists each point at the first facet, from `first` on, that has the point in front. A point
    /// in front of no facet is inside.
    fn share_out(&mut self, points: impl IntoIterator<Item = usize>, first: usize) {
        for point in points {
            let new = first..self.facets.len();
            if let Some(facet) = new.into_iter().find(|&facet| self.height(facet, point) > 0) {
                self.facets[facet].outside.push(point);
            }
        }
        self.waiting.extend(first..self.facets.len());
    }

    /// A facet with points in front, and the farthest of them.
    fn farthest(&mut self) -> Option<(usize, usize)> {
        while let Some(facet) = self.waiting.pop() {
            let Facet { outside, is_part, .. } = &self.facets[facet];
            let farthest = outside.iter().copied().max_by_key(|&point| self.height(facet, point));
            if let Some(point) = farthest.filter(|_| *is_part) {
                return Some((facet, point));
            }
        }
        None
    }

    /// Replaces all facets that have `point` in front by new facets that lead to the point. `facet`
    /// is one of the replaced facets.
    fn extend_to(&mut self, point: usize, facet: usize) {
        let (mut seen, mut orphans) = (vec![facet], Vec::new());
        // The edges around the facets that are seen: each with the facet beyond it.
        let mut horizon: Vec<([usize; 2], usize)> = Vec::new();
        self.facets[facet].is_part = false;
        while let Some(at) = seen.pop() {
            orphans.append(&mut self.facets[at].outside);
            let Facet { corners, beyond, .. } = self.facets[at];
            for (edge, beyond) in beyond.into_iter().enumerate() {
                if !self.facets[beyond].is_part {
                    continue;
                }
                if self.height(beyond, point) > 0 {
                    self.facets[beyond].is_part = false;
                    seen.push(beyond);
                } else {
                    horizon.push(([corners[edge], corners[(edge + 1) % 3]], beyond));
                }
            }
        }
        let first = self.facets.len();
        // The edges make one loop, so each corner begins one edge and ends one.
        let numbered = || horizon.iter().zip(first..);
        let begins: HashMap<usize, usize> =
            numbered().map(|(([from, _], _), at)| (*from, at)).collect();
        let ends: HashMap<usize, usize> = numbered().map(|(([_, to], _), at)| (*to, at)).collect();
        for (&([from, to], beyond), at) in horizon.iter().zip(first..) {
            self.add([from, to, point], [beyond, begins[&to], ends[&from]]);
            let facet = &mut self.facets[beyond];
            let edge = (0..3).find(|&edge| facet.corners[edge] == to);
            if let Some(edge) = edge {
                facet.beyond[edge] = at;
            }
        }
        self.share_out(orphans.into_iter().filter(|&orphan| orphan != point), first);
    }

    /// Joins the facets of each plane to one face.
    fn into_faces(self) -> Vec<Vec<usize>> {
        let mut face_of: Vec<Option<usize>> = vec![None; self.facets.len()];
        let mut outlines: Vec<HashMap<usize, usize>> = Vec::new();
        for start in (0..self.facets.len()).filter(|&facet| self.facets[facet].is_part) {
            if face_of[start].is_some() {
                continue;
            }
            let face = outlines.len();
            let mut outline = HashMap::new();
            let mut waiting = vec![start];
            face_of[start] = Some(face);
            while let Some(at) = waiting.pop() {
                let Facet { corners, beyond, .. } = self.facets[at];
                for (edge, beyond) in beyond.into_iter().enumerate() {
                    let level = |corner: &usize| self.height(start, *corner) == 0;
                    if face_of[beyond] == Some(face) {
                        continue;
                    }
                    if self.facets[beyond].corners.iter().all(level) {
                        face_of[beyond] = Some(face);
                        waiting.push(beyond);
                    } else {
                        outline.insert(corners[edge], corners[(edge + 1) % 3]);
                    }
                }
            }
            outlines.push(outline);
        }
        // A point that only two faces share lies within their edge.
        let mut uses = vec![0_u32; self.points.len()];
        outlines.iter().flat_map(HashMap::keys).for_each(|&corner| uses[corner] += 1);
        outlines.iter().map(|outline| around(outline, |corner| uses[corner] > 2)).collect()
    }
}

/// The corners of an outline in order, from the least one on.
fn around(outline: &HashMap<usize, usize>, is_corner: impl Fn(usize) -> bool) -> Vec<usize> {
    let Some(&first) = outline.keys().filter(|&&corner| is_corner(corner)).min() else {
        return Vec::new();
    };
    let mut corners = vec![first];
    let mut at = outline.get(&first);
    while let Some(&next) = at.filter(|&&next| next != first && corners.len() <= outline.len()) {
        if is_corner(next) {
            corners.push(next);
        }
        at = outline.get(&next);
    }
    corners
}
