#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! * [`server`] and [`client`]: the two ends' sessions. Start here.
//! * [`control`]: reliable messages, on the one bidirectional stream.
//! * [`commands`]: the datagram that a client sends each tick.
//! * [`schema`]: the values that a game replicates besides poses.
//! * [`quantise`]: a simulation state rounded once for all clients.
//! * [`snapshot`]: the datagram that the server sends each tick.
//! * [`effects`]: the datagram of rays, explosions and hits, for clients that ask for it.
//! * [`bits`] and [`range`]: plain bit streams, and the range coder.
//! * [`game_data`]: the data of a game that a client needs to predict it.
//! * [`download`]: how a client gets the map and the game's data.
//! * `token` (a feature, on by default): connect tokens, which a backend seals for clients.

mod address_order;
pub mod bits;
pub mod client;
pub mod commands;
mod constants;
pub mod control;
pub mod download;
pub mod effects;
mod error;
mod fingerprint;
pub mod game_data;
pub mod quantise;
pub mod range;
pub mod schema;
pub mod server;
pub mod snapshot;
mod time;
#[cfg(feature = "token")]
pub mod token;

pub use address_order::in_turn;
pub use constants::{ALPN, HANDSHAKE_TIMEOUT, IDLE_TIMEOUT, PROTOCOL_VERSION, SLOT_BITS};
pub use error::{DatagramError, ProtocolError};
pub use fingerprint::{Fingerprint, FingerprintSyntax};
pub use obsp_sim::MAX_ENTITIES;
pub use time::{Tick, Time};
