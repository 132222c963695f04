//! Sensors of a game: shapes that notice which entities reach into them.

use glam::{DQuat, DVec3};
use obsp_sim::{EntityId, SensorError, SensorId, SensorShape};

use crate::world_mut::WorldMut;

impl WorldMut<'_> {
    /// As [`World::add_sensor`](obsp_sim::World::add_sensor). The sensors are updated in each tick
    /// before [`Game::left_volume`](crate::Game::left_volume) is called. A game asks
    /// [`World::entities_in`](obsp_sim::World::entities_in) and
    /// [`World::sensor_events`](obsp_sim::World::sensor_events) in [`Game::tick`](crate::Game::tick).
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use glam::{DQuat, DVec3};
    /// use obsp_game::{Game, Match, RunningMatch, WorldMut};
    /// use obsp_sim::{Config, EntityId, SensorId, SensorShape};
    ///
    /// /// A mine that bursts when something comes into its beam.
    /// #[derive(Clone, Debug)]
    /// struct Mine;
    ///
    /// impl Game for Mine {
    ///     type State = Option<(EntityId, SensorId)>;
    ///
    ///     fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
    ///         let (model, upright) = (world.model("small_crate")?, DQuat::IDENTITY);
    ///         let at = DVec3::new(-400.0, -260.0, 100.0);
    ///         let mine = world.spawn_body(model, at, upright).ok()?;
    ///         // 200 units ahead of the mine, and it turns with the mine.
    ///         let beam = SensorShape::Box(DVec3::new(100.0, 1.0, 1.0));
    ///         let beam = world.add_sensor(beam, DVec3::ZERO, upright).ok()?;
    ///         world.attach_sensor(beam, mine, DVec3::X * 100.0, upright).ok()?;
    ///         let crates = world.model("crate")?;
    ///         world.spawn_body(crates, at + DVec3::new(100.0, 0.0, 10.0), upright).ok()?;
    ///         Some((mine, beam))
    ///     }
    ///
    ///     fn tick(&self, state: &mut Self::State, world: &mut WorldMut<'_>) {
    ///         let Some((mine, beam)) = *state else { return };
    ///         if !world.entities_in(beam).is_empty() {
    ///             // The beam is removed with the mine.
    ///             let _ = world.remove(mine);
    ///             *state = None;
    ///         }
    ///     }
    /// }
    ///
    /// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let mut game = Match::new(Mine, map, Config::default())?;
    /// assert!(game.state().is_some());
    /// game.step(&[]);
    /// assert!(game.state().is_none(), "the crate is in the beam");
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
        self.world.add_sensor(shape, position, orientation)
    }

    /// As [`World::move_sensor`](obsp_sim::World::move_sensor).
    ///
    /// # Errors
    /// [`SensorError`]; nothing changes then.
    pub fn move_sensor(
        &mut self,
        sensor: SensorId,
        position: DVec3,
        orientation: DQuat,
    ) -> Result<(), SensorError> {
        self.world.move_sensor(sensor, position, orientation)
    }

    /// As [`World::attach_sensor`](obsp_sim::World::attach_sensor).
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
        self.world.attach_sensor(sensor, to, offset, rotation)
    }

    /// As [`World::remove_sensor`](obsp_sim::World::remove_sensor).
    ///
    /// # Errors
    /// [`SensorError::NoSuchSensor`].
    pub fn remove_sensor(&mut self, sensor: SensorId) -> Result<(), SensorError> {
        self.world.remove_sensor(sensor)
    }
}
