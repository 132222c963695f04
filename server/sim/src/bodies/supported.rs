//! Supported bodies. A body is supported if it touches something that does not yield, directly or
//! through other bodies. The world, kinematic bodies, players on foot and sleeping bodies do not
//! yield. All other bodies are in flight, even if they touch each other. Nothing may take momentum
//! out of bodies in flight.

use crate::bodies::contact::Pair;
use crate::bodies::driven::root;
use crate::bodies::entities::{Entities, Entity};

/// For each slot: whether its body is supported.
pub(crate) fn supported(entities: &Entities, pairs: &[Pair]) -> Vec<bool> {
    let yields = |slot: u16| entities.get(slot).is_some_and(Entity::is_solved);
    let touching = || pairs.iter().filter(|pair| !pair.points.is_empty());
    let mut parents: Vec<u16> = (0..entities.slot_count()).map(|slot| slot as u16).collect();
    let mut bearing = Vec::new();
    for pair in touching() {
        let own = pair.key.body;
        match pair.key.other.entity() {
            Some(other) if yields(own) && yields(other) => {
                let (a, b) = (root(&mut parents, own), root(&mut parents, other));
                parents[usize::from(a.max(b))] = a.min(b);
            }
            other => bearing.extend([Some(own), other].into_iter().flatten()),
        }
    }
    let mut bears = vec![false; parents.len()];
    for slot in bearing {
        bears[usize::from(root(&mut parents, slot))] = true;
    }
    let slots = 0..parents.len() as u16;
    slots.map(|slot| bears[usize::from(root(&mut parents, slot))]).collect()
}
