//! Convex solids: brushes, expanded brushes, and the convex parts of models.
//!
//! [`ConvexSolid::from_planes`] clips faces one by one and checks the result. If planes nearly
//! coincide, it falls back to [`Polyhedron`], which cannot come apart.

use glam::{BVec3, DVec3};
use thiserror::Error;

use super::polyhedron::Polyhedron;
use super::{Aabb, Plane, Winding};

/// Half the side of the cube that solids are cut from, in units: Quake's ±65,536 and room for
/// expansion.
pub(super) const UNIVERSE: f64 = 131_072.0;

/// Corners of clipped faces closer than this may be one vertex, because maps have no details this
/// small.
const WELD: f64 = 1e-3;

/// Only corners of clipped faces that are closer than this are certainly one vertex. It is a
/// multiple of the tolerance of clipping.
const CERTAIN: f64 = 1e-5;

/// [`ConvexSolid::from_parts`] accepts a vertex that is no farther than this in front of a face. It
/// is the error of welding, with some allowance.
const IN_FRONT: f64 = 10.0 * WELD;

/// [`ConvexSolid::from_parts`] accepts a face whose own vertices are no farther than this behind
/// its plane. It is far above the error of welding, and far below a change of the solid's shape.
const BESIDE: f64 = 10.0 * IN_FRONT;

/// A vertex this near to a corner of the bounds, in units, differs from it by rounding.
const SAME_CORNER: f64 = 1e-9;

/// A bounded convex polyhedron: a brush, or one convex part of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSolid {
    vertices: Vec<DVec3>,
    faces: Vec<Face>,
    edges: Vec<[u16; 2]>,
    bounds: Aabb,
    /// The vertex at each corner of the bounds, if the solid is a box. Bit `i` of the index is set
    /// at the upper end of axis `i`.
    box_corners: Option<[u16; 8]>,
}

/// One face of a [`ConvexSolid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward plane.
    pub plane: Plane,
    /// Indices into the solid's vertices, counter-clockwise from outside.
    pub vertices: Vec<u16>,
}

/// Reasons why planes do not bound a solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DegenerateSolid {
    /// A face extends to the end of the universe.
    #[error("it is unbounded, because its planes do not close")]
    Unbounded,
    /// The planes leave fewer than four faces, so they are inside out or flat.
    #[error("fewer than four faces are left, so it is inside out or flat")]
    Flat,
    /// More vertices than an index can hold.
    #[error("it has more than 65,535 vertices")]
    TooComplex,
    /// Edges that do not have a face on both sides.
    #[error("its edges do not close")]
    Open,
    /// Faces and vertices that do not belong together.
    #[error("its faces and vertices do not make a convex body")]
    Inconsistent,
}

impl ConvexSolid {
    /// The solid behind all `planes` (outward, unit normals). A plane that cuts nothing off has no
    /// face, because it only touches the solid or repeats another plane.
    ///
    /// Each face is clipped separately, which is exact except for rounding if planes meet at large
    /// angles and corners are far apart. If the result is not closed, the solid is cut out as a
    /// whole (`Polyhedron`), so that rounding cannot make faces disagree about their corners.
    ///
    /// ```
    /// use obsp::geometry::{Aabb, ConvexSolid, DegenerateSolid, Plane};
    /// use obsp::glam::DVec3;
    ///
    /// let crate_box = Aabb::from_centre(DVec3::ZERO, DVec3::splat(16.0));
    /// let planes: Vec<Plane> =
    ///     ConvexSolid::from_box(&crate_box)?.faces().iter().map(|face| face.plane).collect();
    /// let solid = ConvexSolid::from_planes(&planes)?;
    /// assert_eq!((solid.vertices().len(), solid.edges().len()), (8, 12));
    /// assert_eq!(ConvexSolid::from_planes(&planes[..5]), Err(DegenerateSolid::Unbounded));
    /// # Ok::<(), DegenerateSolid>(())
    /// ```
    ///
    /// # Errors
    /// [`DegenerateSolid`] if the planes do not bound a volume, or if one of them is no valid
    /// plane.
    pub fn from_planes(planes: &[Plane]) -> Result<Self, DegenerateSolid> {
        if !planes.iter().all(Plane::is_sound) {
            return Err(DegenerateSolid::Inconsistent);
        }
        if let Ok(solid) = Self::clipped(planes)
            && solid.is_closed()
            && planes.iter().all(|plane| solid.is_behind(plane))
        {
            return Ok(solid);
        }
        let (vertices, faces) = Polyhedron::behind(planes)?;
        Ok(Self::finished(vertices, faces))
    }

