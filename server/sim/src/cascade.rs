//! Blow's filter cascade for one pair: cheap tests first, and each may end
//! the matter only with a proof.
//!
//! Both bodies may be on their way; one that stands has a motion that goes
//! nowhere, and a solid of the world is one more polyhedron. Every stage asks
//! the same question, whether the two keep more than a margin apart for the
//! whole tick: the spheres, the six planes of the two boxes, the plane that
//! divided the pair last time, the BSP of each with the other's box in its
//! place, the polygons of the smaller down the BSP of the larger, and at last
//! the convex parts themselves ([`passage`]).
//!
//! What a stage says never leaks into the next one's answer, but for the parts
//! that it proves apart. A body is stopped only if *no* stage, switched on or
//! off, proves it free, and where it stops the exact test alone decides: so
//! results do not depend on which stages are on.

mod body;
mod bounds;
mod bsp_box;
mod bsp_hard;
mod candidates;
mod planes;
mod relative;
mod surface;

use glam::DVec3;

pub(crate) use body::{Body, box_at};
pub(crate) use candidates::Candidates;
pub(crate) use planes::{Planes, Reversed};
pub(crate) use surface::Surface;

use crate::counters::{Counters, Stage, Stages};
use crate::impact::{Passage, passage};
use crate::separation::{Proximity, separate};

/// What the stages before the exact test have to say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// The two keep more than the margin apart.
    Apart,
    /// These parts may come nearer.
    Open(Candidates),
}

/// Asks the stages that are switched on whether `a` and `b` keep more than
/// `margin` apart all the while. `axis` is the plane of last time, as a unit
/// direction from `a` to `b`.
pub(crate) fn filter(
    a: &Body,
    b: &Body,
    margin: f64,
    axis: Option<DVec3>,
    counters: &mut Counters,
) -> Verdict {
    ask(counters.stages, a, b, margin, axis, counters)
}

fn ask(
    stages: Stages,
    a: &Body,
    b: &Body,
    margin: f64,
    axis: Option<DVec3>,
    counters: &mut Counters,
) -> Verdict {
    let mut watch = counters.watch();
    let mut note = |stage, apart| {
        counters.note(stage, apart, &mut watch);
        apart
    };
    let finite = a.radius.is_finite() && b.radius.is_finite();
    if finite
        && stages.contains(Stage::Spheres)
        && note(Stage::Spheres, bounds::spheres_apart(a, b, margin))
    {
        return Verdict::Apart;
    }
    // Whoever was near last time is told apart by what divided them then, if by
    // anything: six planes of boxes come after that one.
    if let Some(axis) = axis.filter(|_| stages.contains(Stage::Plane))
        && note(Stage::Plane, bounds::plane_divides(a, b, axis, margin))
    {
        return Verdict::Apart;
    }
    if stages.contains(Stage::Boxes) && note(Stage::Boxes, bounds::boxes_apart(a, b, margin)) {
        return Verdict::Apart;
    }
    let mut candidates = Candidates::ALL;
    if stages.contains(Stage::BspBox) && bsp_box::applies(a, b) {
        let verdict = bsp_box::ask(a, b, margin);
        if note(Stage::BspBox, matches!(verdict, Verdict::Apart)) {
            return verdict;
        }
        if let Verdict::Open(open) = verdict {
            candidates = open;
        }
    }
    if stages.contains(Stage::BspHard)
        && bsp_hard::applies(a, b)
        && note(Stage::BspHard, bsp_hard::apart(a, b, margin))
    {
        return Verdict::Apart;
    }
    Verdict::Open(candidates)
}

/// The whole cascade: how far the motion from one time to another is free.
pub(crate) fn pass(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl Planes,
    counters: &mut Counters,
) -> Passage {
    let Verdict::Open(open) = filter(a, b, margin, planes.whole(), counters) else {
        return Passage::Free;
    };
    let found = exact_passage(a, b, span, margin, planes, open, counters);
    if found == Passage::Free || counters.stages == Stages::ALL {
        return found;
    }
    match ask(counters.stages.others(), a, b, margin, planes.whole(), counters) {
        Verdict::Apart => Passage::Free,
        Verdict::Open(rest) if open.and(rest) == open => found,
        Verdict::Open(rest) => exact_passage(a, b, span, margin, planes, open.and(rest), counters),
    }
}

fn exact_passage(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl Planes,
    open: Candidates,
    counters: &mut Counters,
) -> Passage {
    let mut watch = counters.watch();
    counters.impact_queries += 1;
    let mut result = Passage::Free;
    for (j, theirs) in b.parts.iter().enumerate() {
        for (i, ours) in a.parts.iter().enumerate().filter(|&(i, _)| open.hold(i, j)) {
            let (ours, theirs) = (a.traveller(ours), b.traveller(theirs));
            let known = planes.between(i, j);
            let between = || (theirs.centre() - ours.centre()).normalize_or(DVec3::Z);
            let direction = known.unwrap_or_else(between);
            let (fineness, iterations) = (counters.resolution, &mut counters.impact_iterations);
            let found = passage(&ours, &theirs, span, margin, direction, fineness, iterations);
            result = result.earlier(found);
        }
    }
    counters.note(Stage::Exact, true, &mut watch);
    result
}

/// Whether `a` and `b`, which stand still, are more than `margin` apart.
pub(crate) fn are_apart(a: &Body, b: &Body, margin: f64, counters: &mut Counters) -> bool {
    let Verdict::Open(open) = filter(a, b, margin, None, counters) else { return true };
    let mut watch = counters.watch();
    let apart = least_gap(a, b, open).is_some_and(|gap| gap > margin);
    counters.note(Stage::Exact, true, &mut watch);
    apart
        || counters.stages != Stages::ALL && {
            let others = counters.stages.others();
            matches!(ask(others, a, b, margin, None, counters), Verdict::Apart)
        }
}

/// Least gap between two bodies at the beginning of the tick, or `None` if
/// they overlap.
pub(crate) fn least_gap(a: &Body, b: &Body, open: Candidates) -> Option<f64> {
    let mut least = f64::INFINITY;
    for (j, other) in b.parts_at_start().enumerate() {
        for (_, part) in a.parts_at_start().enumerate().filter(|&(i, _)| open.hold(i, j)) {
            match separate(&part, &other, other.centre() - part.centre()) {
                Proximity::Apart(found) => least = least.min(found.gap),
                Proximity::Overlapping => return None,
            }
        }
    }
    Some(least)
}

#[cfg(test)]
mod tests;
