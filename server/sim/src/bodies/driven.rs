//! Moving kinematic bodies, and the bodies that they push and carry, directly or through other
//! bodies. None of the pushed and carried bodies may sleep: a sleeping body does not give way, and
//! would stop the others.
//!
//! A kinematic body may drive into a heap faster than the heap can give way. The kinematic body is
//! then slowed down, as a sender is on a congested network: its velocity is halved after each tick
//! in which something stopped it, and doubled again after each free tick. No matter how deep the
//! heap is, the body reaches a speed at which it moves less in a tick than the solver pushes bodies
//! apart in a tick. So the body never stops for good.

use glam::DVec3;

use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::roles::{Kinematic, Role};

/// A kinematic body that completes less than this share of its motion counts as held, and is slowed
/// down.
pub(super) const HELD_SHARE: f64 = 0.5;

/// A slowed-down kinematic body that completes more than this share of its motion speeds up again.
const FREE_SHARE: f64 = 0.9;

/// The bodies that moving kinematic bodies push or carry.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// For each slot, the lowest slot of the group of touching awake bodies that the slot's body
    /// belongs to. Empty if no kinematic body moves.
    roots: Vec<u16>,
    /// Pairs of a group's lowest slot and the slot of a moving kinematic body that touches the
    /// group; ascending.
    drivers: Vec<(u16, u16)>,
}

impl Driven {
    /// Finds, by `pairs`, the awake bodies that touch a moving kinematic body, directly or through
    /// other awake bodies.
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
        let slots = 0..parents.len() as u16;
        let roots: Vec<u16> = slots.map(|slot| root(&mut parents, slot)).collect();
        let mut drivers = Vec::new();
        for (a, b) in touching() {
            for (driver, body) in [(a, b), (b, a)] {
                if of(driver, Entity::is_driven) && of(body, Entity::is_solved) {
                    drivers.push((roots[usize::from(body)], driver));
                }
            }
        }
        drivers.sort_unstable();
        drivers.dedup();
        Self { roots, drivers }
    }

    /// Whether a moving kinematic body pushes or carries the body in a slot.
    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.drivers_of(slot).next().is_some()
    }

    /// The slots of the kinematic bodies that push or carry the body in a slot, ascending.
    pub(super) fn drivers_of(&self, slot: u16) -> impl Iterator<Item = u16> {
        let root = self.roots.get(usize::from(slot)).copied();
        let first = self.drivers.partition_point(|&(of, _)| Some(of) < root);
        let drivers = self.drivers[first..].iter();
        drivers.take_while(move |&&(of, _)| Some(of) == root).map(|&(_, driver)| driver)
    }

    /// The greatest velocity that a body would have if it were fixed to one of the kinematic bodies
    /// that push or carry it.
    fn velocity(&self, entities: &Entities, slot: u16) -> Option<DVec3> {
        let position = |entity: &Entity| Some(entity.placement()?.pose().position);
        let at = position(entities.get(slot)?)?;
        let velocities = self.drivers_of(slot).filter_map(|driver| {
            let driver = entities.get(driver)?;
            Some(driver.velocity + driver.angular.cross(at - position(driver)?))
        });
        velocities.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
    }
}

/// The velocities that the game has set for the moving kinematic bodies, kept while a tick uses the
/// slowed-down ones.
#[must_use]
pub(crate) struct Slowed(Vec<(u16, [DVec3; 2])>);

/// Begins a tick. Gives each moving kinematic body the velocity with which it really moves. Notes
/// on each pushed or carried body the velocity that the kinematic body gives to that body. `pairs`
/// contains the pairs of the last tick. The result is for [`end_tick`].
pub(crate) fn begin_tick(entities: &mut Entities, pairs: &[Pair]) -> Slowed {
    let mut slowed = Slowed(Vec::new());
    if !entities.has_kinematic() {
        return slowed;
    }
    for entity in entities.iter_mut().filter(|entity| entity.is_driven()) {
        slowed.0.push((entity.id.slot, [entity.velocity, entity.angular]));
        [entity.velocity, entity.angular] = entity.motion();
    }
    let driven = Driven::new(entities, pairs);
    let slots = entities.slots_where(Entity::is_solved).into_iter();
    let velocities: Vec<(u16, DVec3)> =
        slots.filter_map(|slot| Some((slot, driven.velocity(entities, slot)?))).collect();
    for (slot, velocity) in velocities {
        if let Some(entity) = entities.get_mut(slot) {
            entity.driven_velocity = velocity;
        }
    }
    slowed
}

/// Ends the tick: restores the velocities that the game has set for kinematic bodies.
pub(crate) fn end_tick(entities: &mut Entities, Slowed(slowed): Slowed) {
    if !entities.has_kinematic() {
        return;
    }
    entities.iter_mut().for_each(|entity| entity.driven_velocity = DVec3::ZERO);
    for (slot, velocities) in slowed {
        if let Some(entity) = entities.get_mut(slot) {
            [entity.velocity, entity.angular] = velocities;
        }
    }
}

/// Adjusts the speed of a kinematic body for the next tick. `made` is the share of its motion that
/// it completed in this tick. `gives_way` says whether the body that stopped it is moved by the
/// solver. Any other obstacle would not give way to a slower body either, so the speed is kept.
pub(crate) fn adjust_speed(entity: &mut Entity, made: f64, gives_way: bool) {
    entity.sleep.held = made < HELD_SHARE;
    if let Role::Kinematic(Kinematic { slowdowns, .. }) = &mut entity.role {
        if made < HELD_SHARE {
            if !gives_way {
                return;
            }
            *slowdowns = (*slowdowns + 1).min(Kinematic::MAX_SLOWDOWNS);
        } else if made > FREE_SHARE {
            *slowdowns = slowdowns.saturating_sub(1);
        }
    }
}

/// The lowest slot of the set that `slot` belongs to. `parents` holds disjoint sets: for each slot,
/// a slot of the same set that is no higher. Paths are shortened on the way.
pub(super) fn root(parents: &mut [u16], slot: u16) -> u16 {
    let mut root = slot;
    while parents[usize::from(root)] != root {
        let above = parents[usize::from(root)];
        parents[usize::from(root)] = parents[usize::from(above)];
        root = above;
    }
    root
}
