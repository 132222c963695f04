//! Islands: groups of awake bodies that touch each other, directly or through others, by the pairs
//! of a search. An island shows which bodies are supported, and which bodies a kinematic body
//! pushes or carries.
//!
//! Two bodies touch here if they have contact points. The search also finds contact points where
//! bodies will touch within the tick. So a body that is about to land counts as supported.
//!
//! A body is supported if its island touches something that does not yield within this tick: the
//! world, a kinematic body, a player on foot or a body that is still asleep. A wall supports as
//! well as a floor. All other bodies are in flight, even if they touch each other. Nothing may take
//! momentum out of bodies in flight.

mod disjoint_sets;

use glam::DVec3;

use crate::bodies::contact::{Pair, meeting, meeting_bodies};
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::mobility::Mobility;

pub(crate) use disjoint_sets::DisjointSets;

/// The islands of a tick.
#[derive(Debug)]
pub(crate) struct Islands {
    /// For each slot: the lowest slot of its island.
    roots: Vec<u16>,
    /// For each lowest slot of an island: whether the island touches something that does not yield.
    bear: Vec<bool>,
    driven: Driven,
}

impl Islands {
    /// The islands of the bodies that the solver moves, by `pairs`.
    pub(crate) fn new(entities: &Entities, pairs: &[Pair]) -> Self {
        let is_dynamic = |slot| entities.mobility(slot) == Mobility::Dynamic;
        let roots = roots(entities.slot_count(), pairs, is_dynamic);
        let mut bear = vec![false; roots.len()];
        for pair in meeting(pairs) {
            let (own, other) = (pair.key.body, pair.key.other.entity());
            if !(is_dynamic(own) && other.is_some_and(is_dynamic)) {
                let both = [Some(own), other].into_iter().flatten();
                both.for_each(|slot| bear[usize::from(roots[usize::from(slot)])] = true);
            }
        }
        let driven = Driven::of_islands(entities, pairs, || roots.clone());
        Self { roots, bear, driven }
    }

    /// Whether the body in a slot is supported.
    pub(crate) fn is_supported(&self, slot: u16) -> bool {
        self.bear[usize::from(self.roots[usize::from(slot)])]
    }

    /// The bodies that kinematic bodies push or carry.
    pub(crate) fn driven(&self) -> &Driven {
        &self.driven
    }
}

/// For each slot: the lowest slot of its island. Only bodies whose slots `join` accepts are joined
/// into islands.
pub(crate) fn roots(slots: usize, pairs: &[Pair], join: impl Fn(u16) -> bool) -> Vec<u16> {
    let mut sets = DisjointSets::new(slots);
    for (a, b) in meeting_bodies(pairs).filter(|&(a, b)| join(a) && join(b)) {
        sets.join(a, b);
    }
    sets.into_roots()
}

/// The bodies that moving kinematic bodies push or carry. None of them may sleep: a sleeping body
/// does not give way, and would stop the others.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// For each slot: the lowest slot of its island. Empty if no moving kinematic body touches an
    /// island.
    roots: Vec<u16>,
    /// Pairs of an island's lowest slot and the slot of a moving kinematic body that touches the
    /// island; ascending.
    drivers: Vec<(u16, u16)>,
}

impl Driven {
    /// Finds, by `pairs`, the awake bodies that touch a moving kinematic body, directly or through
    /// other awake bodies.
    pub(crate) fn new(entities: &Entities, pairs: &[Pair]) -> Self {
        let is_dynamic = |slot| entities.mobility(slot) == Mobility::Dynamic;
        Self::of_islands(entities, pairs, || roots(entities.slot_count(), pairs, is_dynamic))
    }

    fn of_islands(entities: &Entities, pairs: &[Pair], roots: impl Fn() -> Vec<u16>) -> Self {
        if entities.moving_kinematic().next().is_none() {
            return Self::default();
        }
        let driven = |(a, b)| match [a, b].map(|slot| entities.mobility(slot)) {
            [Mobility::Kinematic, Mobility::Dynamic] => Some((b, a)),
            [Mobility::Dynamic, Mobility::Kinematic] => Some((a, b)),
            _ => None,
        };
        let mut drivers: Vec<(u16, u16)> = meeting_bodies(pairs).filter_map(driven).collect();
        if drivers.is_empty() {
            return Self::default();
        }
        let roots = roots();
        drivers.iter_mut().for_each(|(body, _)| *body = roots[usize::from(*body)]);
        drivers.sort_unstable();
        drivers.dedup();
        Self { roots, drivers }
    }

    /// Whether a moving kinematic body pushes or carries the body in a slot.
    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.drivers_of(slot).next().is_some()
    }

    /// The slots of the kinematic bodies that push or carry the body in a slot, ascending.
    pub(crate) fn drivers_of(&self, slot: u16) -> impl Iterator<Item = u16> {
        let root = self.roots.get(usize::from(slot)).copied();
        let first = self.drivers.partition_point(|&(of, _)| Some(of) < root);
        let drivers = self.drivers[first..].iter();
        drivers.take_while(move |&&(of, _)| Some(of) == root).map(|&(_, driver)| driver)
    }

    /// The greatest velocity that a body would have if it were fixed to one of the kinematic bodies
    /// that push or carry it.
    pub(crate) fn velocity(&self, entities: &Entities, slot: u16) -> Option<DVec3> {
        let position = |entity: &Entity| Some(entity.placement()?.pose().position);
        let at = position(entities.get(slot)?)?;
        let velocities = self.drivers_of(slot).filter_map(|driver| {
            let driver = entities.get(driver)?;
            Some(driver.velocity + driver.angular.cross(at - position(driver)?))
        });
        velocities.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
    }
}
