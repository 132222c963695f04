//! The depth of an overlap.

use glam::{DMat3, DQuat, DVec3};
use obsp::geometry::ConvexSolid;

/// A cross product shorter than this belongs to parallel edges. For parallel edges the normals of
/// the faces contain all separating axes.
const PARALLEL: f64 = 1e-6;

/// A convex part somewhere in the world.
struct Part {
    corners: Vec<DVec3>,
    normals: Vec<DVec3>,
    edges: Vec<DVec3>,
}

impl Part {
    fn placed(solid: &ConvexSolid, orientation: DQuat, position: DVec3) -> Self {
        let turn = DMat3::from_quat(orientation);
        let edge = |&[a, b]: &[u16; 2]| {
            turn * (solid.vertices()[usize::from(b)] - solid.vertices()[usize::from(a)])
        };
        Self {
            corners: solid.vertices().iter().map(|&v| turn * v + position).collect(),
            normals: solid.faces().iter().map(|face| turn * face.plane.normal).collect(),
            edges: solid.edges().iter().map(edge).filter_map(DVec3::try_normalize).collect(),
        }
    }

    fn reach(&self, axis: DVec3) -> (f64, f64) {
        let along = self.corners.iter().map(|corner| corner.dot(axis));
        along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    }

    /// The shortest displacement along `axis`, in either direction, that separates the two parts.
    fn overlap_along(&self, other: &Self, axis: DVec3) -> f64 {
        let ((a, b), (c, d)) = (self.reach(axis), other.reach(axis));
        (b - c).min(d - a)
    }
}

/// The depth of an overlap, in units: the shortest displacement that separates two convex parts,
/// one of each body. If several pairs of parts overlap, the deepest overlap counts. The search
/// tries all separating axes of the two convex parts, so it misses no separation.
pub(super) fn depth(a: (&[ConvexSolid], DQuat, DVec3), b: (&[ConvexSolid], DQuat, DVec3)) -> f64 {
    let placed = |(parts, orientation, position): (&[ConvexSolid], DQuat, DVec3)| -> Vec<Part> {
        parts.iter().map(|part| Part::placed(part, orientation, position)).collect()
    };
    let (a, b) = (placed(a), placed(b));
    let pairs = a.iter().flat_map(|p| b.iter().map(move |q| (p, q)));
    pairs.map(|(p, q)| depth_of_parts(p, q)).fold(0.0, f64::max)
}

fn depth_of_parts(a: &Part, b: &Part) -> f64 {
    let faces = a.normals.iter().chain(&b.normals).copied();
    let crosses = a.edges.iter().flat_map(|p| b.edges.iter().map(move |q| p.cross(*q)));
    let axes = crosses.filter(|axis| axis.length() > PARALLEL).map(DVec3::normalize);
    let least =
        faces.chain(axes).map(|axis| a.overlap_along(b, axis)).fold(f64::INFINITY, f64::min);
    least.max(0.0)
}

#[cfg(test)]
mod tests {
    use obsp::geometry::Aabb;

    use super::*;

    #[test]
    fn boxes_are_as_deep_as_their_shallowest_axis() {
        let cube = ConvexSolid::from_box(&Aabb::from_centre(DVec3::ZERO, DVec3::ONE)).unwrap();
        let parts = std::slice::from_ref(&cube);
        let at = |position: DVec3| {
            depth((parts, DQuat::IDENTITY, DVec3::ZERO), (parts, DQuat::IDENTITY, position))
        };
        assert!((at(DVec3::new(0.5, 1.75, 1.0)) - 0.25).abs() < 1e-12);
        assert_eq!(at(DVec3::new(2.5, 0.0, 0.0)), 0.0);
        // The cube stands on a corner. The corner's distance from the centre is the square root of
        // 3.
        let tip = DQuat::from_rotation_arc(DVec3::ONE.normalize(), -DVec3::Z);
        let high = DVec3::Z * (1.0 + 3.0_f64.sqrt() - 0.125);
        let depth = depth((parts, DQuat::IDENTITY, DVec3::ZERO), (parts, tip, high));
        assert!((depth - 0.125).abs() < 1e-9, "{depth}");
    }
}
