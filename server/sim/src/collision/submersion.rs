//! The part of a body that is in a convex volume, such as a liquid. It is cut out exactly, plane by
//! plane.

use glam::{DMat3, DVec3};
use obsp::geometry::{ConvexSolid, Plane};

use crate::collision::pose::Pose;
use crate::collision::shape::Shape;

/// Numbers of the part of a body that is in a volume. They may be added up for volumes that do not
/// overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Submersion {
    /// Cubic units.
    pub(crate) volume: f64,
    /// The volume times its centroid, relative to the body's centre of mass, in the world's axes.
    pub(crate) moment: DVec3,
    /// By how many cubic units the volume grows for each unit by which the body sinks: the area in
    /// which the body cuts the surface. It is negative where the body leaves the volume through its
    /// bottom.
    pub(crate) growth: f64,
}

impl Submersion {
    /// The part of a body of `shape` at `pose` that is in `volume`.
    pub(crate) fn new(shape: &Shape, pose: &Pose, volume: &ConvexSolid) -> Self {
        let rotation = pose.rotation();
        // Relative to the body, so that a place far from the origin costs no digits.
        let to_body = |plane: Plane| Plane {
            distance: plane.distance - plane.normal.dot(pose.position),
            ..plane
        };
        let planes: Vec<Plane> = volume.faces().iter().map(|face| to_body(face.plane)).collect();
        let parts = shape.parts.iter().filter_map(|part| Piece::within(part, rotation, &planes));
        parts.map(|piece| piece.submersion()).fold(Self::default(), Self::plus)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            moment: self.moment + other.moment,
            growth: self.growth + other.growth,
        }
    }
}

/// One face of a piece.
#[derive(Clone, Copy)]
struct Face {
    /// The number of edges of the piece up to the last one of this face.
    end: usize,
    /// Whether a cut made the face.
    is_cut: bool,
}

/// The rest of a convex part that was cut.
#[derive(Default)]
struct Piece {
    /// The edges, face by face. The edges of a face are in no order. Seen from outside, each has
    /// the face on its left.
    edges: Vec<[DVec3; 2]>,
    faces: Vec<Face>,
}

impl Piece {
    /// The rest of a turned part behind `planes`; `None` if one of them cuts all of it off.
    fn within(part: &ConvexSolid, rotation: DMat3, planes: &[Plane]) -> Option<Self> {
        let vertices: Vec<DVec3> = part.vertices().iter().map(|&v| rotation * v).collect();
        let is_outside = |plane: &Plane| {
            let (mut any, mut all) = (false, true);
            for &vertex in &vertices {
                let outside = plane.signed_distance(vertex) > 0.0;
                (any, all) = (any | outside, all & outside);
            }
            [any, all]
        };
        let mut cuts = Vec::new();
        for plane in planes {
            match is_outside(plane) {
                [_, true] => return None,
                [true, _] => cuts.push(plane),
                _ => {}
            }
        }
        let vertex = |index: u16| vertices[usize::from(index)];
        let mut piece = Self::default();
        piece.edges.reserve(2 * (vertices.len() + part.faces().len()));
        piece.faces.reserve(part.faces().len());
        for face in part.faces() {
            let next = face.vertices.iter().cycle().skip(1);
            let edges = face.vertices.iter().zip(next).map(|(&a, &b)| [vertex(a), vertex(b)]);
            piece.edges.extend(edges);
            piece.end_face(false);
        }
        Some(cuts.into_iter().fold(piece, |piece, plane| piece.behind(plane)))
    }

    /// Makes a face of the edges that belong to no face yet, if there are any.
    fn end_face(&mut self, is_cut: bool) {
        let end = self.edges.len();
        if end > self.faces.last().map_or(0, |face| face.end) {
            self.faces.push(Face { end, is_cut });
        }
    }

    /// The edges of each face, and whether a cut made the face.
    fn faces(&self) -> impl Iterator<Item = (&[[DVec3; 2]], bool)> {
        let mut begin = 0;
        self.faces.iter().map(move |&Face { end, is_cut }| {
            let edges = &self.edges[begin..end];
            begin = end;
            (edges, is_cut)
        })
    }

