//! The simplex of a GJK search, and its point nearest the origin.

use glam::DVec3;

/// A vertex of the Minkowski difference, with the two points that it is the difference of, and
/// their indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) a: DVec3,
    pub(super) b: DVec3,
    pub(super) indices: [u16; 2],
}

impl Vertex {
    pub(super) fn difference(&self) -> DVec3 {
        self.a - self.b
    }
}

/// Up to four vertices of the difference and the weights of their point
/// nearest the origin.
#[derive(Clone, Debug)]
pub(super) struct Simplex {
    vertices: [Vertex; 4],
    differences: [DVec3; 4],
    weights: [f64; 4],
    len: usize,
}

impl Simplex {
    pub(super) fn new(vertex: Vertex) -> Self {
        Self {
            vertices: [vertex; 4],
            differences: [vertex.difference(); 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            len: 1,
        }
    }

    pub(super) fn push(&mut self, vertex: Vertex) {
        self.vertices[self.len] = vertex;
        self.differences[self.len] = vertex.difference();
        self.len += 1;
    }

    /// Whether the origin is inside: true once four vertices are needed.
    pub(super) fn is_full(&self) -> bool {
        self.len == 4
    }

    pub(super) fn holds(&self, vertex: &Vertex) -> bool {
        self.vertices().iter().any(|known| known.indices == vertex.indices)
    }

    pub(super) fn vertices(&self) -> &[Vertex] {
        &self.vertices[..self.len]
    }

    pub(super) fn closest_points(&self) -> (DVec3, DVec3) {
        let mut points = (DVec3::ZERO, DVec3::ZERO);
        for (vertex, &weight) in self.vertices().iter().zip(&self.weights) {
            points.0 += vertex.a * weight;
            points.1 += vertex.b * weight;
        }
        points
    }

    /// Finds the point nearest the origin and drops the vertices that it does not
    /// depend on.
    pub(super) fn nearest(&mut self) -> DVec3 {
        let p = &self.differences;
        let (weights, used) = match self.len {
            1 => ([1.0, 0.0, 0.0, 0.0], 0b0001),
            2 => segment(p, 0, 1),
            3 => triangle(p, [0, 1, 2]),
            _ => tetrahedron(p),
        };
        let mut len = 0;
        let mut nearest = DVec3::ZERO;
        for (i, &weight) in weights.iter().enumerate() {
            if used & (1 << i) != 0 {
                nearest += self.differences[i] * weight;
                if len != i {
                    self.vertices[len] = self.vertices[i];
                    self.differences[len] = self.differences[i];
                }
                self.weights[len] = weight;
                len += 1;
            }
        }
        self.len = len;
        nearest
    }
}

/// Weights of the nearest point, and a bit for each vertex it depends on.
type Nearest = ([f64; 4], u8);

fn vertex(i: usize) -> Nearest {
    let mut weights = [0.0; 4];
    weights[i] = 1.0;
    (weights, 1 << i)
}

fn segment(p: &[DVec3; 4], i: usize, j: usize) -> Nearest {
    let along = p[j] - p[i];
    let t = -p[i].dot(along);
    let length_squared = along.length_squared();
    if t <= 0.0 || length_squared == 0.0 {
        return vertex(i);
    }
    if t >= length_squared {
        return vertex(j);
    }
    let mut weights = [0.0; 4];
    weights[j] = t / length_squared;
    weights[i] = 1.0 - weights[j];
    (weights, 1 << i | 1 << j)
}

/// The nearest point of a triangle, by Voronoi regions (Ericson, Real-Time Collision Detection,
/// 5.1.5).
fn triangle(p: &[DVec3; 4], [i, j, k]: [usize; 3]) -> Nearest {
    let (ab, ac) = (p[j] - p[i], p[k] - p[i]);
    let (d1, d2) = (-ab.dot(p[i]), -ac.dot(p[i]));
    if d1 <= 0.0 && d2 <= 0.0 {
        return vertex(i);
    }
    let (d3, d4) = (-ab.dot(p[j]), -ac.dot(p[j]));
    if d3 >= 0.0 && d4 <= d3 {
        return vertex(j);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return segment(p, i, j);
    }
    let (d5, d6) = (-ab.dot(p[k]), -ac.dot(p[k]));
    if d6 >= 0.0 && d5 <= d6 {
        return vertex(k);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return segment(p, i, k);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return segment(p, j, k);
    }
    let sum = va + vb + vc;
    let mut weights = [0.0; 4];
    weights[j] = vb / sum;
    weights[k] = vc / sum;
    weights[i] = 1.0 - weights[j] - weights[k];
    (weights, 1 << i | 1 << j | 1 << k)
}

/// The nearest point on the faces that separate the origin from the opposite vertex. If there is no
/// such face, the origin is inside. The face of the first three vertices is left out, because the
/// fourth vertex was searched on the origin's side of that face.
fn tetrahedron(p: &[DVec3; 4]) -> Nearest {
    let mut best: Option<(f64, Nearest)> = None;
    for ([i, j, k], opposite) in [([0, 1, 3], 2), ([0, 2, 3], 1), ([1, 2, 3], 0)] {
        let normal = (p[j] - p[i]).cross(p[k] - p[i]);
        let origin_side = -p[i].dot(normal);
        let inner_side = (p[opposite] - p[i]).dot(normal);
        // A flat tetrahedron has no inside, so every face is tested.
        if origin_side * inner_side > 0.0 {
            continue;
        }
        let candidate = triangle(p, [i, j, k]);
        let weights = candidate.0;
        let point = p[i] * weights[i] + p[j] * weights[j] + p[k] * weights[k];
        let distance = point.length_squared();
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map_or(([0.25; 4], 0b1111), |(_, nearest)| nearest)
}
