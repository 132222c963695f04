//! Polyhedra made from a few numbers, and their mass properties, computed as sums over tetrahedra.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;

use glam::{DMat3, DVec3};

/// A closed polyhedron of density 1 with its centre of mass at the origin.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Corners.
    pub corners: Vec<DVec3>,
    /// Convex faces, as indices of corners, counter-clockwise as seen from outside.
    pub faces: Vec<Vec<usize>>,
    /// Corners of the convex pieces that the polyhedron consists of.
    pub pieces: Vec<Vec<DVec3>>,
    /// Volume in cubic units.
    pub volume: f64,
    /// Inertia about the centre of mass, for a mass of 1.
    pub inertia: DMat3,
}

impl Solid {
    fn new(corners: Vec<DVec3>, faces: Vec<Vec<usize>>) -> Self {
        let pieces = vec![corners.clone()];
        Self::of_pieces(corners, faces, pieces)
    }

    fn of_pieces(corners: Vec<DVec3>, faces: Vec<Vec<usize>>, pieces: Vec<Vec<DVec3>>) -> Self {
        // Models are read in single precision.
        let rounded = |v: DVec3| v.as_vec3().as_dvec3();
        let mut corners: Vec<DVec3> = corners.into_iter().map(rounded).collect();
        let mut pieces: Vec<Vec<DVec3>> =
            pieces.into_iter().map(|piece| piece.into_iter().map(rounded).collect()).collect();
        let (volume, centre, _) = sums(&corners, &faces);
        corners.iter_mut().chain(pieces.iter_mut().flatten()).for_each(|v| *v -= centre);
        let (_, _, second) = sums(&corners, &faces);
        let second = second * (1.0 / volume);
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - second;
        Self { corners, faces, pieces, volume, inertia }
    }

    /// A box.
    pub fn cuboid(half: DVec3) -> Self {
        let ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        Self::extruded(&ring.map(|(x, y)| [x * half.x, y * half.y]), &[&[0, 1, 2, 3]], half.z)
    }

    /// A prism about the z axis over a regular polygon with a corner on the x axis.
    pub fn prism(sides: usize, radius: f64, half: f64) -> Self {
        let all: Vec<usize> = (0..sides).collect();
        Self::extruded(&ring(sides, radius), &[&all], half)
    }

    /// A pyramid over a regular polygon, with its apex up.
    pub fn cone(sides: usize, radius: f64, height: f64) -> Self {
        let mut corners: Vec<DVec3> =
            ring(sides, radius).iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect();
        corners.push(DVec3::Z * height);
        let mut faces = vec![(0..sides).rev().collect()];
        faces.extend((0..sides).map(|i| vec![i, (i + 1) % sides, sides]));
        Self::new(corners, faces)
    }

