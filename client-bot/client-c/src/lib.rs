//! The client library for C: [`obsp_client`] behind opaque handles and plain structures.
//! `include/obsp_client.h` is generated from this crate and says how to use it;
//! `examples/walk.c` is a complete client.
//!
//! Every function that does any work catches panics, because unwinding into C would abort the
//! program. It checks its pointers for null, and reports failures by its result and
//! `obsp_last_error`. `unsafe` is confined to this crate: the pointers of callers become
//! references in `raw.rs`, and boxes in `handle.rs`.
//!
//! * [`handle`]: making and freeing clients; [`connect`]: with a socket of their own.
//! * [`wire`]: bytes in and out, for callers with a connection of their own.
//! * [`play`]: the player's input. [`actions`]: what the game lets players do beside moving.
//! * [`event_fields`]: the content of a game's events. [`events`]: events of the connection and of
//!   the match. [`view`]: the entities to draw. [`values`]: the values of a game's own fields.
//! * [`effects`]: rays, explosions and hits.
//! * [`level`]: the map, the sizes of players and the models of bodies.

#![expect(
    clippy::missing_safety_doc,
    reason = "the header states the contract of all pointers once, at its beginning"
)]

pub mod actions;
#[cfg(feature = "connect")]
pub mod connect;
pub mod effects;
pub mod event_fields;
pub mod events;
mod failure;
pub mod handle;
pub mod level;
pub mod play;
mod raw;
pub mod values;
pub mod view;
pub mod wire;

pub use failure::{ObspStatus, obsp_last_error};
pub use handle::{ObspClient, obsp_protocol_version};
