//! Targets: an entity sets off others by the names in its keys, as Quake's `SUB_UseTargets` does.

use std::collections::VecDeque;

use obsp::MapEntity;
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::{Class, Effect, Entity, group, keys};
use crate::world_mut::WorldMut;

/// The most entities that fire in one tick, because relays that set each other off would go on for
/// ever. The rest fires in the next tick.
const MOST: usize = 1024;

/// The most entities that wait to fire. Without a limit, relays that each set off several others
/// would become more in every tick. Entities beyond the limit do not fire.
const MOST_PENDING: usize = 4096;

/// The most messages that are shown in one tick.
const MOST_MESSAGES: usize = 8;

/// The message of a secret without one.
const SECRET: &str = "You found a secret area!";

/// The keys that say what an entity sets off, and what sets it off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Wires {
    pub(super) targetname: String,
    pub(super) target: String,
    killtarget: String,
    message: String,
    /// Ticks until the targets are set off.
    delay: u32,
}

/// An entity whose targets are set off later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending {
    ticks: u32,
    wires: Wires,
    by: Option<EntityId>,
}

/// The events of a tick.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The entities that fire their targets, and the player who set them off.
    fired: VecDeque<(usize, Option<EntityId>)>,
    pub(super) effects: Vec<Effect>,
}

impl Calls {
    /// Lets an entity fire its targets, unless very many are to fire already.
    pub(super) fn fire(&mut self, at: usize, by: Option<EntityId>) {
        if self.fired.len() < MOST_PENDING {
            self.fired.push_back((at, by));
        }
    }

    /// Shows a message, unless very many are shown in this tick already.
    pub(super) fn show(&mut self, player: Option<EntityId>, line: String) {
        let shown = self.effects.iter().filter(|it| matches!(it, Effect::Message { .. })).count();
        if shown < MOST_MESSAGES {
            self.effects.push(Effect::Message { player, line });
        }
    }
}

impl Wires {
    pub(super) fn of(world: &WorldMut<'_>, entity: &MapEntity) -> Self {
        let text = |key| entity.get(key).unwrap_or_default().to_owned();
        // A door shows its message to the player who touches it, and not when it opens.
        let speaks = !entity.classname().starts_with("func_door");
        let message = match entity.classname() {
            "trigger_secret" if text("message").is_empty() => SECRET.to_owned(),
            _ => text("message"),
        };
        Self {
            targetname: text("targetname"),
            target: text("target"),
            killtarget: text("killtarget"),
            message: if speaks { message } else { String::new() },
            delay: keys::ticks(world, entity, "delay", 0.0).unwrap_or(0),
        }
    }

    /// The wires with only the `targetname` of an entity. They set nothing off.
    pub(super) fn named(entity: &MapEntity) -> Self {
        let targetname = entity.get("targetname").unwrap_or_default().to_owned();
        Self { targetname, ..Self::default() }
    }

    pub(super) fn is_targeted(entity: &MapEntity) -> bool {
        entity.get("targetname").is_some_and(|name| !name.is_empty())
    }
}

/// Removes and returns the pending targets whose time has come.
pub(super) fn due(pending: &mut Vec<Pending>) -> Vec<Pending> {
    pending.iter_mut().for_each(|pending| pending.ticks = pending.ticks.saturating_sub(1));
    let (due, later) = std::mem::take(pending).into_iter().partition(|it| it.ticks == 0);
    *pending = later;
    due
}

/// Fires the targets of all entities in `calls`, then the targets of those targets, and so on.
pub(super) fn follow(
    list: &mut [Entity],
    pending: &mut Vec<Pending>,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    let mut number = 0;
    while let Some((at, by)) = calls.fired.pop_front() {
        let Some(wires) = list.get(at).map(|entity| entity.wires.clone()) else { continue };
        number += 1;
        let ticks = if number > MOST { wires.delay.max(1) } else { wires.delay };
        let pending_call = Pending { ticks, wires, by };
        match ticks {
            0 => call(list, &pending_call, world, calls),
            _ if pending.len() < MOST_PENDING => pending.push(pending_call),
            _ => {}
        }
    }
}

/// Shows the message of an entity. Then removes the entities that its `killtarget` names, or sets
/// off those that its `target` names. As in Quake, an entity with a `killtarget` sets nothing off.
pub(super) fn call(
    list: &mut [Entity],
    Pending { wires, by, .. }: &Pending,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    if !wires.message.is_empty() {
        calls.show(*by, wires.message.clone());
    }
    if !wires.killtarget.is_empty() {
        let is_named = |at: &usize| list[*at].wires.targetname == wires.killtarget;
        // A door that leads its group hands its name on, so the names are read before any removal.
        let named: Vec<usize> = (0..list.len()).filter(is_named).collect();
        for at in named {
            remove(list, at, world);
        }
    } else if !wires.target.is_empty() {
        use_all(list, &wires.target, *by, world, calls);
    }
}

/// Sets off all entities of a name.
pub(super) fn use_all(
    list: &mut [Entity],
    name: &str,
    by: Option<EntityId>,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    let mut leaders: Vec<u32> = Vec::new();
    for at in 0..list.len() {
        if list[at].wires.targetname != name {
            continue;
        }
        // Several doors of a group may have the name. The group is set off once.
        if let Some(leader) = group::door(list, at).map(|door| door.leader) {
            if leaders.contains(&leader) {
                continue;
            }
            leaders.push(leader);
        }
        use_one(list, at, by, world, calls);
    }
}

/// Removes an entity, with its body.
pub(super) fn remove(list: &mut [Entity], at: usize, world: &mut WorldMut<'_>) {
    group::leave(list, at);
    let Some(entity) = list.get_mut(at) else { return };
    if let Some(body) = entity.class.body() {
        // The body is there as long as the entity is.
        let _ = world.remove(body);
    }
    entity.class = Class::Gone;
}

/// Sets off one entity.
pub(super) fn use_one(
    list: &mut [Entity],
    at: usize,
    by: Option<EntityId>,
    world: &mut WorldMut<'_>,
    calls: &mut Calls,
) {
    let Some(entity) = list.get_mut(at) else { return };
    match &mut entity.class {
        Class::Door(door) => {
            let leader = door.leader as usize;
            group::open(list, leader, by, world, calls);
        }
        Class::SecretDoor(door) => {
            if door.set_off(world) {
                calls.fire(at, by);
            }
        }
        Class::Rotor(rotor) => rotor.set_off(world),
        Class::RotateTrain(train) => train.set_off(),
        Class::Wall(wall) => {
            if wall.set_off() {
                calls.fire(at, by);
                remove(list, at, world);
            }
        }
        Class::Conveyor(conveyor) => conveyor.set_off(world),
        Class::Bob(bob) => bob.set_off(world),
        Class::Plat(plat) => plat.set_off(world),
        Class::Button(button) => button.press(world, by),
        Class::Train(train) => train.set_off(),
        Class::Trigger(trigger) => {
            let fires = trigger.set_off(by, calls);
            if fires {
                calls.fire(at, by);
            }
        }
        Class::Zone(zone) => zone.set_off(),
        Class::Pad(pad) => pad.set_off(),
        Class::Teleporter(teleporter) => teleporter.set_off(world),
        Class::Pushable(_) | Class::Gone => {}
    }
}