    /// A ball: an icosahedron, each face of which is divided into `frequency`² triangles with
    /// corners on the sphere.
    pub fn ball(frequency: usize, radius: f64) -> Self {
        let golden = 0.5 * (1.0 + 5f64.sqrt());
        let mut basic = Vec::new();
        for (a, b) in [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)] {
            basic.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
        }
        let near = |a: DVec3, b: DVec3| (a.distance(b) - 2.0).abs() < 1e-9;
        let (mut corners, mut faces) = (Vec::<DVec3>::new(), Vec::new());
        let mut corner = |v: DVec3| {
            let v = v.normalize() * radius;
            let known = corners.iter().position(|known| known.distance(v) < 1e-6 * radius);
            known.unwrap_or_else(|| {
                corners.push(v);
                corners.len() - 1
            })
        };
        for (i, j, k) in triples(basic.len()) {
            let [a, mut b, mut c] = [basic[i], basic[j], basic[k]];
            if !(near(a, b) && near(b, c) && near(a, c)) {
                continue;
            }
            if (b - a).cross(c - a).dot(a) < 0.0 {
                std::mem::swap(&mut b, &mut c);
            }
            let n = frequency;
            let mut at = |u: usize, v: usize| {
                corner(a + ((b - a) * u as f64 + (c - a) * v as f64) / n as f64)
            };
            for u in 0..n {
                for v in 0..n - u {
                    faces.push(vec![at(u, v), at(u + 1, v), at(u, v + 1)]);
                    if u + v + 1 < n {
                        faces.push(vec![at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)]);
                    }
                }
            }
        }
        Self::new(corners, faces)
    }

    /// A thick L that lies on its side. Its arms are three times `size` long.
    pub fn angle(size: f64, half: f64) -> Self {
        let ring = [(0., 0.), (3., 0.), (3., 1.), (1., 1.), (1., 3.), (0., 3.)];
        let ring = ring.map(|(x, y)| [x * size, y * size]);
        Self::extruded(&ring, &[&[0, 1, 2, 3], &[0, 3, 4, 5]], half)
    }

    /// A thick U that lies on its side.
    pub fn channel(size: f64, half: f64) -> Self {
        let ring = [(0., 0.), (3., 0.), (3., 2.), (2., 2.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)];
        let ring = ring.map(|(x, y)| [x * size, y * size]);
        Self::extruded(&ring, &[&[0, 1, 4, 5], &[1, 2, 3, 4], &[0, 5, 6, 7]], half)
    }

    /// A prism over the polygon `ring`. `cuts` are convex parts of the polygon, as indices of its
    /// corners.
    pub fn extruded(ring: &[[f64; 2]], cuts: &[&[usize]], half: f64) -> Self {
        let at = |z: f64| ring.iter().map(move |&[x, y]| DVec3::new(x, y, z));
        let count = ring.len();
        let corners: Vec<DVec3> = at(-half).chain(at(half)).collect();
        let mut faces = Vec::new();
        for cut in cuts {
            faces.push(cut.iter().rev().copied().collect());
            faces.push(cut.iter().map(|i| i + count).collect());
        }
        for i in 0..count {
            let j = (i + 1) % count;
            faces.push(vec![i, j, j + count, i + count]);
        }
        let piece = |cut: &&[usize]| {
            let both = cut.iter().flat_map(|&i| [corners[i], corners[i + count]]);
            both.collect::<Vec<DVec3>>()
        };
        let pieces = cuts.iter().map(piece).collect();
        Self::of_pieces(corners, faces, pieces)
    }

    /// The polyhedron as the text of an OBJ file.
    pub fn obj(&self) -> String {
        let mut text = String::new();
        for v in &self.corners {
            let _ = writeln!(text, "v {} {} {}", v.x as f32, v.y as f32, v.z as f32);
        }
        for face in &self.faces {
            let corners: Vec<String> = face.iter().map(|i| (i + 1).to_string()).collect();
            let _ = writeln!(text, "f {}", corners.join(" "));
        }
        text
    }

    /// The distance of the farthest corner from the centre of mass.
    pub fn radius(&self) -> f64 {
        self.corners.iter().map(|v| v.length()).fold(0.0, f64::max)
    }

    /// The height of the centre of mass above the lowest corner.
    pub fn height(&self) -> f64 {
        -self.corners.iter().map(|v| v.z).fold(f64::INFINITY, f64::min)
    }

    /// Distances from the vertical axis of two parts of the convex hull of the lowest corners: its
    /// nearest edge and its farthest corner.
    pub fn footprint(&self) -> [f64; 2] {
        let low = -self.height();
        let is_low = |&i: &usize| self.corners[i].z < low + 1e-4;
        let hull = hull_edges(&(0..self.corners.len()).filter(is_low).collect::<Vec<_>>(), self);
        let inner = hull.iter().map(|&[a, b]| {
            let along = (b - a).truncate().normalize();
            along.perp_dot(-a.truncate())
        });
        let outer = hull.iter().map(|[a, _]| a.truncate().length());
        [inner.fold(f64::INFINITY, f64::min), outer.fold(0.0, f64::max)]
    }
}

