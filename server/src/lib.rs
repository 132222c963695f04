//! The authoritative server: a match that ticks on time, and everybody who
//! watches it.
//!
//! Two threads, and nothing shared but queues with an end, a last frame and a
//! table of who plays:
//!
//! * The *tick thread* owns the simulation. Each tick it lets in who asked,
//!   takes one command per player, simulates, and publishes an immutable frame.
//!   It never waits for anyone; what is late is counted, and dropped if it is
//!   too much.
//! * The *network thread* runs everything else on a single-threaded event
//!   loop: the QUIC endpoint with a task per connection, the waves in which a
//!   frame leaves, the operator's HTTP pages, the status line.
//!
//! A match can be recorded while it is served, and run again later
//! ([`recording`], [`replay`]); and one can be played by scripts alone
//! ([`soak`]).
//!
//! [`Server::start`] sets it all up and returns a [`Running`] server, so that
//! a test can have one as easily as the binary.

mod agones;
mod audit_thread;
mod error;
mod http;
mod map_file;
mod models;
mod network;
mod options;
mod pacer;
pub mod recording;
pub mod replay;
pub mod scene;
mod seats;
mod server;
mod sessions;
pub mod soak;
mod status;
mod stop;
mod telemetry;
mod tick_thread;

pub use error::{RunError, StartError};
pub use models::{ModelsOptions, write_models};
pub use network::{CertificateError, Fingerprint};
pub use options::{AgonesOptions, LogFormat, Options};
pub use server::{Running, Server};
pub use telemetry::Bookkeeping;

/// A match on the arena for a few players, for the tests of what surrounds it.
#[cfg(test)]
fn test_match(
    requests: std::sync::mpsc::Receiver<seats::JoinRequest>,
) -> (tick_thread::Match, tick_thread::LastFrame) {
    let path = map_file::find("arena.map", &map_file::folders()).unwrap();
    let map = map_file::load(&path).unwrap();
    let config = sim::Config { tick_rate: 60, seed: 1, objects: 0, max_players: 2 };
    let models = maps::model::shipped().into();
    let world = sim::World::new(map.into(), models, config).unwrap();
    let rate = std::num::NonZeroU16::new(60).unwrap();
    let events = tokio::sync::broadcast::Sender::new(8);
    let rewind = std::time::Duration::from_millis(200);
    tick_thread::Match::new(world, rate, rewind, requests, std::sync::Arc::default(), events)
}
