//! Convex shapes that are rotated, rounded and written as brushes.

use std::fmt::Write;

use crate::Random;

/// How the faces of a brush are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Faces {
    /// Once, by three corners.
    Once,
    /// As triangles: a face with more corners repeats its plane, with other rounding.
    Triangles,
    /// Once, and some of them a second time, moved out and tilted by up to this many units.
    Doubled(f64),
    /// Once, by points this many times as far apart as the corners, far outside the brush.
    Far(f64),
}

/// A rotation about the origin.
#[derive(Clone, Debug)]
pub struct Turn([[f64; 3]; 3]);

impl Turn {
    /// The rotation about `axis`, which must not be zero, by `angle` radians.
    pub fn new(axis: [f64; 3], angle: f64) -> Self {
        let length = axis.iter().map(|c| c * c).sum::<f64>().sqrt();
        let [x, y, z] = axis.map(|c| c / length);
        let (s, c) = angle.sin_cos();
        let d = 1.0 - c;
        Self([
            [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
            [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
            [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
        ])
    }

    /// A rotation about a random axis by a random angle.
    pub fn any(random: &mut Random) -> Self {
        let axis = [(); 3].map(|()| random.between(-1.0, 1.0));
        Self::new([axis[0], axis[1], axis[2] + 1e-3], random.between(0.0, std::f64::consts::TAU))
    }

    /// The rotated point.
    pub fn apply(&self, p: [f64; 3]) -> [f64; 3] {
        self.0.map(|row| (0..3).map(|i| row[i] * p[i]).sum())
    }
}

/// A convex solid by its faces, each a loop of corners, counter-clockwise from outside.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) faces: Vec<Vec<[f64; 3]>>,
}

impl Shape {
    /// The prism over a convex polygon, counter-clockwise seen from above.
    pub(super) fn prism(polygon: &[[f64; 2]], low: f64, high: f64) -> Self {
        let at = |[x, y]: [f64; 2], z: f64| [x, y, z];
        let mut faces: Vec<Vec<[f64; 3]>> = Vec::new();
        faces.push(polygon.iter().map(|&p| at(p, high)).collect());
        faces.push(polygon.iter().rev().map(|&p| at(p, low)).collect());
        for (i, &a) in polygon.iter().enumerate() {
            let b = polygon[(i + 1) % polygon.len()];
            faces.push(vec![at(a, low), at(b, low), at(b, high), at(a, high)]);
        }
        Self { faces }
    }

    pub(super) fn cuboid(min: [f64; 3], max: [f64; 3]) -> Self {
        let polygon = [[min[0], min[1]], [max[0], min[1]], [max[0], max[1]], [min[0], max[1]]];
        Self::prism(&polygon, min[2], max[2])
    }

    pub(super) fn turned(self, turn: &Turn) -> Self {
        self.mapped(|p| turn.apply(p))
    }

    pub(super) fn moved(self, by: [f64; 3]) -> Self {
        self.mapped(|p| [0, 1, 2].map(|i| p[i] + by[i]))
    }

    fn mapped(self, to: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        let turned = |face: Vec<[f64; 3]>| face.into_iter().map(&to).collect();
        Self { faces: self.faces.into_iter().map(turned).collect() }
    }

    /// The brush's text.
    pub(super) fn to_text(&self, places: usize, faces: Faces, texture: &str) -> String {
        let mut text = String::from("{\n");
        let mut write = |points: [[f64; 3]; 3]| {
            // A map's points go clockwise around the face.
            for point in points.into_iter().rev() {
                write_point(&mut text, point, places);
            }
            writeln!(text, "{texture} 0 0 0 1 1").expect("writing to a String cannot fail");
        };
        for (index, face) in self.faces.iter().enumerate() {
            let count = face.len();
            if faces == Faces::Triangles {
                for i in 1..count - 1 {
                    write([face[0], face[i], face[i + 1]]);
                }
                continue;
            }
            let spread = [face[0], face[count / 3], face[2 * count / 3]];
            if let Faces::Far(times) = faces {
                write(spread.map(|p| [0, 1, 2].map(|i| face[0][i] + (p[i] - face[0][i]) * times)));
                continue;
            }
            write(if count == 4 { [face[0], face[1], face[2]] } else { spread });
            if let Faces::Doubled(by) = faces
                && index % 2 == 0
            {
                let [a, b, c] = spread;
                let out = outward(a, face[count / 3], face[count - 1], by);
                let moved = |p: [f64; 3], share: f64| [0, 1, 2].map(|i| p[i] + out[i] * share);
                write([moved(a, 1.0), moved(b, -0.5), moved(c, 0.25)]);
            }
        }
        text + "}\n"
    }
}

/// The outward normal of a face with these corners, of length `by`.
fn outward(a: [f64; 3], b: [f64; 3], c: [f64; 3], by: f64) -> [f64; 3] {
    let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = n.iter().map(|c| c * c).sum::<f64>().sqrt();
    n.map(|c| c / length.max(1e-9) * by)
}

pub(super) fn write_point(text: &mut String, [x, y, z]: [f64; 3], places: usize) {
    write!(text, "( {x:.places$} {y:.places$} {z:.places$} ) ")
        .expect("writing to a String cannot fail");
}
