//! A match of a game: the world, the game's state, and the order in which they act.

use std::sync::Arc;

use bincode::error::DecodeError;
use bincode::serde::{decode_from_slice, encode_to_vec};
use obsp_proto::control::Vitals;
use obsp_proto::schema::{Field, FieldValues, MatchValues};
use obsp_sim::{
    AddPlayerError, Attachment, Command, Config, EntityId, EntityState, PlayerKind, Random,
    SetupError, State, World,
};
use xxhash_rust::xxh3::Xxh3Default;

use crate::chat::{Audience, SaidLines};
use crate::event::Event;
use crate::game::{Game, Respawn};
use crate::game_file::GameFile;
use crate::player_info::{KnownPlayers, PlayerInfo};
use crate::replicated::{Subject, Values, schema};
use crate::running::RunningMatch;
use crate::save::{LoadMatchError, wire};
use crate::volumes::{Place, Volumes};
use crate::with_file::{all_models, all_movements, check, check_size, spawn_classes};
use crate::world_mut::{Shared, WorldMut};

/// A match of a game. A clone goes on with the same digests as the match itself.
///
/// ```
/// use std::sync::Arc;
///
/// use obsp_game::arena::Arena;
/// use obsp_game::{Match, RunningMatch};
/// use obsp_sim::{Command, Config, PlayerKind};
///
/// let map = Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
/// let mut game = Match::new(Arena, map, Config::default())?;
/// let player = game.join_as(PlayerKind::Box)?;
/// let start = game.world().entity(player).map(|player| player.position);
/// for _ in 0..30 {
///     game.step(&[(player, Command { forward: 127, ..Command::default() })]);
/// }
/// assert_eq!(game.world().tick(), 30);
/// assert_ne!(game.world().entity(player).map(|player| player.position), start);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Match<G: Game> {
    pub(crate) game: G,
    pub(crate) world: World,
    pub(crate) state: G::State,
    pub(crate) shared: Shared,
}

/// Changes the match's seed for the game, so that the game's random numbers differ from those that
/// scatter props.
const GAME_STREAM: u64 = 0x6761_6d65;

impl<G: Game> Match<G> {
    /// Sets up a match of `game` on `map`.
    ///
    /// # Errors
    /// [`SetupError`] if no match is possible with the map or the configuration.
    pub fn new(game: G, map: Arc<obsp::Map>, config: Config) -> Result<Self, SetupError> {
        Self::with_file(game, map, config, &GameFile::default())
    }

    /// Like [`Match::new`], with the numbers of a `game.toml`.
    ///
    /// # Errors
    /// As [`Match::new`].
    pub fn with_file(
        game: G,
        map: Arc<obsp::Map>,
        config: Config,
        file: &GameFile,
    ) -> Result<Self, SetupError> {
        let models = all_models(&game, file, &map);
        check(file, &models)?;
        check_size(file, &map)?;
        let schema = schema(&game, file, &map, &models);
        let schema = schema.map_err(|error| SetupError::Game(error.to_string()))?;
        let mut world = World::new(map, models.into(), config)?;
        let movement = all_movements(&game, file, world.map());
        let movement = movement.map_err(|error| SetupError::Game(error.to_string()))?;
        let is_set = world.set_movement_sets(movement);
        is_set.map_err(|error| SetupError::Game(error.to_string()))?;
        let gravity = world.set_body_gravity(file.data().body_gravity());
        gravity.map_err(|error| SetupError::Game(error.to_string()))?;
        spawn_classes(&mut world, file);
        let mut shared = Shared {
            file: file.clone(),
            schema: Arc::new(schema),
            random: Random::new(config.seed ^ GAME_STREAM),
            events: Vec::new(),
            delivered: 0,
            volumes: Volumes::default(),
            players: KnownPlayers::default(),
            said: SaidLines::default(),
            watched: Vec::new(),
        };
        let state = game.set_up(&mut WorldMut { world: &mut world, shared: &mut shared });
        Ok(Self { game, world, state, shared })
    }

    /// The state of the game.
    pub fn state(&self) -> &G::State {
        &self.state
    }

    /// The state of the game as bytes, for [`Match::load_state`].
    pub fn save_state(&self) -> Vec<u8> {
        // Plain data always has an encoding. An empty one would be refused when it is loaded.
        encode_to_vec(&self.state, wire()).unwrap_or_default()
    }

