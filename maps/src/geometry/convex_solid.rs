use glam::DVec3;
use thiserror::Error;

use super::{Aabb, Plane, Winding};

/// Half the side of the cube that is the universe: Quake's ±65,536 and room
/// for expansion.
const UNIVERSE: f64 = 131_072.0;

/// Vertices of neighbouring faces nearer than this are one vertex. Two brush
/// planes meet within 1e-8 of each other; designers draw nothing this small.
const WELD: f64 = 1e-3;

/// A bounded convex polyhedron: a brush, or one convex part of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSolid {
    vertices: Vec<DVec3>,
    faces: Vec<Face>,
    edges: Vec<[u16; 2]>,
    bounds: Aabb,
}

/// One face of a [`ConvexSolid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward plane.
    pub plane: Plane,
    /// Indices into the solid's vertices, counter-clockwise from outside.
    pub vertices: Vec<u16>,
}

/// Why a set of planes is no solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DegenerateSolid {
    /// Some plane's face reaches the end of the universe.
    #[error("unbounded: its planes do not close")]
    Unbounded,
    /// The planes leave fewer than four faces: inside out, or flat.
    #[error("fewer than four faces are left: it is inside out or flat")]
    Flat,
    /// More vertices than an index can name.
    #[error("too complex: more than 65,535 vertices")]
    TooComplex,
}

impl ConvexSolid {
    /// The solid behind all `planes` (outward, unit normals). Planes that
    /// only touch it, or that repeat another, carry no face.
    ///
    /// # Errors
    /// [`DegenerateSolid`] if the planes do not bound a volume.
    pub fn from_planes(planes: &[Plane]) -> Result<Self, DegenerateSolid> {
        let mut windings = Vec::with_capacity(planes.len());
        for (i, plane) in planes.iter().enumerate() {
            let repeats = planes[..i].iter().any(|p| {
                p.normal.dot(plane.normal) > 1.0 - 1e-12
                    && (p.distance - plane.distance).abs() < 1e-6
            });
            if repeats {
                continue;
            }
            let mut winding = Some(Winding::on_plane(plane, UNIVERSE));
            for (j, other) in planes.iter().enumerate() {
                if i != j && !(other == plane) {
                    winding = winding.and_then(|w| w.clipped_behind(other));
                }
            }
            if let Some(winding) = winding {
                windings.push((*plane, winding));
            }
        }
        Self::from_windings(windings)
    }

    /// The axis-aligned box `min..max`.
    ///
    /// # Errors
    /// [`DegenerateSolid::Flat`] if a side has no length.
    pub fn from_box(bounds: &Aabb) -> Result<Self, DegenerateSolid> {
        let planes: Vec<Plane> = [DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .flat_map(|n| {
                [
                    Plane { normal: n, distance: bounds.max.dot(n) },
                    Plane { normal: -n, distance: -bounds.min.dot(n) },
                ]
            })
            .collect();
        Self::from_planes(&planes)
    }

    fn from_windings(windings: Vec<(Plane, Winding)>) -> Result<Self, DegenerateSolid> {
        let mut vertices: Vec<DVec3> = Vec::new();
        let mut faces = Vec::with_capacity(windings.len());
        for (plane, winding) in windings {
            let mut indices: Vec<u16> = Vec::with_capacity(winding.vertices.len());
            for v in winding.vertices {
                if v.abs().max_element() > UNIVERSE * 0.5 {
                    return Err(DegenerateSolid::Unbounded);
                }
                let known = vertices.iter().position(|k| k.distance_squared(v) < WELD * WELD);
                let index = known.unwrap_or_else(|| {
                    vertices.push(v);
                    vertices.len() - 1
                });
                let index = u16::try_from(index).map_err(|_| DegenerateSolid::TooComplex)?;
                if !indices.contains(&index) {
                    indices.push(index);
                }
            }
            if indices.len() >= 3 {
                faces.push(Face { plane, vertices: indices });
            }
        }
        if faces.len() < 4 {
            return Err(DegenerateSolid::Flat);
        }
        let mut edges: Vec<[u16; 2]> = faces
            .iter()
            .flat_map(|f| {
                (0..f.vertices.len()).map(|i| {
                    let (a, b) = (f.vertices[i], f.vertices[(i + 1) % f.vertices.len()]);
                    [a.min(b), a.max(b)]
                })
            })
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let bounds = Aabb::around(vertices.iter().copied());
        Ok(Self { vertices, faces, edges, bounds })
    }

    /// Corner points.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Faces with an area.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Each edge once, as vertex indices, the lesser first.
    pub fn edges(&self) -> &[[u16; 2]] {
        &self.edges
    }

    /// The box around the solid.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// The polygon of one face.
    pub fn winding(&self, face: &Face) -> Winding {
        Winding { vertices: face.vertices.iter().map(|&i| self.vertices[usize::from(i)]).collect() }
    }

    /// Whether `point` lies inside or on the solid.
    pub fn contains(&self, point: DVec3) -> bool {
        self.faces.iter().all(|f| f.plane.signed_distance(point) <= 0.0)
    }

    /// Mean of the vertices: strictly inside.
    pub fn centre(&self) -> DVec3 {
        self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64
    }

    /// Volume in cubic units, by the divergence theorem.
    pub fn volume(&self) -> f64 {
        self.faces.iter().map(|f| f.plane.distance * self.winding(f).area() / 3.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_box() -> ConvexSolid {
        let bounds = Aabb { min: DVec3::new(-1.0, -2.0, -3.0), max: DVec3::new(1.0, 2.0, 3.0) };
        ConvexSolid::from_box(&bounds).expect("a box is a solid")
    }

    #[test]
    fn a_box_has_the_counts_and_volume_of_a_box() {
        let solid = unit_box();
        assert_eq!((solid.vertices().len(), solid.faces().len(), solid.edges().len()), (8, 6, 12));
        assert!((solid.volume() - 48.0).abs() < 1e-9);
        for face in solid.faces() {
            assert!(solid.winding(face).area_vector().dot(face.plane.normal) > 0.0);
        }
    }

    #[test]
    fn open_and_inverted_planes_are_refused() {
        let solid = unit_box();
        let planes: Vec<Plane> = solid.faces().iter().map(|f| f.plane).collect();
        assert_eq!(ConvexSolid::from_planes(&planes[..5]), Err(DegenerateSolid::Unbounded));
        let inverted: Vec<Plane> = planes.iter().map(Plane::flipped).collect();
        assert!(ConvexSolid::from_planes(&inverted).is_err());
    }
}
