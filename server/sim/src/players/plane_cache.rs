//! The planes that divide a walking player's box from the bodies near it.

use glam::DVec3;
use obsp::SizeId;

use crate::collision::cascade::{Body, NearParts, first_impact_of_near_parts};
use crate::collision::distances::{MARGIN, REST_GAP, ROUNDING};
use crate::collision::pose::Motion;
use crate::collision::separation::{Features, Proximity, separate_from};
use crate::collision::time_of_impact::TimeOfImpact;
use crate::context::StepContext;
use crate::counters::Stage;

/// The distance in units at which a player stops before a body. The distance is a little more than
/// the solver's rest gap. Otherwise a crate would be pushed back and forth between the player's
/// feet and the floor.
pub(crate) const AGENT_GAP: f64 = 1.25 * REST_GAP;

/// A player who approaches a body by no more than this share of the motion passes along the body,
/// and may come nearer to it than usual. Without this rule, a player with a crate on the head would
/// be wedged between crate and floor, because the crate is never quite level.
const GRAZING: f64 = 1.0 / 16.0;

/// The distance in units that a player keeps from a body while passing along it. It is twice the
/// guard's margin, so that `Agent::is_free` holds at the end of the motion.
pub(crate) const GRAZING_GAP: f64 = 2.0 * MARGIN;

/// Any plane with a gap of this many units will do: few ticks bring a player farther.
const FAR_APART: f64 = 36.0;

/// The planes between a player's box and the bodies near it, with the tick's context. Neither
/// these bodies nor the planes move while the player does. So a plane proves most of the ten
/// sweeps of a tick free by one comparison.
#[derive(Debug)]
pub(crate) struct PlaneCache<'a> {
    pub(crate) context: &'a mut StepContext,
    neighbours: Vec<Neighbour>,
    /// The planes of all neighbours, one for each part, in the order of `neighbours`.
    planes: Vec<NearParts>,
}

/// A body that a sweep came near, and where the player's box was at that time.
#[derive(Debug)]
struct Neighbour {
    slot: u16,
    size: SizeId,
    from: DVec3,
    /// Index of its first plane.
    first: usize,
}

impl<'a> PlaneCache<'a> {
    pub(crate) fn new(context: &'a mut StepContext) -> Self {
        Self { context, neighbours: Vec::new(), planes: Vec::new() }
    }

    /// How far the motion of the box of this size past the body in `slot` is free.
    pub(crate) fn first_impact(
        &mut self,
        (slot, size): (u16, SizeId),
        body: &Body,
        obstacle: &Body,
    ) -> TimeOfImpact {
        let known = self.neighbours.iter().position(|it| it.slot == slot && it.size == size);
        let index = known.unwrap_or_else(|| self.add((slot, size), body, obstacle));
        let Neighbour { from, first, .. } = self.neighbours[index];
        let planes = &self.planes[first..first + obstacle.parts.len()];
        let Motion { start, end } = body.motion;
        let approach =
            |axis: DVec3| axis.dot(start.position - from).max(axis.dot(end.position - from));
        if self.context.stages.contains(Stage::Plane) {
            let mut watch = self.context.watch();
            let is_apart = |near: &NearParts| near.gap - approach(near.axis) > AGENT_GAP + ROUNDING;
            let divided = planes.iter().all(is_apart);
            self.context.note(Stage::Plane, divided, &mut watch);
            if divided {
                return TimeOfImpact::Free;
            }
        }
        let mut within = |gap| {
            first_impact_of_near_parts(
                body,
                obstacle,
                (0.0, 1.0),
                gap,
                planes,
                approach,
                self.context,
            )
        };
        let way = end.position - start.position;
        match within(AGENT_GAP) {
            TimeOfImpact::Blocked(impact) if way.dot(impact.axis) < GRAZING * way.length() => {
                within(GRAZING_GAP)
            }
            found => found,
        }
    }

    /// Finds the planes between the box at the start of a sweep and a body. Returns the index of
    /// the neighbour.
    fn add(&mut self, (slot, size): (u16, SizeId), body: &Body, obstacle: &Body) -> usize {
        let first = self.planes.len();
        for own in body.parts_at_start().take(1) {
            self.planes.extend(obstacle.parts_at_start().enumerate().map(|(index, part)| {
                let guess = part.centre() - own.centre();
                match separate_from(&own, &part, guess, Features::NONE, FAR_APART) {
                    Proximity::Apart(found) => NearParts {
                        parts: [0, index],
                        axis: found.axis,
                        features: found.features,
                        gap: found.gap,
                    },
                    // No distance is known, so no sweep is proven free.
                    Proximity::Overlapping => NearParts {
                        gap: f64::NEG_INFINITY,
                        ..NearParts::along(guess.normalize_or(DVec3::Z), [0, index])
                    },
                }
            }));
        }
        self.neighbours.push(Neighbour { slot, size, from: body.motion.start.position, first });
        self.neighbours.len() - 1
    }
}

#[cfg(test)]
mod tests;
