//! The operations of a game on the world. None of them can make bodies overlap. An operation that
//! places something asks the guard, and returns an error if there is no room. Velocities and
//! impulses only propose a motion, and the guard stops the motion at obstacles.

use glam::{DQuat, DVec3, Vec3};

use super::{AddPlayerError, World};
use crate::arena::spawn;
use crate::bodies::entities::{Entity, Outside};
use crate::bodies::guard::{Placement, Seeker};
use crate::bodies::impulse::ImpulseBody;
use crate::bodies::roles::Role;
use crate::bodies::sleep;
use crate::bodies::solver::max_spin;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::place_error::PlaceError;
use crate::players::walk::PLAYER_MASS;
use crate::state::{EntityId, ModelId, PlayerKind, Posture};
use crate::traits::CollisionLayers;

/// Highest speed that a game can give a body, in units per second: five times a rocket's speed. In
/// a tick of 1/60 s such a body moves 75 units.
pub(super) const MAX_SPEED: f64 = 4_500.0;

/// Maximum component of an impulse along an axis, in kg·units/s. It gives a body more speed than
/// any limit allows, and no product of it with [`MAX_ARM`] is infinite.
const MAX_IMPULSE: f64 = 1e9;

/// Maximum coordinate of the point at which an impulse acts, in units.
pub(super) const MAX_ARM: f64 = 1e6;

/// The seeker of an entity that comes into the match. Such an entity gets the usual layers.
pub(super) const NEWCOMER: Seeker = Seeker::newcomer(CollisionLayers::DEFAULT);

/// Distance beyond the bounds of the map, in units, up to which something may be placed.
const AROUND: f64 = 1024.0;

impl From<AddPlayerError> for PlaceError {
    fn from(error: AddPlayerError) -> Self {
        match error {
            AddPlayerError::NoHovertank => Self::NoSuchModel,
            AddPlayerError::Full(_) => Self::Full,
        }
    }
}

