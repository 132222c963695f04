//! The entities of the families: how each begins, and how it takes part in a tick.

use obsp::geometry::Aabb;
use obsp::{Map, MapEntity};
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::bob::Bob;
use super::button::Button;
use super::conveyor::Conveyor;
use super::door::Door;
use super::pad::Pad;
use super::plat::Plat;
use super::pushable::Pushable;
use super::rotate_train::RotateTrain;
use super::rotation::Rotated;
use super::rotor::Rotor;
use super::secret::SecretDoor;
use super::targets::Calls;
use super::teleporter::Teleporter;
use super::train::Train;
use super::trigger::Trigger;
use super::wall::Wall;
use super::zone::Zone;
use super::{Entity, Family, group};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Class {
    Door(Door),
    SecretDoor(SecretDoor),
    Plat(Plat),
    Button(Button),
    Train(Train),
    Rotor(Rotor),
    RotateTrain(RotateTrain),
    Wall(Wall),
    Pushable(Pushable),
    Conveyor(Conveyor),
    Bob(Bob),
    Trigger(Trigger),
    Zone(Zone),
    Pad(Pad),
    Teleporter(Teleporter),
    /// The entity was removed by a `killtarget`, or acts only once and has acted.
    Gone,
}

impl Class {
    /// Puts an entity of a family into the world; `None` if it has no place there.
    pub(super) fn spawn(
        world: &mut WorldMut<'_>,
        map: &Map,
        entity: &MapEntity,
        family: Family,
    ) -> Option<Self> {
        match family {
            Family::Doors if entity.classname() == "func_door_secret" => {
                SecretDoor::spawn(world, entity).map(Self::SecretDoor)
            }
            Family::Doors => Door::spawn(world, entity).map(Self::Door),
            Family::Plats => Plat::spawn(world, entity).map(Self::Plat),
            Family::Buttons => Button::spawn(world, entity).map(Self::Button),
            Family::Trains => Train::spawn(world, map, entity).map(Self::Train),
            Family::Rotation => match entity.classname() {
                "func_rotating" => Rotor::rotating(world, entity).map(Self::Rotor),
                "rotate_object" => {
                    let rotated = Rotated::of(map, entity)?;
                    match rotated.by.classname() {
                        "func_rotate_door" => {
                            Door::of_object(world, entity, &rotated).map(Self::Door)
                        }
                        "func_rotate_train" => {
                            let train = RotateTrain::of_object(world, map, entity, rotated.by);
                            train.map(Self::RotateTrain)
                        }
                        _ => Rotor::of_object(world, entity, &rotated).map(Self::Rotor),
                    }
                }
                _ => None,
            },
            Family::Pushables => Pushable::spawn(world, entity).map(Self::Pushable),
            Family::Conveyors => Conveyor::spawn(world, entity).map(Self::Conveyor),
            Family::Bobs => Bob::spawn(world, entity).map(Self::Bob),
            Family::Walls => Wall::spawn(world, entity).map(Self::Wall),
            Family::Triggers => match entity.classname() {
                "trigger_push" => Pad::new(world, entity).map(Self::Pad),
                "trigger_teleport" => Teleporter::new(world, entity).map(Self::Teleporter),
                _ => Trigger::new(world, entity)
                    .map(Self::Trigger)
                    .or_else(|| Zone::new(world, entity).map(Self::Zone)),
            },
        }
    }

    /// The body of an entity that has one.
    pub(super) fn body(&self) -> Option<EntityId> {
        match self {
            Self::Door(door) => Some(door.body()),
            Self::SecretDoor(door) => Some(door.body()),
            Self::Plat(plat) => Some(plat.mover.body),
            Self::Button(button) => Some(button.mover.body),
            Self::Train(train) => Some(train.mover.body),
            Self::Rotor(rotor) => Some(rotor.body()),
            Self::RotateTrain(train) => Some(train.body),
            Self::Wall(wall) => Some(wall.body()),
            Self::Pushable(pushable) => Some(pushable.body),
            Self::Conveyor(conveyor) => Some(conveyor.body),
            Self::Bob(bob) => Some(bob.body),
            Self::Trigger(_) | Self::Zone(_) | Self::Pad(_) | Self::Teleporter(_) | Self::Gone => {
                None
            }
        }
    }

    /// The volume that players enter.
    pub(super) fn volume(&self) -> Option<VolumeId> {
        match self {
            Self::Trigger(trigger) => trigger.volume,
            Self::Zone(zone) => Some(zone.volume()),
            Self::Pad(pad) => Some(pad.volume()),
            Self::Teleporter(teleporter) => Some(teleporter.volume()),
            _ => None,
        }
    }

    /// The box in which an explosion meets the entity.
    pub(super) fn bounds(&self, world: &WorldMut<'_>) -> Option<Aabb> {
        match self {
            Self::Trigger(trigger) => trigger.shootable(),
            class => world.bounds_of(class.body()?),
        }
    }

    /// Plays a tick of the entity with the number `at`. Returns by whom it is set off.
    pub(super) fn tick(
        &mut self,
        at: usize,
        world: &mut WorldMut<'_>,
        entered: &[(VolumeId, EntityId)],
        calls: &mut Calls,
    ) -> Option<Option<EntityId>> {
        match self {
            Self::Door(door) => return door.tick(at, world, calls),
            Self::SecretDoor(door) => door.tick(world, calls),
            Self::Plat(plat) => plat.tick(world, calls),
            Self::Button(button) => return button.tick(at, world, calls),
            Self::Train(train) => train.tick(world, calls),
            Self::Rotor(rotor) => rotor.tick(world, calls),
            Self::RotateTrain(train) => train.tick(world, calls),
            Self::Wall(wall) => wall.tick(world),
            Self::Bob(bob) => bob.tick(world),
            Self::Trigger(trigger) => return trigger.tick(world, entered),
            Self::Zone(zone) => zone.tick(world, entered, calls),
            Self::Pad(pad) => pad.tick(world, entered),
            Self::Teleporter(teleporter) => teleporter.tick(world, entered),
            Self::Pushable(_) | Self::Conveyor(_) | Self::Gone => {}
        }
        None
    }
}

/// Takes health from an entity. Returns whether that sets it off.
pub(super) fn damage(list: &mut [Entity], at: usize, points: i32) -> bool {
    match list.get_mut(at).map(|entity| &mut entity.class) {
        Some(Class::Door(door)) => {
            let leader = door.leader as usize;
            group::damage(list, leader, points)
        }
        Some(Class::SecretDoor(door)) => door.damage(points),
        Some(Class::Button(button)) => button.damage(points),
        Some(Class::Wall(wall)) => wall.damage(points),
        Some(Class::Trigger(trigger)) => trigger.damage(points),
        _ => false,
    }
}
