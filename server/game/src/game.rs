use std::fmt::Debug;

use glam::DVec3;
use obsp::Map;
use obsp::model::Model;
use obsp_proto::control::Vitals;
use obsp_proto::schema::Action;
use obsp_sim::{Command, EntityId, MovementParameters, World};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::actions;
use crate::chat::Audience;
use crate::game_file::GameFile;
use crate::replicated::{Replicated, Subject, Values};
use crate::volumes::VolumeId;
use crate::world_mut::WorldMut;

/// The place where a player who waits outside of the world comes back.
///
/// ```
/// use std::sync::Arc;
///
/// use glam::DVec3;
/// use obsp_game::{Game, Match, Respawn, RunningMatch, WorldMut};
/// use obsp_sim::{Config, EntityId, PlayerKind};
///
/// const HOME: DVec3 = DVec3::new(-400.0, -320.0, 32.0);
///
/// #[derive(Clone, Debug)]
/// struct AtHome;
///
/// impl Game for AtHome {
///     type State = ();
///
///     fn set_up(&self, _: &mut WorldMut<'_>) {}
///
///     fn respawn(&self, _: &mut (), _: &mut WorldMut<'_>, _: EntityId) -> Respawn {
///         Respawn::At { position: HOME, yaw: 16_384 }
///     }
/// }
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(AtHome, map, Config::default())?;
/// let player = game.join_as(PlayerKind::Box)?;
/// let entity = game.world().entity(player).expect("there is a free place");
/// assert!(entity.position.distance(HOME) < 8.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Respawn {
    /// The player does not come back in this tick.
    Wait,
    /// At the free spawn point of the map that is farthest from all other players.
    SpawnPoint,
    /// At the free place nearest to a point.
    At {
        /// Centre of the player's box, in units.
        position: DVec3,
        /// Heading, 65,536 steps a turn.
        yaw: u16,
    },
}