fn ring(sides: usize, radius: f64) -> Vec<[f64; 2]> {
    let angles = (0..sides).map(|i| TAU * i as f64 / sides as f64);
    angles.map(|angle| [radius * angle.cos(), radius * angle.sin()]).collect()
}

fn triples(count: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..count)
        .flat_map(move |i| (i + 1..count).flat_map(move |j| (j + 1..count).map(move |k| (i, j, k))))
}

/// Edges of the convex hull of some corners, seen from above, counter-clockwise.
fn hull_edges(corners: &[usize], solid: &Solid) -> Vec<[DVec3; 2]> {
    let points: Vec<DVec3> = corners.iter().map(|&i| solid.corners[i]).collect();
    let mut edges = Vec::new();
    for &a in &points {
        // The next corner is the one for which all others lie to the left of the edge.
        let next = points.iter().filter(|&&b| b != a).find(|&&b| {
            let side = |c: &DVec3| (b - a).truncate().perp_dot((*c - a).truncate());
            points.iter().all(|c| side(c) >= -1e-9 * (b - a).length_squared())
        });
        edges.extend(next.map(|&b| [a, b]));
    }
    edges
}

/// Volume, centre of mass, and the integral of the outer product of the position with itself.
fn sums(corners: &[DVec3], faces: &[Vec<usize>]) -> (f64, DVec3, DMat3) {
    let (mut volume, mut moment, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    for face in faces {
        for at in 1..face.len() - 1 {
            let [a, b, c] = [face[0], face[at], face[at + 1]].map(|i| corners[i]);
            let sixfold = a.dot(b.cross(c));
            let sum = a + b + c;
            volume += sixfold / 6.0;
            moment += sum * (sixfold / 24.0);
            let squares = outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum);
            second += squares * (sixfold / 120.0);
        }
    }
    (volume, moment / volume, second)
}

/// The mean distance of the points of a regular polygon from its middle.
pub fn mean_radius(sides: usize, radius: f64) -> f64 {
    // For a triangle between the middle and half of a side: the integral of the distance over the
    // area, divided by the area. Both are integrated over the angle by Simpson's rule.
    let (half, inner) = (PI / sides as f64, radius * (PI / sides as f64).cos());
    let steps = 64;
    let simpson = |of: &dyn Fn(f64) -> f64| {
        let weight = |i: usize| match i {
            0 => 1.0,
            i if i == steps => 1.0,
            i => 2.0 + 2.0 * (i % 2) as f64,
        };
        let value = |i: usize| weight(i) * of(half * i as f64 / steps as f64);
        (0..=steps).map(value).sum::<f64>()
    };
    let reach = |angle: f64| inner / angle.cos();
    simpson(&|angle| reach(angle).powi(3) / 3.0) / simpson(&|angle| reach(angle).powi(2) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mass_properties_are_those_of_the_books() {
        let solid = Solid::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert!((solid.volume - 48.0).abs() < 1e-4, "{}", solid.volume);
        let inertia = DVec3::new(13.0, 10.0, 5.0) / 3.0;
        assert!((solid.inertia * DVec3::ONE - inertia).length() < 1e-4, "{}", solid.inertia);
        let cone = Solid::cone(128, 10.0, 40.0);
        assert!((cone.height() - 10.0).abs() < 1e-4, "{}", cone.height());
        let ball = Solid::ball(5, 10.0);
        assert_eq!(ball.faces.len(), 500);
        assert!((ball.inertia.x_axis.x / 40.0 - 1.0).abs() < 0.05, "{}", ball.inertia);
        assert!((mean_radius(128, 3.0) - 2.0).abs() < 1e-2);
        let [inner, outer] = Solid::prism(6, 2.0, 1.0).footprint();
        assert!((inner - 3f64.sqrt()).abs() < 1e-6 && (outer - 2.0).abs() < 1e-6);
    }
}
