//! The entities of the families: how each begins, and how it takes part in a tick.

use obsp::geometry::Aabb;
use obsp::{Map, MapEntity};
use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

use super::Family;
use super::button::Button;
use super::door::Door;
use super::motion::Mover;
use super::plat::Plat;
use super::targets::Calls;
use super::train::Train;
use super::trigger::Trigger;
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Class {
    Door(Door),
    Plat(Plat),
    Button(Button),
    Train(Train),
    Trigger(Trigger),
    /// It was removed by a `killtarget`, or has done what it does once.
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
            Family::Doors => Door::spawn(world, entity).map(Self::Door),
            Family::Plats => Plat::spawn(world, entity).map(Self::Plat),
            Family::Buttons => Button::spawn(world, entity).map(Self::Button),
            Family::Trains => Train::spawn(world, map, entity).map(Self::Train),
            Family::Triggers => Trigger::new(world, entity).map(Self::Trigger),
        }
    }

    fn mover(&self) -> Option<&Mover> {
        match self {
            Self::Door(door) => Some(&door.mover),
            Self::Plat(plat) => Some(&plat.mover),
            Self::Button(button) => Some(&button.mover),
            Self::Train(train) => Some(&train.mover),
            Self::Trigger(_) | Self::Gone => None,
        }
    }

    /// The body of an entity that has one.
    pub(super) fn body(&self) -> Option<EntityId> {
        self.mover().map(|mover| mover.body)
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
            Self::Door(door) => door.tick(at, world, calls),
            Self::Plat(plat) => {
                plat.tick(world, calls);
                None
            }
            Self::Button(button) => button.tick(at, world, calls),
            Self::Train(train) => {
                train.tick(world, calls);
                None
            }
            Self::Trigger(trigger) => trigger.tick(world, entered, calls),
            Self::Gone => None,
        }
    }
}
