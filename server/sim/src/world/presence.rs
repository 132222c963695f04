//! Presence: whether an entity is visible and solid, and what it follows.
//!
//! An entity that is not solid has no placement. So no search finds it, nothing meets it, and it
//! costs nothing. Only the guard makes it solid again.

use glam::{DQuat, DVec3};

use super::World;
use crate::bodies::entities::{Entity, Outside};
use crate::bodies::guard::Seeker;
use crate::bodies::roles::Role;
use crate::bodies::sleep;
use crate::collision::pose::{Pose, unit};
use crate::event::WorldEvent;
use crate::place_error::PlaceError;
use crate::state::{EntityId, ModelId};
use crate::traits::Attachment;

impl World {
    /// Sets whether clients draw an entity. An entity that is hidden is as solid as before.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such entity.
    pub fn set_visible(&mut self, id: EntityId, visible: bool) -> Result<(), PlaceError> {
        let entity = self.entities.find_mut(id).ok_or(PlaceError::NoSuchEntity)?;
        entity.visible = visible;
        Ok(())
    }

    /// Adds an intangible body: a picture of a model. It takes no room, so it may be anywhere.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::PlaceError;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// let pickup = world.spawn_intangible(model, at, DQuat::IDENTITY)?;
    /// // It becomes solid where there is room.
    /// assert_eq!(world.place(pickup, at, DQuat::IDENTITY), Err(PlaceError::NoRoom));
    /// world.place(pickup, at + DVec3::Z * 40.0, DQuat::IDENTITY)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    pub fn spawn_intangible(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<EntityId, PlaceError> {
        let shape = self.arena.shapes.of_model(model).ok_or(PlaceError::NoSuchModel)?;
        let pose = self.checked_pose(position, orientation)?;
        let role = Role::of_body(model, &self.arena.shapes);
        let id = self.entities.insert(role, shape).ok_or(PlaceError::Full)?;
        self.store_outside(id, Outside::Intangible(pose));
        Ok(id)
    }

    /// Makes a body intangible where it is. From then on it stands still, takes no room and costs
    /// nothing. Bodies that leant on it wake.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such body in the world, and
    /// [`PlaceError::AlwaysSolid`] for players and missiles.
    pub fn make_intangible(&mut self, id: EntityId) -> Result<(), PlaceError> {
        let pose = self.pose_of(self.possible_picture(id)?).ok_or(PlaceError::NoSuchEntity)?;
        self.become_picture(id, Outside::Intangible(pose));
        Ok(())
    }

    /// Puts an intangible body at a pose. Nothing is in its way. An attachment of the body ends.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then. [`PlaceError::Solid`] for a body that is solid, which
    /// moves by [`World::teleport`].
    pub fn set_pose(
        &mut self,
        id: EntityId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), PlaceError> {
        if self.possible_picture(id)?.placement().is_some() {
            return Err(PlaceError::Solid);
        }
        let pose = self.checked_pose(position, orientation)?;
        self.become_picture(id, Outside::Intangible(pose));
        Ok(())
    }

    /// Makes an intangible body solid at a pose. A body that is solid is moved there, as by
    /// [`World::teleport`].
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then. [`PlaceError::NoRoom`] if something that the body may
    /// meet is in the way.
    pub fn place(
        &mut self,
        id: EntityId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), PlaceError> {
        let body = self.possible_picture(id)?;
        if body.placement().is_some() {
            return self.teleport(id, position, orientation);
        }
        let (shape, seeker) = (body.shape, Seeker::of(body));
        let pose = self.checked_pose(position, orientation)?;
        let placement = self.free_place(shape, pose, seeker).ok_or(PlaceError::NoRoom)?;
        self.settle_player_in(id.slot, placement, 0);
        Ok(())
    }

    /// Lets a body follow a carrier: a player, a missile or another body in the world. The
    /// body becomes intangible. Its pose is that of the carrier, then `rotation` and `offset` in
    /// the carrier's frame (see [`Attachment`]). Clients know the attachment, so a body that
    /// follows its carrier costs them no byte.
    ///
    /// When the carrier leaves the world, the body stays where it was
    /// ([`WorldEvent::Detached`]).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let player = world.join()?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let flag = world.spawn_intangible(model, DVec3::ZERO, DQuat::IDENTITY)?;
    /// // Behind the player's back.
    /// world.attach(flag, player, DVec3::new(-20.0, 0.0, 10.0), DQuat::IDENTITY)?;
    /// let [flag, player] = [flag, player].map(|id| world.entity(id).expect("it is in the world"));
    /// let behind = flag.position - player.position;
    /// assert!((behind - player.orientation * DVec3::new(-20.0, 0.0, 10.0)).length() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then. [`PlaceError::Chain`] if the carrier follows the body,
    /// or if more than [`Attachment::MAX_CHAIN`] would follow each other.
    /// [`PlaceError::OffsetTooLong`] if the offset is longer than [`Attachment::MAX_OFFSET`] along
    /// an axis.
    pub fn attach(
        &mut self,
        id: EntityId,
        to: EntityId,
        offset: DVec3,
        rotation: DQuat,
    ) -> Result<(), PlaceError> {
        let before = self.pose_of(self.possible_picture(id)?).ok_or(PlaceError::NoSuchEntity)?;
        let rotation = unit(rotation).filter(|_| offset.is_finite());
        let rotation = rotation.ok_or(PlaceError::NotFinite)?;
        if offset.abs().max_element() > Attachment::MAX_OFFSET {
            return Err(PlaceError::OffsetTooLong);
        }
        let carrier = self.entities.find(to).filter(|carrier| !carrier.is_in_limbo());
        carrier.ok_or(PlaceError::NoSuchEntity)?;
        let above = self.entities.carriers(to);
        let depth = |entity: &Entity| {
            let chain = self.entities.carriers(entity.id);
            chain.iter().position(|carrier| *carrier == id).map_or(0, |at| at + 1)
        };
        let below = self.entities.active().map(depth).max().unwrap_or(0);
        if id == to || above.contains(&id) || above.len() + 1 + below > Attachment::MAX_CHAIN {
            return Err(PlaceError::Chain);
        }
        let attachment = Attachment { to, offset, rotation };
        self.become_picture(id, Outside::Attached(attachment, before));
        self.follow_carriers();
        Ok(())
    }

    /// Ends an attachment. The body stays where it is, intangible.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such body, or if it is not attached.
    pub fn detach(&mut self, id: EntityId) -> Result<(), PlaceError> {
        let attached = self.entities.find(id).filter(|body| body.attachment().is_some());
        let pose = self.pose_of(attached.ok_or(PlaceError::NoSuchEntity)?);
        self.become_picture(id, Outside::Intangible(pose.ok_or(PlaceError::NoSuchEntity)?));
        Ok(())
    }

    /// The bodies that follow an entity directly, in ascending order of slot.
    pub fn attached_to(&self, carrier: EntityId) -> Vec<EntityId> {
        let follows = |entity: &&Entity| entity.attachment().is_some_and(|it| it.to == carrier);
        self.entities.active().filter(follows).map(|entity| entity.id).collect()
    }

    /// Where an entity is, solid or not; `None` in limbo. The orientation of a player on foot is
    /// the heading.
    pub(super) fn pose_of(&self, entity: &Entity) -> Option<Pose> {
        self.pose_within(entity, Attachment::MAX_CHAIN)
    }

    /// [`World::pose_of`] an entity with no more than `links` attachments.
    fn pose_within(&self, entity: &Entity, links: usize) -> Option<Pose> {
        if let Some(placement) = entity.placement() {
            let heading = entity.walker().map(|walker| walker.heading());
            let orientation = heading.unwrap_or(placement.pose().orientation);
            return Some(Pose { orientation, ..*placement.pose() });
        }
        match entity.outside {
            Outside::Waits | Outside::TakenOut => None,
            Outside::Intangible(pose) => Some(pose),
            Outside::Attached(attachment, last) => {
                let carrier = self.entities.find(attachment.to).filter(|_| links > 0);
                let carrier = carrier.and_then(|carrier| self.pose_within(carrier, links - 1));
                Some(carrier.map_or(last, |carrier| {
                    let (position, orientation) =
                        attachment.pose(carrier.position, carrier.orientation);
                    Pose { position, orientation }
                }))
            }
        }
    }

    /// Notes where each attached body is. Ends the attachments whose carrier is not in the world.
    pub(super) fn follow_carriers(&mut self) {
        let mut moved = Vec::new();
        for entity in self.entities.active() {
            let Some(attachment) = entity.attachment() else { continue };
            let Some(pose) = self.pose_of(entity) else { continue };
            let carrier = self.entities.find(attachment.to).filter(|it| !it.is_in_limbo());
            moved.push((entity.id, attachment, carrier.is_some(), pose));
        }
        for (id, attachment, is_carried, pose) in moved {
            if is_carried {
                self.store_outside(id, Outside::Attached(attachment, pose));
            } else {
                self.let_go(id, attachment.to, pose);
            }
        }
    }

    /// Ends the attachments to a carrier that is about to leave the world.
    pub(super) fn detach_all_from(&mut self, carrier: EntityId) {
        for id in self.attached_to(carrier) {
            let pose = self.entities.find(id).and_then(|entity| self.pose_of(entity));
            pose.into_iter().for_each(|pose| self.let_go(id, carrier, pose));
        }
    }

    fn let_go(&mut self, entity: EntityId, from: EntityId, pose: Pose) {
        self.store_outside(entity, Outside::Intangible(pose));
        self.events.push(WorldEvent::Detached { entity, from });
    }

    /// The entity, if it is in the world, and of a kind that may be intangible.
    fn possible_picture(&self, id: EntityId) -> Result<&Entity, PlaceError> {
        let entity = self.entities.find(id).filter(|entity| !entity.is_in_limbo());
        let entity = entity.ok_or(PlaceError::NoSuchEntity)?;
        match entity.role {
            Role::Prop(_) | Role::Kinematic(_) => Ok(entity),
            Role::Player(_) | Role::Missile(_) => Err(PlaceError::AlwaysSolid),
        }
    }

    /// Makes a body a picture, if it is not one yet, and stores its state as a picture.
    fn become_picture(&mut self, id: EntityId, outside: Outside) {
        let left = self.entities.find(id).and_then(Entity::placement).copied();
        if let Some(left) = left {
            self.entities.withdraw(id.slot);
            self.forget_contacts(id.slot);
            self.announce(id.slot, Some(left.pose().position));
            sleep::wake_around(&mut self.entities, left.bounds());
        }
        self.store_outside(id, outside);
    }

    fn store_outside(&mut self, id: EntityId, outside: Outside) {
        let Some(entity) = self.entities.find_mut(id) else { return };
        entity.outside = outside;
        (entity.velocity, entity.angular) = (DVec3::ZERO, DVec3::ZERO);
        entity.reset_sleep();
    }
}
