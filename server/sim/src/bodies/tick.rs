//! A tick of the moving bodies, phase by phase. The file of the module that a phase calls describes
//! the phase.

use glam::DVec3;

use crate::bodies::buoyancy;
use crate::bodies::contact::{self, Pair};
use crate::bodies::driven;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::Islands;
use crate::bodies::mobility::Pace;
use crate::bodies::overload;
use crate::bodies::rounds::{Outcome, Rounds, Strike};
use crate::bodies::sleep;
use crate::bodies::solver;
use crate::collision::currents::Currents;
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::threads::Threads;

/// Minimum cost ([`crate::Counters::bodies_cost`]) of a tick whose work is divided among threads.
/// Waking the threads takes as long as simulating dozens of bodies.
const MIN_GATHERED: u64 = 100;

/// Moves all awake bodies by a tick. `pairs` holds the pairs of the last tick, and afterwards the
/// pairs of this tick. Returns the slots of bodies that already overlapped something before they
/// moved, which the match then puts to a free place, and the impulses by which the guard stopped
/// bodies.
pub(crate) fn step(
    (map, currents): (&obsp::Map, &Currents),
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) -> (Vec<u16>, Vec<Strike>) {
    // Before the phases: under overload some islands get fewer sub-steps, or skip every other tick.
    overload::set_paces(entities, shapes, pairs, context);
    let is_small = context.counters.bodies_cost < MIN_GATHERED;
    let threads = if is_small { Threads::default() } else { context.threads };
    // A kinematic body that bodies have held up moves more slowly than its game has set, until it
    // is free.
    let velocities = driven::begin_tick(entities, pairs);
    let moved = threads.gathered(|| phases((map, currents), shapes, entities, pairs, context));
    driven::end_tick(entities, velocities);
    entities.active_mut().for_each(|entity| end_tick(entity, shapes));
    moved
}

/// Clears the notes on a body that the phases of one tick share, and gives it its full pace again.
/// The notes for games, such as what stopped the body, last until the next search.
fn end_tick(entity: &mut Entity, shapes: &Shapes) {
    let record = &mut entity.record;
    (record.buoyancy, record.driven_velocity) = (None, DVec3::ZERO);
    record.skipped = std::mem::take(&mut record.pace) == Pace::Skips;
    if !record.skipped {
        entity.dynamics.end_tick(&shapes[entity.shape]);
    }
}

/// The phases of [`step`], after each body has its pace.
fn phases(
    (map, currents): (&obsp::Map, &Currents),
    shapes: &Shapes,
    entities: &mut Entities,
    pairs: &mut Vec<Pair>,
    context: &mut StepContext,
) -> (Vec<u16>, Vec<Strike>) {
    // 1. Search: which parts of which bodies may come near each other in this tick.
    let before = contact::search(map, shapes, entities, pairs, context);
    // Nothing is awake and nothing touches, so nothing moves.
    if context.counters.bodies_cost == 0 && pairs.is_empty() {
        return (Vec::new(), Vec::new());
    }
    // 2. Wake: a body that moves faster than `WAKING_SPEED` wakes the bodies that it touches or
    // will touch in this tick. A faster one wakes the groups with which they fell asleep. A body
    // that leaves a sleeping body wakes the sleeping body's group. The woken bodies are searched
    // now, and move in this tick.
    sleep::wake_for_tick(map, shapes, entities, pairs, &before, context);
    // 3. Buoyancy: how liquids lift, brake and carry the bodies in them. Islands: which bodies
    // touch each other, which are supported, and which a kinematic body drives. The guard, the
    // retries and sleep use these islands. The solver makes its own islands, which also contain
    // bouncing missiles.
    buoyancy::set((map, currents), shapes, entities, context.seconds);
    let mut islands = Islands::new(entities, pairs);
    // 4. Sub-steps, and 5. projection: the solver computes velocities, impulses and the target of
    // each body. The projection then moves the targets apart that would be nearer than the rest
    // gap. All bodies of an island get one pace. A body that touches nothing only falls.
    let proposals = solver::solve(entities, shapes, pairs, context);
    // 6. Guard: all bodies move together, each as far as its motion is proven free.
    let mut rounds = Rounds::new(map, shapes, entities, pairs, &islands, context);
    let stopped = rounds.advance(&proposals);
    // 7. Retries: stopped bodies in flight, and bodies that a kinematic body drives, spend what is
    // left of their tick. Other stopped bodies that hardly moved try a part of their motion.
    let Outcome { overlapping, struck, strikes } = rounds.retry(stopped);
    // 8. Sleep: a sleeping body that another body hit without a contact that the search foresaw
    // wakes now, and moves in the next tick. A kinematic body may drive it, so the islands are made
    // again. Bodies that have rested fall asleep.
    if !struck.is_empty() {
        sleep::wake_all(entities, &struck);
        islands = Islands::new(entities, pairs);
    }
    sleep::settle(entities, shapes, pairs, islands.driven(), context.seconds);
    (overlapping, strikes)
}
