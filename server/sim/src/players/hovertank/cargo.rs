//! Cargo of a hovertank: dropping it, and turning it into a repair pad.

use glam::{DQuat, DVec3};

use crate::arena::{Arena, spawn};
use crate::bodies::blocker::Blocker;
use crate::bodies::contact::Pair;
use crate::bodies::entities::{Entities, Entity};
use crate::bodies::guard::{Placement, Seeker};
use crate::bodies::roles::{Cargo, Role};
use crate::bodies::sleep;
use crate::bodies::sleep::TOUCH;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::context::StepContext;
use crate::conventions::turn;
use crate::event::WorldEvent;
use crate::place_error::PlaceError;
use crate::state::{EntityId, ModelId};

/// Gap between the hull and the box under it, in units.
const DROP_GAP: f64 = 1.0;

/// Minimum height of the normal of ground for a pad: cosine of 60 degrees. A box that touches a
/// wall is still falling.
const GROUND: f64 = 0.5;

/// Heights above the ground, in units, at which a place for the pad is tried. A slope is higher
/// under the pad's rim than under its middle.
const LIFTS: [f64; 4] = [1.0, 8.0, 20.0, 40.0];

/// Seconds until a box that found no room for a pad tries again.
const PATIENCE: f64 = 0.5;

/// Drops a box from under the tank in `slot`, if there is room for it. The box, and the pad that it
/// becomes, get the layers of the tank. A tank has one piece of cargo, so the previous one is
/// removed.
///
/// # Errors
/// [`PlaceError`]; nothing changes then.
pub(crate) fn drop_cargo(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    context: &mut StepContext,
) -> Result<EntityId, PlaceError> {
    let (model, shape) = model_of(arena, "cargo_box").ok_or(PlaceError::NoSuchModel)?;
    let tank = entities.get(slot).ok_or(PlaceError::NoSuchEntity)?;
    let (owner, velocity) = (tank.id, tank.velocity);
    let vehicle = tank.hovertank().ok_or(PlaceError::NoSuchEntity)?;
    let hull = tank.placement().ok_or(PlaceError::NoSuchEntity)?;
    let before = vehicle.cargo;
    let position = hull
        .pose()
        .position
        .with_z(hull.bounds().min.z - DROP_GAP - arena.shapes[shape].bounds.max.z);
    let pose = Pose { position, orientation: upright(hull.pose().orientation) };
    let space = arena.space(entities);
    let layers = tank.layers;
    let seeker = Seeker::newcomer(layers);
    let placement = space.place(shape, pose, seeker, context).ok_or(PlaceError::NoRoom)?;
    if let Some(before) = before {
        sleep::remove(entities, before);
    }
    let role = Role::Cargo(Cargo { model, owner, wait: 0 });
    let id = entities.insert(role, shape).ok_or(PlaceError::Full)?;
    entities.commit(id.slot, placement);
    if let Some(cargo) = entities.get_mut(id.slot) {
        (cargo.velocity, cargo.layers) = (velocity, layers);
    }
    own(entities, owner, id);
    Ok(id)
}

/// Turns boxes that touch the ground into repair pads, each at the nearest free place for a pad. A
/// box without such a place remains a box, and tries again later.
pub(crate) fn deploy(
    arena: &Arena,
    entities: &mut Entities,
    pairs: &[Pair],
    events: &mut Vec<WorldEvent>,
    context: &mut StepContext,
) {
    for slot in entities.slots_where(|entity| matches!(entity.role, Role::Cargo(_))) {
        let Some(entity) = entities.get_mut(slot) else { continue };
        let Role::Cargo(cargo) = &mut entity.role else { continue };
        let owner = cargo.owner;
        cargo.wait = cargo.wait.saturating_sub(1);
        let waits = cargo.wait > 0;
        // A sleeping box has no contacts and would wait for ever.
        entity.sleep.reset_timers();
        let (Some(ground), false) = (ground(entity, pairs), waits) else { continue };
        let Some(pad) = room_for_pad(arena, entities, slot, ground, context) else {
            if let Some(Role::Cargo(cargo)) = entities.get_mut(slot).map(|e| &mut e.role) {
                cargo.wait = (PATIENCE / context.seconds).ceil() as u16;
            }
            continue;
        };
        if let Some(pad) = replace(arena, entities, slot, pad) {
            own(entities, owner, pad);
            events.push(WorldEvent::Deployed { pad });
        }
    }
}