    /// The solid whose faces are each clipped by all other planes. An error if it is uncertain
    /// which corners are the same.
    fn clipped(planes: &[Plane]) -> Result<Self, DegenerateSolid> {
        let mut windings = Vec::with_capacity(planes.len());
        for (i, plane) in planes.iter().enumerate() {
            let mut winding = Some(Winding::on_plane(plane, UNIVERSE));
            for (j, other) in planes.iter().enumerate() {
                if i != j && !(other == plane) {
                    winding = winding.and_then(|w| w.clipped(other));
                }
            }
            if let Some(winding) = winding {
                windings.push((*plane, winding));
            }
        }
        Self::from_windings(windings)
    }

    /// Whether each edge has a face on both sides and the faces form one surface
    /// (Euler's formula).
    pub fn is_closed(&self) -> bool {
        let mut sides: Vec<[u16; 2]> = Vec::with_capacity(self.edges.len() * 2);
        for face in &self.faces {
            let next = face.vertices.iter().cycle().skip(1);
            sides.extend(face.vertices.iter().zip(next).map(|(&a, &b)| [a, b]));
        }
        sides.sort_unstable();
        let twin = |&[a, b]: &[u16; 2]| sides.binary_search(&[b, a]).is_ok();
        let once = sides.windows(2).all(|pair| pair[0] != pair[1]);
        let euler = self.vertices.len() + self.faces.len() == self.edges.len() + 2;
        once && euler && sides.iter().all(twin)
    }

    /// Whether all vertices are on or behind a plane, except for rounding.
    fn is_behind(&self, plane: &Plane) -> bool {
        self.vertices.iter().all(|&v| plane.signed_distance(v) <= CERTAIN)
    }

