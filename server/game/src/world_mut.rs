use std::ops::Deref;
use std::sync::Arc;

use glam::DVec3;
use obsp::MapEntity;
use obsp::geometry::Aabb;
use obsp_proto::schema::{EventError, GameEvent, Schema};
use obsp_sim::{EntityId, MovementId, PlaceError, PlayerKind, Random, SetupWarning, World};
use serde::Serialize;

use crate::chat::SaidLines;
use crate::event::Event;
use crate::game_file::GameFile;
use crate::player_info::{KnownPlayers, PlayerInfo};
use crate::volumes::{VolumeId, Volumes};

/// The world as a game may change it. It dereferences to [`World`], which answers questions:
/// where an entity is, what a ray or a swept shape meets, what overlaps a box.
///
/// A call that places something asks the guard first. [`PlaceError::NoRoom`] means that the place
/// is taken and nothing has changed. Velocities and impulses act when the bodies move, under the
/// same guard. No call can make two bodies overlap.
///
/// ```
/// use std::sync::Arc;
///
/// use glam::{DQuat, DVec3};
/// use obsp_game::{Game, Match, WorldMut};
/// use obsp_sim::{Config, EntityId, PlaceError};
///
/// #[derive(Clone, Debug)]
/// struct OneCrate;
///
/// impl Game for OneCrate {
///     type State = Option<EntityId>;
///
///     fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
///         let model = world.model("crate")?;
///         let place = DVec3::new(-400.0, -320.0, 40.0);
///         let first = world.spawn_body(model, place, DQuat::IDENTITY);
///         // The place is taken now.
///         let second = world.spawn_body(model, place, DQuat::IDENTITY);
///         assert_eq!(second, Err(PlaceError::NoRoom));
///         first.ok()
///     }
/// }
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let game = Match::new(OneCrate, map, Config::default())?;
/// assert!(game.state().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorldMut<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) shared: &'a mut Shared,
}

/// Maximum number of agents that have names. Every client is told of each of them.
const MAX_NAMED_AGENTS: usize = 128;

/// Maximum number of events that a game may send per tick. A client that gets more in tick after
/// tick falls behind.
const MAX_EVENTS: usize = 32;

/// The data that a match keeps for its game beside the game's own state.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// The `game.toml` that the match was set up by.
    pub(crate) file: GameFile,
    pub(crate) schema: Arc<Schema>,
    pub(crate) random: Random,
    pub(crate) events: Vec<Event>,
    /// Number of events at the beginning of the list that were delivered with the last tick. Later
    /// events, such as those of a player who joins, are delivered with the next tick.
    pub(crate) delivered: usize,
    pub(crate) volumes: Volumes,
    pub(crate) players: KnownPlayers,
    pub(crate) said: SaidLines,
    /// The watched entities in ascending order, each with the entities that touched it in the last
    /// tick.
    pub(crate) watched: Vec<(EntityId, Vec<EntityId>)>,
}

impl Deref for WorldMut<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.world
    }
}

