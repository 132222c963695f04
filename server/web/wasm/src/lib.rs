//! The simulation as the web page runs it.
//!
//! The page opens a map and a recording, and this crate plays the match again with the server's own
//! code. [`Replay`] verifies all digests while it keeps states, and goes to any tick from the
//! nearest state. A [`Change`] makes a branch, another future beside the recorded one. A page that
//! plays is a [`Player`]: the client library of the bots, which predicts with the server's code.
//! JavaScript (`replay/engine.js` and `play/engine.js`) calls the functions of `exports.rs`.
//!
//! The module that the server ships replays the arena game. The author of another game makes a
//! module for that game with [`replay_module`], and the server serves it instead.

mod branch;
pub mod exports;
mod json;
mod kept;
mod last_moved;
mod layers;
mod page;
mod player;
mod replay;
mod values;
mod view;
mod why;

pub use branch::{Change, Keys};
pub use page::Page;
pub use player::Player;
pub use replay::Replay;