    /// The axis-aligned box `min..max`, which may reach to ±[`UNIVERSE`](crate::UNIVERSE).
    ///
    /// # Errors
    /// [`DegenerateSolid`] if a side is shorter than a thousandth of a unit, reaches beyond
    /// ±[`UNIVERSE`](crate::UNIVERSE), or is not a number.
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
        match Self::from_planes(&planes) {
            Err(DegenerateSolid::Unbounded) => Self::large_box(bounds, &planes),
            solid => solid,
        }
    }

    /// A box that reaches beyond the cube that solids are cut from. `planes` are the planes of the
    /// box, in the order of the axes, the upper one of each axis first.
    fn large_box(bounds: &Aabb, planes: &[Plane]) -> Result<Self, DegenerateSolid> {
        let reach = bounds.min.abs().max(bounds.max.abs()).max_element();
        if reach > crate::UNIVERSE.into() {
            return Err(DegenerateSolid::Unbounded);
        }
        if (bounds.max - bounds.min).min_element() < WELD {
            return Err(DegenerateSolid::Flat);
        }
        let corner = |octant: u16| {
            let upper = |axis: u16| octant >> axis & 1 == 1;
            DVec3::select(BVec3::new(upper(0), upper(1), upper(2)), bounds.max, bounds.min)
        };
        let loops: [[u16; 4]; 6] =
            [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
        let faces = planes.iter().zip(loops);
        let faces = faces.map(|(&plane, corners)| Face { plane, vertices: corners.to_vec() });
        Ok(Self::finished((0..8).map(corner).collect(), faces.collect()))
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
                if known.is_some_and(|k| vertices[k].distance_squared(v) > CERTAIN * CERTAIN) {
                    return Err(DegenerateSolid::Open);
                }
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
        Ok(Self::finished(vertices, faces))
    }

    /// A solid with known faces and vertices, such as one that was stored. The check takes faces ×
    /// vertices steps.
    ///
    /// # Errors
    /// [`DegenerateSolid`] if a number is not finite, a face names a vertex twice or names one that
    /// does not exist, or a vertex does not lie behind all faces.
    pub fn from_parts(vertices: Vec<DVec3>, faces: Vec<Face>) -> Result<Self, DegenerateSolid> {
        if faces.len() < 4 {
            return Err(DegenerateSolid::Flat);
        }
        if vertices.len() > usize::from(u16::MAX) {
            return Err(DegenerateSolid::TooComplex);
        }
        let inside = |v: &DVec3| v.abs().cmple(DVec3::splat(UNIVERSE)).all();
        let sound = |face: &Face| {
            let Plane { normal, distance } = face.plane;
            let mut named = face.vertices.clone();
            named.sort_unstable();
            (normal.length_squared() - 1.0).abs() < 1e-9
                && distance.is_finite()
                && named.len() >= 3
                && named.windows(2).all(|pair| pair[0] != pair[1])
                && named.last().is_some_and(|&last| usize::from(last) < vertices.len())
                && vertices.iter().all(|&v| face.plane.signed_distance(v) <= IN_FRONT)
                && face
                    .vertices
                    .iter()
                    .all(|&v| face.plane.signed_distance(vertices[usize::from(v)]) >= -BESIDE)
        };
        if !vertices.iter().all(inside) || !faces.iter().all(sound) {
            return Err(DegenerateSolid::Inconsistent);
        }
        Ok(Self::finished(vertices, faces))
    }

    pub(super) fn finished(vertices: Vec<DVec3>, faces: Vec<Face>) -> Self {
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
        let box_corners = box_corners(&vertices, &bounds);
        Self { vertices, faces, edges, bounds, box_corners }
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

    /// Greatest `direction · v` over all vertices `v`.
    #[inline]
    pub fn extent(&self, direction: DVec3) -> f64 {
        if self.box_corners.is_some() {
            // Rounding is monotonic, so no vertex has a greater product than this sum.
            let (low, high) = (direction * self.bounds.min, direction * self.bounds.max);
            let greater = |low: f64, high: f64| if high > low { high } else { low };
            return greater(low.x, high.x) + greater(low.y, high.y) + greater(low.z, high.z);
        }
        let mut greatest = f64::NEG_INFINITY;
        for &v in &self.vertices {
            // The comparison is one instruction. `f64::max` takes more, because it handles NaN,
            // which never occurs here.
            let along = direction.dot(v);
            greatest = if along > greatest { along } else { greatest };
        }
        greatest
    }

    /// Index of the vertex farthest along `direction`.
    #[inline]
    pub fn support(&self, direction: DVec3) -> u16 {
        if let Some(corners) = &self.box_corners {
            let up = |along: f64, axis: usize| usize::from(along > 0.0) << axis;
            return corners[up(direction.x, 0) | up(direction.y, 1) | up(direction.z, 2)];
        }
        let mut best = (f64::NEG_INFINITY, 0);
        for (index, &v) in self.vertices.iter().enumerate() {
            let along = direction.dot(v);
            if along > best.0 {
                best = (along, index);
            }
        }
        best.1 as u16
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

    /// The smallest thickness: over all faces, the smallest distance from the face to the vertex
    /// farthest behind it.
    pub fn thickness(&self) -> f64 {
        let depth = |face: &Face| {
            let heights = self.vertices.iter().map(|&v| -face.plane.signed_distance(v));
            heights.fold(f64::NEG_INFINITY, f64::max)
        };
        self.faces.iter().map(depth).fold(f64::INFINITY, f64::min)
    }

    /// Volume in cubic units, by the divergence theorem.
    pub fn volume(&self) -> f64 {
        self.faces.iter().map(|f| f.plane.distance * self.winding(f).area() / 3.0).sum()
    }
}

/// The vertex at each corner of `bounds`; `None` unless `vertices` belong to a box along the axes,
/// except for rounding.
fn box_corners(vertices: &[DVec3], bounds: &Aabb) -> Option<[u16; 8]> {
    if vertices.len() != 8 {
        return None;
    }
    let mut corners = [0; 8];
    for (octant, corner) in corners.iter_mut().enumerate() {
        let upper = |axis: usize| octant >> axis & 1 == 1;
        let place = DVec3::select(BVec3::new(upper(0), upper(1), upper(2)), bounds.max, bounds.min);
        *corner = vertices.iter().position(|v| v.distance(place) < SAME_CORNER)? as u16;
    }
    Some(corners)
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

    /// The corners of a box are chosen by signs. The result must equal that of a search through all
    /// vertices.
    #[test]
    fn a_box_extends_as_far_as_its_farthest_vertex() {
        let bounds = Aabb { min: DVec3::new(-1.1, 0.3, -3.7), max: DVec3::new(1.3, 2.9, 0.1) };
        let solid = ConvexSolid::from_box(&bounds).expect("a box is a solid");
        assert!(solid.box_corners.is_some());
        for step in 0..200 {
            let angle = f64::from(step) * 0.37;
            let direction = match step {
                0 => DVec3::X,
                1 => -DVec3::Y,
                _ => DVec3::new(angle.cos(), angle.sin(), (angle * 3.0).sin()),
            };
            let along = |v: &DVec3| direction.dot(*v);
            let farthest = solid.vertices().iter().map(along).fold(f64::NEG_INFINITY, f64::max);
            // If rounding put vertices off the box, its bounds are a little wider.
            let beyond = solid.extent(direction) - farthest;
            assert!((-1e-14..1e-9).contains(&beyond), "{direction}: {beyond}");
            // The vertices of one face are equally far, up to rounding.
            let support = solid.vertices()[usize::from(solid.support(direction))];
            assert!(farthest - along(&support) < 1e-12, "{direction}");
        }
    }

    /// In an earlier version, boxes that reached beyond ±65,536 were unbounded, and contained
    /// nothing.
    #[test]
    fn a_box_may_reach_to_the_edge_of_the_universe_and_no_farther() {
        let edge = f64::from(crate::UNIVERSE);
        for half in [65_535.0, 65_536.5, 131_072.0, edge] {
            let bounds = Aabb::from_centre(DVec3::ZERO, DVec3::splat(half));
            let solid = ConvexSolid::from_box(&bounds).expect("a box");
            assert!(solid.is_closed() && *solid.bounds() == bounds, "{half}");
            assert!((solid.volume() / (8.0 * half.powi(3)) - 1.0).abs() < 1e-12, "{half}");
            for (face, axis) in solid.faces().iter().zip([DVec3::X, DVec3::Y, DVec3::Z]) {
                let outward = solid.winding(face).area_vector().dot(face.plane.normal) > 0.0;
                assert!(outward, "{half}: {axis}");
            }
        }
        let refused = |min: DVec3, max: DVec3| ConvexSolid::from_box(&Aabb { min, max }).is_err();
        assert!(refused(DVec3::ZERO, DVec3::splat(edge.next_up())));
        assert!(refused(DVec3::ZERO, DVec3::new(edge, edge, 1e-4)), "flat");
        for odd in [f64::NAN, f64::INFINITY, 1e30, 1e155, 1e308] {
            assert!(refused(DVec3::ZERO, DVec3::splat(odd)), "{odd}");
            assert!(refused(DVec3::new(-odd, 0.0, 0.0), DVec3::ONE), "{odd}");
        }
    }

    /// In an earlier version, a plane with a number that is not finite led to vertices that are not
    /// finite.
    #[test]
    fn points_without_a_plane_bound_nothing() {
        let planes: Vec<Plane> = unit_box().faces().iter().map(|face| face.plane).collect();
        for odd in [f64::NAN, f64::INFINITY, 1e155, 1e308, 1e-155, 0.0] {
            for at in 0..planes.len() {
                let mut normal = planes.clone();
                normal[at].normal *= odd;
                assert!(ConvexSolid::from_planes(&normal).is_err(), "normal × {odd}");
                let mut distance = planes.clone();
                distance[at].distance = odd;
                if let Ok(solid) = ConvexSolid::from_planes(&distance) {
                    assert!(solid.vertices().iter().all(|v| v.is_finite()), "distance {odd}");
                }
            }
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

    #[test]
    fn parts_make_the_same_solid_and_bad_parts_none() {
        let solid = unit_box();
        let (vertices, faces) = (solid.vertices().to_vec(), solid.faces().to_vec());
        assert_eq!(ConvexSolid::from_parts(vertices.clone(), faces.clone()), Ok(solid));
        let refused = |vertices: &[DVec3], change: &dyn Fn(&mut Face)| {
            let mut faces = faces.clone();
            change(&mut faces[2]);
            let result = ConvexSolid::from_parts(vertices.to_vec(), faces);
            assert_eq!(result, Err(DegenerateSolid::Inconsistent));
        };
        refused(&vertices[..7], &|_| ());
        refused(&vertices, &|face| face.vertices[1] = face.vertices[0]);
        refused(&vertices, &|face| face.vertices[1] = 8);
        refused(&vertices, &|face| face.vertices.truncate(2));
        refused(&vertices, &|face| face.plane = face.plane.flipped());
        refused(&vertices, &|face| face.plane.distance = f64::NAN);
        // In an earlier version, the vertices of a face only had to be behind its plane.
        refused(&vertices, &|face| face.plane.distance = 1e308);
        refused(&vertices, &|face| face.plane.distance += 0.11);
        let mut far = vertices.clone();
        far[0].x = f64::INFINITY;
        refused(&far, &|_| ());
    }
}
