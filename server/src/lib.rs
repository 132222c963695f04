//! The authoritative server: a match that ticks on time, with the players and spectators
//! that are connected to it.
//!
//! Its threads share only queues, the published state and the roster of players. A queue that
//! clients can fill is bounded:
//!
//! * The *tick thread* of a match owns its simulation. Each tick it admits new players, takes one
//!   command per player, simulates, and publishes an immutable state. It never waits for another
//!   thread. A late tick is counted. If it is too late, the missed ticks are left out.
//! * The *network thread* runs one event loop: the QUIC endpoint with a task per connection, the
//!   groups in which snapshots are sent, the rounds, and the status line.
//! * The *watchdog thread* reports a thread that hangs. It gives up a match whose tick thread does
//!   not recover, and ends the server with the last match or with the network thread.
//! * The pages, the admin interface, server queries, recordings, the log and the loading of maps
//!   have a thread each.
//!
//! The modules, each depending only on the ones before it:
//! - `common`: code that all others use: addresses, clocks, files, threads, errors;
//! - `door`: the rules for who may come in, as whom, and how much one visitor may use;
//! - `matches`: the tick thread of each match, with its levels, rounds, seats and recordings, and
//!   the watchdog;
//! - `network`: the QUIC endpoint, the connections, and what is sent to each of them;
//! - `operate`: the pages, the admin interface, metrics, the log, the fleet, and the server's end;
//! - `server`: a running server, with the options that it is started from;
//! - `command_line`: the jobs of the program: to serve, to soak, to replay.
//!
//! A match can be recorded while it is served, and run again later ([`recording`], [`replay`]).
//! Scripts can play a match without a network ([`soak`]).
//!
//! [`Server::start`] sets all this up and returns the running server, so that a test can start one
//! as easily as the program does.

// Some code and names serve only certain features, and are unused in a build without these.
#![cfg_attr(not(feature = "default"), allow(dead_code, unreachable_pub, unused_imports))]

#[cfg(feature = "cli")]
mod command_line;
mod common;
mod door;
mod matches;
mod network;
mod operate;
mod server;

#[cfg(feature = "cli")]
pub use command_line::{
    admin::{AdminAction, AdminCommand, AdminError, admin},
    health::{HealthError, HealthOptions, health},
    models::{ModelsOptions, write_models},
    reach::{Reached, Unreached},
    replay, run_command_line,
    run_game::run_game,
    serve::{prepare, serve},
    soak,
    token::{TokenCommandError, TokenOptions, token},
};
pub use common::address_prefix::{AddressPrefix, AddressPrefixSyntax};
pub use common::error::{
    BanError, CertificateError, DoorError, HandedOverError, MetricsError, OtlpError, RunError,
    StartError, WebhookError,
};
pub use door::admission::options::AddressOptions;
pub use door::admittance::options::JoiningOptions;
pub use door::introduction::options::IntroductionOptions;
pub use door::introduction::{MessageOfTheDay, ServerName};
pub use door::outgoing::options::OutgoingOptions;
pub use door::public_endpoint::advertise::{Advertised, AdvertisedSyntax};
pub use door::public_endpoint::allowed_origin::{AllowedOrigin, OriginSyntax};
pub use matches::map_file::load as load_map;
pub use matches::recording;
pub use matches::recording::options::RetentionOptions;
pub use matches::rounds::options::{RoundOptions, Vote};
#[doc(hidden)]
pub use matches::watchdog::ThreadHeld;
pub use matches::watchdog::options::ServiceOptions;
pub use obsp_proto::Fingerprint;
pub use operate::admin::options::AdminOptions;
pub use operate::fleet::options::AgonesOptions;
pub use operate::log::options::LogOptions;
#[cfg(feature = "cli")]
pub use operate::log::{FilterError, Log, LogFormat};
pub use operate::metrics::cost::Bookkeeping;
pub use operate::page::options::PageOptions;
#[cfg(feature = "pages")]
#[doc(hidden)]
pub use operate::page::routes::{operators_routes, public_routes};
pub use operate::queries::options::QueryOptions;
pub use operate::spans::options::OtlpOptions;
pub use operate::webhook::options::WebhookOptions;
pub use server::options::{MatchOption, Options};
pub use server::{CommandError, MatchBuilder, MatchUpdate, Server, ServerBuilder, ServerHandle};

#[cfg(test)]
use server::test_match::{test_level, test_match};
