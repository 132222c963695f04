//! The parts of surfaces that are left after the outside is filled.

use crate::compile::draft::{Draft, DraftChild};
use crate::compile::planes::PlaneTable;
use crate::compile::polygon::{Polygon, Side};

/// The parts of `polygons` in front of which `draft` is empty.
pub(in crate::compile) fn trimmed(
    polygons: Vec<Polygon>,
    draft: &Draft,
    planes: &PlaneTable,
) -> Vec<Polygon> {
    let mut left = Vec::new();
    for polygon in polygons {
        match exposed(&polygon, draft.root, draft, planes) {
            Exposed::All => left.push(polygon),
            Exposed::None => (),
            Exposed::Parts(parts) => left.extend(parts),
        }
    }
    left
}

/// The part of a polygon that faces empty space.
enum Exposed {
    All,
    None,
    Parts(Vec<Polygon>),
}

fn exposed(polygon: &Polygon, child: DraftChild, draft: &Draft, planes: &PlaneTable) -> Exposed {
    match draft.uniform(child, polygon.size) {
        Some(true) => return Exposed::None,
        Some(false) => return Exposed::All,
        None => (),
    }
    let DraftChild::Branch(index) = child else { return Exposed::None };
    let branch = &draft.branches[index];
    let [front, back] = branch.children;
    if branch.plane.index() == polygon.plane.index() {
        let side = if polygon.plane.is_flipped() { back } else { front };
        return exposed(polygon, side, draft, planes);
    }
    let cut = planes.get(branch.plane);
    match polygon.side(&cut) {
        Side::Front => exposed(polygon, front, draft, planes),
        Side::Back => exposed(polygon, back, draft, planes),
        Side::On => {
            // The polygon is nearly in the plane, so it may face either side.
            let sides = [front, back].map(|side| exposed(polygon, side, draft, planes));
            if let [Exposed::None, Exposed::None] = sides { Exposed::None } else { Exposed::All }
        }
        Side::Both => {
            let (front_part, back_part) = polygon.split(&cut);
            let parts = [(front_part, front), (back_part, back)];
            let parts = parts
                .map(|(part, side)| part.map(|part| (exposed(&part, side, draft, planes), part)));
            join(parts)
        }
    }
}

/// Joins the parts of a polygon, so that a polygon that is wholly exposed, or not at all, is kept
/// in one piece.
fn join(parts: [Option<(Exposed, Polygon)>; 2]) -> Exposed {
    let mut left = Vec::new();
    let (mut some, mut all) = (false, true);
    for (exposed, part) in parts.into_iter().flatten() {
        match exposed {
            Exposed::All => {
                some = true;
                left.push(part);
            }
            Exposed::None => all = false,
            Exposed::Parts(parts) => {
                (some, all) = (true, false);
                left.extend(parts);
            }
        }
    }
    match (some, all) {
        (false, _) => Exposed::None,
        (true, true) => Exposed::All,
        (true, false) => Exposed::Parts(left),
    }
}
