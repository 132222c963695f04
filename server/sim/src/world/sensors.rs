//! Sensors: convex shapes that notice which entities reach into them, and that nothing collides
//! with.
//!
//! A sensor stands in the world, or goes with an entity. [`World::update_sensors`] finds what
//! reaches into each, by the exact shapes of bodies and the boxes of players.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::World;
use crate::bodies::guard::{Seeker, Space};
use crate::collision::cascade::{Body, Candidates, least_gap};
use crate::collision::pose::Pose;
use crate::collision::shape::{Shape, Shapes};
use crate::state::{EntityId, ModelId};

/// Maximum number of sensors in a match. Each costs a query of the grid a tick.
pub const MAX_SENSORS: usize = 4096;

/// The number of a sensor in its match. No two sensors of a match ever have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SensorId(pub u32);

/// The shape of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SensorShape {
    /// A box of these half extents in units, along the axes of its orientation: from a thousandth
    /// of a unit to [`obsp::UNIVERSE`].
    Box(DVec3),
    /// A model of the match, for example a cylinder or the hull of points. No body needs to have
    /// it.
    Model(ModelId),
}

/// An entity has begun or ceased to reach into a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensorEvent {
    /// The sensor.
    pub sensor: SensorId,
    /// The entity, which may have left the match.
    pub entity: EntityId,
    /// Whether the entity reaches into the sensor now.
    pub entered: bool,
}

/// Why a sensor was not added or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SensorError {
    /// The match has [`MAX_SENSORS`] sensors.
    #[error("the match has {MAX_SENSORS} sensors, which is the limit: remove one first")]
    TooMany,
    /// There is no such model.
    #[error("the match has no such model; its models must be declared before it begins")]
    NoSuchModel,
    /// A side of a box is out of its range, or NaN.
    #[error(
        "half of each side of a sensor's box must be between 0.001 and {} units",
        obsp::UNIVERSE
    )]
    BadBox,
    /// A number is infinite or NaN, beyond the extent of worlds, or an orientation has no length.
    #[error(
        "a number is infinite, NaN or more than {} units from the origin, or an orientation has no \
         length",
        obsp::UNIVERSE
    )]
    BadPose,
    /// There is no such sensor.
    #[error("there is no such sensor: it was removed, or the entity that it went with has left")]
    NoSuchSensor,
    /// There is no such entity.
    #[error("there is no such entity in the match")]
    NoSuchEntity,
}

/// The sensors of a match, in ascending order of number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sensors {
    list: Vec<Sensor>,
    next: u32,
    events: Vec<SensorEvent>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sensor {
    id: SensorId,
    shape: SensorShape,
    /// The pose in the world, or seen from the entity that the sensor goes with.
    pose: Pose,
    with: Option<EntityId>,
    /// The entities that reached into the sensor at the last update, in ascending order of slot.
    inside: Vec<EntityId>,
    /// The shape of a box.
    #[serde(skip)]
    own: Option<Shape>,
}

impl Sensor {
    /// The shape of the sensor; `None` if it is not valid.
    fn made(shape: SensorShape, shapes: &Shapes) -> Result<Option<Shape>, SensorError> {
        match shape {
            SensorShape::Model(model) => {
                shapes.of_model(model).map(|_| None).ok_or(SensorError::NoSuchModel)
            }
            SensorShape::Box(half_extents) => {
                let range = 0.001..=f64::from(obsp::UNIVERSE);
                let fits = half_extents.to_array().iter().all(|half| range.contains(half));
                let own = fits.then(|| Shape::probe(half_extents)).flatten();
                own.map(Some).ok_or(SensorError::BadBox)
            }
        }
    }

    fn shape<'a>(&'a self, shapes: &'a Shapes) -> Option<&'a Shape> {
        match self.shape {
            SensorShape::Model(model) => shapes.of_model(model).map(|id| &shapes[id]),
            SensorShape::Box(_) => self.own.as_ref(),
        }
    }

    /// The entities that reach into the sensor at a pose, in ascending order of slot.
    fn found(&self, space: &Space, pose: Pose) -> Vec<EntityId> {
        let mut found = Vec::new();
        let Some(shape) = self.shape(space.shapes) else { return found };
        let own = Body::standing(shape, pose);
        let seeker = self.with.map_or(Seeker::QUERY, |id| Seeker::query_except(id.slot));
        space.visit_entities(&own.speedbox(), seeker, &mut |slot, body| {
            if least_gap(&own, &body, Candidates::ALL).is_none() {
                found.extend(space.entities.get(slot).map(|entity| entity.id));
            }
        });
        found
    }
}

