//! Whether a cell is solid, empty or mixed for the expanded brushes of a size.

use super::cell::{Cell, CellState, SolidSpace};
use super::hull::{Hull, HullSolid};
use super::planes::{PlaneId, PlaneTable};
use super::polygon::Side;
use crate::spaces::SizeId;

impl SolidSpace for Vec<Hull> {
    fn state(&self, cell: &Cell, size: SizeId, _: &PlaneTable) -> CellState {
        cell.state(&self[size.index()])
    }
}

impl Cell {
    /// The state of this cell for the solids of `hull`, apart from parts thinner than
    /// the tolerance.
    pub(super) fn state(&self, hull: &Hull) -> CellState {
        let mut cutting = Vec::new();
        let mut cut = None;
        for index in hull.overlapping(&self.bounds()) {
            let solid = hull.solid(index);
            match self.within(solid) {
                Within::All => return CellState::Solid,
                Within::None => (),
                Within::Some(plane) => {
                    cutting.push(solid);
                    cut = cut.or(Some(plane));
                }
            }
        }
        let Some(plane) = cut else { return CellState::Empty };
        let mut pieces = vec![self.clone()];
        for solid in cutting {
            pieces = pieces.into_iter().flat_map(|piece| piece.outside(solid)).collect();
        }
        if pieces.is_empty() { CellState::Solid } else { CellState::Mixed(plane) }
    }

    /// The part of this cell that is in `solid`.
    fn within(&self, solid: &HullSolid) -> Within {
        let mut rest = None;
        let mut cut = None;
        for face in &solid.faces {
            let cell = rest.as_ref().unwrap_or(self);
            match cell.side(&face.plane) {
                Side::Front | Side::On => return Within::None,
                Side::Back => (),
                Side::Both => {
                    rest = Some(cell.split(face.id, &face.plane).1);
                    cut = cut.or(Some(face.id));
                }
            }
        }
        cut.map_or(Within::All, Within::Some)
    }

    /// The parts of this cell outside `solid`.
    fn outside(self, solid: &HullSolid) -> Vec<Self> {
        let mut outside = Vec::new();
        let mut rest = self.clone();
        for face in &solid.faces {
            match rest.side(&face.plane) {
                Side::Front | Side::On => return vec![self],
                Side::Back => (),
                Side::Both => {
                    let (front, back) = rest.split(face.id, &face.plane);
                    outside.push(front);
                    rest = back;
                }
            }
        }
        outside
    }
}

/// The part of a cell that is in a solid.
enum Within {
    None,
    All,
    /// A part of the cell, which this plane of the solid cuts in two.
    Some(PlaneId),
}
