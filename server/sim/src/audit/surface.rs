//! Closed surfaces of triangles, and whether two of them share a point.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DQuat, DVec3};
use obsp::geometry::{Aabb, ConvexSolid};
use obsp::model::Model;

use super::exact::{Triangle, holds, meets};

/// How far a body's surface is moved inward before it is tested, in units. A player may touch the
/// world exactly, and touching is not an overlap.
const DRAWN_IN: f64 = 1e-6;

/// Normals whose cosine differs from one by less than this belong to one plane.
const SAME_PLANE: f64 = 1e-9;

/// A closed surface of triangles in its own axes, with its convex parts.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    corners: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// The convex parts, for measuring depth.
    pub(super) parts: Vec<ConvexSolid>,
    /// A point well inside the surface.
    pub(super) anchor: DVec3,
    /// The largest part, scaled to half its size about the anchor.
    core: Vec<Triangle>,
}

/// A surface at a pose in the world.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    corners: Vec<DVec3>,
    bounds: Aabb,
}

impl Surface {
    /// The surface of a solid of the map.
    pub(super) fn of_solid(solid: &ConvexSolid) -> Self {
        let polygons = solid.faces().iter().map(|face| solid.winding(face).vertices).collect();
        Self::new(polygons, vec![solid.clone()])
    }

    /// The surface of a body of one convex solid, moved inward.
    pub(super) fn of_convex_body(solid: &ConvexSolid) -> Self {
        Self::of_solid(solid).drawn_in()
    }

    /// The surface of a rigid body, moved inward.
    pub(super) fn of_model(model: &Model) -> Self {
        let polygons = model.polygons().iter().map(|p| p.winding.vertices.clone()).collect();
        Self::new(polygons, model.parts().to_vec()).drawn_in()
    }

    fn new(polygons: Vec<Vec<DVec3>>, parts: Vec<ConvexSolid>) -> Self {
        let mut corners = Vec::new();
        let mut places = BTreeMap::new();
        let (mut triangles, mut edges) = (Vec::new(), BTreeSet::new());
        for polygon in polygons {
            let indices: Vec<u32> = polygon
                .into_iter()
                .map(|corner| {
                    *places.entry(corner.to_array().map(f64::to_bits)).or_insert_with(|| {
                        corners.push(corner);
                        corners.len() as u32 - 1
                    })
                })
                .collect();
            for pair in indices[1..].windows(2) {
                let [a, b, c] = [indices[0], pair[0], pair[1]];
                triangles.push([a, b, c]);
                edges.extend([[a, b], [b, c], [c, a]].map(|[i, j]| [i.min(j), i.max(j)]));
            }
        }
        let largest = parts.iter().max_by(|a, b| a.volume().total_cmp(&b.volume()));
        let anchor = largest.map_or(DVec3::ZERO, ConvexSolid::centre);
        let core = largest.map_or(Vec::new(), |part| core(part, anchor));
        Self { corners, triangles, edges: edges.into_iter().collect(), parts, anchor, core }
    }

    /// This surface with every corner moved inward from all planes that meet at the corner.
    fn drawn_in(mut self) -> Self {
        let mut normals: Vec<Vec<DVec3>> = vec![Vec::new(); self.corners.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| self.corners[i as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            for &corner in triangle {
                let known = &mut normals[corner as usize];
                if known.iter().all(|n| n.dot(normal) < 1.0 - SAME_PLANE) {
                    known.push(normal);
                }
            }
        }
        for (corner, normals) in self.corners.iter_mut().zip(normals) {
            *corner -= normals.iter().sum::<DVec3>() * DRAWN_IN;
        }
        self
    }

    /// This surface rotated, then translated.
    pub(super) fn placed(&self, orientation: DQuat, position: DVec3) -> Figure {
        let place = |&corner: &DVec3| orientation * corner + position;
        let corners: Vec<DVec3> = self.corners.iter().map(place).collect();
        Figure { bounds: Aabb::around(corners.iter().copied()), corners }
    }

    /// This surface, neither rotated nor translated.
    pub(super) fn in_place(&self) -> Figure {
        self.placed(DQuat::IDENTITY, DVec3::ZERO)
    }

    /// Whether the segment meets this surface, placed as `figure`.
    pub(super) fn stops(&self, figure: &Figure, from: DVec3, to: DVec3) -> bool {
        let way = Aabb::around([from, to]);
        way.overlaps(&figure.bounds)
            && self.triangles_at(figure).any(|triangle| meets(from, to, triangle))
    }

    /// Whether the segment, given in this surface's axes, meets the core of this surface.
    pub(super) fn core_stops(&self, from: DVec3, to: DVec3) -> bool {
        self.core.iter().any(|&triangle| meets(from, to, triangle))
    }

    fn triangles_at<'a>(&'a self, figure: &'a Figure) -> impl Iterator<Item = Triangle> + Clone {
        self.triangles.iter().map(|t| t.map(|i| figure.corners[i as usize]))
    }

    /// Whether an edge of this surface meets a triangle of `other`.
    fn pierces(&self, at: &Figure, other: &Self, there: &Figure) -> bool {
        let edges: Vec<(DVec3, DVec3, Aabb)> = self
            .edges
            .iter()
            .map(|edge| edge.map(|i| at.corners[i as usize]))
            .map(|[p, q]| (p, q, Aabb::around([p, q])))
            .filter(|(_, _, bounds)| bounds.overlaps(&there.bounds))
            .collect();
        other.triangles_at(there).any(|triangle| {
            let bounds = Aabb::around(triangle);
            let near = |edge: &&(DVec3, DVec3, Aabb)| edge.2.overlaps(&bounds);
            bounds.overlaps(&at.bounds)
                && edges.iter().filter(near).any(|&(p, q, _)| meets(p, q, triangle))
        })
    }

    /// Whether the two surfaces share a point: an edge of one meets the other, or one is inside the
    /// other.
    pub(super) fn overlaps(&self, at: &Figure, other: &Self, there: &Figure) -> bool {
        at.bounds.overlaps(&there.bounds)
            && (self.pierces(at, other, there)
                || other.pierces(there, self, at)
                || at.corners.first().is_some_and(|&p| holds(other.triangles_at(there), p))
                || there.corners.first().is_some_and(|&p| holds(self.triangles_at(at), p)))
    }
}

fn core(part: &ConvexSolid, anchor: DVec3) -> Vec<Triangle> {
    let halfway = |corner: DVec3| anchor.midpoint(corner);
    let fan = |corners: Vec<DVec3>| {
        let first = corners[0];
        let sides = corners[1..].windows(2).map(|pair| [first, pair[0], pair[1]]);
        sides.map(|triangle| triangle.map(halfway)).collect::<Vec<_>>()
    };
    part.faces().iter().flat_map(|face| fan(part.winding(face).vertices)).collect()
}

impl Figure {
    /// The box around the surface.
    pub(super) fn bounds(&self) -> &Aabb {
        &self.bounds
    }
}