impl Sensors {
    pub(super) fn clear_events(&mut self) {
        self.events.clear();
    }

    /// Checks saved sensors, and makes their shapes.
    pub(super) fn restore(&mut self, shapes: &Shapes) -> Result<(), &'static str> {
        if self.list.len() > MAX_SENSORS {
            return Err("it has too many sensors");
        }
        let numbers = self.list.iter().map(|sensor| sensor.id.0);
        if !numbers.chain([self.next]).is_sorted_by(|a, b| a < b) {
            return Err("its sensors are not in order");
        }
        for sensor in &mut self.list {
            let pose = sensor.pose;
            if !pose.is_sound() || Pose::known(pose.position, pose.orientation).is_none() {
                return Err("a sensor has no valid pose");
            }
            sensor.own =
                Sensor::made(sensor.shape, shapes).map_err(|_| "a sensor has no valid shape")?;
            if !sensor.inside.is_sorted_by(|a, b| a.slot < b.slot) {
                return Err("the entities in a sensor are not in order");
            }
        }
        Ok(())
    }

    /// Everything that the next tick depends on, as numbers; `None` if there has never been a
    /// sensor.
    pub(super) fn numbers(&self) -> Option<impl Iterator<Item = u64> + '_> {
        let id = |id: &EntityId| u64::from(id.slot) << 16 | u64::from(id.generation);
        let of = move |sensor: &Sensor| {
            let (kind, size) = match sensor.shape {
                SensorShape::Box(half_extents) => (256, half_extents),
                SensorShape::Model(model) => (u64::from(model.0), DVec3::ZERO),
            };
            let Pose { position, orientation } = sensor.pose;
            let mut numbers = vec![sensor.id.0.into(), kind];
            numbers.extend(sensor.with.iter().map(id));
            let places = [size, position].map(|vector| vector.to_array()).concat();
            numbers.extend(places.into_iter().chain(orientation.to_array()).map(f64::to_bits));
            numbers.push(sensor.inside.len() as u64);
            numbers.extend(sensor.inside.iter().map(id));
            numbers
        };
        let all = self.list.iter().flat_map(of);
        (self.next > 0).then(|| std::iter::once(u64::from(self.next)).chain(all))
    }

    fn find(&mut self, id: SensorId) -> Result<&mut Sensor, SensorError> {
        let at = self.list.binary_search_by_key(&id, |sensor| sensor.id);
        at.map(|at| &mut self.list[at]).map_err(|_| SensorError::NoSuchSensor)
    }
}

