//! Moving kinematic bodies, and what they push and carry, directly or through other bodies.
//! None of that may sleep: a sleeping body does not give way, and would stop all of them.
//!
//! One that is driven into a heap faster than the heap can give way is slowed down, as a
//! sender is on a network that is full: its velocity is halved each time that something stops
//! it, and doubled again each time that nothing does. However deep the heap, at some speed the
//! way of a tick is less than what the solver leaves of it, so it never stands for good.

use glam::DVec3;

use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::roles::{Kinematic, Role};

/// A kinematic body that could not make this share of its motion is held, and slowed down.
const HELD_SHARE: f64 = 0.5;

/// One that made this share of its motion goes on faster, if it was slowed down.
const FREE_SHARE: f64 = 0.9;

/// The bodies that moving kinematic bodies push or carry.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// The lowest slot of all that touch each other, by slot; empty if no kinematic body moves.
    roots: Vec<u16>,
    /// The slots of the kinematic bodies that move, after the roots of what they touch;
    /// ascending.
    drivers: Vec<(u16, u16)>,
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

    /// Whether the body in a slot is one of them.
    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.drivers_of(slot).next().is_some()
    }

    /// The slots of the kinematic bodies that push or carry the body in a slot, ascending.
    fn drivers_of(&self, slot: u16) -> impl Iterator<Item = u16> {
        let root = self.roots.get(usize::from(slot)).copied();
        let first = self.drivers.partition_point(|&(of, _)| Some(of) < root);
        let drivers = self.drivers[first..].iter();
        drivers.take_while(move |&&(of, _)| Some(of) == root).map(|&(_, driver)| driver)
    }

    /// The velocity that a body would have if it were one with the fastest of those that push or
    /// carry it.
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

/// The velocities of kinematic bodies that are slowed down for a tick.
#[must_use]
pub(crate) struct Slowed(Vec<(u16, [DVec3; 2])>);

/// Begins a tick: kinematic bodies have the velocities with which they move, and what they push
/// or carry knows of it. `pairs` are those of last tick.
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

/// Ends the tick: kinematic bodies have the velocities that their game has set.
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

/// Notes the share of its motion that a kinematic body has made: it will be slower or faster in
/// the next tick. `gives_way` is whether what stopped it moves: nothing else gives way to a
/// slower one either.
pub(crate) fn note_way(entity: &mut Entity, made: f64, gives_way: bool) {
    entity.sleep.held = made < HELD_SHARE;
    if let Role::Kinematic(Kinematic { halvings, .. }) = &mut entity.role {
        if made < HELD_SHARE {
            if !gives_way {
                return;
            }
            *halvings = (*halvings + 1).min(Kinematic::MAX_HALVINGS);
        } else if made > FREE_SHARE {
            *halvings = halvings.saturating_sub(1);
        }
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
