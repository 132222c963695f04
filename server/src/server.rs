//! A running server. [`Server::start`] makes everything ready ([`setup`]) and starts the threads;
//! the [`Server`] returns its addresses, drains, shuts down, and can be waited for.

mod builder;
mod handle;
mod match_builder;
pub(crate) mod match_setup;
mod network_thread;
pub(crate) mod options;
pub(crate) mod reload;
mod reloadable;
mod setup;
#[cfg(test)]
pub(crate) mod test_match;

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_proto::Fingerprint;
use obsp_proto::control::{MapHash, MapName};

use crate::common::error::{RunError, StartError};
use crate::common::stop::Stop;
use crate::common::threads::Threads;
use crate::matches::Matches;
use crate::matches::recording::LevelRecordings;
use crate::matches::telemetry::EventLoop;
use crate::matches::watchdog::{Gate, ThreadHeld};
use crate::operate::admin::Context;
use crate::operate::page::PageAddresses;
use crate::operate::spans::Exporter;
use crate::operate::webhook::Poster;
use match_builder::plan;
use options::Options;
use reload::Reload;
use setup::Setup;

pub use builder::ServerBuilder;
pub use handle::{CommandError, MatchUpdate, ServerHandle};
pub use match_builder::MatchBuilder;

/// A server that runs in threads of its own until it is shut down. Dropping it also shuts it down,
/// without waiting.
#[derive(Debug)]
pub struct Server {
    description: Description,
    /// The handle of each match.
    handles: Matches<ServerHandle>,
    stop: Stop,
    /// Time that players get to finish once the server is asked to drain.
    drain: Duration,
    gate: Gate,
    network_gate: Gate,
    threads: Threads,
    recordings: Vec<Arc<LevelRecordings>>,
    reload: Arc<Reload>,
    /// Sends the last posts to the webhook when it is dropped.
    _poster: Option<Poster>,
    /// Exports the last spans when it is dropped.
    _exporter: Option<Exporter>,
}

/// The map, the addresses and the certificate of a running server.
#[derive(Clone, Debug)]
struct Description {
    map: MapName,
    map_hash: MapHash,
    props: usize,
    /// There is at least one.
    local_addrs: Vec<SocketAddr>,
    pages: PageAddresses,
    admin_addr: Option<SocketAddr>,
    query_addrs: Vec<SocketAddr>,
    certificate: Fingerprint,
}

impl Description {
    fn local_addr(&self) -> SocketAddr {
        let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        self.local_addrs.first().copied().unwrap_or(any)
    }
}

impl Server {
    /// A server of a game of your own: see [`ServerBuilder`].
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Starts a server of the arena game: see [`Server::start_game`].
    ///
    /// # Errors
    /// The errors of [`Server::start_game`].
    pub fn start(options: &Options) -> Result<Self, StartError> {
        Self::start_game(options, Arc::new(Arena))
    }

    /// Loads the map, sets up the match of `game`, opens the ports and starts the threads.
    ///
    /// # Errors
    /// [`StartError`] says what is missing or wrong, and what to do. Nothing runs then.
    pub fn start_game(options: &Options, game: Arc<dyn AnyGame>) -> Result<Self, StartError> {
        Self::start_all(options, game, &[])
    }

    /// Starts a server of `game` that also plays the matches `others`.
    fn start_all(
        options: &Options,
        game: Arc<dyn AnyGame>,
        others: &[(String, MatchBuilder)],
    ) -> Result<Self, StartError> {
        let (first, others) = plan(options, &game, others)?;
        let setup = Setup::new(options, first, others)?;
        let games = setup.games;
        let game = Arc::clone(games.first());
        // From here on, a failure stops what runs already.
        let mut server = Self {
            description: setup.description,
            handles: games.map(|game| ServerHandle::new(Arc::clone(game))),
            stop: game.stop.clone(),
            drain: options.drain_time(),
            gate: Gate::default(),
            network_gate: setup.network_thread.gate.clone(),
            threads: Threads::default(),
            recordings: setup.matches.iter().map(|each| Arc::clone(&each.recordings)).collect(),
            _poster: setup.poster,
            reload: Arc::clone(&setup.reload),
            _exporter: setup.exporter,
        };
        let threads = &mut server.threads;
        // The gate holds up only the first match.
        let mut gate = server.gate.clone();
        let mut network_thread = setup.network_thread;
        for (each, game) in setup.matches.into_iter().zip(games.iter()) {
            let (game, telemetry) = (Arc::clone(game), Arc::clone(&setup.telemetry));
            let gate = std::mem::take(&mut gate);
            let led = each.start(game, telemetry, threads, options.tick_rate, gate)?;
            network_thread.led.push(led);
        }
        if let Some(admin) = setup.admin {
            let (games, reload) = (games.clone(), Arc::clone(&setup.reload));
            let context = Context {
                games,
                drain: options.drain_time(),
                reload: Arc::new(move |asked_by: &str| reload.run(asked_by)),
                telemetry: setup.telemetry,
            };
            threads.spawn("admin thread", move || admin.run(context))?;
        }
        setup.query.start(threads, &games)?;
        setup.page_ports.start(threads, setup.pages)?;
        let runtime = setup.runtime;
        game.telemetry.registry.pulses.of(EventLoop::Network).begin();
        threads.spawn_patiently("network thread", move || network_thread.run(&runtime))?;
        // The watchdog is the last to start. It is waited for first, because it never hangs.
        let watchdog = setup.watchdog;
        threads.spawn("watchdog thread", move || watchdog.run(&games))?;
        Ok(server)
    }

