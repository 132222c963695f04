//! The distance from a point to the nearest surface.

use arrayvec::ArrayVec;
use glam::Vec3;

use super::extent::inside_universe;
use super::onion::{Child, MAX_DEPTH, OnionTree, Target, rounding};
use crate::spaces::SizeId;

/// The surface nearest to a point, by the planes of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Unit normal of the surface, towards the point.
    pub normal: Vec3,
    /// Distance along the normal in units, not above the true distance.
    pub distance: f32,
}

/// The surroundings of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clearance {
    /// Nothing solid within the radius.
    Clear,
    /// A surface within the radius.
    Near(Near),
    /// The point itself is in solid.
    Inside,
}

impl OnionTree {
    /// The surface nearest to `point` that is solid for `size` and within `radius`.
    ///
    /// A solid leaf lies beyond every plane that is crossed on the path down to the leaf, so it is
    /// at least as far as the farthest of these planes. Of all leaves within the radius, the
    /// nearest counts.
    ///
    /// The search begins at `root`, below which all places within the radius lie.
    pub(crate) fn clearance(
        &self,
        root: Child,
        size: SizeId,
        point: Vec3,
        radius: f32,
    ) -> Clearance {
        if !inside_universe(point) {
            return Clearance::Inside;
        }
        let found = self.nearest(root, size, point, radius);
        // The search comes to every leaf that a point query looks into, because these leaves are
        // within the rounding. So a point that is clear needs no point query.
        let is_clear = found == Clearance::Clear && rounding(point) < radius;
        if !is_clear && self.is_solid(size, point) { Clearance::Inside } else { found }
    }

    /// [`Self::clearance`] by the planes of the tree alone. A point on a plane counts as near a
    /// surface where one side of the plane is solid.
    fn nearest(&self, root: Child, size: SizeId, point: Vec3, radius: f32) -> Clearance {
        let rounding = rounding(point);
        let mut found = Clearance::Clear;
        // The radius shrinks to the distance of the nearest leaf so far.
        let mut radius = radius;
        // The children beyond planes that are still to be searched, each with the farthest plane
        // that is crossed on the path to it.
        let mut waiting: ArrayVec<(Child, Near), MAX_DEPTH> = ArrayVec::new();
        let (mut child, mut crossed) = (root, None::<Near>);
        loop {
            let (solid, index) = match child.target() {
                Target::Leaf(solidity) => (Some(solidity.contains(size)), 0),
                Target::Node(index) => (self.nodes()[index as usize].uniform(size), index),
            };
            if let Some(solid) = solid {
                if solid {
                    let Some(near) = crossed else { return Clearance::Inside };
                    (radius, found) = (near.distance, Clearance::Near(near));
                }
                let next = loop {
                    match waiting.pop() {
                        // A nearer leaf may have been found since this child was pushed.
                        Some((_, near)) if near.distance >= radius => (),
                        next => break next,
                    }
                };
                let Some((next, near)) = next else { return found };
                (child, crossed) = (next, Some(near));
                continue;
            }
            let node = &self.nodes()[index as usize];
            let distance = node.signed_distance(point);
            let (here, beyond, normal) = if distance >= 0.0 {
                (node.front, node.back, node.normal)
            } else {
                (node.back, node.front, -node.normal)
            };
            let distance = distance.abs();
            if distance < radius {
                let farther = crossed.filter(|near| near.distance >= distance);
                waiting.push((beyond, farther.unwrap_or(Near { normal, distance })));
            }
            // A point on a plane touches solids on either side of it.
            if node.rounded(distance, rounding) == 0.0 {
                crossed = crossed.or(Some(Near { normal: -normal, distance: 0.0 }));
            }
            child = here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, Map, Source, Spaces, compile};

    /// A block of 64 units about the origin, alone.
    fn block() -> Map {
        let text = "{ \"classname\" \"worldspawn\" {
            ( 32 0 0 ) ( 32 0 1 ) ( 32 1 0 ) t 0 0 0 1 1
            ( -32 0 0 ) ( -32 1 0 ) ( -32 0 1 ) t 0 0 0 1 1
            ( 0 32 0 ) ( 1 32 0 ) ( 0 32 1 ) t 0 0 0 1 1
            ( 0 -32 0 ) ( 0 -32 1 ) ( 1 -32 0 ) t 0 0 0 1 1
            ( 0 0 32 ) ( 0 1 32 ) ( 1 0 32 ) t 0 0 0 1 1
            ( 0 0 -32 ) ( 1 0 -32 ) ( 0 1 -32 ) t 0 0 0 1 1 } }";
        let source = Source::from_text("block", text);
        let compiled =
            compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| {});
        compiled.expect("the block compiles").map
    }

    #[test]
    fn the_nearest_face_is_found_from_all_sides_and_only_within_the_radius() {
        let map = block();
        let size = map.size("point").expect("a default size");
        for axis in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
            let aside = Vec3::new(0.5, 0.25, 0.125) * (Vec3::ONE - axis.abs());
            let point = axis * 32.25 + aside;
            let distance = (point.dot(axis) - 32.0).abs();
            let near = Clearance::Near(Near { normal: axis, distance });
            assert_eq!(map.clearance(size, point, 1.0), near);
            assert_eq!(map.clearance(size, point, distance * 0.5), Clearance::Clear);
        }
        assert_eq!(map.clearance(size, Vec3::ONE, 1.0), Clearance::Inside);
    }

    /// On, beside and behind the faces, with radii above and below the rounding.
    #[test]
    fn a_point_is_inside_exactly_where_it_is_solid() {
        let map = block();
        let size = map.size("point").expect("a default size");
        let numbers = [-40.0, -32.0, -31.999, -7.0, 0.0, 31.0, 32.0, 32.000_01, 32.5];
        let mut inside = 0;
        for place in (0..9 * 9 * 9).map(|at| [at % 9, at / 9 % 9, at / 81]) {
            let point = Vec3::from_array(place.map(|at: usize| numbers[at]));
            for radius in [1e-9, 1.0 / 256.0, 1.0, 100.0] {
                let is_inside = map.clearance(size, point, radius) == Clearance::Inside;
                assert_eq!(is_inside, map.is_solid(size, point), "{point}, {radius}");
                inside += u32::from(is_inside);
            }
        }
        assert_eq!(inside, 4 * 4 * 4 * 4);
    }

    #[test]
    fn by_an_edge_the_distance_is_never_too_great() {
        let map = block();
        let size = map.size("point").expect("a default size");
        let Clearance::Near(near) = map.clearance(size, Vec3::new(32.3, 32.4, 0.0), 1.0) else {
            panic!("no surface is near the edge")
        };
        assert!(near.distance <= 0.5 && near.distance >= 0.3, "{near:?}");
    }
}
