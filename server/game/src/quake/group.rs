//! Groups of doors: doors that touch each other open together. The first door of a group is its
//! leader, and has the group's field, health, lock and name.

use glam::DVec3;
use obsp::geometry::Aabb;
use obsp_sim::EntityId;

use super::door::Door;
use super::lock::Lock;
use super::targets::Calls;
use super::{Class, Entity};
use crate::world_mut::WorldMut;

/// A group of doors opens for a player this near to the box around it, in units.
const FIELD: DVec3 = DVec3::new(60.0, 60.0, 8.0);

/// Boxes that are at most this far apart, in units, touch: in Quake, each box is a unit larger.
const TOUCH: f64 = 2.0;

/// Joins the doors of a map to groups.
pub(super) fn link(list: &mut [Entity], world: &mut WorldMut<'_>) {
    for at in 0..list.len() {
        if door_mut(list, at).is_none_or(|door| door.leader != Door::ALONE) {
            continue;
        }
        let group = group(list, at);
        let doors = || group.iter().filter_map(|&at| door(list, at as usize));
        let field = doors().fold(Aabb::EMPTY, |all, door| all.union(door.drawn));
        let field = Aabb { min: field.min - FIELD, max: field.max + FIELD };
        let health = doors().map(|door| door.health).max().unwrap_or(0);
        let lock = doors().fold(Lock::default(), |lock, door| lock.joined(&door.lock));
        let named = |&&at: &&u32| !list[at as usize].wires.targetname.is_empty();
        let name = group.iter().find(named).map(|&at| list[at as usize].wires.targetname.clone());
        let has_field = health == 0
            && name.is_none()
            && !lock.is_locked()
            && doors().all(|door| door.has_field);
        let zone = Some(field).filter(|_| has_field);
        let field = zone.and_then(|field| world.add_volume(&field));
        for &member in &group {
            if let Some(door) = door_mut(list, member as usize) {
                (door.leader, door.zone) = (at as u32, zone.filter(|_| field.is_some()));
                door.arm(world);
            }
        }
        if let Some(leader) = door_mut(list, at) {
            (leader.field, leader.health, leader.health_left) = (field, health, health);
            (leader.group, leader.lock) = (group, lock);
        }
        if let Some(name) = name {
            list[at].wires.targetname = name;
        }
    }
}

/// The door at `at` and all later ones that touch it, or touch one that does.
fn group(list: &[Entity], at: usize) -> Vec<u32> {
    let mut group = vec![at as u32];
    if !door(list, at).is_some_and(|door| door.links) {
        return group;
    }
    let mut next = 0;
    while let Some(own) = group.get(next).and_then(|&at| door(list, at as usize)) {
        let reach = own.drawn.inflated(TOUCH);
        for other in at + 1..list.len() {
            let Some(found) = door(list, other).filter(|found| found.links) else { continue };
            let other = other as u32;
            if !group.contains(&other) && found.drawn.overlaps(&reach) {
                group.push(other);
            }
        }
        next += 1;
    }
    group.sort_unstable();
    group
}

/// Opens the group of a leader, or shuts it if its doors toggle and are open.
pub(super) fn open(
    list: &mut [Entity],
    leader: usize,
    by: Option<EntityId>,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    let Some(first) = door(list, leader) else { return };
    let shuts = first.toggles && first.is_open();
    let group = first.group.clone();
    if let Some(first) = door_mut(list, leader) {
        first.lock = Lock::default();
    }
    for at in group {
        if let Some(door) = door_mut(list, at as usize) {
            match shuts {
                true => door.shut(world),
                false => door.open(at as usize, by, world, calls),
            }
        }
    }
}

/// Takes a door out of its group. If it was the leader, the next door becomes the leader and takes
/// over name, field, health and lock.
pub(super) fn leave(list: &mut [Entity], at: usize) {
    let Some(own) = door(list, at) else { return };
    let leader = own.leader as usize;
    let Some(first) = door(list, leader).cloned() else { return };
    let group: Vec<u32> = first.group.iter().copied().filter(|it| *it != at as u32).collect();
    if leader != at {
        if let Some(door) = door_mut(list, leader) {
            door.group = group;
        }
        return;
    }
    let Some(&heir) = group.first() else { return };
    for &member in &group {
        if let Some(door) = door_mut(list, member as usize) {
            door.leader = heir;
        }
    }
    let name = std::mem::take(&mut list[at].wires.targetname);
    if let Some(door) = door_mut(list, heir as usize) {
        (door.field, door.field_wait) = (first.field, first.field_wait);
        (door.health, door.health_left) = (first.health, first.health_left);
        (door.group, door.lock) = (group, first.lock);
        list[heir as usize].wires.targetname = name;
    }
}

/// Takes health from the group of a leader. Returns whether that opens it.
pub(super) fn damage(list: &mut [Entity], leader: usize, points: i32) -> bool {
    let Some(door) = door_mut(list, leader).filter(|door| door.health > 0) else { return false };
    if door.is_open() {
        return false;
    }
    door.health_left = door.health_left.saturating_sub(points);
    let breaks = door.health_left <= 0;
    if breaks {
        door.health_left = door.health;
    }
    breaks
}

pub(super) fn door(list: &[Entity], at: usize) -> Option<&Door> {
    match &list.get(at)?.class {
        Class::Door(door) => Some(door),
        _ => None,
    }
}

pub(super) fn door_mut(list: &mut [Entity], at: usize) -> Option<&mut Door> {
    match &mut list.get_mut(at)?.class {
        Class::Door(door) => Some(door),
        _ => None,
    }
}