impl WorldMut<'_> {
    /// The match's stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.shared.random
    }

    /// The `game.toml` that the match was set up by; the defaults if there was none.
    pub fn game_file(&self) -> &GameFile {
        &self.shared.file
    }

    /// Name and number of a player, who may be out of the world. `None` for a player of whom the
    /// server has told the match nothing, and for an agent without a name.
    pub fn player(&self, player: EntityId) -> Option<&PlayerInfo> {
        self.shared.players.get(player)
    }

    /// Whether a player is an agent, which [`WorldMut::spawn_agent`] has added.
    pub fn is_agent(&self, player: EntityId) -> bool {
        self.world.agents().binary_search(&player).is_ok()
    }

    /// Adds an event to the events of this tick. A server shows it or reports it to the players.
    pub fn emit(&mut self, event: Event) {
        self.shared.events.push(event);
    }

    /// Sends all clients an event that the game defines, reliably and in order. `kind` is a name
    /// that the game declares in [`Replicated`](crate::Replicated). `value` is any value that serde
    /// encodes within 256 bytes.
    ///
    /// # Errors
    /// The game declares no such kind, the value cannot be encoded or is too long, or the tick has
    /// 32 such events already. Nothing is sent then.
    pub fn send(&mut self, kind: &str, value: &impl Serialize) -> Result<(), EventError> {
        let event = self.game_event(kind, value)?;
        self.emit(Event::Game(event));
        Ok(())
    }

    /// Like [`WorldMut::send`], but sends the event to the client of one player alone. Neither
    /// other players nor spectators receive it. Nothing happens if the player is not there.
    ///
    /// # Errors
    /// As [`WorldMut::send`].
    pub fn send_to(
        &mut self,
        player: EntityId,
        kind: &str,
        value: &impl Serialize,
    ) -> Result<(), EventError> {
        let event = self.game_event(kind, value)?;
        self.emit(Event::Private { player, event });
        Ok(())
    }

    fn game_event(&self, kind: &str, value: &impl Serialize) -> Result<GameEvent, EventError> {
        let unknown = || EventError::UnknownKind { name: kind.to_owned() };
        let kind = self.shared.schema.event_kind(kind).ok_or_else(unknown)?;
        let event = GameEvent::new(kind, value)?;
        let pending = &self.shared.events[self.shared.delivered.min(self.shared.events.len())..];
        let is_own = |event: &&Event| matches!(event, Event::Game(_) | Event::Private { .. });
        if pending.iter().filter(is_own).count() >= MAX_EVENTS {
            return Err(EventError::TooMany { most: MAX_EVENTS });
        }
        Ok(event)
    }

    /// Shows all players a line of text.
    pub fn announce(&mut self, line: impl Into<String>) {
        self.emit(Event::Announced { line: line.into() });
    }

    /// As [`World::warn`], for [`Game::set_up`](crate::Game::set_up).
    pub fn warn(&mut self, warning: SetupWarning) {
        self.world.warn(warning);
    }

    /// Adds a player without a client, an agent, and returns its id. An agent takes none of the
    /// places for players. The agent waits outside the world. The game lets it in like any other
    /// player in [`Game::respawn`](crate::Game::respawn), and writes its commands in
    /// [`Game::command`](crate::Game::command), in which [`WorldMut::press`] presses an action.
    ///
    /// Neither [`Game::joined`](crate::Game::joined) nor [`Game::left`](crate::Game::left) is
    /// called for an agent. The match cannot call them then, because the game method that adds the
    /// agent has borrowed the state, or in `set_up` has not made it yet. So a game that adds or
    /// [removes](WorldMut::remove) an agent does the work of these methods itself, best in a
    /// function that `joined` calls, too.
    ///
    /// Clients list an agent that has a [name](WorldMut::name_agent) among the players.
    ///
    /// # Errors
    /// [`PlaceError::Full`] if all slots for entities are taken or kept for players, and
    /// [`PlaceError::NoSuchModel`] if there is no hovertank to drive.
    pub fn spawn_agent(&mut self, kind: PlayerKind) -> Result<EntityId, PlaceError> {
        self.world.add_agent(kind)
    }

    /// Gives an agent a name, or another one. Clients then list the agent among the players, with
    /// its [vitals](crate::Game::vitals). The agents do not count as players of a round, and no
    /// round ends by their scores. An empty name takes the agent off the list, and so does a name
    /// that no player could have: names have at most 24 characters, none of them a control
    /// character. The name may be that of a player.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if the entity is no agent, and [`PlaceError::Full`] if 128
    /// other agents have names.
    pub fn name_agent(&mut self, agent: EntityId, name: &str) -> Result<(), PlaceError> {
        if !self.is_agent(agent) {
            return Err(PlaceError::NoSuchEntity);
        }
        let others = self.world.agents().iter().filter(|id| **id != agent);
        let named = others.filter(|id| self.shared.players.get(**id).is_some()).count();
        if !name.is_empty() && named >= MAX_NAMED_AGENTS {
            return Err(PlaceError::Full);
        }
        self.shared.players.note(agent, PlayerInfo::named(name));
        Ok(())
    }

    /// Like [`WorldMut::spawn_agent`], but the agent comes in at once, at the nearest free place to
    /// `position` (the centre of the agent's box, or of its vehicle's mass), with a heading of
    /// 65,536 steps a turn. If the agent leaves the world later,
    /// [`Game::respawn`](crate::Game::respawn) is asked.
    ///
    /// # Errors
    /// The errors of [`WorldMut::spawn_agent`], and [`PlaceError::NoRoom`]; nothing is added then.
    pub fn spawn_agent_at(
        &mut self,
        kind: PlayerKind,
        position: DVec3,
        yaw: u16,
    ) -> Result<EntityId, PlaceError> {
        self.world.add_agent_at(kind, position, yaw)
    }

    /// Removes a body, or a player without a client, and wakes the bodies that leant on it.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchEntity`] if the entity has left the match, or is a client's player.
    pub fn remove(&mut self, id: EntityId) -> Result<(), PlaceError> {
        self.shared.watched.retain(|(watched, _)| *watched != id);
        if self.is_agent(id) {
            self.shared.players.forget(id);
            self.world.leave(id);
            return Ok(());
        }
        self.world.remove(id)
    }

    /// Gives a player on foot the movement parameters of this name, from
    /// [`Game::movements`](crate::Game::movements) or a table `[movements.NAME]` of the
    /// `game.toml`; `None` gives the usual parameters. They hold from the player's next move until
    /// they are changed. The player may wait outside of the world. The player's client predicts by
    /// these parameters as soon as it learns of them, from the tick in which they begin to hold.
    ///
    /// # Errors
    /// [`PlaceError::NoSuchMovement`] if there is no set of this name, and
    /// [`PlaceError::NoSuchEntity`] if there is no such player on foot.
    pub fn set_movement(&mut self, player: EntityId, name: Option<&str>) -> Result<(), PlaceError> {
        let found = name.map_or(Some(MovementId::USUAL), |name| self.movement_sets().find(name));
        self.world.set_player_movement(player, found.ok_or(PlaceError::NoSuchMovement)?)
    }

    /// Takes the armed move from a body, if it has one.
    pub fn disarm_linear_move(&mut self, id: EntityId) {
        self.world.disarm_linear_move(id);
    }

    /// Adds a box as a volume, clipped like the box of [`World::overlapping_box`]. `None` if the
    /// box is empty, or the match has 65,536 volumes already.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use glam::DVec3;
    /// use obsp::geometry::Aabb;
    /// use obsp_game::{Game, Match, RunningMatch, VolumeId, WorldMut};
    /// use obsp_sim::{Config, EntityId};
    ///
    /// #[derive(Clone, Debug)]
    /// struct Counter;
    ///
    /// impl Game for Counter {
    ///     /// How many entities have entered the volume.
    ///     type State = usize;
    ///
    ///     fn set_up(&self, world: &mut WorldMut<'_>) -> usize {
    ///         // It is as large as the whole map.
    ///         let bounds = Aabb { min: DVec3::splat(-2048.0), max: DVec3::splat(2048.0) };
    ///         world.add_volume(&bounds).expect("the box is not empty");
    ///         0
    ///     }
    ///
    ///     fn entered(&self, count: &mut usize, _: &mut WorldMut<'_>, _: VolumeId, _: EntityId) {
    ///         *count += 1;
    ///     }
    /// }
    ///
    /// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let mut game = Match::new(Counter, map, Config::default())?;
    /// game.step(&[]);
    /// assert_eq!(*game.state(), game.world().state().entities.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_volume(&mut self, bounds: &Aabb) -> Option<VolumeId> {
        self.shared.volumes.add_box(self.world.map(), bounds)
    }

    /// Adds the brushes of a map's entity as a volume, for example those of a class `trigger_…`,
    /// with which nothing collides. `None` if the entity has no brushes or is not of the world's
    /// map, or if the match has 65,536 volumes already.
    pub fn add_brush_volume(&mut self, entity: &MapEntity) -> Option<VolumeId> {
        self.shared.volumes.add_brushes(self.world.map(), entity)
    }

    /// The entities inside a volume after the last motion of the bodies, in ascending order of
    /// slot.
    pub fn inside(&self, volume: VolumeId) -> &[EntityId] {
        self.shared.volumes.inside(volume)
    }

    /// Watches an entity: [`Game::touched`](crate::Game::touched) is called when something begins
    /// to touch it, and [`Game::parted`](crate::Game::parted) when that touch ends.
    pub fn watch(&mut self, id: EntityId) {
        let watched = &mut self.shared.watched;
        if let Err(index) = watched.binary_search_by_key(&id, |(entity, _)| *entity) {
            watched.insert(index, (id, Vec::new()));
        }
    }
}
