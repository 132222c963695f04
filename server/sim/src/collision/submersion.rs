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
    /// which the body cuts the surface. It is negative where the body leaves the volume below.
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

/// One face of a piece: its edges, in no order. Each edge has the face on its left, seen from
/// outside.
struct Face {
    edges: Vec<[DVec3; 2]>,
    /// Whether a cut made the face.
    is_cut: bool,
}

/// The rest of a convex part that was cut.
struct Piece {
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
        let faces = part.faces().iter().map(|face| {
            let next = face.vertices.iter().cycle().skip(1);
            let edges = face.vertices.iter().zip(next).map(|(&a, &b)| [vertex(a), vertex(b)]);
            Face { edges: edges.collect(), is_cut: false }
        });
        let mut piece = Self { faces: faces.collect() };
        cuts.into_iter().for_each(|plane| piece.cut(plane));
        Some(piece)
    }

    /// Cuts off what is in front of a plane.
    fn cut(&mut self, plane: &Plane) {
        let mut made = Vec::new();
        for face in &mut self.faces {
            // Each corner is the start of one edge.
            let is_outside = |&&[corner, _]: &&[DVec3; 2]| plane.signed_distance(corner) > 0.0;
            match face.edges.iter().filter(is_outside).count() {
                0 => continue,
                all if all == face.edges.len() => {
                    face.edges.clear();
                    continue;
                }
                _ => {}
            }
            let (mut leaves, mut enters) = (None, None);
            let mut kept = Vec::with_capacity(face.edges.len() + 1);
            for &[a, b] in &face.edges {
                let [from, to] = [a, b].map(|point| plane.signed_distance(point));
                match [from <= 0.0, to <= 0.0] {
                    [true, true] => kept.push([a, b]),
                    [true, false] => {
                        let at = a + (b - a) * (from / (from - to));
                        kept.push([a, at]);
                        leaves = Some(at);
                    }
                    [false, true] => {
                        // From the inner point, like the other face of this edge.
                        let at = b + (a - b) * (to / (to - from));
                        kept.push([at, b]);
                        enters = Some(at);
                    }
                    [false, false] => {}
                }
            }
            if let (Some(leaves), Some(enters)) = (leaves, enters) {
                kept.push([leaves, enters]);
                made.push([enters, leaves]);
            }
            face.edges = kept;
        }
        self.faces.push(Face { edges: made, is_cut: true });
        self.faces.retain(|face| !face.edges.is_empty());
    }

    /// The sum over the tetrahedra between the body's centre of mass and triangles of the faces.
    fn submersion(&self) -> Submersion {
        let mut sum = Submersion::default();
        for face in &self.faces {
            let corner = face.edges[0][0];
            for &[a, b] in &face.edges {
                let volume = corner.dot(a.cross(b)) / 6.0;
                sum.volume += volume;
                sum.moment += (corner + a + b) * (volume / 4.0);
                if face.is_cut {
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
