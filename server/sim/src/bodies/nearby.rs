//! Which bodies may come near a box within a tick, by how far each of them may move.
//!
//! The grid tells where bodies begin to move, so it is asked about a box that is inflated by
//! their reach. One rocket would inflate it for all bodies: the few that reach farthest are
//! compared one by one instead, and the grid is asked only as far as the others reach.

use obsp::geometry::Aabb;

use super::entities::{Entities, Entity};
use super::slots::flags_by_slot;

/// Most bodies that are compared one by one: the cells of the grid around a body in a heap have
/// as many entries.
const FEW: usize = 32;

/// Placed bodies and how far each may move within the tick, its reach.
pub(crate) struct Nearby {
    /// Slots and reaches, in units, of those that are compared one by one.
    one_by_one: Vec<(u16, f64)>,
    /// Whether the body in a slot is one of the others, by slot.
    in_grid: Vec<bool>,
    /// The greatest reach of those, in units; `None` if there are none.
    reach_in_grid: Option<f64>,
}

impl Nearby {
    /// Of bodies given by their slots, and reaches in units. One that reaches no farther than
    /// `short` is not worth comparing on its own unless there are only a few.
    pub(crate) fn new(
        bodies: impl Iterator<Item = (u16, f64)>,
        short: f64,
        slot_count: usize,
    ) -> Self {
        let (mut one_by_one, mut others): (Vec<_>, Vec<_>) =
            bodies.partition(|&(_, reach)| reach > short);
        if one_by_one.len() > FEW {
            one_by_one.select_nth_unstable_by(FEW, |(_, a), (_, b)| b.total_cmp(a));
            others.extend(one_by_one.drain(FEW..));
        } else if one_by_one.len() + others.len() <= FEW {
            one_by_one.append(&mut others);
        }
        let reach_in_grid = others.iter().map(|&(_, reach)| reach).reduce(f64::max);
        let in_grid = flags_by_slot(others.into_iter().map(|(slot, _)| slot), slot_count);
        Self { one_by_one, in_grid, reach_in_grid }
    }

    /// Writes to `near` the slots of all that may come into `bounds` within the tick, and of few
    /// that may not, in no order.
    pub(crate) fn within(&self, bounds: &Aabb, entities: &Entities, near: &mut Vec<u16>) {
        near.clear();
        let overlaps = |slot: u16, around: &Aabb| {
            let placement = entities.get(slot).and_then(Entity::placement);
            placement.is_some_and(|placement| placement.bounds().overlaps(around))
        };
        if let Some(reach) = self.reach_in_grid {
            let around = bounds.inflated(reach);
            entities.near_where(&around, |slot| self.in_grid[usize::from(slot)], near);
            near.retain(|&slot| overlaps(slot, &around));
        }
        for &(slot, reach) in &self.one_by_one {
            if overlaps(slot, &bounds.inflated(reach)) {
                near.push(slot);
            }
        }
    }
}
