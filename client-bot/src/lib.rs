//! A client library for the arena server, and a swarm of bots built on it.
//!
//! * [`client`]: from an address to a player in a match.
//! * [`minds`]: what bots want.
//! * [`swarm`]: many bots in one process, and the report of how it went.

pub mod client;
pub mod minds;
mod options;
pub mod swarm;

pub use client::Client;
pub use options::Options;
