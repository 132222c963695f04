//! Overload: makes a tick cheaper when its bodies cost more than its budget.
//!
//! The cost is estimated before the tick from the bodies that are awake, the pairs that touch and
//! the sub-steps that loads add, never from a clock. So a match is degraded in the same way on
//! every machine, with any number of threads, and in every replay.
//!
//! Islands are degraded one after another until the estimate is within the budget. The islands
//! farthest from all players come first, and no island near a player is degraded. The degraded
//! islands first get about three quarters of their sub-steps. If that is not enough, a bounded
//! number of bodies is simulated at half rate: islands that move slowly or have only one body. A
//! body at half rate stands still for one tick, like a sleeping body. In the next tick it moves by
//! two ticks, and the guard checks that motion like any other. A standing body moves at once if a
//! moving body touches it ([`wake_for_tick`](sleep::wake_for_tick)). It then moves by one tick, and
//! loses the tick that it skipped.

use crate::bodies::contact::{Pair, meeting};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::islands::roots;
use crate::bodies::mobility::{Mobility, Pace};
use crate::bodies::sleep;
use crate::bodies::solver::{MOST_FOR_LOADS, added_sub_steps};
use crate::collision::shape::Shapes;
use crate::context::StepContext;
use crate::counters::Counters;

/// The share of its cost that an island keeps with fewer sub-steps.
const COST_OF_FEWER_SUB_STEPS: f64 = 0.9;

/// Each sub-step that a load adds raises the cost of an island by this share. An island with fewer
/// sub-steps saves two of ten, so one sub-step costs half of the saved share.
const COST_OF_SUB_STEP: f64 = 0.5 * (1.0 - COST_OF_FEWER_SUB_STEPS);

/// The share of its cost that an island keeps at half rate, on average.
const COST_OF_HALF_RATE: f64 = 0.6;

/// Maximum number of bodies that are simulated at half rate: half as many as a match may have
/// entities.
const MAX_HALF_RATE: usize = 2048;

/// Half rate saves time only if the bodies of an island move no farther than this within a tick, in
/// units, on average. Bodies that move by two ticks at once search for contacts twice as far.
/// For a heap of 2,000 that falls at five units a tick, one such tick costs more than two ordinary
/// ones. The limit does not apply to a body that touches no other body, because its search finds
/// few bodies.
const MAX_WAY_AT_HALF_RATE: f64 = 1.0;

/// An island with a body nearer than this to a player, in units, is never degraded. A running
/// player gets that far in a fifth of a second. An island that a moving kinematic body touches is
/// not degraded either, because the kinematic body cannot wait for the island.
const NEAR_PLAYER: f64 = 64.0;

/// Bodies that touch each other.
struct Island<'a> {
    /// Slots, ascending.
    members: Vec<u16>,
    /// The pairs of these bodies that touch.
    pairs: Vec<&'a Pair>,
    cost: f64,
    /// How far the bodies move within a tick, in units, summed over them.
    total_travel: f64,
    /// Square of the distance to the nearest player, in units; infinite without players.
    distance_squared: f64,
}

/// Decides how this tick simulates each body. `pairs` contains the pairs of the last tick.
pub(crate) fn set_paces(
    entities: &mut Entities,
    shapes: &Shapes,
    pairs: &[Pair],
    context: &mut StepContext,
) {
    let (mut awake, mut any_owes) = (0, false);
    for entity in entities.active() {
        awake += usize::from(entity.mobility().is_guarded());
        any_owes |= entity.record.skipped;
    }
    let meeting = meeting(pairs).count();
    let counters = &mut context.counters;
    counters.bodies_cost = (awake + meeting) as u64;
    (counters.degraded_islands, counters.half_rate) = (0, 0);
    let Some(budget) = context.budget else { return };
    let mut cost = (awake + meeting) as f64;
    // Loads raise the cost of an island by this factor at most.
    let dearest = 1.0 + COST_OF_SUB_STEP * f64::from(MOST_FOR_LOADS);
    if cost * dearest <= budget && !any_owes {
        return;
    }
    let mut islands = islands(entities, shapes, pairs, context.seconds);
    cost += weigh_loads(&mut islands, entities, shapes);
    counters.bodies_cost = cost as u64;
    if cost <= budget && !any_owes {
        return;
    }
    islands.retain(|island| island.distance_squared > NEAR_PLAYER * NEAR_PLAYER);
    for island in &islands {
        // A skipped tick is made up for, even if the overload is over. A body that a player has
        // come near is an exception: it is in none of these islands, and goes on from its present
        // place.
        island
            .set(entities, |entity| if entity.record.skipped { Pace::Double } else { Pace::Full });
    }
    for island in &islands {
        if cost <= budget {
            break;
        }
        cost -= island.cost * (1.0 - COST_OF_FEWER_SUB_STEPS);
        island.set(entities, |entity| match entity.record.pace {
            Pace::Full => Pace::FewerSubSteps,
            pace => pace,
        });
    }
    let half_rate = at_half_rate(&islands, cost, budget);
    // All bodies skip the same ticks. Otherwise a body that stands still would be in the way of a
    // neighbour that moves by two ticks.
    if !any_owes {
        half_rate.iter().for_each(|island| island.set(entities, |_| Pace::Skips));
    }
    count_degraded(&islands, entities, &mut context.counters);
}

