//! Blow's filter cascade for one pair: cheap tests first, and a test may end
//! the cascade only with a proof.
//!
//! Both bodies may move. A body at rest has a motion of no length, and a solid of the world is one
//! more polyhedron. Every stage answers one question: do the two keep more than a margin apart for
//! the whole tick? The grid comes before the cascade and looks at no pair. Then the stages are
//! asked in this order: the bounding spheres; the plane that divided the pair last time, where one
//! is known; the six face directions of the two oriented boxes; the BSP of each body, with a box in
//! place of the other; and at last the convex parts themselves ([`time_of_impact`]). Blow's hard
//! case, the polygons of the smaller body down the BSP of the larger, costs more than the exact
//! tests that it saves. It is off by default. Where it is on, it is only timed and counted.
//!
//! No stage's answer influences a later stage, except by the parts that the stage proves apart. A
//! body is stopped only if *no* other stage, on or off, proves it free. The exact test alone
//! decides where it stops. So results do not depend on which stages are on.

mod body;
mod bounds;
mod bsp_box;
mod bsp_hard;
mod candidates;
mod last_plane;
mod mesh;
mod relative;

use glam::DVec3;

pub(crate) use body::{Body, box_along, box_at};
pub(crate) use candidates::Candidates;
pub(crate) use last_plane::{LastPlane, NearParts, Reversed};
pub(crate) use mesh::Mesh;

use crate::collision::distances::{MARGIN, ROUNDING};
use crate::collision::separation::{Proximity, separate};
use crate::collision::time_of_impact::{Sweep, TimeOfImpact, time_of_impact};
use crate::context::StepContext;
use crate::counters::{Stage, Stages};

/// The result of the stages before the exact test.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// The two keep more than the margin apart.
    Apart,
    /// Only these parts may come within the margin of each other.
    Open(Candidates),
}

/// Asks the stages that are switched on whether `a` and `b` keep more than
/// `margin` apart throughout the tick. `axis` is the normal of the plane that divided the two
/// last time, a unit vector from `a` to `b`.
pub(crate) fn filter(
    a: &Body,
    b: &Body,
    margin: f64,
    axis: Option<DVec3>,
    context: &mut StepContext,
) -> Verdict {
    ask(context.stages, a, b, margin, axis, context)
}

/// The stage that decides a pair that meets for the first time.
pub(crate) fn deciding(a: &Body, b: &Body) -> Stage {
    let mut context = StepContext::default();
    are_apart(a, b, MARGIN, &mut context);
    let decided = |stage: &Stage| context.counters.cascade[*stage as usize].definitive > 0;
    // The exact test is the last stage.
    Stage::ALL.into_iter().find(decided).unwrap_or(Stage::Exact)
}

fn ask(
    stages: Stages,
    a: &Body,
    b: &Body,
    margin: f64,
    axis: Option<DVec3>,
    context: &mut StepContext,
) -> Verdict {
    let mut watch = context.watch();
    let mut note = |stage, apart| {
        context.note(stage, apart, &mut watch);
        apart
    };
    let finite = a.radius.is_finite() && b.radius.is_finite();
    if finite
        && stages.contains(Stage::Spheres)
        && note(Stage::Spheres, bounds::spheres_apart(a, b, margin))
    {
        return Verdict::Apart;
    }
    // For a pair that was near last time, last time's plane is the most likely to divide it, so it
    // is tried before the six directions of the boxes.
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
    if stages.contains(Stage::BspHard) && bsp_hard::applies(a, b) {
        note(Stage::BspHard, bsp_hard::apart(a, b, margin));
    }
    Verdict::Open(candidates)
}

/// The whole cascade: how far the motion within `span`, a part of the tick, is
/// free.
pub(crate) fn first_impact(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl LastPlane,
    context: &mut StepContext,
) -> TimeOfImpact {
    let Verdict::Open(open) = filter(a, b, margin, planes.whole(), context) else {
        return TimeOfImpact::Free;
    };
    let unknown = |_: DVec3| f64::INFINITY;
    let found = exact_first_impact(a, b, span, margin, planes, open, unknown, context);
    let others = context.stages.others();
    if found == TimeOfImpact::Free || others == Stages::EXACT {
        return found;
    }
    match ask(others, a, b, margin, planes.whole(), context) {
        Verdict::Apart => TimeOfImpact::Free,
        Verdict::Open(rest) if open.and(rest) == open => found,
        Verdict::Open(rest) => {
            let open = open.and(rest);
            exact_first_impact(a, b, span, margin, planes, open, unknown, context)
        }
    }
}

