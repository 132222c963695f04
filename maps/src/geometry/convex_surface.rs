//! Convex solids made of a closed surface, which already has their faces and corners.

use std::collections::HashMap;

use glam::DVec3;

use super::polygon_bsp::Surface;
use super::{ConvexSolid, Face, Plane, Winding};

impl ConvexSolid {
    /// This solid at another place.
    pub(crate) fn moved(&self, by: DVec3) -> Self {
        let moved = |face: &Face| {
            let Plane { normal, distance } = face.plane;
            let plane = Plane { normal, distance: distance + normal.dot(by) };
            Face { plane, vertices: face.vertices.clone() }
        };
        let vertices = self.vertices().iter().map(|&vertex| vertex + by).collect();
        Self::finished(vertices, self.faces().iter().map(moved).collect())
    }
}

/// The solid inside a closed surface, each polygon on its outward plane. The order of its faces is
/// that of the nodes of the surface's tree. `None` if the surface is
/// not that of a convex body, or if it is uncertain which polygons are one face.
///
/// [`ConvexSolid::from_planes`] clips each face by all planes, which takes the square of their
/// number.
pub(crate) fn inside(polygons: &[(Plane, Winding)]) -> Option<ConvexSolid> {
    let mut numbers: HashMap<[u64; 3], u16> = HashMap::new();
    let mut corners: Vec<DVec3> = Vec::new();
    let mut loops: Vec<(Plane, Vec<u16>)> = Vec::new();
    for group in Surface::new(polygons).groups()? {
        let mut edges: Vec<[u16; 2]> = Vec::new();
        for &polygon in &group {
            let vertices = &polygons[polygon].1.vertices;
            let mut named = Vec::with_capacity(vertices.len());
            for &vertex in vertices {
                let key = vertex.to_array().map(f64::to_bits);
                let next = u16::try_from(corners.len()).ok()?;
                let number = *numbers.entry(key).or_insert(next);
                if number == next {
                    corners.push(vertex);
                }
                named.push(number);
            }
            let next = named.iter().cycle().skip(1);
            edges.extend(named.iter().zip(next).map(|(&from, &to)| [from, to]));
        }
        loops.push((polygons[group[0]].0, outline(&edges)?));
    }
    // A vertex that only two faces share lies within their edge.
    let mut uses = vec![0_u32; corners.len()];
    for &vertex in loops.iter().flat_map(|(_, vertices)| vertices) {
        uses[usize::from(vertex)] += 1;
    }
    let mut places: Vec<Option<u16>> = vec![None; corners.len()];
    let mut vertices = Vec::new();
    let mut faces = Vec::with_capacity(loops.len());
    for (plane, outline) in loops {
        let mut face = Vec::with_capacity(outline.len());
        for vertex in outline.into_iter().map(usize::from).filter(|&vertex| uses[vertex] > 2) {
            face.push(*places[vertex].get_or_insert_with(|| {
                vertices.push(corners[vertex]);
                vertices.len() as u16 - 1
            }));
        }
        if face.len() < 3 {
            return None;
        }
        faces.push(Face { plane, vertices: face });
    }
    let solid = ConvexSolid::finished(vertices, faces);
    solid.is_closed().then_some(solid)
}

/// The loop around polygons with these edges. `None` if it is not a single loop.
fn outline(edges: &[[u16; 2]]) -> Option<Vec<u16>> {
    let mut next: HashMap<u16, u16> = HashMap::new();
    let all: std::collections::HashSet<[u16; 2]> = edges.iter().copied().collect();
    let outer = edges.iter().filter(|[from, to]| !all.contains(&[*to, *from]));
    let mut first = None;
    for &[from, to] in outer {
        first = first.or(Some(from));
        if next.insert(from, to).is_some() {
            return None;
        }
    }
    let first = first?;
    let mut vertices = vec![first];
    let mut at = next.remove(&first)?;
    while at != first {
        vertices.push(at);
        at = next.remove(&at)?;
    }
    next.is_empty().then_some(vertices)
}