    /// Replaces the state of the game.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the bytes are not a state of this game; nothing changes then.
    pub fn load_state(&mut self, bytes: &[u8]) -> Result<(), LoadMatchError> {
        let (state, used) = decode_from_slice(bytes, wire())?;
        if used != bytes.len() {
            return Err(DecodeError::Other("bytes follow the state of the game").into());
        }
        self.state = state;
        Ok(())
    }

    /// Calls the game with the world.
    pub(crate) fn act<R>(
        &mut self,
        act: impl FnOnce(&G, &mut G::State, &mut WorldMut<'_>) -> R,
    ) -> R {
        let mut world = WorldMut { world: &mut self.world, shared: &mut self.shared };
        act(&self.game, &mut self.state, &mut world)
    }

    /// Brings back the players and bodies that wait outside of the world: players where the game
    /// says, bodies where there is room.
    fn bring_back(&mut self) {
        for id in self.world.waiting() {
            self.bring_one_back(id);
        }
    }

    fn bring_one_back(&mut self, id: EntityId) {
        let respawn = match self.world.player_kind(id) {
            Some(_) => self.act(|game, state, world| game.respawn(state, world, id)),
            None => Respawn::SpawnPoint,
        };
        // If there is no room, the next tick tries again.
        let _ = match respawn {
            Respawn::Wait => Ok(()),
            Respawn::SpawnPoint => self.world.bring_back(id),
            Respawn::At { position, yaw } => self.world.bring_back_at(id, position, yaw),
        };
    }

    /// Appends the events of the world since the last call to the events of the match.
    fn collect_events(&mut self) {
        let events = self.world.take_events().into_iter().map(Event::from);
        self.shared.events.extend(events);
    }

    /// Collects events like [`Match::collect_events`], and tells the game which bodies have lost
    /// their carriers. The game may then take further carriers out of the world. So this repeats,
    /// at most as often as the longest chain of attachments has links.
    fn tell_detached(&mut self) {
        for _ in 0..=Attachment::MAX_CHAIN {
            if self.world.events().is_empty() {
                return;
            }
            let first = self.shared.events.len();
            self.collect_events();
            let detached = self.shared.events[first..].iter().filter_map(|event| match event {
                Event::Detached { entity, from } => Some((*entity, *from)),
                _ => None,
            });
            let detached: Vec<_> = detached.collect();
            if detached.is_empty() {
                return;
            }
            for (body, carrier) in detached {
                self.act(|game, state, world| game.detached(state, world, body, carrier));
            }
        }
    }
}

impl<G: Game> RunningMatch for Match<G> {
    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    fn join(&mut self, kind: PlayerKind, info: PlayerInfo) -> Result<EntityId, AddPlayerError> {
        let player = self.world.add_player(kind)?;
        let player_id = info.player_id.filter(|_| self.game.uses_player_ids());
        self.shared.players.note(player, PlayerInfo { player_id, ..info });
        self.act(|game, state, world| game.joined(state, world, player));
        self.bring_one_back(player);
        Ok(player)
    }

    fn leave(&mut self, player: EntityId) {
        if self.world.player_kind(player).is_some() {
            self.act(|game, state, world| game.left(state, world, player));
            self.world.leave(player);
            self.tell_detached();
            self.shared.players.forget(player);
        }
    }

    fn player(&self, player: EntityId) -> Option<&PlayerInfo> {
        self.shared.players.get(player)
    }

    fn named_agents(&self) -> Vec<(EntityId, &str)> {
        let named = |id: &EntityId| Some((*id, self.shared.players.get(*id)?.name.as_str()));
        self.world.agents().iter().filter_map(named).collect()
    }

    fn say(&mut self, player: EntityId, line: &str) {
        if self.world.player_kind(player).is_none() {
            return;
        }
        self.shared.said.note(self.world.tick(), player, line);
        let mut line = line.to_owned();
        let to = self.act(|game, state, world| game.said(state, world, player, &mut line));
        if to != Audience::Nobody && !line.is_empty() {
            self.shared.events.push(Event::Said { player, line, to });
        }
    }

    fn said(&self) -> &[(EntityId, String)] {
        self.shared.said.before(self.world.tick())
    }

