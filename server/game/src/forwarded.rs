//! The methods of [`WorldMut`] that pass on to methods of [`World`](obsp_sim::World) of the same
//! names. A game gets no `&mut World`, because with one it could advance the match itself.

use glam::{DQuat, DVec3};
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_sim::{
    ArmedMove, BodyError, BodyParameters, CollisionLayers, EntityId, ForceSpan, LinearMove,
    MissileMotion, ModelId, PlaceError, Posture, SensorError, SensorId, SensorShape, Swing,
};

use crate::world_mut::WorldMut;

/// Defines the methods from their signatures. The documentation of each method ends with a
/// reference to the method of `World`.
macro_rules! forward {
    (impl WorldMut<'_> {$(
        $(#[$documentation:meta])*
        pub fn $name:ident(&mut self $(, $argument:ident: $kind:ty)* $(,)?)
            -> Result<$value:ty, $error:ident>;
    )*}) => {
        impl WorldMut<'_> {
            $(
                $(#[$documentation])*
                #[doc = ""]
                #[doc = concat!(
                    "As [`World::", stringify!($name), "`](obsp_sim::World::", stringify!($name),
                    ").\n\n# Errors\n[`", stringify!($error), "`]; nothing changes then."
                )]
                pub fn $name(&mut self, $($argument: $kind),*) -> Result<$value, $error> {
                    self.world.$name($($argument),*)
                }
            )*
        }
    };
}

// Bodies and missiles.
forward! { impl WorldMut<'_> {
    pub fn spawn_body(
        &mut self, model: ModelId, position: DVec3, orientation: DQuat,
    ) -> Result<EntityId, PlaceError>;

    pub fn spawn_body_near(
        &mut self, model: ModelId, position: DVec3, orientation: DQuat,
    ) -> Result<EntityId, PlaceError>;

    /// Adds a body that may go into a pocket, for example a door that fits its frame exactly and
    /// slides into the wall beside it.
    pub fn spawn_body_in(
        &mut self, model: ModelId, position: DVec3, orientation: DQuat, pocket: &Aabb,
    ) -> Result<EntityId, PlaceError>;

    pub fn set_pocket(&mut self, id: EntityId, pocket: Option<Aabb>) -> Result<(), PlaceError>;

    /// Adds a missile. [`World::muzzle`](obsp_sim::World::muzzle) computes the start. The model has
    /// to be marked as a missile's: by [`Model::as_missile`](obsp::model::Model::as_missile), or
    /// because a weapon in the `game.toml` throws it.
    /// [`Game::missile_moved`](crate::Game::missile_moved) is called after each move of the
    /// missile.
    pub fn spawn_missile(
        &mut self, model: ModelId, motion: MissileMotion, position: DVec3, velocity: DVec3,
    ) -> Result<EntityId, PlaceError>;
}}

// Places and velocities.
forward! { impl WorldMut<'_> {
    pub fn teleport(
        &mut self, id: EntityId, position: DVec3, orientation: DQuat,
    ) -> Result<(), PlaceError>;

    pub fn teleport_to(
        &mut self, player: EntityId, destination: &MapEntity, keeps_speed: bool,
    ) -> Result<(), PlaceError>;

    /// Takes a player out of the world. [`Game::respawn`](crate::Game::respawn) says when and where
    /// the player comes back.
    pub fn take_out(&mut self, player: EntityId) -> Result<(), PlaceError>;

    pub fn set_posture(&mut self, id: EntityId, posture: Posture) -> Result<(), PlaceError>;

    pub fn set_velocity(
        &mut self, id: EntityId, linear: DVec3, angular: DVec3,
    ) -> Result<(), PlaceError>;

    pub fn add_velocity(&mut self, id: EntityId, gained: DVec3) -> Result<(), PlaceError>;

    pub fn apply_impulse(
        &mut self, id: EntityId, impulse: DVec3, point: DVec3,
    ) -> Result<(), PlaceError>;
}}