    /// The rest behind a plane.
    fn behind(&self, plane: &Plane) -> Self {
        let mut rest = Self::default();
        // A cut adds one edge to each face, and a face with as many edges.
        rest.edges.reserve(self.edges.len() + 2 * self.faces.len());
        rest.faces.reserve(self.faces.len() + 1);
        let mut made = Vec::with_capacity(self.faces.len());
        for (edges, is_cut) in self.faces() {
            let (mut leaves, mut enters) = (None, None);
            for &[a, b] in edges {
                let (from, to) = (plane.signed_distance(a), plane.signed_distance(b));
                match [from <= 0.0, to <= 0.0] {
                    [true, true] => rest.edges.push([a, b]),
                    [true, false] => {
                        let at = a + (b - a) * (from / (from - to));
                        rest.edges.push([a, at]);
                        leaves = Some(at);
                    }
                    [false, true] => {
                        // From the inner point, like the other face of this edge.
                        let at = b + (a - b) * (to / (to - from));
                        rest.edges.push([at, b]);
                        enters = Some(at);
                    }
                    [false, false] => {}
                }
            }
            if let (Some(leaves), Some(enters)) = (leaves, enters) {
                rest.edges.push([leaves, enters]);
                made.push([enters, leaves]);
            }
            rest.end_face(is_cut);
        }
        rest.edges.append(&mut made);
        rest.end_face(true);
        rest
    }

    /// The sum over the tetrahedra between the body's centre of mass and triangles of the faces.
    fn submersion(&self) -> Submersion {
        let mut sum = Submersion::default();
        for (edges, is_cut) in self.faces() {
            let corner = edges[0][0];
            for &[a, b] in edges {
                let volume = corner.dot(a.cross(b)) / 6.0;
                sum.volume += volume;
                sum.moment += (corner + a + b) * (volume / 4.0);
                if is_cut {
                    sum.growth += 0.5 * (a - corner).cross(b - corner).z;
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use obsp::geometry::Aabb;
    use obsp::model::Model;

    use super::*;

    fn pool() -> ConvexSolid {
        let box_ = Aabb { min: DVec3::splat(-1000.0), max: DVec3::new(1000.0, 1000.0, 0.0) };
        ConvexSolid::from_box(&box_).unwrap()
    }

    fn shape(half: DVec3) -> Shape {
        Shape::prop(&Model::cuboid("box", half).unwrap())
    }

    #[test]
    fn a_box_is_cut_at_the_surface() {
        let shape = shape(DVec3::new(10.0, 20.0, 4.0));
        for (height, depth) in [(3.0, 1.0), (-1.0, 5.0), (-5.0, 8.0), (5.0, 0.0)] {
            let got = Submersion::new(&shape, &Pose::at(DVec3::Z * height), &pool());
            let volume = 800.0 * depth;
            assert!((got.volume - volume).abs() < 1e-9, "{height}: {got:?}");
            let centroid = DVec3::Z * (depth / 2.0 - 4.0);
            assert!(got.moment.distance(centroid * volume) < 1e-8, "{height}: {got:?}");
            let growth = if depth > 0.0 && depth < 8.0 { 800.0 } else { 0.0 };
            assert!((got.growth - growth).abs() < 1e-9, "{height}: {got:?}");
        }
    }

    /// A corner of a pool cuts a turned cube with three planes. Eight such corners fill the space.
    #[test]
    fn the_shares_in_eight_corners_are_the_whole() {
        let shape = shape(DVec3::splat(16.0));
        let orientation = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, 2.3);
        let pose = Pose { position: DVec3::new(60_003.0, -7.0, 2.0), orientation };
        let middle = DVec3::new(60_000.0, 0.0, 0.0);
        let mut sum = Submersion::default();
        for octant in 0..8_u32 {
            let sign = |axis: u32| if octant >> axis & 1 == 1 { 50.0 } else { -50.0 };
            let corner = middle + DVec3::new(sign(0), sign(1), sign(2));
            let volume = ConvexSolid::from_box(&Aabb::around([middle, corner])).unwrap();
            let share = Submersion::new(&shape, &pose, &volume);
            assert!(share.volume > 100.0, "octant {octant}: {share:?}");
            sum = sum.plus(share);
        }
        assert!((sum.volume - 32_768.0).abs() < 1e-6, "{sum:?}");
        assert!(sum.moment.length() < 1e-4, "{sum:?}");
        assert!(sum.growth.abs() < 1e-6, "{sum:?}");
    }
}
