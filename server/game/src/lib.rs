#![doc = include_str!("../README.md")]
//!
//! ## How it works
//!
//! A game implements [`Game`]. The match calls its methods when it is set up, when a player joins,
//! sends a command or waits to come back, when a body enters or leaves a volume or touches another,
//! and once in each tick. The game changes the world only through [`WorldMut`]. Every placement
//! goes through the guard there, so no two bodies ever interpenetrate, no matter what the game
//! does.
//!
//! [`Match`] plays a [`Game`] in a [`World`](obsp_sim::World), tick by tick. A server creates
//! matches through [`AnyGame`] and holds each as a [`RunningMatch`]. Both hide the type of the
//! game.
//!
//! A match is deterministic: the same map, models, configuration, game and commands give the same
//! digests everywhere. A game reads no clock and does no I/O. It takes its randomness from
//! [`WorldMut::random`].

mod actions;
mod any_game;
pub mod arena;
mod chat;
mod contacts;
mod event;
mod forwarded;
mod game;
mod game_file;
mod game_match;
mod per_entity;
mod player_info;
pub mod quake;
mod replicated;
mod running;
mod save;
mod volumes;
mod with_file;
mod world_mut;

pub use any_game::AnyGame;
pub use chat::Audience;
pub use event::Event;
pub use game::{Game, Respawn};
pub use game_file::{
    Blast, GAME_FILE, GameFile, GameFileError, ItemRules, MAX_GAME_FILE, PlayerParameters, Ray,
    Thrown, Weapon, WeaponKey, WeaponKind, Weapons,
};
pub use game_match::Match;
pub use obsp_proto::control::Vitals;
pub use obsp_proto::schema::{
    Action, EventError, EventKind, EventType, EventValue, Field, GameEvent, Hint, MatchValues,
    Schema, SchemaError,
};
pub use per_entity::PerEntity;
pub use player_info::PlayerInfo;
pub use replicated::{Replicated, Subject, Values};
pub use running::RunningMatch;
pub use save::LoadMatchError;
pub use volumes::VolumeId;
pub use world_mut::WorldMut;

/// Compiles and plays the recipes.
#[cfg(doctest)]
#[doc = include_str!("../RECIPES.md")]
struct Recipes;
