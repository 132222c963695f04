//! The BSP of one body, with a box in place of the other (Blow's "Aha!"). It proves many near
//! misses of concave bodies. Otherwise it finds which of their parts need the exact test.

use obsp::geometry::{Child, PolygonBsp};

use super::candidates::{Candidates, PartSet};
use super::mesh::is_angled;
use super::relative::{Relative, Side};
use super::{Body, Verdict};

/// For two bodies of up to this many parts each, the exact test compares the boxes of all parts in
/// less time than this stage takes.
const FEW_PARTS: usize = 6;

/// Whether the stage is worth its time after the boxes.
pub(super) fn applies(a: &Body, b: &Body) -> bool {
    a.parts.len().max(b.parts.len()) > FEW_PARTS
}

/// Sends the box of each body down the tree of the other.
pub(super) fn ask(a: &Body, b: &Body, margin: f64) -> Verdict {
    let Some(theirs) = reached(a, b, margin) else { return Verdict::Apart };
    let Some(ours) = reached(b, a, margin) else { return Verdict::Apart };
    Verdict::Open(Candidates { ours, theirs })
}

/// The parts of `b` that the box of `a` may come within `margin` of, or `None`
/// if there are none.
fn reached(a: &Body, b: &Body, margin: f64) -> Option<PartSet> {
    if b.parts.len() == 1 && !b.is_angled() {
        return Some(PartSet::ALL);
    }
    let Some(relative) = Relative::new(a, b, margin) else { return Some(PartSet::ALL) };
    let in_front = |plane| {
        matches!(relative.side_of_box(&relative.seen_from_body(plane), a.bounds), Side::Front)
    };
    match b.mesh.and_then(|mesh| mesh.bsp.as_ref()) {
        Some(bsp) => {
            let mut found = None;
            descend(bsp, bsp.root(), &relative, a, &mut found);
            found
        }
        None if b.parts.len() > 1 => Some(PartSet::ALL),
        // The boxes stage has already tested the body's own axes.
        None => {
            let mut faces = b.parts[0].faces().iter().filter(|face| is_angled(face));
            (!faces.any(|face| in_front(&face.plane))).then_some(PartSet::ALL)
        }
    }
}

fn descend(
    bsp: &PolygonBsp,
    at: Child,
    relative: &Relative,
    a: &Body,
    found: &mut Option<PartSet>,
) {
    match at {
        Child::Empty => {}
        Child::Solid(cell) => found.get_or_insert(PartSet::NONE).add(cell),
        Child::Node(index) => {
            let node = &bsp.nodes()[index];
            let side = relative.side_of_box(&relative.seen_from_body(&node.plane), a.bounds);
            if !matches!(side, Side::Back) {
                descend(bsp, node.front, relative, a, found);
            }
            if !matches!(side, Side::Front) {
                descend(bsp, node.back, relative, a, found);
            }
        }
    }
}
