use glam::{DQuat, DVec3};

use crate::arena::Arena;
use crate::combat::Combat;
use crate::contact::Pair;
use crate::counters::Counters;
use crate::entities::{Entities, Entity, Role};
use crate::event::Event;
use crate::guard::{Blocker, Placement, Space};
use crate::pose::Pose;
use crate::rest::{self, TOUCH};
use crate::shape::ShapeId;
use crate::spawn;
use crate::state::{EntityId, ModelId};

/// Between the hull and the box under it, in units.
const DROP_GAP: f64 = 1.0;

/// A surface flatter than this carries: cosine of some 60 degrees. A box that
/// brushes a wall is still on its way.
const GROUND: f64 = 0.5;

/// How far above the ground a pad is tried, in units: a slope stands higher
/// under its rim than under its middle.
const LIFTS: [f64; 4] = [1.0, 8.0, 20.0, 40.0];

/// Seconds until a box that found no room for a pad looks again.
const PATIENCE: f64 = 0.5;

/// A cargo box on its way to become a repair pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cargo {
    pub(crate) model: ModelId,
    pub(crate) owner: EntityId,
    /// Ticks until it looks again for room.
    pub(crate) wait: u16,
}

/// Drops a box from under the tank in `slot`, if there is room for it. A tank
/// has one piece of cargo: what it dropped before is taken back.
pub(crate) fn drop_cargo(combat: &mut Combat, slot: u16) {
    let Some((model, shape)) = model_of(combat.arena, "cargo_box") else { return };
    let Some(tank) = combat.entities.get(slot) else { return };
    let (owner, velocity) = (tank.id, tank.velocity);
    let (Some(vehicle), Some(hull)) = (tank.hovertank(), tank.placement()) else { return };
    let before = vehicle.cargo;
    let position = hull
        .pose()
        .position
        .with_z(hull.bounds().min.z - DROP_GAP - combat.arena.shapes[shape].bounds.max.z);
    let pose = Pose { position, orientation: upright(hull.pose().orientation) };
    let space =
        Space { map: &combat.arena.map, shapes: &combat.arena.shapes, entities: combat.entities };
    let Some(placement) = space.place(shape, pose, None, combat.counters) else { return };
    if let Some(before) = before {
        remove(combat.entities, before);
    }
    let role = Role::Cargo(Cargo { model, owner, wait: 0 });
    let Some(id) = combat.entities.insert(role, shape) else { return };
    combat.entities.commit(id.slot, placement);
    if let Some(cargo) = combat.entities.get_mut(id.slot) {
        cargo.velocity = velocity;
    }
    own(combat.entities, owner, id);
}

/// Turns boxes that touch the ground into repair pads, each at the nearest
/// place that is free for one; a box that finds none stays a box for now.
pub(crate) fn deploy(
    arena: &Arena,
    entities: &mut Entities,
    pairs: &[Pair],
    (seconds, events): (f64, &mut Vec<Event>),
    counters: &mut Counters,
) {
    for slot in entities.slots_where(|entity| matches!(entity.role, Role::Cargo(_))) {
        let Some(entity) = entities.get_mut(slot) else { continue };
        let Role::Cargo(cargo) = &mut entity.role else { continue };
        let owner = cargo.owner;
        cargo.wait = cargo.wait.saturating_sub(1);
        let waits = cargo.wait > 0;
        // Asleep it would feel no ground and wait for ever.
        entity.rest.begin_anew();
        let (Some(ground), false) = (ground(slot, pairs), waits) else { continue };
        let Some(pad) = room_for_pad(arena, entities, slot, ground, counters) else {
            if let Some(Role::Cargo(cargo)) = entities.get_mut(slot).map(|e| &mut e.role) {
                cargo.wait = (PATIENCE / seconds).ceil() as u16;
            }
            continue;
        };
        if let Some(pad) = replace(arena, entities, slot, pad) {
            own(entities, owner, pad);
            events.push(Event::Deployed { pad });
        }
    }
}

/// Takes an entity out and wakes what leant on it; one that is no longer
/// there is ignored.
pub(crate) fn remove(entities: &mut Entities, id: EntityId) {
    let left = entities.remove(id);
    if let Some(placement) = left.as_ref().and_then(Entity::placement) {
        rest::wake_around(entities, placement.bounds());
    }
}

/// Height of the ground that the box in `slot` touches, if it does.
fn ground(slot: u16, pairs: &[Pair]) -> Option<f64> {
    let first = pairs.partition_point(|pair| pair.key.body < slot);
    let own = pairs[first..].iter().take_while(|pair| pair.key.body == slot);
    let carries =
        |pair: &&Pair| matches!(pair.key.other, Blocker::Solid(_)) && pair.axis.z < -GROUND;
    let points = own.filter(carries).flat_map(|pair| &pair.points);
    points.filter(|point| point.gap < TOUCH).map(|point| point.on_body.z).reduce(f64::max)
}

/// A place for a pad where the box in `slot` is, as if that were gone: on the
/// ground, a little higher, or the nearest one in sight.
fn room_for_pad(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    ground: f64,
    counters: &mut Counters,
) -> Option<Placement> {
    let (_, shape) = model_of(arena, "repair_pad")?;
    let standing = *entities.get(slot)?.placement()?;
    let orientation = upright(standing.pose().orientation);
    let below = arena.shapes[shape].bounds.min.z;
    let at = |lift: f64| {
        let position = standing.pose().position.with_z(ground - below + lift);
        Pose { position, orientation }
    };
    entities.withdraw(slot);
    let space = Space { map: &arena.map, shapes: &arena.shapes, entities };
    let mut on_ground = LIFTS.iter().map(|&lift| at(lift));
    let found = on_ground
        .find_map(|pose| space.place(shape, pose, None, counters))
        .or_else(|| spawn::nearest_free(&space, shape, at(LIFTS[1]), arena.sight, counters));
    // Nothing has moved since: where the box stood is as free as it was.
    entities.commit(slot, standing);
    found
}

/// Puts a pad into the world where the box in `slot` leaves it.
fn replace(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    place: Placement,
) -> Option<EntityId> {
    let (model, shape) = model_of(arena, "repair_pad")?;
    let cargo = entities.get(slot)?.id;
    let left = entities.remove(cargo)?;
    // The slot that became free is there for the pad, at the latest.
    let pad = entities.insert(Role::Prop(model), shape)?;
    entities.commit(pad.slot, place);
    let entity = entities.get_mut(pad.slot)?;
    entity.velocity = left.velocity;
    if let Some(left) = left.placement() {
        rest::wake_around(entities, left.bounds());
    }
    Some(pad)
}

/// Notes whose cargo it is, if they are still there.
fn own(entities: &mut Entities, owner: EntityId, cargo: EntityId) {
    if let Some(tank) = entities.find_mut(owner).and_then(Entity::hovertank_mut) {
        tank.cargo = Some(cargo);
    }
}

fn model_of(arena: &Arena, name: &str) -> Option<(ModelId, ShapeId)> {
    let model = arena.model(name)?;
    Some((model, arena.shapes.of_model(model)?))
}

/// The same heading without any tilt.
fn upright(orientation: DQuat) -> DQuat {
    let ahead = orientation * DVec3::X;
    spawn::turn(libm::atan2(ahead.y, ahead.x))
}