impl World {
    /// Adds a rigid body at a pose: centre of mass in units, and rotation from the model's axes to
    /// the world's. The guard keeps the body 1/128 unit away from everything else.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, PlaceError, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// assert_eq!(world.spawn_body(model, at, DQuat::IDENTITY), Err(PlaceError::NoRoom));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    pub fn spawn_body(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<EntityId, PlaceError> {
        let shape = self.arena.shapes.of_model(model).ok_or(PlaceError::NoSuchModel)?;
        let pose = self.checked_pose(position, orientation)?;
        let placement = self.free_place(shape, pose, NEWCOMER).ok_or(PlaceError::NoRoom)?;
        self.insert_body(model, placement)
    }

    /// Adds a rigid body like [`World::spawn_body`], but at the nearest free place within 256
    /// units that is in sight of `position`.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then.
    pub fn spawn_body_near(
        &mut self,
        model: ModelId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<EntityId, PlaceError> {
        let shape = self.arena.shapes.of_model(model).ok_or(PlaceError::NoSuchModel)?;
        let pose = self.checked_pose(position, orientation)?;
        let placement = self.nearest(shape, pose, NEWCOMER).ok_or(PlaceError::NoRoom)?;
        self.insert_body(model, placement)
    }

    /// Removes a body and wakes the bodies that leant on it. Players stay: they leave by
    /// [`World::leave`].
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if the body has left the match, or is a player.
    pub fn remove(&mut self, id: EntityId) -> Result<(), PlaceError> {
        let body = self.entities.find(id).filter(|entity| entity.player().is_none());
        body.ok_or(PlaceError::NoSuchEntity)?;
        self.detach_all_from(id);
        sleep::remove(&mut self.entities, id);
        self.forget_contacts(id.slot);
        Ok(())
    }

    /// Moves an entity that is in the world to another pose. It keeps its velocity. For players
    /// on foot `orientation` has no effect, and the position is rounded to `f32`. Other bodies and
    /// hovertanks stand upright with [`DQuat::IDENTITY`], or with a turn about the vertical axis
    /// ([`DQuat::from_rotation_z`]).
    ///
    /// # Errors
    /// [`PlaceError`]; the entity is not moved then.
    pub fn teleport(
        &mut self,
        id: EntityId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), PlaceError> {
        let entity = self.placed(id)?;
        let (shape, on_foot) = (entity.shape, entity.walker().is_some());
        let seeker = Seeker::of(entity);
        let mut pose = self.checked_pose(position, orientation)?;
        if on_foot {
            pose = Pose::at(pose.position.as_vec3().as_dvec3());
        }
        let placement = self.free_place(shape, pose, seeker).ok_or(PlaceError::NoRoom)?;
        self.move_to(id, placement);
        if let Some(walker) = self.entities.find_mut(id).and_then(Entity::walker_mut) {
            // The ground that carried the player is elsewhere.
            (walker.grounded, walker.ground_velocity) = (false, Vec3::ZERO);
        }
        Ok(())
    }

    /// Makes a player on foot stand or crouch. The feet stay where they are. The player's next
    /// command changes the posture again.
    ///
    /// # Errors
    /// [`PlaceError::NoRoom`] if there is no room to stand up, and [`PlaceError::NoSuchEntity`]
    /// if there is no such player on foot in the world.
    pub fn set_posture(&mut self, id: EntityId, posture: Posture) -> Result<(), PlaceError> {
        let entity = self.placed(id)?;
        let seeker = Seeker::of(entity);
        let walker = *entity.walker().ok_or(PlaceError::NoSuchEntity)?;
        let centre = entity.placement().ok_or(PlaceError::NoSuchEntity)?.pose().position;
        let rise = DVec3::Z * f64::from(self.arena.shapes.boxes.rise);
        let moved = match (walker.posture, posture) {
            (Posture::Standing, Posture::Crouching) => centre - rise,
            (Posture::Crouching, Posture::Standing) => centre + rise,
            _ => return Ok(()),
        };
        let pose = Pose::at(moved.as_vec3().as_dvec3());
        let shape = self.arena.shapes.of_posture(posture);
        let placement = self.free_place(shape, pose, seeker).ok_or(PlaceError::NoRoom)?;
        self.move_to(id, placement);
        if let Some(walker) = self.entities.find_mut(id).and_then(Entity::walker_mut) {
            walker.posture = posture;
        }
        Ok(())
    }

    /// Sets the velocities of an entity: units per second, and radians per second about the
    /// world's axes. A speed is at most 4,500 units per second. Players on foot do not turn.
    ///
    /// A kinematic body keeps these velocities, and a [`World::move_linear`] of the body ends. The
    /// body pushes and carries the entities that it meets, and stands still while one of them
    /// cannot give way.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// let model = world.model("crate").expect("a shipped model");
    /// let at = DVec3::new(-400.0, -260.0, 100.0);
    /// let id = world.spawn_body(model, at, DQuat::IDENTITY)?;
    /// world.set_velocity(id, DVec3::Z * 200.0, DVec3::ZERO)?;
    /// world.step(&[]);
    /// assert!(world.entity(id).expect("the entity is in the world").position.z > 102.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn set_velocity(
        &mut self,
        id: EntityId,
        linear: DVec3,
        angular: DVec3,
    ) -> Result<(), PlaceError> {
        self.placed(id)?;
        if !linear.is_finite() || !angular.is_finite() {
            return Err(PlaceError::NotFinite);
        }
        self.set_linear_move(id, None);
        self.store_velocity(id, linear, angular);
        Ok(())
    }

    /// Applies an impulse, in kg·units/s, at a point of the world. A player on foot weighs 80 kg
    /// and does not turn. Impulses do nothing to a kinematic body.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn apply_impulse(
        &mut self,
        id: EntityId,
        impulse: DVec3,
        point: DVec3,
    ) -> Result<(), PlaceError> {
        let entity = self.placed(id)?;
        if !impulse.is_finite() || !point.is_finite() {
            return Err(PlaceError::NotFinite);
        }
        if entity.is_kinematic() {
            return Ok(());
        }
        let most = DVec3::splat(MAX_IMPULSE);
        let impulse = impulse.clamp(-most, most);
        if entity.walker().is_some() {
            let linear = entity.velocity + impulse / PLAYER_MASS;
            self.store_velocity(id, linear, DVec3::ZERO);
            return Ok(());
        }
        let most = DVec3::splat(MAX_ARM);
        let point = point.clamp(-most, most);
        let mut body =
            ImpulseBody::new(entity, &self.arena.shapes, point).ok_or(PlaceError::NoSuchEntity)?;
        body.apply(impulse);
        let (linear, angular) = body.velocities();
        self.store_velocity(id, linear, angular);
        Ok(())
    }

    /// Adds `gained` to the velocity of an entity, in units per second. Its spin stays as it is.
    /// A speed of more than 4,500 units per second is reduced to that. This does nothing to a
    /// kinematic body, because it is meant for explosions and other impulses.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing changes then.
    pub fn add_velocity(&mut self, id: EntityId, gained: DVec3) -> Result<(), PlaceError> {
        let entity = self.placed(id)?;
        if !gained.is_finite() {
            return Err(PlaceError::NotFinite);
        }
        if entity.is_kinematic() {
            return Ok(());
        }
        let (linear, angular) = (entity.velocity + gained, entity.angular);
        self.store_velocity(id, linear, angular);
        if let Some(entity) = self.entities.find_mut(id) {
            entity.angular = angular;
        }
        Ok(())
    }

    /// Takes a player out of the world. The player waits until [`World::bring_back`] or
    /// [`World::bring_back_at`].
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if there is no such player in the world.
    pub fn take_out(&mut self, player: EntityId) -> Result<(), PlaceError> {
        let entity = self.placed(player)?;
        if entity.player().is_none() {
            return Err(PlaceError::NoSuchEntity);
        }
        let left = entity.placement().copied();
        self.detach_all_from(player);
        self.entities.withdraw(player.slot);
        self.announce(player.slot, left.map(|left| left.pose().position));
        if let Some(entity) = self.entities.find_mut(player) {
            entity.outside = Outside::TakenOut;
        }
        if let Some(left) = left {
            sleep::wake_around(&mut self.entities, left.bounds());
        }
        Ok(())
    }

    /// Puts back an entity that waits outside of the world: a player at the free spawn point
    /// farthest from all others, anything else at the first place that is free.
    ///
    /// # Errors
    /// [`PlaceError`]; the entity is still waiting then.
    pub fn bring_back(&mut self, id: EntityId) -> Result<(), PlaceError> {
        self.waiting_entity(id)?;
        self.return_from_limbo(id.slot);
        let entity = self.entities.find_mut(id).ok_or(PlaceError::NoSuchEntity)?;
        // From now on the entity waits for room.
        entity.outside = Outside::Waits;
        entity.placement().map(|_| ()).ok_or(PlaceError::NoRoom)
    }

    /// Puts back an entity that waits outside the world, at the free place nearest to `position`,
    /// which is the centre of its box or of its mass. The heading has 65,536 steps a turn.
    ///
    /// # Errors
    /// [`PlaceError`]; the entity is still waiting then.
    pub fn bring_back_at(
        &mut self,
        id: EntityId,
        position: DVec3,
        yaw: u16,
    ) -> Result<(), PlaceError> {
        let entity = self.waiting_entity(id)?;
        let shape = match entity.walker() {
            Some(_) => self.arena.shapes.of_posture(Posture::Standing),
            None => entity.shape,
        };
        let (orientation, seeker) = (entity.dynamics.kept(), Seeker::of(entity));
        let placement = self.nearest_rounded(shape, position, orientation, seeker)?;
        self.settle_player_in(id.slot, placement, yaw);
        Ok(())
    }

    /// Adds a player at once, at the free place nearest to `position` (the centre of the player's
    /// box, or of the vehicle's mass), with a heading of 65,536 steps a turn.
    ///
    /// # Errors
    /// [`PlaceError`]; nothing is added then. [`PlaceError::Full`] when all places for players
    /// are taken.
    pub fn add_player_at(
        &mut self,
        kind: PlayerKind,
        position: DVec3,
        yaw: u16,
    ) -> Result<EntityId, PlaceError> {
        self.check_places()?;
        let (body, shape) = self.new_player(kind)?;
        let placement = self.nearest_upright(shape, position)?;
        let id = self.entities.insert(Role::Player(body), shape).ok_or(PlaceError::Full)?;
        self.settle_player_in(id.slot, placement, yaw);
        Ok(id)
    }

    /// [`World::nearest_rounded`] for a newcomer, without rotation.
    pub(super) fn nearest_upright(
        &mut self,
        shape: ShapeId,
        position: DVec3,
    ) -> Result<Placement, PlaceError> {
        self.nearest_rounded(shape, position, DQuat::IDENTITY, NEWCOMER)
    }

    /// The free place of `shape` that is nearest to `position`. The position is rounded to `f32`,
    /// because a player's position is a value of `f32`.
    fn nearest_rounded(
        &mut self,
        shape: ShapeId,
        position: DVec3,
        orientation: DQuat,
        seeker: Seeker,
    ) -> Result<Placement, PlaceError> {
        let pose = self.checked_pose(position, orientation)?;
        let rounded = Pose { position: pose.position.as_vec3().as_dvec3(), ..pose };
        self.nearest(shape, rounded, seeker).ok_or(PlaceError::NoRoom)
    }

    pub(super) fn insert_body(
        &mut self,
        model: ModelId,
        placement: Placement,
    ) -> Result<EntityId, PlaceError> {
        let role = Role::of_body(model, &self.arena.shapes);
        let inserted = self.entities.insert(role, placement.shape());
        let id = inserted.ok_or(PlaceError::Full)?;
        self.entities.commit(id.slot, placement);
        Ok(id)
    }

    /// The placement of `shape` at `pose`, if the place is free.
    pub(super) fn free_place(
        &mut self,
        shape: ShapeId,
        pose: Pose,
        seeker: Seeker,
    ) -> Option<Placement> {
        let Self { arena, entities, context, .. } = self;
        arena.space(entities).place(shape, pose, seeker, context)
    }

    /// The free place of `shape` that is nearest to `pose`.
    fn nearest(&mut self, shape: ShapeId, pose: Pose, seeker: Seeker) -> Option<Placement> {
        let Self { arena, entities, context, .. } = self;
        let space = arena.space(entities);
        spawn::nearest_free(&space, (shape, seeker), pose, arena.sight, context)
    }

    pub(super) fn checked_pose(
        &self,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<Pose, PlaceError> {
        let pose = Pose::checked(position, orientation).ok_or(PlaceError::NotFinite)?;
        let near = self.arena.map.bounds().inflated(AROUND).contains(position);
        if near { Ok(pose) } else { Err(PlaceError::NoRoom) }
    }

    /// The entity, if it is solid and in the world.
    pub(super) fn placed(&self, id: EntityId) -> Result<&Entity, PlaceError> {
        let entity = self.entities.find(id).filter(|entity| !entity.is_in_limbo());
        let entity = entity.ok_or(PlaceError::NoSuchEntity)?;
        entity.placement().map(|_| entity).ok_or(PlaceError::Intangible)
    }

    /// The entity, if it waits outside of the world.
    fn waiting_entity(&self, id: EntityId) -> Result<&Entity, PlaceError> {
        let entity = self.entities.find(id).filter(|entity| entity.is_in_limbo());
        entity.ok_or(PlaceError::NoSuchEntity)
    }

    /// Moves an entity to a place. Wakes it and the bodies that leant on it.
    fn move_to(&mut self, id: EntityId, placement: Placement) {
        let left = self.entities.find(id).and_then(Entity::placement).copied();
        self.entities.commit(id.slot, placement);
        self.announce(id.slot, left.map(|left| left.pose().position));
        if let Some(left) = left {
            sleep::wake_around(&mut self.entities, left.bounds());
        }
        self.disturb(id);
        let is_body = |entity: &&mut Entity| entity.is_rigid() || entity.is_kinematic();
        if let Some(entity) = self.entities.find_mut(id).filter(is_body) {
            entity.reset_sleep();
        }
    }

    pub(super) fn store_velocity(&mut self, id: EntityId, linear: DVec3, angular: DVec3) {
        let spin = max_spin(self.context.seconds);
        let Some(entity) = self.entities.find_mut(id) else { return };
        let before = [entity.velocity, entity.angular];
        let locked = entity.dynamics.locked();
        let (linear, angular) = (locked.translation(linear), locked.rotation(angular));
        entity.velocity = shortened(linear, MAX_SPEED);
        if entity.walker().is_some() {
            // The velocity of a player on foot is always rounded to `f32`.
            entity.velocity = entity.velocity.as_vec3().as_dvec3();
        } else {
            entity.angular = shortened(angular, spin);
        }
        if let Role::Kinematic(kinematic) = &mut entity.role {
            if entity.velocity.dot(before[0]) + entity.angular.dot(before[1]) <= 0.0 {
                // The slowdowns of the body end, because the bodies that slowed it are no longer in
                // its way.
                kinematic.slowdowns = 0;
            }
            return self.set_going(id);
        }
        self.disturb(id);
    }

    /// Lets a kinematic body move or sleep, as its velocities say. If it begins to move, the bodies
    /// that rest beside it wake. If it stops, those bodies wake as well, because the bodies that it
    /// carried have to settle.
    pub(super) fn set_going(&mut self, id: EntityId) {
        let Some(entity) = self.entities.find_mut(id) else { return };
        let (slept, held) = (entity.sleep.asleep, entity.sleep.held);
        entity.reset_sleep();
        entity.sleep.held = held && !entity.sleep.asleep;
        let placed = entity.placement().copied().filter(|_| entity.sleep.asleep != slept);
        if let Some(placement) = placed {
            sleep::wake_around(&mut self.entities, placement.bounds());
        }
    }

    /// Wakes a body. For a player on foot, records that the client cannot have predicted this.
    pub(super) fn disturb(&mut self, id: EntityId) {
        if self.entities.find(id).is_some_and(|entity| entity.walker().is_some()) {
            if !self.pushed.contains(&id) {
                self.pushed.push(id);
            }
        } else {
            sleep::wake(&mut self.entities, id.slot);
        }
    }
}

/// A finite vector, shortened to a length. The square of the vector's length may be infinite, so
/// its greatest component is bounded first.
pub(super) fn shortened(vector: DVec3, length: f64) -> DVec3 {
    let greatest = vector.abs().max_element();
    let vector = if greatest > length { vector * (length / greatest) } else { vector };
    vector.clamp_length_max(length)
}
