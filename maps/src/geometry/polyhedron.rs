//! A convex polyhedron that is cut plane by plane and stays closed.
//!
//! The faces around a corner share one vertex, and its side of a plane is decided once. So all
//! faces are cut at the same corners, no matter how these are rounded, and a closed polyhedron is
//! still closed afterwards. Planes that nearly coincide or nearly meet in a point make narrow faces
//! and short edges, never a gap.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use super::convex_solid::{DegenerateSolid, Face, UNIVERSE};
use super::{Aabb, Plane};

/// A corner this close to a plane, in units, counts as on the plane. The four values are tried in
/// turn. Each is above the rounding of coordinates (1e-10), and far below the precision of a face.
///
/// A corner that counts as on a plane may be in front of it by this much. If planes are that close
/// to each other, a cut may leave two holes instead of one. With another tolerance, the corners at
/// that place become either distinct or one.
const ON_PLANE: [f64; 4] = [1e-6, 1e-8, 1e-5, 1e-9];

/// A closed convex polyhedron.
pub(super) struct Polyhedron {
    vertices: Vec<DVec3>,
    faces: Vec<Loop>,
}

/// A face: its corners, counter-clockwise from outside.
struct Loop {
    /// Index of the face's plane in the list of planes; `None` for a face of the universe's cube.
    plane: Option<usize>,
    vertices: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    In,
    On,
    Out,
}

impl Polyhedron {
    /// The vertices and faces of the space behind all `planes`. A plane that cuts nothing
    /// off has no face.
    pub(super) fn behind(planes: &[Plane]) -> Result<(Vec<DVec3>, Vec<Face>), DegenerateSolid> {
        let mut result = Err(DegenerateSolid::Open);
        for on_plane in ON_PLANE {
            result = Self::cut_out(planes, on_plane);
            if !matches!(result, Err(DegenerateSolid::Open)) {
                break;
            }
        }
        result
    }

    fn cut_out(
        planes: &[Plane],
        on_plane: f64,
    ) -> Result<(Vec<DVec3>, Vec<Face>), DegenerateSolid> {
        let mut whole = Self::universe();
        for (index, plane) in planes.iter().enumerate() {
            whole.cut(index, plane, on_plane)?;
        }
        whole.into_parts(planes)
    }

    fn universe() -> Self {
        let bounds = Aabb::from_centre(DVec3::ZERO, DVec3::splat(UNIVERSE));
        let corner = |i: usize| {
            let pick = |axis: usize| if i >> axis & 1 == 1 { bounds.max } else { bounds.min };
            DVec3::new(pick(0).x, pick(1).y, pick(2).z)
        };
        let loops =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let face = |vertices: [u32; 4]| Loop { plane: None, vertices: vertices.to_vec() };
        Self { vertices: (0..8).map(corner).collect(), faces: loops.map(face).into() }
    }

    /// Cuts off the part in front of a plane.
    fn cut(&mut self, index: usize, plane: &Plane, on_plane: f64) -> Result<(), DegenerateSolid> {
        let heights: Vec<f64> = self.vertices.iter().map(|&v| plane.signed_distance(v)).collect();
        let side = |v: u32| match heights[v as usize] {
            h if h > on_plane => Side::Out,
            h if h < -on_plane => Side::In,
            _ => Side::On,
        };
        let all = || self.faces.iter().flat_map(|face| face.vertices.iter().map(|&v| side(v)));
        if !all().any(|side| side == Side::Out) {
            return Ok(());
        }
        if !all().any(|side| side == Side::In) {
            return Err(DegenerateSolid::Flat);
        }
        let mut cuts: HashMap<(u32, u32), u32> = HashMap::new();
        let mut rest = Vec::with_capacity(self.faces.len() + 1);
        for face in std::mem::take(&mut self.faces) {
            let mut kept = Vec::with_capacity(face.vertices.len() + 1);
            for (i, &a) in face.vertices.iter().enumerate() {
                let b = face.vertices[(i + 1) % face.vertices.len()];
                if side(a) != Side::Out {
                    kept.push(a);
                }
                if matches!((side(a), side(b)), (Side::In, Side::Out) | (Side::Out, Side::In)) {
                    let (low, high) = (a.min(b), a.max(b));
                    kept.push(*cuts.entry((low, high)).or_insert_with(|| {
                        let [from, to] = [low, high].map(|v| self.vertices[v as usize]);
                        let [at, beyond] = [low, high].map(|v| heights[v as usize]);
                        self.vertices.push(from + (to - from) * (at / (at - beyond)));
                        self.vertices.len() as u32 - 1
                    }));
                }
            }
            // Faces in the plane or in front of it are replaced by the new face.
            if face.vertices.iter().any(|&v| side(v) == Side::In) {
                rest.push(Loop { vertices: kept, ..face });
            }
        }
        let vertices = open_loop(&rest)?;
        rest.push(Loop { plane: Some(index), vertices });
        self.faces = rest;
        Ok(())
    }

    fn into_parts(self, planes: &[Plane]) -> Result<(Vec<DVec3>, Vec<Face>), DegenerateSolid> {
        let mut places: HashMap<u32, u16> = HashMap::new();
        let mut vertices = Vec::new();
        let mut faces = Vec::with_capacity(self.faces.len());
        for face in &self.faces {
            let mut corners = Vec::with_capacity(face.vertices.len());
            for &v in &face.vertices {
                let at = self.vertices[v as usize];
                if at.abs().max_element() > UNIVERSE * 0.5 {
                    return Err(DegenerateSolid::Unbounded);
                }
                let next = vertices.len();
                let place = *places.entry(v).or_insert(next as u16);
                if usize::from(place) == next {
                    vertices.push(at);
                }
                corners.push(place);
            }
            if vertices.len() > usize::from(u16::MAX) {
                return Err(DegenerateSolid::TooComplex);
            }
            let Some(plane) = face.plane else { return Err(DegenerateSolid::Unbounded) };
            faces.push(Face { plane: planes[plane], vertices: corners });
        }
        Ok((vertices, faces))
    }
}

/// The loop of vertices around the hole that these faces leave.
fn open_loop(faces: &[Loop]) -> Result<Vec<u32>, DegenerateSolid> {
    let edges = || {
        faces.iter().flat_map(|face| {
            let next = face.vertices.iter().cycle().skip(1);
            face.vertices.iter().copied().zip(next.copied())
        })
    };
    let known: HashSet<(u32, u32)> = edges().collect();
    let mut next: HashMap<u32, u32> = HashMap::new();
    let mut first = None;
    for (a, b) in edges().filter(|&(a, b)| !known.contains(&(b, a))) {
        first = first.or(Some(b));
        if next.insert(b, a).is_some() {
            return Err(DegenerateSolid::Open);
        }
    }
    let first = first.ok_or(DegenerateSolid::Open)?;
    let mut vertices = vec![first];
    let mut at = first;
    loop {
        at = next.remove(&at).ok_or(DegenerateSolid::Open)?;
        if at == first {
            break;
        }
        vertices.push(at);
    }
    if vertices.len() < 3 || !next.is_empty() {
        return Err(DegenerateSolid::Open);
    }
    Ok(vertices)
}
