//! The authoritative server: a match that ticks on time, with the players and spectators
//! that are connected to it.
//!
//! Its threads share nothing but bounded queues, the published state and the roster of
//! players:
//!
//! * The *tick thread* of a match owns its simulation. Each tick it admits new players, takes one
//!   command per player, simulates, and publishes an immutable state. It never waits for another
//!   thread. A late tick is counted. If it is too late, time is dropped: the missed ticks are left
//!   out.
//! * The *network thread* runs one event loop: the QUIC endpoint with a task per connection, the
//!   groups in which snapshots are sent, the rounds, the status line, and the watchdog. The
//!   watchdog reports a tick thread that hangs, and ends the server if the thread does not recover.
//! * The pages, the admin interface, server queries, recordings, the log and the loading of
//!   maps have a thread each.
//!
//! A match can be recorded while it is served, and run again later ([`recording`], [`replay`]).
//! Scripts can play a match without a network ([`soak`]).
//!
//! [`Server::start`] sets all this up and returns the running server, so that a test can start one
//! as easily as the program does.

mod access_rules;
mod address_key;
mod address_prefix;
mod admin;
mod agones;
mod audit_thread;
mod bans;
mod bind;
mod build;
mod clients;
mod clock;
mod command_line;
mod descriptors;
mod door;
mod drain;
mod error;
mod health;
mod http;
mod join_key;
mod level;
mod log;
mod map_file;
mod match_handle;
mod matches;
mod models;
mod names;
mod network;
mod operate;
mod options;
mod origins;
mod pacer;
mod public_endpoint;
mod published;
mod reach;
pub mod recording;
mod regular_file;
pub mod replay;
mod roster;
mod rounds;
mod run_game;
pub mod scene;
mod seats;
mod serve;
mod server;
mod signals;
pub mod soak;
mod spans;
mod state_file;
mod status;
mod stop;
mod stuck;
mod telemetry;
mod threads;
mod tick_thread;
mod tickets;
mod token_bucket;
mod token_command;
mod token_gate;
mod unix_time;
mod view_limit;
mod watchdog;

pub use address_prefix::{AddressPrefix, AddressPrefixSyntax};
pub use admin::command::{AdminAction, AdminCommand, AdminError, admin};
pub use bans::BanError;
pub use command_line::run_command_line;
pub use door::admittance::DoorError;
pub use error::{RunError, StartError};
pub use health::{HealthError, HealthOptions, health};
#[doc(hidden)]
pub use http::{operators_routes, public_routes};
pub use log::{FilterError, Log};
pub use map_file::load as load_map;
pub use models::{ModelsOptions, write_models};
pub use network::CertificateError;
pub use obsp_proto::Fingerprint;
pub use operate::handed_over::HandedOverError;
pub use operate::introduction::{MessageOfTheDay, ServerName};
pub use operate::webhook::WebhookError;
pub use options::{
    AddressOptions, AdminOptions, Advertised, AdvertisedSyntax, AgonesOptions, AllowedOrigin,
    IntroductionOptions, JoiningOptions, LogFormat, MatchOption, Options, OriginSyntax,
    OutgoingOptions, PageOptions, RetentionOptions, RoundOptions, ServiceOptions, Vote,
    WebhookOptions,
};
pub use reach::{Reached, Unreached};
pub use run_game::run_game;
pub use serve::{prepare, serve};
pub use server::{CommandError, MatchBuilder, MatchUpdate, Server, ServerBuilder, ServerHandle};
pub use spans::OtlpError;
pub use telemetry::Bookkeeping;
pub use token_command::{TokenCommandError, TokenOptions, token};
#[doc(hidden)]
pub use watchdog::ThreadHeld;

/// A level on the arena for two players, and the maker of further levels.
#[cfg(test)]
fn test_level(number: u64) -> (level::LevelMaker, level::Prepared) {
    let options = Options { max_players: 2, ..Options::new("arena.map") };
    let maker = level::LevelMaker::new(&options, std::sync::Arc::new(obsp_game::arena::Arena));
    let prepared = maker.make("arena.map", number).unwrap();
    (maker, prepared)
}

/// A match on the arena for two players, for tests of the code around it.
#[cfg(test)]
fn test_match(
    requests: std::sync::mpsc::Receiver<seats::JoinRequest>,
) -> (tick_thread::Match, published::LatestState) {
    let (_, prepared) = test_level(0);
    let (_, next_worlds) = std::sync::mpsc::sync_channel(1);
    let (over, _) = std::sync::mpsc::sync_channel(1);
    let rewind = std::time::Duration::from_millis(200);
    let contact_subscription = std::sync::Arc::default();
    tick_thread::Match::new(prepared, rewind, requests, (next_worlds, over), contact_subscription)
}