// Parameters of single bodies, and forces on them.
forward! { impl WorldMut<'_> {
    pub fn set_body_parameters(
        &mut self, id: EntityId, parameters: BodyParameters,
    ) -> Result<(), BodyError>;

    pub fn add_force(
        &mut self, id: EntityId, force: DVec3, span: ForceSpan,
    ) -> Result<(), BodyError>;

    pub fn add_force_at_point(
        &mut self, id: EntityId, force: DVec3, point: DVec3, span: ForceSpan,
    ) -> Result<(), BodyError>;

    pub fn add_torque(
        &mut self, id: EntityId, torque: DVec3, span: ForceSpan,
    ) -> Result<(), BodyError>;

    pub fn reset_forces(&mut self, id: EntityId) -> Result<(), BodyError>;
}}

// Kinematic bodies: linear moves, armed moves, swings and conveyors.
forward! { impl WorldMut<'_> {
    /// A kinematic body goes to a place and rests there.
    pub fn move_linear(&mut self, id: EntityId, by: LinearMove) -> Result<(), PlaceError>;

    /// A kinematic body begins a move once a player is in a zone. Clients predict a start that
    /// their own player causes.
    pub fn arm_linear_move(&mut self, id: EntityId, armed: ArmedMove) -> Result<(), PlaceError>;

    /// A kinematic body swings to and fro.
    pub fn swing(&mut self, id: EntityId, by: Swing) -> Result<(), PlaceError>;

    /// A kinematic body carries what stands on it, and stays where it is.
    pub fn set_surface_velocity(&mut self, id: EntityId, velocity: DVec3) -> Result<(), PlaceError>;
}}

// Layers, pictures and attachments.
forward! { impl WorldMut<'_> {
    /// Sets which other entities an entity may meet. [`PlaceError::NoRoom`] if the entity overlaps
    /// something that it may meet from then on.
    pub fn set_layers(&mut self, id: EntityId, layers: CollisionLayers) -> Result<(), PlaceError>;

    /// Sets whether clients draw an entity.
    pub fn set_visible(&mut self, id: EntityId, visible: bool) -> Result<(), PlaceError>;

    /// Adds a picture of a model, which takes no room.
    pub fn spawn_intangible(
        &mut self, model: ModelId, position: DVec3, orientation: DQuat,
    ) -> Result<EntityId, PlaceError>;

    /// Makes a body a picture where it is.
    pub fn make_intangible(&mut self, id: EntityId) -> Result<(), PlaceError>;

    /// Puts an intangible body at a pose, whatever is there.
    pub fn set_pose(
        &mut self, id: EntityId, position: DVec3, orientation: DQuat,
    ) -> Result<(), PlaceError>;

    /// Makes an intangible body solid at a pose, if there is room.
    pub fn place(
        &mut self, id: EntityId, position: DVec3, orientation: DQuat,
    ) -> Result<(), PlaceError>;

    /// Lets a body follow a carrier, intangible. The frame of a player on foot is the centre of its
    /// box, turned by the heading. When the carrier leaves the world,
    /// [`Game::detached`](crate::Game::detached) is called.
    pub fn attach(
        &mut self, id: EntityId, to: EntityId, offset: DVec3, rotation: DQuat,
    ) -> Result<(), PlaceError>;

    /// Ends an attachment. The body stays where it is, intangible.
    pub fn detach(&mut self, id: EntityId) -> Result<(), PlaceError>;
}}

// Sensors: shapes that notice which entities reach into them.
forward! { impl WorldMut<'_> {
    /// Adds a sensor. The sensors are updated in each tick before
    /// [`Game::left_volume`](crate::Game::left_volume) is called. A game asks
    /// [`World::entities_in`](obsp_sim::World::entities_in) and
    /// [`World::sensor_events`](obsp_sim::World::sensor_events) in
    /// [`Game::tick`](crate::Game::tick).
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
    pub fn add_sensor(
        &mut self, shape: SensorShape, position: DVec3, orientation: DQuat,
    ) -> Result<SensorId, SensorError>;

    pub fn move_sensor(
        &mut self, sensor: SensorId, position: DVec3, orientation: DQuat,
    ) -> Result<(), SensorError>;

    pub fn attach_sensor(
        &mut self, sensor: SensorId, to: EntityId, offset: DVec3, rotation: DQuat,
    ) -> Result<(), SensorError>;

    pub fn remove_sensor(&mut self, sensor: SensorId) -> Result<(), SensorError>;
}}
