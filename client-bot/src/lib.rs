//! A client library for the arena server, and a swarm of bots built on it.
//!
//! * [`client`]: from an address to a player in a match.
//! * [`behaviors`]: how bots decide what to do.
//! * [`swarm`]: many bots in one process, and the report of what they measured.

pub mod behaviors;
pub mod client;
mod descriptors;
mod options;
pub mod swarm;

pub use client::Client;
pub use descriptors::TooFewDescriptors;
pub use options::Options;