impl World {
    /// Adds a sensor at a pose: it notices the entities that reach into its shape, and nothing
    /// collides with it. Sensors are part of saved matches and digests.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use glam::{DQuat, DVec3};
    /// # use obsp_sim::{Config, World};
    /// use obsp_sim::SensorShape;
    ///
    /// # let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// # let mut world = World::new(map, obsp::model::shipped().into(), Config::default())?;
    /// // A mine with a beam of 200 units along X.
    /// let model = world.model("small_crate").expect("a shipped model");
    /// let mine = world.spawn_body(model, DVec3::new(-400.0, -260.0, 100.0), DQuat::IDENTITY)?;
    /// let beam = SensorShape::Box(DVec3::new(100.0, 1.0, 1.0));
    /// let beam = world.add_sensor(beam, DVec3::ZERO, DQuat::IDENTITY)?;
    /// world.attach_sensor(beam, mine, DVec3::X * 100.0, DQuat::IDENTITY)?;
    /// // Something falls through the beam.
    /// let crates = world.model("crate").expect("a shipped model");
    /// let at = DVec3::new(-300.0, -260.0, 110.0);
    /// let crate_id = world.spawn_body(crates, at, DQuat::IDENTITY)?;
    /// world.step(&[]);
    /// assert_eq!(world.entities_in(beam), [crate_id]);
    /// assert!(world.sensor_events().iter().any(|event| event.sensor == beam && event.entered));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SensorError`]; nothing is added then.
    pub fn add_sensor(
        &mut self,
        shape: SensorShape,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<SensorId, SensorError> {
        let own = Sensor::made(shape, &self.arena.shapes)?;
        let pose = Pose::known(position, orientation).ok_or(SensorError::BadPose)?;
        let next = self.sensors.next.checked_add(1);
        let next = next.filter(|_| self.sensors.list.len() < MAX_SENSORS);
        let next = next.ok_or(SensorError::TooMany)?;
        let id = SensorId(self.sensors.next);
        self.sensors.next = next;
        self.sensors.list.push(Sensor { id, shape, pose, with: None, inside: Vec::new(), own });
        Ok(id)
    }

    /// Moves a sensor to a pose in the world. It goes with no entity then.
    ///
    /// # Errors
    /// [`SensorError`]; nothing changes then.
    pub fn move_sensor(
        &mut self,
        sensor: SensorId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), SensorError> {
        let pose = Pose::known(position, orientation).ok_or(SensorError::BadPose)?;
        let sensor = self.sensors.find(sensor)?;
        (sensor.pose, sensor.with) = (pose, None);
        Ok(())
    }

    /// Lets a sensor go with an entity, at an offset and a rotation in the entity's own axes. The
    /// axes of a player on foot turn with the player's heading. The sensor does not notice this
    /// entity itself. While the entity is out of the world, nothing is in the sensor. When the
    /// entity leaves the match, the sensor is removed.
    ///
    /// # Errors
    /// [`SensorError`]; nothing changes then.
    pub fn attach_sensor(
        &mut self,
        sensor: SensorId,
        to: EntityId,
        offset: DVec3,
        rotation: DQuat,
    ) -> Result<(), SensorError> {
        let pose = Pose::known(offset, rotation).ok_or(SensorError::BadPose)?;
        let with = self.entities.find(to).map(|entity| entity.id);
        let with = Some(with.ok_or(SensorError::NoSuchEntity)?);
        let sensor = self.sensors.find(sensor)?;
        (sensor.pose, sensor.with) = (pose, with);
        Ok(())
    }

    /// Removes a sensor. No event reports that the entities in it have left.
    ///
    /// # Errors
    /// [`SensorError::NoSuchSensor`].
    pub fn remove_sensor(&mut self, sensor: SensorId) -> Result<(), SensorError> {
        let id = self.sensors.find(sensor)?.id;
        self.sensors.list.retain(|sensor| sensor.id != id);
        Ok(())
    }

    /// The entities that reached into a sensor at the last update, in ascending order of slot;
    /// empty if there is no such sensor.
    pub fn entities_in(&self, sensor: SensorId) -> &[EntityId] {
        let list = &self.sensors.list;
        let at = list.binary_search_by_key(&sensor, |sensor| sensor.id);
        at.map_or(&[], |at| &list[at].inside)
    }

    /// The changes of this tick, in ascending order of sensor. For each sensor, first the entities
    /// that have left it, then those that have entered it, both in ascending order of slot. An
    /// entity that came through within the tick is not among them.
    pub fn sensor_events(&self) -> &[SensorEvent] {
        &self.sensors.events
    }

    /// Finds the entities that reach into each sensor. [`World::step`] does this after everything
    /// has moved. A game that runs the phases of a step itself calls this before its own rules.
    pub fn update_sensors(&mut self) {
        if self.sensors.list.is_empty() {
            return;
        }
        let mut sensors = std::mem::take(&mut self.sensors);
        for sensor in &mut sensors.list {
            let pose = match sensor.with.map(|id| self.entities.find(id)) {
                None => Some(sensor.pose),
                Some(entity) => entity.and_then(|entity| self.view(entity)).and_then(|seen| {
                    let position = seen.position + seen.orientation * sensor.pose.position;
                    Pose::known(position, seen.orientation * sensor.pose.orientation)
                }),
            };
            let now = pose.map_or_else(Vec::new, |pose| sensor.found(&self.space(), pose));
            let event = |entered| {
                let sensor = sensor.id;
                move |&entity: &EntityId| SensorEvent { sensor, entity, entered }
            };
            // Both lists are in ascending order.
            let left = sensor.inside.iter().filter(|id| now.binary_search(id).is_err());
            let came = now.iter().filter(|id| sensor.inside.binary_search(id).is_err());
            sensors.events.extend(left.map(event(false)));
            sensors.events.extend(came.map(event(true)));
            sensor.inside = now;
        }
        let stays = |sensor: &Sensor| sensor.with.is_none_or(|id| self.entities.find(id).is_some());
        sensors.list.retain(stays);
        self.sensors = sensors;
    }
}
