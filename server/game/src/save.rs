//! A match of a game as bytes, and back: the world, the game's state, and the data that the match
//! keeps beside both.

use std::sync::Arc;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::DecodeError;
use bincode::serde::{decode_from_slice, encode_to_vec};
use obsp_sim::{EntityId, Random, SetupError, World};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::chat::SaidLines;
use crate::event::Event;
use crate::game::Game;
use crate::game_file::GameFile;
use crate::game_match::Match;
use crate::player_info::KnownPlayers;
use crate::replicated::schema;
use crate::volumes::{SavedVolume, Volumes};
use crate::with_file::{all_models, all_movements, check_size};
use crate::world_mut::Shared;

/// Maximum length of a saved match, in bytes.
const MAX_BYTES: usize = 1 << 26;

/// Reasons why a match cannot be loaded from saved bytes.
#[derive(Debug, Error)]
pub enum LoadMatchError {
    /// The bytes are not a saved match, are damaged, or hold the state of another game.
    #[error("the saved match cannot be decoded ({0}); it may be damaged, or of another game")]
    Decode(#[from] DecodeError),
    /// The world cannot be loaded.
    #[error(transparent)]
    World(#[from] obsp_sim::LoadWorldError),
    /// A part of the saved match contradicts another, its map or its `game.toml`.
    #[error("the saved match is damaged: {0}")]
    Damaged(&'static str),
}

/// The data that a match keeps beside the world and the game's state.
#[derive(Serialize, Deserialize)]
struct SavedShared {
    random: u64,
    events: Vec<Event>,
    delivered: u32,
    volumes: Vec<SavedVolume>,
    players: KnownPlayers,
    watched: Vec<(EntityId, Vec<EntityId>)>,
}

type Wire = Configuration<LittleEndian, Varint, Limit<MAX_BYTES>>;

pub(crate) fn wire() -> Wire {
    bincode::config::standard().with_limit::<MAX_BYTES>()
}

impl<G: Game> Match<G> {
    /// The whole match as bytes. [`Match::restored`] makes a match from them that goes on exactly
    /// like this one.
    pub(crate) fn saved(&self) -> Vec<u8> {
        let Shared { random, events, delivered, volumes, players, watched, .. } = &self.shared;
        let shared = SavedShared {
            random: random.state(),
            events: events.clone(),
            delivered: *delivered as u32,
            volumes: volumes.saved(),
            players: players.clone(),
            watched: watched.clone(),
        };
        // Plain data always has an encoding. If it had none, loading would refuse the empty bytes.
        // The world's bytes are encoded without serde. With serde, each byte would be encoded by
        // itself, which takes longer than saving the world.
        let mut bytes = bincode::encode_to_vec(self.world.save(), wire()).unwrap_or_default();
        bytes.extend(encode_to_vec(shared, wire()).unwrap_or_default());
        bytes.extend(self.save_state());
        bytes
    }

    /// Loads a saved match of `game` with `file`. `world` makes the world from its part of the
    /// bytes.
    ///
    /// # Errors
    /// [`LoadMatchError`] if the bytes are not a match of this game with this file, as
    /// [`Match::saved`] returns it.
    pub(crate) fn restored(
        game: G,
        file: GameFile,
        saved: &[u8],
        world: impl FnOnce(&[u8]) -> Result<World, obsp_sim::LoadWorldError>,
    ) -> Result<Self, LoadMatchError> {
        let (world_bytes, used): (&[u8], usize) = bincode::borrow_decode_from_slice(saved, wire())?;
        let rest = &saved[used..];
        let (shared, used): (SavedShared, usize) = decode_from_slice(rest, wire())?;
        let rest = &rest[used..];
        let (state, used) = decode_from_slice(rest, wire())?;
        if used != rest.len() {
            return Err(LoadMatchError::Damaged("bytes follow the state of the game"));
        }
        let world = world(world_bytes)?;
        let movement = all_movements(&game, &file, world.map());
        let movement = movement.map_err(|error| SetupError::Game(error.to_string()));
        if *world.movement_sets() != movement.map_err(obsp_sim::LoadWorldError::Setup)? {
            return Err(LoadMatchError::Damaged(
                "its players move by the numbers of another game.toml",
            ));
        }
        if world.body_gravity() != file.data().body_gravity() {
            return Err(LoadMatchError::Damaged(
                "its bodies fall by the gravity of another game.toml",
            ));
        }
        let SavedShared { random, events, delivered, volumes, players, watched } = shared;
        let delivered = delivered as usize;
        if delivered > events.len() {
            return Err(LoadMatchError::Damaged(
                "it says that more events were delivered than happened",
            ));
        }
        if !watched.is_sorted_by_key(|(id, _)| *id) {
            return Err(LoadMatchError::Damaged("the watched entities are not in order"));
        }
        let players =
            players.in_order().ok_or(LoadMatchError::Damaged("its players are not in order"))?;
        let volumes = Volumes::restored(volumes, world.map())
            .ok_or(LoadMatchError::Damaged("one of its volumes is not in its map"))?;
        let random = Random::new(random);
        let schema = schema(&game, &file, world.map(), &all_models(&game, &file, world.map()));
        let schema = schema.map_err(|error| SetupError::Game(error.to_string()));
        let schema = Arc::new(schema.map_err(obsp_sim::LoadWorldError::Setup)?);
        let said = SaidLines::default();
        let shared =
            Shared { file, schema, random, events, delivered, volumes, players, said, watched };
        Ok(Self { game, world, state, shared })
    }

    /// Replaces this match by a saved one of the same game, map and configuration.
    ///
    /// # Errors
    /// As [`Match::restored`]; nothing changes then.
    pub(crate) fn restore_all(&mut self, saved: &[u8]) -> Result<(), LoadMatchError> {
        let mut world = self.world.clone();
        let file = self.shared.file.clone();
        *self = Self::restored(self.game.clone(), file, saved, |bytes| {
            world.restore(bytes)?;
            Ok(world)
        })?;
        Ok(())
    }
}

/// Loads a match of `game` on `map` with `file`.
pub(crate) fn load<G: Game>(
    game: &G,
    map: Arc<obsp::Map>,
    file: &GameFile,
    saved: &[u8],
) -> Result<Match<G>, LoadMatchError> {
    check_size(file, &map).map_err(obsp_sim::LoadWorldError::Setup)?;
    let models = all_models(game, file, &map).into();
    Match::restored(game.clone(), file.clone(), saved, |bytes| World::load(map, models, bytes))
}