/// Height of the ground that a box touches, if it touches any.
fn ground(entity: &Entity, pairs: &[Pair]) -> Option<f64> {
    let slot = entity.id.slot;
    let first = pairs.partition_point(|pair| pair.key.body < slot);
    let own = pairs[first..].iter().take_while(|pair| pair.key.body == slot);
    let carries =
        |pair: &&Pair| matches!(pair.key.other, Blocker::Solid(_)) && pair.axis.z < -GROUND;
    let points = own.filter(carries).flat_map(|pair| &pair.points);
    let touching = points.filter(|point| f64::from(point.gap) < TOUCH);
    touching.filter_map(|point| Some(entity.searched_point(point.local)?.z)).reduce(f64::max)
}

/// A place for a pad where the box in `slot` is, as if the box were gone. The place is on the
/// ground, a little higher, or the nearest one in sight.
fn room_for_pad(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    ground: f64,
    context: &mut StepContext,
) -> Option<Placement> {
    let (_, shape) = model_of(arena, "repair_pad")?;
    let cargo = entities.get(slot)?;
    let (standing, seeker) = (*cargo.placement()?, Seeker::of(cargo));
    let orientation = upright(standing.pose().orientation);
    let below = arena.shapes[shape].bounds.min.z;
    let at = |lift: f64| {
        let position = standing.pose().position.with_z(ground - below + lift);
        Pose { position, orientation }
    };
    entities.withdraw(slot);
    let space = arena.space(entities);
    let mut on_ground = LIFTS.iter().map(|&lift| at(lift));
    let found =
        on_ground.find_map(|pose| space.place(shape, pose, seeker, context)).or_else(|| {
            spawn::nearest_free(&space, (shape, seeker), at(LIFTS[1]), arena.sight, context)
        });
    // Nothing has moved since the box was taken out, so its place is still free.
    entities.commit(slot, standing);
    found
}

/// Replaces the box in `slot` by a pad.
fn replace(
    arena: &Arena,
    entities: &mut Entities,
    slot: u16,
    place: Placement,
) -> Option<EntityId> {
    let (model, shape) = model_of(arena, "repair_pad")?;
    let cargo = entities.get(slot)?.id;
    let left = entities.remove(cargo)?;
    // At least one slot is free: the slot of the box.
    let pad = entities.insert(Role::Prop(model), shape)?;
    entities.commit(pad.slot, place);
    let entity = entities.get_mut(pad.slot)?;
    (entity.velocity, entity.layers) = (left.velocity, left.layers);
    if let Some(left) = left.placement() {
        sleep::wake_around(entities, left.bounds());
    }
    Some(pad)
}

/// Records the cargo with its owner, if the owner is still in the match.
fn own(entities: &mut Entities, owner: EntityId, cargo: EntityId) {
    if let Some(tank) = entities.find_mut(owner).and_then(Entity::hovertank_mut) {
        tank.cargo = Some(cargo);
    }
}

fn model_of(arena: &Arena, name: &str) -> Option<(ModelId, ShapeId)> {
    let model = arena.model(name).filter(|&model| !arena.shapes.is_kinematic(model))?;
    Some((model, arena.shapes.of_model(model)?))
}

/// The orientation with the same heading and no tilt.
fn upright(orientation: DQuat) -> DQuat {
    let ahead = orientation * DVec3::X;
    turn(libm::atan2(ahead.y, ahead.x))
}