    fn step(&mut self, commands: &[(EntityId, Command)]) {
        self.shared.events.drain(..self.shared.delivered);
        self.shared.delivered = 0;
        let mut step = self.world.begin_step();
        let mut moves = Vec::new();
        for player in self.world.players() {
            let own = commands.iter().find(|(id, _)| *id == player);
            let mut command = own.map(|(_, command)| *command).unwrap_or_default();
            self.act(|game, state, world| game.command(state, world, player, &mut command));
            moves.push((player, command));
        }
        for (player, command) in moves {
            let before = self.shared.volumes.place(&self.world, player);
            self.world.move_player(&mut step, player, command);
            self.shared.volumes.follow(&self.world, before);
            self.tell_detached();
            self.act(|game, state, world| game.moved(state, world, player, &command));
        }
        let relocations = self.world.relocations().len();
        self.world.move_bodies(&mut step);
        let moved = step.moved_bodies().iter();
        let before = moved.map(|&(id, position)| Place { id, position, relocations });
        self.shared.volumes.follow(&self.world, before);
        self.tell_detached();
        for missile in self.world.missiles() {
            let before = self.shared.volumes.place(&self.world, missile);
            let Some(flies) = self.world.move_missile(&mut step, missile) else { continue };
            self.shared.volumes.follow(&self.world, before);
            self.act(|game, state, world| game.missile_moved(state, world, missile, flies));
        }
        self.world.update_sensors();
        self.tell_contacts();
        self.act(|game, state, world| game.tick(state, world));
        self.tell_detached();
        self.bring_back();
        self.tell_detached();
        self.shared.delivered = self.shared.events.len();
        self.world.end_step(step);
        self.tell_detached();
    }

    fn events(&self) -> &[Event] {
        &self.shared.events[..self.shared.delivered]
    }

    fn vitals(&self, player: EntityId) -> Option<Vitals> {
        self.game.vitals(&self.state, player)
    }

    fn values(&self, state: &State) -> MatchValues {
        let schema = &*self.shared.schema;
        if !schema.has_fields() {
            return MatchValues::default();
        }
        let of = |subject, fields: &[Field]| {
            let mut values = FieldValues::default();
            if !fields.is_empty() {
                let set = &mut Values::new(fields, &mut values);
                self.game.values(&self.state, &self.world, subject, set);
            }
            values
        };
        let mut match_values =
            MatchValues { of_match: of(Subject::Match, schema.of_match()), ..Default::default() };
        for EntityState { id, kind, .. } in &state.entities {
            let fields = schema.of_kind(*kind);
            if fields.is_empty() {
                continue;
            }
            let subject = if kind.is_player() { Subject::Player(*id) } else { Subject::Body(*id) };
            match_values.of_entities.push((*id, of(subject, fields)));
        }
        if !schema.of_own_player().is_empty() {
            let own = |id| (id, of(Subject::OwnPlayer(id), schema.of_own_player()));
            match_values.of_own_players.extend(self.world.players().into_iter().map(own));
        }
        match_values
    }

    fn digest(&self) -> u64 {
        let mut hash = Xxh3Default::new();
        hash.update(&self.world.digest().to_le_bytes());
        hash.update(&self.shared.random.state().to_le_bytes());
        let Shared { volumes, watched, players, .. } = &self.shared;
        let touching = watched.iter().map(|(_, touching)| touching.as_slice());
        for ids in volumes.occupants().chain(touching) {
            hash.update(&(ids.len() as u64).to_le_bytes());
            ids.iter().for_each(|id| add_id(&mut hash, *id));
        }
        watched.iter().for_each(|(id, _)| add_id(&mut hash, *id));
        for (id, PlayerInfo { name, player_id }) in players.iter() {
            add_id(&mut hash, *id);
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
            hash.update(&player_id.unwrap_or_default().to_le_bytes());
            hash.update(&[u8::from(player_id.is_some())]);
        }
        hash.update(&self.save_state());
        hash.digest()
    }

    fn game_name(&self) -> &'static str {
        self.game.name()
    }

    fn game_file(&self) -> &GameFile {
        &self.shared.file
    }

    fn save(&self) -> Vec<u8> {
        self.saved()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), LoadMatchError> {
        self.restore_all(saved)
    }
}

fn add_id(hash: &mut Xxh3Default, id: EntityId) {
    hash.update(&id.slot.to_le_bytes());
    hash.update(&id.generation.to_le_bytes());
}