/// [`first_impact`] for two bodies that the search for contacts has just tested, and that stay
/// within the reach of that search. Only the parts that the search found near each other can meet,
/// so no filter is used. `approach` is an upper bound of how far their gap along a direction from
/// `a` to `b` has shrunk since the search, at any time of the motion.
pub(crate) fn first_impact_of_near_parts(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl LastPlane,
    approach: impl Fn(DVec3) -> f64,
    context: &mut StepContext,
) -> TimeOfImpact {
    let mut watch = context.watch();
    context.counters.impact_queries += 1;
    let mut result = TimeOfImpact::Free;
    let near = (0..).map_while(|index| planes.near_parts(index));
    for near in near {
        // The plane of the search still divides most pairs.
        if near.gap - approach(near.axis) > margin + ROUNDING {
            continue;
        }
        let [ours, theirs] = near.parts;
        let (Some(ours), Some(theirs)) = (a.parts.get(ours), b.parts.get(theirs)) else {
            continue;
        };
        let (ours, theirs) = (a.sweep_of(ours), b.sweep_of(theirs));
        let (resolution, iterations) =
            (context.resolution, &mut context.counters.impact_iterations);
        let found = time_of_impact(&ours, &theirs, span, margin, &near, resolution, iterations);
        result = result.earlier(found);
    }
    context.note(Stage::Exact, true, &mut watch);
    result
}

/// [`first_impact_of_near_parts`] for two bodies that move farther than the reach of the search, so
/// that all of their parts may meet. The two were near each other, so no filter is used here
/// either.
pub(crate) fn first_impact_of_all_parts(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl LastPlane,
    approach: impl Fn(DVec3) -> f64,
    context: &mut StepContext,
) -> TimeOfImpact {
    exact_first_impact(a, b, span, margin, planes, Candidates::ALL, approach, context)
}

/// The first impact of all parts that are still `open`. `approach` is as for
/// [`first_impact_of_near_parts`].
#[allow(clippy::too_many_arguments)]
fn exact_first_impact(
    a: &Body,
    b: &Body,
    span: (f64, f64),
    margin: f64,
    planes: impl LastPlane,
    open: Candidates,
    approach: impl Fn(DVec3) -> f64,
    context: &mut StepContext,
) -> TimeOfImpact {
    let mut watch = context.watch();
    context.counters.impact_queries += 1;
    let mut result = TimeOfImpact::Free;
    let beyond = meeting_distance(a, b, margin);
    for (j, theirs) in b.parts.iter().enumerate() {
        for (i, ours) in a.parts.iter().enumerate().filter(|&(i, _)| open.hold(i, j)) {
            let (ours, theirs) = (a.sweep_of(ours), b.sweep_of(theirs));
            // Most parts of concave bodies are too far apart to meet.
            let apart = ours.radius_about_centre() + theirs.radius_about_centre() + beyond;
            if ours.centre().distance_squared(theirs.centre()) > apart * apart {
                continue;
            }
            let known = planes.between(i, j);
            if known.is_some_and(|near| near.gap - approach(near.axis) > margin + ROUNDING) {
                continue;
            }
            // Parts with a known plane are near each other, so comparing their boxes would be
            // useless.
            if known.is_none() && boxes_of_parts_apart(&ours, &theirs, beyond) {
                continue;
            }
            let near =
                known.unwrap_or_else(|| NearParts::along(ours.direction_to(&theirs), [i, j]));
            let (resolution, iterations) =
                (context.resolution, &mut context.counters.impact_iterations);
            let found = time_of_impact(&ours, &theirs, span, margin, &near, resolution, iterations);
            result = result.earlier(found);
        }
    }
    context.note(Stage::Exact, true, &mut watch);
    result
}

/// Parts that are farther apart than this at the beginning of the tick, in units, do not come
/// within `margin` of each other during the tick.
fn meeting_distance(a: &Body, b: &Body, margin: f64) -> f64 {
    // A solid of the world has an infinite radius.
    let travel = |body: &Body| body.motion.travel(body.radius);
    let travel = [a, b].map(|body| if body.motion.is_still() { 0.0 } else { travel(body) });
    travel[0] + travel[1] + margin + ROUNDING
}

/// Whether the boxes of two parts are farther apart than `beyond` units.
fn boxes_of_parts_apart(ours: &Sweep, theirs: &Sweep, beyond: f64) -> bool {
    ours.oriented_box().is_apart_from(&theirs.oriented_box(), beyond)
}

/// Whether `a` and `b`, which do not move, are more than `margin` apart.
pub(crate) fn are_apart(a: &Body, b: &Body, margin: f64, context: &mut StepContext) -> bool {
    let Verdict::Open(open) = filter(a, b, margin, None, context) else { return true };
    let mut watch = context.watch();
    let apart = least_gap(a, b, open).is_some_and(|gap| gap > margin);
    context.note(Stage::Exact, true, &mut watch);
    let others = context.stages.others();
    apart
        || others != Stages::EXACT
            && matches!(ask(others, a, b, margin, None, context), Verdict::Apart)
}

/// Minimum gap between two bodies at the beginning of the tick, or `None` if they overlap.
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