/// The rules of a game. `self` never changes during a match. Everything that changes is in
/// [`Game::State`].
///
/// Before a tick, [`Match`](crate::Match) calls [`Game::said`], [`Game::left`] and
/// [`Game::joined`]. In the tick it calls, in this order:
///
/// 1. for each player, in ascending order of slot: [`Game::command`];
/// 2. for each player, in the same order: the player moves, then [`Game::moved`];
/// 3. the bodies move;
/// 4. for each missile, in ascending order of slot: it moves, then [`Game::missile_moved`];
/// 5. the sensors are updated ([`WorldMut::add_sensor`]), then [`Game::left_volume`],
///    [`Game::entered`], [`Game::parted`] and [`Game::touched`];
/// 6. [`Game::tick`];
/// 7. for each player outside of the world: [`Game::respawn`].
///
/// Every method is called with the same arguments on every machine, and must have the same results
/// everywhere. So a game uses no clock, no I/O, no iteration over hash maps, and no randomness
/// except [`WorldMut::random`].
#[allow(unused_variables, reason = "many methods do nothing by default")]
pub trait Game: Clone + Debug + Send + Sync + 'static {
    /// Everything that the game changes during a match, as plain data: it is part of the match's
    /// digest.
    type State: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;

    /// The name of the game, which recordings hold. By default it is the name of the type.
    fn name(&self) -> &'static str {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path)
    }

    /// The models that bodies can have, in the order of their ids, each with a name of its own.
    /// Clients have the shipped models, and fetch the others when they join. Models of
    /// [missiles](Model::as_missile) are marked as such: players do not shove their bodies, and
    /// only their bodies can be thrown. Models whose bodies the game drives are marked as
    /// [kinematic](Model::as_kinematic).
    fn models(&self) -> Vec<Model> {
        obsp::model::shipped()
    }

    /// The models that bodies can have in a match on `map` by its `game.toml`, in the place of
    /// [`Game::models`]: the usual ones and those of things that this map has. By default they are
    /// the usual ones.
    fn models_on(&self, map: &Map, file: &GameFile) -> Vec<Model> {
        self.models()
    }

    /// The models that bodies can have because they are drawn in the map of a match: doors, lifts
    /// and platforms, each the brushes of one entity. Their ids follow those of all other models.
    /// [`World::model_of`] tells the id of an entity's model, and its place. Clients make the
    /// models from the map, which they have. Each counts among the 128 models of a match.
    /// [`Game::classes`] names their classes.
    ///
    /// ```
    /// use obsp::{Map, model::Model};
    /// use obsp_game::{Game, WorldMut};
    /// use obsp_sim::EntityId;
    ///
    /// /// Every `func_plat` is a lift.
    /// #[derive(Clone, Debug)]
    /// struct Lifts;
    ///
    /// impl Game for Lifts {
    ///     type State = Vec<EntityId>;
    ///
    ///     fn brush_models(&self, map: &Map) -> Vec<Model> {
    ///         let lifts = map.entities().iter().filter(|entity| entity.classname() == "func_plat");
    ///         lifts.filter_map(|lift| map.model_of(lift).ok()).collect()
    ///     }
    ///
    ///     fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State {
    ///         let map = world.map().clone();
    ///         let mut lifts = Vec::new();
    ///         for entity in map.entities() {
    ///             let Some(drawn) = world.model_of(entity) else { continue };
    ///             let orientation = obsp::glam::DQuat::IDENTITY;
    ///             lifts.extend(world.spawn_body(drawn.model, drawn.place, orientation));
    ///         }
    ///         lifts
    ///     }
    /// }
    /// ```
    fn brush_models(&self, map: &Map) -> Vec<Model> {
        Vec::new()
    }

    /// The sets of movement parameters that the game gives to single players, with their names:
    /// haste, a slow trap, low gravity. `usual` are the parameters of all other players, from
    /// `[movement]` of the `game.toml` if there is one, so that haste can be twice the usual speed.
    /// A table `[movements.NAME]` of the `game.toml` replaces a set of that name. A match has at
    /// most 15 sets of both kinds together. [`WorldMut::set_movement`] gives a player one of them.
    ///
    /// ```
    /// use obsp_game::{Game, GameFile, Match, RunningMatch, WorldMut};
    /// use obsp_sim::{Config, MovementParameters};
    ///
    /// #[derive(Clone, Debug)]
    /// struct Races;
    ///
    /// impl Game for Races {
    ///     type State = ();
    ///
    ///     fn set_up(&self, _: &mut WorldMut<'_>) {}
    ///
    ///     fn movements(&self, usual: MovementParameters) -> Vec<(&'static str, MovementParameters)> {
    ///         vec![("haste", MovementParameters { run_speed: 2.0 * usual.run_speed, ..usual })]
    ///     }
    /// }
    ///
    /// let map = std::sync::Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let file = GameFile::parse("[movement]\nrun_speed = 400\ngravity = 300\n")?;
    /// let game = Match::with_file(Races, map, Config::default(), &file)?;
    /// let sets = game.world().movement_sets();
    /// let haste = sets.get(sets.find("haste").expect("the game declares it"));
    /// assert_eq!((haste.run_speed, haste.gravity), (800.0, 300.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn movements(&self, usual: MovementParameters) -> Vec<(&'static str, MovementParameters)> {
        Vec::new()
    }

    /// The sets of movement parameters of a match on `map`, in the place of [`Game::movements`]:
    /// the usual ones and those that this map asks for. By default they are the usual ones.
    fn movements_on(
        &self,
        map: &Map,
        usual: MovementParameters,
    ) -> Vec<(&'static str, MovementParameters)> {
        self.movements(usual)
    }

    /// The actions of players besides moving: at most 16, each with its default keys. Clients get
    /// the list when they join, and bots use the actions. A table `[actions.NAME]` of a `game.toml`
    /// changes the keys and the label of the action of that name. [`WorldMut::pressed`] says
    /// whether a command holds an action. The first three have the bits [`Buttons::PRIMARY`],
    /// [`Buttons::SECONDARY`] and [`Buttons::TERTIARY`]. A command that holds the first, the fourth
    /// or a later action carries the age of the player's view. By default there are three actions,
    /// `primary`, `secondary` and `tertiary`.
    ///
    /// [`Buttons::PRIMARY`]: obsp_sim::Buttons::PRIMARY
    /// [`Buttons::SECONDARY`]: obsp_sim::Buttons::SECONDARY
    /// [`Buttons::TERTIARY`]: obsp_sim::Buttons::TERTIARY
    fn actions(&self) -> Vec<Action> {
        actions::usual()
    }

    /// The classes of map entities that the game handles, beside those of its `game.toml`. The
    /// server warns of entities in a map whose class nobody handles, because they may be misspelt.
    fn classes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Sets a match up, before the first player joins. The entities of the map are
    /// `world.map().entities()`.
    fn set_up(&self, world: &mut WorldMut<'_>) -> Self::State;

    /// Whether the game uses the numbers of players' connect tokens
    /// ([`PlayerInfo::player_id`](crate::PlayerInfo::player_id)). If it does, the match and its
    /// recordings hold the numbers, and everybody who may fetch a recording can read them. By
    /// default it does not.
    fn uses_player_ids(&self) -> bool {
        false
    }

    /// A player has joined, and waits outside of the world for [`Game::respawn`]. This method is
    /// called only for the players of clients. A game adds an agent by its own call of
    /// [`WorldMut::spawn_agent`], so it knows of the agent already.
    fn joined(&self, state: &mut Self::State, world: &mut WorldMut<'_>, player: EntityId) {}

    /// A player leaves. The match removes the player after this call. Like [`Game::joined`] it is
    /// not called for agents.
    fn left(&self, state: &mut Self::State, world: &mut WorldMut<'_>, player: EntityId) {}

    /// A player has said a line, between two ticks. The game may change the line, and says who
    /// hears it: by default everyone hears it as it is. A game that takes lines as commands, such
    /// as `!ready`, returns [`Audience::Nobody`] for them. A line that is empty afterwards is not
    /// sent. Lines that a server's own rules take, such as votes, do not come here.
    ///
    /// ```
    /// use obsp_game::{Audience, Game, WorldMut};
    /// use obsp_sim::EntityId;
    ///
    /// #[derive(Clone, Debug)]
    /// struct Readiness;
    ///
    /// impl Game for Readiness {
    ///     type State = Vec<EntityId>;
    ///
    ///     fn set_up(&self, _: &mut WorldMut<'_>) -> Self::State {
    ///         Vec::new()
    ///     }
    ///
    ///     fn said(
    ///         &self,
    ///         ready: &mut Self::State,
    ///         world: &mut WorldMut<'_>,
    ///         player: EntityId,
    ///         line: &mut String,
    ///     ) -> Audience {
    ///         if line != "!ready" {
    ///             return Audience::Everyone;
    ///         }
    ///         ready.push(player);
    ///         let name = world.player(player).map_or("a player", |player| &player.name).to_owned();
    ///         world.announce(format!("{name} is ready"));
    ///         Audience::Nobody
    ///     }
    /// }
    /// ```
    fn said(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        line: &mut String,
    ) -> Audience {
        Audience::Everyone
    }

    /// A player's command, before anybody moves. The game may change it, for example by
    /// [`WorldMut::press`]. The client has predicted by the command that it sent, so a changed
    /// movement shows as a correction. An agent's command is neutral before this call.
    fn command(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &mut Command,
    ) {
    }

    /// A player has moved by `command`. Actions such as a shot belong here.
    fn moved(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
        command: &Command,
    ) {
    }

    /// A missile, thrown by [`WorldMut::spawn_missile`], has moved. `flies` is false if something
    /// has stopped a missile that flies straight, or if the missile is out of the world. Such a
    /// missile stays where it is until it is removed. By default this method removes it.
    fn missile_moved(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        missile: EntityId,
        flies: bool,
    ) {
        if !flies {
            // The call cannot fail, because the missile has just moved.
            let _ = world.remove(missile);
        }
    }

    /// An entity has entered a volume. The entity may have passed through the volume within the
    /// tick. In that case [`Game::left_volume`] is called next, and [`WorldMut::inside`] does not
    /// list the entity. It may have left the match since, like a missile that burst behind the
    /// volume.
    fn entered(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        volume: VolumeId,
        entity: EntityId,
    ) {
    }

    /// An entity has left a volume, or the match.
    fn left_volume(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        volume: VolumeId,
        entity: EntityId,
    ) {
    }

    /// A body or a player has begun to touch an entity that [`WorldMut::watch`] watches. This is
    /// called in the first tick of a touch, and again only after [`Game::parted`]. Bodies that fall
    /// asleep are still touching.
    fn touched(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        entity: EntityId,
        by: EntityId,
    ) {
    }

    /// `by` no longer touches an entity that [`WorldMut::watch`] watches: it has moved away, or one
    /// of the two is out of the world. For a player on foot it is called a quarter of a second
    /// after the last touch, because a player who shoves a body touches it only in every other
    /// tick. It is not called for a watched entity that is removed.
    fn parted(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        entity: EntityId,
        by: EntityId,
    ) {
    }

    /// A body that followed `carrier` ([`WorldMut::attach`]) stays where it was, because the
    /// carrier has left the world: it was removed, taken out, has left the match or has fallen out
    /// of the map.
    fn detached(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        body: EntityId,
        carrier: EntityId,
    ) {
    }

    /// The game's own work in a tick, after everything has moved.
    fn tick(&self, state: &mut Self::State, world: &mut WorldMut<'_>) {}

    /// Whether a player outside of the world comes back in this tick, and where. It is called for a
    /// player who has joined, was [taken out](WorldMut::take_out), or fell out of the map. If there
    /// is no room for the player, it is called again in the next tick.
    fn respawn(
        &self,
        state: &mut Self::State,
        world: &mut WorldMut<'_>,
        player: EntityId,
    ) -> Respawn {
        Respawn::SpawnPoint
    }

    /// The game's own fields and events, which are sent to clients.
    fn replicated(&self) -> Replicated {
        Replicated::default()
    }

    /// The fields and events of a match on `map` by its `game.toml`, in the place of
    /// [`Game::replicated`]: the usual ones and those of things that this map has. By default they
    /// are the usual ones.
    fn replicated_on(&self, map: &Map, file: &GameFile) -> Replicated {
        self.replicated()
    }

    /// Sets the values of a subject's fields, after each tick. They are only sent to clients. A
    /// value that the game itself needs belongs in its state.
    fn values(&self, state: &Self::State, world: &World, of: Subject, values: &mut Values<'_>) {}

    /// Health and score of a player, which are shown to all players. `None` if there is no such
    /// player.
    fn vitals(&self, state: &Self::State, player: EntityId) -> Option<Vitals> {
        None
    }
}
