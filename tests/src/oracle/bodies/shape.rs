//! Closed surfaces of triangles from boxes, brushes and models, and their poses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::SHRINK;

/// A closed surface of triangles, in its own coordinates.
#[derive(Clone, Debug)]
pub struct Shape {
    corners: Vec<DVec3>,
    /// For each corner, the sum of the normals of the planes that meet there.
    outward: Vec<DVec3>,
    triangles: Vec<[usize; 3]>,
    edges: Vec<[usize; 2]>,
}

/// A shape at a pose in the world.
#[derive(Clone, Debug)]
pub struct Body {
    shape: Arc<Shape>,
    corners: Vec<DVec3>,
    shrunk: Vec<DVec3>,
    bounds: [DVec3; 2],
}

/// Normals closer than this count as normals of one plane.
const SAME_PLANE: f64 = 1e-9;

impl Shape {
    /// The closed surface of convex polygons, counter-clockwise seen from outside. Corners at
    /// exactly the same place are one corner.
    ///
    /// # Panics
    /// If the surface is not closed.
    pub fn from_loops(loops: &[Vec<DVec3>]) -> Arc<Self> {
        let mut shape = Self { corners: vec![], outward: vec![], triangles: vec![], edges: vec![] };
        let mut places = BTreeMap::new();
        let mut planes: Vec<Vec<DVec3>> = Vec::new();
        let mut directed = BTreeSet::new();
        for polygon in loops {
            let normal = newell(polygon);
            let indices: Vec<usize> = polygon
                .iter()
                .map(|&corner| {
                    *places.entry(corner.to_array().map(f64::to_bits)).or_insert_with(|| {
                        shape.corners.push(corner);
                        planes.push(Vec::new());
                        shape.corners.len() - 1
                    })
                })
                .collect();
            for &index in &indices {
                if planes[index].iter().all(|n| n.dot(normal) < 1.0 - SAME_PLANE) {
                    planes[index].push(normal);
                }
            }
            for i in 2..indices.len() {
                let triangle = [indices[0], indices[i - 1], indices[i]];
                shape.triangles.push(triangle);
                directed.extend(sides(triangle));
            }
        }
        let closed = directed.iter().all(|&[from, to]| directed.contains(&[to, from]));
        assert!(closed, "the surface is not closed");
        shape.outward = planes.iter().map(|planes| planes.iter().sum()).collect();
        shape.edges = directed.into_iter().filter(|[from, to]| from < to).collect();
        Arc::new(shape)
    }

    /// The box with these corners.
    pub fn cuboid(min: DVec3, max: DVec3) -> Arc<Self> {
        let corner = |i: usize| {
            DVec3::new(
                if i & 1 == 0 { min.x } else { max.x },
                if i & 2 == 0 { min.y } else { max.y },
                if i & 4 == 0 { min.z } else { max.z },
            )
        };
        let faces: [[usize; 4]; 6] =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Self::from_loops(&faces.map(|face| face.map(corner).to_vec()))
    }

    /// The shape of a rigid body's model, from the text of its OBJ file. Its centre of mass is
    /// moved to the origin, as in the simulation.
    pub fn model(text: &str) -> Arc<Self> {
        let mut loops = read_obj(text);
        let (mut volume, mut moment) = (0.0, DVec3::ZERO);
        for polygon in &loops {
            for pair in polygon[1..].windows(2) {
                let (a, b, c) = (polygon[0], pair[0], pair[1]);
                let part = a.dot(b.cross(c));
                volume += part;
                moment += (a + b + c) * (part / 4.0);
            }
        }
        let centre = moment / volume;
        loops.iter_mut().flatten().for_each(|corner| *corner -= centre);
        Self::from_loops(&loops)
    }

    /// The body with this shape, rotated and then moved.
    pub fn posed(self: &Arc<Self>, orientation: DQuat, position: DVec3) -> Body {
        let place = |corner: DVec3| orientation * corner + position;
        let drawn_in = |(&corner, &out): (&DVec3, &DVec3)| place(corner - out * SHRINK);
        let corners: Vec<DVec3> = self.corners.iter().map(|&c| place(c)).collect();
        let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let shrunk = self.corners.iter().zip(&self.outward).map(drawn_in).collect();
        Body { shape: Arc::clone(self), corners, shrunk, bounds: [low, high] }
    }

    /// The body with this shape at the origin, not rotated.
    pub fn in_place(self: &Arc<Self>) -> Body {
        self.posed(DQuat::IDENTITY, DVec3::ZERO)
    }

    pub(super) fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    pub(super) fn edges(&self) -> &[[usize; 2]] {
        &self.edges
    }
}

impl Body {
    /// Least and greatest corner of the box around the body.
    pub fn bounds(&self) -> [DVec3; 2] {
        self.bounds
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    pub(super) fn shrunk(&self) -> &[DVec3] {
        &self.shrunk
    }
}

/// The polygons of a Wavefront OBJ text with plain vertices and faces.
///
/// # Panics
/// If a vertex is not three numbers, or a face has other words than indices of earlier vertices.
pub fn read_obj(text: &str) -> Vec<Vec<DVec3>> {
    let mut corners: Vec<DVec3> = Vec::new();
    let mut loops = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut next = || words.next().and_then(|w| w.parse().ok()).expect("a coordinate");
                corners.push(DVec3::new(next(), next(), next()));
            }
            Some("f") => {
                let index = |w: &str| w.parse::<usize>().expect("a plain index from 1");
                loops.push(words.map(|w| corners[index(w) - 1]).collect());
            }
            _ => {}
        }
    }
    loops
}

fn sides([a, b, c]: [usize; 3]) -> [[usize; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

fn newell(polygon: &[DVec3]) -> DVec3 {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).map(|(a, b)| a.cross(*b)).sum::<DVec3>().normalize()
}
