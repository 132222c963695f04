//! Point queries: which sizes are solid at a point.

use arrayvec::ArrayVec;
use glam::Vec3;

use super::node::{Child, Node, Solidity, Target, rounding};
use super::{MAX_DEPTH, OnionTree};
use crate::map::extent::inside_universe;
use crate::spaces::SizeId;

/// A node on whose plane a point is, and the side that is being searched.
#[derive(Clone, Copy)]
pub(crate) struct PlaneSide {
    pub(crate) index: u32,
    pub(crate) front: bool,
}

/// The planes on which the point of a query is.
#[derive(Default)]
struct OnPlanes {
    /// Whether the point was on or near any plane.
    any: bool,
    /// The nodes above the current one on whose planes the point is, each with the side that is
    /// being searched.
    sides: ArrayVec<PlaneSide, MAX_DEPTH>,
    /// Nodes whose back is still to be searched, each with the number of `sides` above it.
    waiting: ArrayVec<(u32, u16), MAX_DEPTH>,
}

/// Planes may nearly coincide if the dot product of their normals is at least this: the normals
/// differ by at most eight degrees. Around the line in which such planes cross, their order is
/// uncertain over seven times the rounding.
pub(crate) const PARALLEL: f32 = 0.99;

impl OnionTree {
    /// Solidity of a point for all sizes. A point on a plane, within rounding, is solid only for
    /// the sizes for which both sides are solid, because surfaces belong to the empty side.
    #[inline]
    pub(crate) fn solidity(&self, point: Vec3) -> Solidity {
        if !inside_universe(point) {
            return Solidity::SOLID;
        }
        let known = |child: Child| match child.target() {
            Target::Leaf(solidity) => Ok(solidity),
            Target::Node(index) => Err(index),
        };
        self.around(self.root, point, known, |solidity| solidity == Solidity::EMPTY, 0.0).0
    }

    /// Whether the point is solid for one size, as [`Self::solidity`] returns for all. The search
    /// goes no farther down than the tree is divided for that size.
    #[inline]
    pub(crate) fn is_solid(&self, size: SizeId, point: Vec3) -> bool {
        self.is_solid_near(self.root, size, point, 0.0).0
    }

    /// As [`Self::is_solid`], and whether a plane on the way down from `root` is nearer than
    /// `near`.
    #[inline]
    pub(crate) fn is_solid_near(
        &self,
        root: Child,
        size: SizeId,
        point: Vec3,
        near: f32,
    ) -> (bool, bool) {
        if !inside_universe(point) {
            return (true, false);
        }
        let known = |child: Child| match child.target() {
            Target::Leaf(solidity) => Ok(solidity),
            Target::Node(index) => match self.nodes[index as usize].uniform(size) {
                Some(true) => Ok(Solidity::SOLID),
                Some(false) => Ok(Solidity::EMPTY),
                None => Err(index),
            },
        };
        let enough = |solidity: Solidity| !solidity.contains(size);
        let (solidity, beside) = self.around(root, point, known, enough, near);
        (solidity.contains(size), beside)
    }

    /// The sizes that are solid on all sides of a point, and whether a plane is nearer than `near`
    /// or than the rounding. `known` gives the solidity of everything below a child, or the node at
    /// which to go on. The search ends when `enough` holds.
    #[inline]
    fn around(
        &self,
        root: Child,
        point: Vec3,
        known: impl Fn(Child) -> Result<Solidity, u32>,
        enough: impl Fn(Solidity) -> bool,
        near: f32,
    ) -> (Solidity, bool) {
        let near = rounding(point).max(near);
        let mut solidity = Solidity::SOLID;
        let mut on = OnPlanes::default();
        let mut child = root;
        loop {
            let index = match known(child) {
                Err(index) => index,
                Ok(here) => {
                    solidity = solidity.and(here);
                    match on.waiting.pop() {
                        Some((index, above)) if !enough(solidity) => {
                            on.sides.truncate(usize::from(above));
                            on.sides.push(PlaneSide { index, front: false });
                            child = self.nodes[index as usize].back;
                        }
                        _ => return (solidity, on.any),
                    }
                    continue;
                }
            };
            let node = &self.nodes[index as usize];
            let distance = node.signed_distance(point);
            child = if distance > near {
                node.front
            } else if distance < -near {
                node.back
            } else {
                self.on_plane(&mut on, index, point, distance)
            };
        }
    }

    /// The child of a node at which the search goes on, if the point is near the node's plane.
    // This function is rare, so it is kept out of the hot loop.
    #[cold]
    #[inline(never)]
    fn on_plane(&self, on: &mut OnPlanes, index: u32, point: Vec3, distance: f32) -> Child {
        let node = &self.nodes[index as usize];
        on.any = true;
        match node.rounded(distance, rounding(point)) {
            front if front > 0.0 => node.front,
            back if back < 0.0 => node.back,
            _ => match self.implied(on.sides.iter().copied(), index, &[point]) {
                Some(true) => node.front,
                Some(false) => node.back,
                None => {
                    on.waiting.push((index, on.sides.len() as u16));
                    on.sides.push(PlaneSide { index, front: true });
                    node.front
                }
            },
        }
    }

    /// Whether points on a node's plane, within rounding, count as in front of it. `None` unless
    /// this follows from the `sides` of other planes that the points are on.
    ///
    /// Of two planes that nearly coincide, one lies in front of the other near the points. The
    /// space in front of the front plane and behind the rear plane is then far away, beyond the
    /// line in which the planes cross. So leaves in that space do not concern the points.
    #[cold]
    pub(crate) fn implied(
        &self,
        mut sides: impl Iterator<Item = PlaneSide>,
        index: u32,
        points: &[Vec3],
    ) -> Option<bool> {
        let node = &self.nodes[index as usize];
        let exact = |node: &Node, point: Vec3| {
            node.normal.as_dvec3().dot(point.as_dvec3()) - f64::from(node.distance)
        };
        sides.find_map(|PlaneSide { index, front }| {
            let other = &self.nodes[index as usize];
            let same_way = node.normal.dot(other.normal);
            if same_way.abs() < PARALLEL {
                return None;
            }
            let sign = f64::from(same_way.signum());
            let front = front == (sign > 0.0);
            let apart = (node.normal - other.normal * same_way.signum()).length();
            let beyond = |&point: &Vec3| {
                let by = sign * exact(other, point) - exact(node, point);
                let turned = f64::from(apart * rounding(point));
                if front { -by > turned } else { by > turned }
            };
            points.iter().all(beyond).then_some(front)
        })
    }
}
