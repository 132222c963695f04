//! What moving kinematic bodies push and carry, directly or through other bodies. None of it
//! may sleep: a sleeping body does not give way, and would stop all of them.

use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};

/// The bodies that a moving kinematic body pushes or carries.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// By slot; empty if no kinematic body moves.
    is_driven: Vec<bool>,
}

impl Driven {
    /// Those that touch one by these pairs, and the awake bodies that touch these.
    pub(crate) fn new(entities: &Entities, pairs: &[Pair]) -> Self {
        if !entities.has_kinematic() || !entities.iter().any(Entity::is_driven) {
            return Self::default();
        }
        let of = |slot: u16, what: fn(&Entity) -> bool| entities.get(slot).is_some_and(what);
        let touching = || {
            let touching = pairs.iter().filter(|pair| !pair.points.is_empty());
            touching.filter_map(|pair| Some((pair.key.body, pair.key.other.entity()?)))
        };
        let mut parents: Vec<u16> = (0..entities.slot_count()).map(|slot| slot as u16).collect();
        for (a, b) in touching() {
            if of(a, Entity::is_solved) && of(b, Entity::is_solved) {
                let (a, b) = (root(&mut parents, a), root(&mut parents, b));
                parents[usize::from(a.max(b))] = a.min(b);
            }
        }
        let mut roots = vec![false; parents.len()];
        for (a, b) in touching() {
            for (driver, body) in [(a, b), (b, a)] {
                if of(driver, Entity::is_driven) && of(body, Entity::is_solved) {
                    roots[usize::from(root(&mut parents, body))] = true;
                }
            }
        }
        let slots = 0..parents.len();
        let is_driven = slots.map(|slot| roots[usize::from(root(&mut parents, slot as u16))]);
        Self { is_driven: is_driven.collect() }
    }

    /// Whether the body in a slot is one of them.
    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.is_driven.get(usize::from(slot)).copied().unwrap_or(false)
    }
}

/// The lowest slot of a set, in disjoint sets by their parents.
pub(super) fn root(parents: &mut [u16], slot: u16) -> u16 {
    let mut root = slot;
    while parents[usize::from(root)] != root {
        let above = parents[usize::from(root)];
        parents[usize::from(root)] = parents[usize::from(above)];
        root = above;
    }
    root
}
