use std::fmt::Debug;

use obsp_proto::control::Vitals;
use obsp_proto::schema::MatchValues;
use obsp_sim::{AddPlayerError, Command, EntityId, PlayerKind, State, World};

use crate::event::Event;
use crate::game_file::GameFile;
use crate::player_info::PlayerInfo;
use crate::save::LoadMatchError;

/// A match of any game, as a server runs it.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::arena::Arena;
/// use obsp_game::{AnyGame, RunningMatch};
/// use obsp_sim::{Config, PlayerKind};
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game: Box<dyn RunningMatch> = Arena.new_match(Arc::clone(&map), Config::default())?;
/// game.join_as(PlayerKind::Box)?;
/// game.step(&[]);
///
/// // A match that is loaded goes on with the same digests.
/// let mut loaded = Arena.load_match(map, &game.save())?;
/// game.step(&[]);
/// loaded.step(&[]);
/// assert_eq!(loaded.digest(), game.digest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RunningMatch: Debug + Send {
    /// The world as it is now.
    fn world(&self) -> &World;

    /// The world, for changing its settings.
    fn world_mut(&mut self) -> &mut World;

    /// Adds a player. [`Game::respawn`](crate::Game::respawn) says where the player comes into the
    /// world, or that the player waits.
    ///
    /// # Errors
    /// [`AddPlayerError`] when all places are taken, or there is no hovertank to drive.
    fn join(&mut self, kind: PlayerKind, info: PlayerInfo) -> Result<EntityId, AddPlayerError>;

    /// Adds a player without name and number, as [`RunningMatch::join`] does.
    ///
    /// # Errors
    /// As [`RunningMatch::join`].
    fn join_as(&mut self, kind: PlayerKind) -> Result<EntityId, AddPlayerError> {
        self.join(kind, PlayerInfo::default())
    }

    /// Name and number of a player; `None` if neither is known.
    fn player(&self, player: EntityId) -> Option<&PlayerInfo>;

    /// The agents that have a name, each with its name, in ascending order of id.
    fn named_agents(&self) -> Vec<(EntityId, &str)>;

    /// Passes on a line that a player says. [`Game::said`](crate::Game::said) hears it at once.
    /// The line comes back as an event of the next tick, unless the game keeps it. A line of an id
    /// that is not a player's is ignored.
    fn say(&mut self, player: EntityId, line: &str);

    /// The lines that came in before the last tick and after the tick before it, each as the player
    /// said it, in the order in which they came.
    fn said(&self) -> &[(EntityId, String)];

    /// Removes a player. An id that is not a player's is ignored.
    fn leave(&mut self, player: EntityId);

    /// Advances by one tick. `commands` are treated as by [`World::step`].
    fn step(&mut self, commands: &[(EntityId, Command)]);

    /// The events of the last tick, in order.
    fn events(&self) -> &[Event];

    /// Health and score of a player, who may be out of the world. `None` if the game counts
    /// neither, or if there is no such player.
    fn vitals(&self, player: EntityId) -> Option<Vitals>;

    /// The values of the game's own fields. `state` says which entities are in the world.
    fn values(&self, state: &State) -> MatchValues {
        let _ = state;
        MatchValues::default()
    }

    /// A hash of everything that a tick changes and on which the next tick depends.
    fn digest(&self) -> u64;

    /// The name of the game.
    fn game_name(&self) -> &'static str;

    /// The `game.toml` that the match was set up by.
    fn game_file(&self) -> &GameFile;

    /// The whole match as bytes: the world, the game's state, its volumes and events.
    /// [`RunningMatch::restore`] and [`AnyGame::load_match`](crate::AnyGame::load_match) make a
    /// match from these bytes that goes on with the same digests.
    fn save(&self) -> Vec<u8>;

    /// Replaces this match by a saved one of the same game, map and configuration.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the bytes are not such a match, or if bodies would overlap; nothing
    /// changes then.
    fn restore(&mut self, saved: &[u8]) -> Result<(), LoadMatchError>;
}
