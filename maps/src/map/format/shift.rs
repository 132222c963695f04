use std::collections::BTreeMap;

use bincode::{BorrowDecode, Encode};
use glam::Vec3;

use super::list::List;
use crate::map::shift::{InvalidShiftTree, Kind, ShiftTree, Unlinked};

/// A shift tree. Each plane is stored once, in the order in which the branches, in
/// pre-order, first refer to it.
#[derive(Encode, BorrowDecode)]
pub(super) struct ShiftRecord {
    root: Kind,
    planes: List<PlaneRecord>,
    branches: List<BranchRecord>,
}

#[derive(Clone, Copy, Encode, BorrowDecode)]
struct PlaneRecord {
    normal: [f32; 3],
    distance: f32,
}

#[derive(Encode, BorrowDecode)]
struct BranchRecord {
    plane: u32,
    front: Kind,
    back: Kind,
}

impl ShiftRecord {
    pub(super) fn of(tree: &ShiftTree) -> Self {
        let mut known = BTreeMap::new();
        let mut planes = Vec::new();
        let mut branches = Vec::with_capacity(tree.branches().len());
        for branch in tree.branches() {
            let plane = PlaneRecord { normal: branch.normal.into(), distance: branch.distance };
            let bits = (plane.normal.map(f32::to_bits), plane.distance.to_bits());
            let plane = *known.entry(bits).or_insert_with(|| {
                planes.push(plane);
                planes.len() as u32 - 1
            });
            let [front, back] = [branch.front, branch.back].map(|link| link.kind());
            branches.push(BranchRecord { plane, front, back });
        }
        Self { root: tree.root().kind(), planes: List(planes), branches: List(branches) }
    }

    pub(super) fn into_tree(self) -> Result<ShiftTree, InvalidShiftTree> {
        let unlinked = |(i, branch): (usize, BranchRecord)| {
            let plane = self.planes.0.get(branch.plane as usize);
            let PlaneRecord { normal, distance } = *plane.ok_or(InvalidShiftTree::Plane(i))?;
            let children = [branch.front, branch.back];
            Ok(Unlinked { normal: Vec3::from(normal), distance, children })
        };
        let branches = self.branches.0.into_iter().enumerate().map(unlinked);
        ShiftTree::new(self.root, branches.collect::<Result<_, _>>()?)
    }
}