/// Counts the islands that this tick degrades, by the paces of their bodies. Not every island that
/// was chosen for half rate skips: none does while bodies make up for a skipped tick.
fn count_degraded(islands: &[Island], entities: &Entities, counters: &mut Counters) {
    let count = |island: &Island, is: fn(Pace) -> bool| {
        let members = island.members.iter().filter_map(|&slot| entities.get(slot));
        members.filter(|entity| is(entity.record.pace)).count() as u64
    };
    let is_degraded = |island: &&Island| count(island, |pace| pace != Pace::Full) > 0;
    let is_at_half_rate = |pace| matches!(pace, Pace::Skips | Pace::Double);
    counters.degraded_islands = islands.iter().filter(is_degraded).count() as u64;
    counters.half_rate = islands.iter().map(|island| count(island, is_at_half_rate)).sum();
}

/// Adds to the cost of each island the cost of the sub-steps that its loads add. Returns the sum of
/// the added costs.
fn weigh_loads(islands: &mut [Island], entities: &Entities, shapes: &Shapes) -> f64 {
    let mut sum = 0.0;
    for island in islands {
        let added = added_sub_steps(entities, shapes, &island.members, &island.pairs);
        let cost = island.cost * COST_OF_SUB_STEP * f64::from(added);
        island.cost += cost;
        sum += cost;
    }
    sum
}

/// Chooses islands for half rate until the cost is within the budget.
fn at_half_rate<'a, 'p>(
    islands: &'a [Island<'p>],
    mut cost: f64,
    budget: f64,
) -> Vec<&'a Island<'p>> {
    let (mut chosen, mut bodies) = (Vec::new(), 0);
    for island in islands {
        if cost <= budget {
            break;
        }
        if !island.half_rate_pays() || bodies + island.members.len() > MAX_HALF_RATE {
            continue;
        }
        cost -= island.cost * (COST_OF_FEWER_SUB_STEPS - COST_OF_HALF_RATE);
        bodies += island.members.len();
        chosen.push(island);
    }
    chosen
}

impl Island<'_> {
    /// Whether one double tick costs less than two ordinary ticks: see [`MAX_WAY_AT_HALF_RATE`].
    fn half_rate_pays(&self) -> bool {
        let bodies = self.members.len();
        bodies == 1 || self.total_travel <= MAX_WAY_AT_HALF_RATE * bodies as f64
    }

    fn set(&self, entities: &mut Entities, pace: impl Fn(&Entity) -> Pace) {
        for &slot in &self.members {
            if let Some(entity) = entities.get_mut(slot) {
                entity.record.pace = pace(entity);
            }
        }
    }
}

/// All islands, the farthest from all players first.
fn islands<'a>(
    entities: &Entities,
    shapes: &Shapes,
    pairs: &'a [Pair],
    seconds: f64,
) -> Vec<Island<'a>> {
    let is_awake = |slot| entities.mobility(slot) == Mobility::Dynamic;
    let is_kinematic = |slot| entities.mobility(slot) == Mobility::Kinematic;
    let is_player = |slot| entities.get(slot).is_some_and(|entity| entity.player().is_some());
    let roots = roots(entities.slot_count(), pairs, is_awake);
    let mut of_root: Vec<Option<Island<'a>>> = roots.iter().map(|_| None).collect();
    let players: Vec<_> = entities
        .active()
        .filter(|entity| entity.player().is_some())
        .filter_map(|entity| Some(entity.placement()?.pose().position))
        .collect();
    for entity in entities.active().filter(|entity| entity.mobility() == Mobility::Dynamic) {
        let Some(placement) = entity.placement() else { continue };
        let none = || Island {
            members: Vec::new(),
            pairs: Vec::new(),
            cost: 0.0,
            total_travel: 0.0,
            distance_squared: f64::INFINITY,
        };
        let at = usize::from(roots[usize::from(entity.id.slot)]);
        let island = of_root[at].get_or_insert_with(none);
        island.members.push(entity.id.slot);
        island.cost += 1.0;
        island.total_travel += sleep::surface_speed(entity, shapes) * seconds;
        let radius = shapes[placement.shape()].radius;
        for player in &players {
            let far = (placement.pose().position.distance(*player) - radius).max(0.0);
            island.distance_squared = island.distance_squared.min(far * far);
        }
    }
    for pair in meeting(pairs) {
        // A kinematic body belongs to no island, and never waits for one.
        let (body, other) = (pair.key.body, pair.key.other.entity());
        let (own, other) =
            if is_kinematic(body) { (other, Some(body)) } else { (Some(body), other) };
        let Some(own) = own else { continue };
        let at = usize::from(roots[usize::from(own)]);
        let Some(island) = &mut of_root[at] else { continue };
        island.cost += 1.0;
        island.pairs.push(pair);
        if other.is_some_and(|other| is_player(other) || is_kinematic(other)) {
            island.distance_squared = 0.0;
        }
    }
    let mut islands: Vec<Island> = of_root.into_iter().flatten().collect();
    // The sort is stable: of islands that are equally far away, the one with the lowest slot comes
    // first.
    islands.sort_by(|a, b| b.distance_squared.total_cmp(&a.distance_squared));
    islands
}
