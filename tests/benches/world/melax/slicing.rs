//! Two ways to find the solid leaves that a polyhedron touches (section 6). Merging slices the
//! polyhedron at every plane of the tree that it straddles. The other way only tests on which sides
//! of each plane the polyhedron lies.

use std::hint::black_box;
use std::time::Instant;

use glam::DVec3;
use obsp::Map;
use obsp::body::ConvexPoints;
use obsp::geometry::{Aabb, ConvexSolid, Plane, Winding};
use obsp::shift::{Link, ShiftTree};

use crate::measure::median;

const TIMINGS: usize = 15;

pub(crate) struct Cost {
    pub(crate) slices: usize,
    /// Time of merging, in seconds.
    pub(crate) merging: f64,
    pub(crate) not_slicing: f64,
}

/// Measures both ways with a cube in the middle of the world. The side of the cube is half the
/// longest side of the world.
pub(crate) fn measure(world: &Map) -> Cost {
    let bounds = world.bounds();
    let (centre, side) = (bounds.centre(), (bounds.max - bounds.min).max_element() * 0.5);
    let cube = ConvexSolid::from_box(&Aabb::from_centre(centre, DVec3::splat(side * 0.5)))
        .expect("a world has an extent");
    let polytope: Polytope = cube.faces().iter().map(|face| cube.winding(face)).collect();
    let corners = cube.vertices().iter().map(|v| (*v - centre).as_vec3()).collect();
    let body = ConvexPoints::new(corners).expect("a cube has corners");
    let tree = world.shift_tree();
    let mut merge = Merge { tree, slices: 0, solid: 0 };
    merge.descend(tree.root(), polytope.clone());
    let touched = tree.count_touched(&body, centre.as_vec3(), &mut ());
    assert!(touched >= merge.solid, "not slicing may report more leaves, never fewer");
    let mut timings = [Vec::new(), Vec::new()];
    for _ in 0..TIMINGS {
        let started = Instant::now();
        let mut merge = Merge { tree, slices: 0, solid: 0 };
        merge.descend(tree.root(), black_box(polytope.clone()));
        black_box(merge.solid);
        timings[0].push(started.elapsed().as_secs_f64());
        let started = Instant::now();
        black_box(tree.count_touched(black_box(&body), centre.as_vec3(), &mut ()));
        timings[1].push(started.elapsed().as_secs_f64());
    }
    let [merging, not_slicing] = timings.map(median);
    Cost { slices: merge.slices, merging, not_slicing }
}

/// The faces of a convex polyhedron.
type Polytope = Vec<Winding>;

/// Melax's `M()`: finds all solid leaves that the polyhedron reaches into.
struct Merge<'a> {
    tree: &'a ShiftTree,
    slices: usize,
    solid: usize,
}

impl Merge<'_> {
    fn descend(&mut self, link: Link, polytope: Polytope) {
        let Some(index) = link.index() else {
            self.solid += usize::from(link == Link::SOLID);
            return;
        };
        let branch = &self.tree.branches()[index];
        let normal = branch.normal.as_dvec3();
        let plane = Plane { normal, distance: f64::from(branch.distance) };
        let distances = polytope
            .iter()
            .flat_map(|winding| &winding.vertices)
            .map(|vertex| plane.signed_distance(*vertex));
        let (least, most) =
            distances.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), d| (l.min(d), m.max(d)));
        if least >= 0.0 {
            self.descend(branch.front, polytope);
        } else if most <= 0.0 {
            self.descend(branch.back, polytope);
        } else {
            self.slices += 1;
            let (front, back) = slice(&polytope, &plane);
            self.descend(branch.front, front);
            self.descend(branch.back, back);
        }
    }
}

/// The parts in front of and behind a plane.
fn slice(polytope: &Polytope, plane: &Plane) -> (Polytope, Polytope) {
    let (mut front, mut back) = (Polytope::new(), Polytope::new());
    let mut rim: Vec<DVec3> = Vec::new();
    for winding in polytope {
        let (f, b) = winding.split(plane);
        if f.is_some() && b.is_some() {
            let on = |v: &&DVec3| plane.signed_distance(**v).abs() < 1e-5;
            rim.extend(b.iter().flat_map(|b| b.vertices.iter().filter(on)));
        }
        front.extend(f);
        back.extend(b);
    }
    if rim.len() >= 3 {
        let centre = rim.iter().sum::<DVec3>() / rim.len() as f64;
        let (u, v) = plane.normal.any_orthonormal_pair();
        let angle = |p: &DVec3| (*p - centre).dot(v).atan2((*p - centre).dot(u));
        rim.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        let reversed = rim.iter().rev().copied().collect();
        back.push(Winding { vertices: rim });
        front.push(Winding { vertices: reversed });
    }
    (front, back)
}
