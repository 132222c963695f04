use glam::Vec3;
use obsp::geometry::ConvexSolid;
use parry3d::math::{Pose, Vector};
use parry3d::query::{Ray, RayCast, ShapeCastOptions, cast_shapes};
use parry3d::shape::{Compound, Cuboid, Shape, SharedShape, TriMesh};

use crate::contestants::Contestant;

/// The same solids in the forms of `parry3d`.
pub(crate) struct Peers {
    compound: Compound,
    mesh: TriMesh,
}

impl Peers {
    pub(crate) fn new<'a>(solids: impl IntoIterator<Item = &'a ConvexSolid>) -> Self {
        let solids: Vec<&ConvexSolid> = solids.into_iter().collect();
        let bodies = solids.iter().filter_map(|solid| {
            let (vertices, triangles) = (vertices(solid), triangles(solid, 0));
            // The few slivers that `parry3d` rejects are left out.
            Some((Pose::IDENTITY, SharedShape::convex_mesh(vertices, &triangles)?))
        });
        let compound = Compound::new(bodies.collect());
        let (mut all_vertices, mut all_triangles) = (Vec::new(), Vec::new());
        for solid in solids {
            all_triangles.extend(triangles(solid, all_vertices.len() as u32));
            all_vertices.extend(vertices(solid));
        }
        let mesh = TriMesh::new(all_vertices, all_triangles).expect("solids have faces");
        Self { compound, mesh }
    }

    pub(crate) fn contestants(&self, half_extents: Vec3) -> [Contestant<'_>; 2] {
        [
            contestant("parry3d, BVH of convex brushes", &self.compound, half_extents),
            contestant("parry3d, triangle mesh", &self.mesh, half_extents),
        ]
    }
}

fn contestant<'a, S: Shape + RayCast>(
    name: &str,
    world: &'a S,
    half_extents: Vec3,
) -> Contestant<'a> {
    if half_extents == Vec3::ZERO {
        return Contestant::new(name, move |&(start, end)| {
            let ray = Ray::new(vector(start), vector(end - start));
            world.cast_local_ray(&ray, 1.0, true)
        });
    }
    let cuboid = Cuboid::new(vector(half_extents));
    // With these options a cast does what a trace does: it hits only bodies that the box
    // approaches, and computes no penetrations.
    let options = ShapeCastOptions {
        stop_at_penetration: false,
        compute_impact_geometry_on_penetration: false,
        ..ShapeCastOptions::with_max_time_of_impact(1.0)
    };
    Contestant::new(name, move |&(start, end)| {
        let (from, way) = (Pose::from_translation(vector(start)), vector(end - start));
        let met = cast_shapes(&Pose::IDENTITY, Vector::ZERO, world, &from, way, &cuboid, options);
        met.expect("casting a cuboid is supported").map(|hit| hit.time_of_impact)
    })
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn vertices(solid: &ConvexSolid) -> Vec<Vector> {
    solid.vertices().iter().map(|v| vector(v.as_vec3())).collect()
}

/// The faces as fans of triangles; `base` is the index of the first vertex.
fn triangles(solid: &ConvexSolid, base: u32) -> Vec<[u32; 3]> {
    let index = |i: u16| base + u32::from(i);
    let fan = |face: &obsp::geometry::Face| {
        let first = face.vertices[0];
        let rest = face.vertices[1..].windows(2);
        rest.map(|pair| [index(first), index(pair[0]), index(pair[1])]).collect::<Vec<_>>()
    };
    solid.faces().iter().flat_map(fan).collect()
}
