#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! * [`Client`]: one player in a match. Start with it. Its [`View`] is the match as it is to be
//!   drawn.
//! * [`Prediction`], [`Playout`] and [`Roster`]: the parts of the client, which can be used alone.
//! * `quic` (feature `quinn`): a client with a UDP socket of its own, on tokio.

mod client;
mod disconnected;
mod map;
mod playout;
mod prediction;
#[cfg(feature = "quinn")]
pub mod quic;
mod roster;
mod smoothing;
mod stall;
mod view;

pub use client::{Client, ConnectionEvent, Credentials, Snapshot, Transmit};
pub use disconnected::Disconnected;
pub use map::{LoadedMap, MapError};
pub use obsp_proto::client::Observed;
pub use playout::{Playout, interpolate};
pub use prediction::{Prediction, PredictionError, PredictionStats};
pub use roster::{Roster, RosterEntry};
pub use view::View;