    /// A handle by which any thread or task follows the first match and gives it orders.
    pub fn handle(&self) -> ServerHandle {
        self.handles.first().clone()
    }

    /// A handle of the match of this name, if there is one.
    pub fn match_handle(&self, name: &str) -> Option<ServerHandle> {
        self.handles.find(name).ok().cloned()
    }

    /// The first UDP address that players join at.
    pub fn local_addr(&self) -> SocketAddr {
        self.description.local_addr()
    }

    /// All UDP addresses that players join at.
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.description.local_addrs
    }

    /// The TCP address of the operator's pages.
    #[cfg(feature = "pages")]
    pub fn http_addr(&self) -> SocketAddr {
        self.description.pages.http
    }

    /// The TCP address of the public page over HTTPS, if there is one.
    #[cfg(feature = "pages")]
    pub fn page_addr(&self) -> Option<SocketAddr> {
        self.description.pages.page
    }

    /// The TCP address of the admin interface, if there is one.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.description.admin_addr
    }

    /// The first UDP address for server queries, if there is any. The addresses that players join
    /// at answer queries, too.
    pub fn query_addr(&self) -> Option<SocketAddr> {
        self.description.query_addrs.first().copied()
    }

    /// All UDP addresses for server queries.
    pub fn query_addrs(&self) -> &[SocketAddr] {
        &self.description.query_addrs
    }

    /// The fingerprint of the certificate, for clients to pin.
    pub fn certificate_sha256(&self) -> Fingerprint {
        self.description.certificate
    }

    /// The name of the first match's map.
    pub fn map_name(&self) -> &str {
        self.description.map.as_str()
    }

    /// The hash of the first match's map.
    pub fn map_hash(&self) -> MapHash {
        self.description.map_hash
    }

    /// Bodies that the first match began with: those of the map, those that were scattered, and
    /// those of the game.
    pub fn props(&self) -> usize {
        self.description.props
    }

    /// Asks the server to refuse new clients and to end when the last player has left,
    /// or after the time that [`Options::drain`] grants them. [`Server::join`] waits until
    /// it has ended.
    pub fn drain(&self) {
        self.stop.drain(self.drain);
    }

    /// The parts that may be read again while the server runs.
    pub(crate) fn reloads(&self) -> Arc<Reload> {
        Arc::clone(&self.reload)
    }

    /// Asks the server to say goodbye to its clients and end at once; [`Server::join`] waits until
    /// it has.
    pub fn shutdown(&self) {
        self.stop.request();
    }

    /// Waits until the server is asked to end, or ends by itself.
    pub async fn ending(&self) {
        self.stop.requested().await;
    }

    /// Waits until the server has ended.
    ///
    /// # Errors
    /// The server ended because something failed, or its recording is not complete. After
    /// [`RunError::Hangs`] and [`RunError::DoesNotEnd`], threads are left behind for which nobody
    /// can wait: the process should end.
    pub fn join(mut self) -> Result<(), RunError> {
        // If a thread is left behind, the recordings are not waited for: a tick thread that hangs
        // never closes them.
        let outcome = std::mem::take(&mut self.threads).join(&self.stop);
        if outcome.as_ref().is_err_and(RunError::leaves_threads) {
            return outcome;
        }
        self.recordings.iter().fold(outcome, |outcome, recordings| outcome.and(recordings.join()))
    }

    /// Makes the tick thread of the first match hang before its next tick, until the returned value
    /// is dropped. It serves tests of how a server reports a hang.
    #[doc(hidden)]
    pub fn hold_ticks(&self) -> ThreadHeld<'_> {
        self.gate.hold()
    }

    /// Makes the network thread hang when its event loop turns next, until the returned value is
    /// dropped. It serves tests of how a server reports a hang.
    #[doc(hidden)]
    pub fn hold_network(&self) -> ThreadHeld<'_> {
        self.network_gate.hold()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.request();
    }
}
