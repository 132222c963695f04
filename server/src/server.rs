//! A running server. [`Server::start`] makes everything ready ([`setup`]) and starts the
//! threads; the [`Server`] answers where it listens, drains, shuts down, and is waited for.

mod builder;
mod handle;
mod network_thread;
mod setup;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use obsp_game::AnyGame;
use obsp_game::arena::Arena;
use obsp_proto::Fingerprint;
use obsp_proto::control::{MapHash, MapName};

use crate::admin::Context;
use crate::error::{RunError, StartError};
use crate::http;
use crate::options::Options;
use crate::recording::LevelRecordings;
use crate::spans::Exporter;
use crate::stop::Stop;
use crate::threads::Threads;
use crate::watchdog::{Gate, TicksHeld};
use setup::Setup;

pub use builder::ServerBuilder;
pub use handle::{CommandError, MatchUpdate, ServerHandle};

/// A server that runs in threads of its own until it is shut down. Dropping it shuts it
/// down too, without waiting.
#[derive(Debug)]
pub struct Server {
    description: Description,
    handle: ServerHandle,
    stop: Stop,
    /// Time that players have left once the server is asked to drain.
    drain: Duration,
    gate: Gate,
    threads: Threads,
    recordings: Arc<LevelRecordings>,
    /// Exports the last spans when it is dropped.
    _exporter: Option<Exporter>,
}

/// The map, the addresses and the certificate of a running server.
#[derive(Clone, Debug)]
struct Description {
    map: MapName,
    map_hash: MapHash,
    props: usize,
    local_addr: SocketAddr,
    http_addr: SocketAddr,
    page_addr: Option<SocketAddr>,
    admin_addr: Option<SocketAddr>,
    query_addr: Option<SocketAddr>,
    certificate: Fingerprint,
}

impl Server {
    /// A server of a game of your own: see [`ServerBuilder`].
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Starts a server of the arena game: see [`Server::start_game`].
    ///
    /// # Errors
    /// As [`Server::start_game`].
    pub fn start(options: &Options) -> Result<Self, StartError> {
        Self::start_game(options, Arc::new(Arena))
    }

    /// Loads the map, sets up the match of `game`, opens the ports and starts the threads.
    ///
    /// # Errors
    /// [`StartError`] names what is missing or wrong, and the way out. Nothing runs then.
    pub fn start_game(options: &Options, game: Arc<dyn AnyGame>) -> Result<Self, StartError> {
        let setup = Setup::new(options, game)?;
        let game = Arc::clone(&setup.network_thread.lobby.game);
        // From here on, a failure stops what runs already.
        let mut server = Self {
            description: setup.description,
            handle: ServerHandle::new(Arc::clone(&game)),
            stop: game.stop.clone(),
            drain: options.drain_time(),
            gate: Gate::default(),
            threads: Threads::default(),
            recordings: setup.recordings,
            _exporter: setup.exporter,
        };
        let threads = &mut server.threads;
        let loader_thread = setup.loader_thread;
        threads.spawn_dispensable("level loader thread", move || {
            loader_thread.run();
            Ok(())
        })?;
        // Freeing a world takes longer than a tick.
        let finished_worlds = setup.finished_worlds;
        threads.spawn("cleaning thread", move || {
            finished_worlds.into_iter().for_each(drop);
            Ok(())
        })?;
        if let Some(audit) = setup.audit {
            let stop = game.stop.clone();
            threads.spawn_dispensable("audit thread", move || audit.run(&stop))?;
        }
        let (simulation, tick_rate) = (setup.simulation, options.tick_rate);
        let (shared, gate) = (Arc::clone(&game), server.gate.clone());
        threads.spawn("tick thread", move || {
            simulation.run(tick_rate, shared.epoch, &shared.stop, &gate, &shared.telemetry)
        })?;
        if let Some(admin) = setup.admin {
            let context = Context { game: Arc::clone(&game), drain: options.drain_time() };
            threads.spawn("admin thread", move || admin.run(context))?;
        }
        if let Some(query) = setup.query {
            let game = Arc::clone(&game);
            threads.spawn("query thread", move || query.run(&game))?;
        }
        let (listener, pages, states) = (setup.pages_listener, setup.pages, setup.page_states);
        if let Some(listener) = setup.public_listener {
            let pages = Arc::clone(&pages);
            threads.spawn("public page thread", move || http::run_public(listener, &pages))?;
        }
        threads.spawn("pages thread", move || http::run(listener, &pages, states))?;
        let (network_thread, runtime) = (setup.network_thread, setup.runtime);
        threads.spawn("network thread", move || network_thread.run(&runtime))?;
        Ok(server)
    }

    /// A handle by which any thread or task follows the match and gives it orders.
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// The UDP address that players join at.
    pub fn local_addr(&self) -> SocketAddr {
        self.description.local_addr
    }

    /// The TCP address of the operator's pages.
    pub fn http_addr(&self) -> SocketAddr {
        self.description.http_addr
    }

    /// The TCP address of the public page over HTTPS, if there is one.
    pub fn page_addr(&self) -> Option<SocketAddr> {
        self.description.page_addr
    }

    /// The TCP address of the admin interface, if there is one.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.description.admin_addr
    }

    /// The UDP address for server queries, if there is one.
    pub fn query_addr(&self) -> Option<SocketAddr> {
        self.description.query_addr
    }

    /// The fingerprint of the certificate, for clients to pin.
    pub fn certificate_sha256(&self) -> Fingerprint {
        self.description.certificate
    }

    /// The name of the map.
    pub fn map_name(&self) -> &str {
        self.description.map.as_str()
    }

    /// The hash of the map.
    pub fn map_hash(&self) -> MapHash {
        self.description.map_hash
    }

    /// Props that the match began with.
    pub fn props(&self) -> usize {
        self.description.props
    }

    /// Asks the server to refuse new clients and to end when the last player has left,
    /// or after the time that [`Options::drain`] grants them. [`Server::join`] waits until
    /// it has ended.
    pub fn drain(&self) {
        self.stop.drain(self.drain);
    }

    /// Asks the server to tell its clients and end at once; [`Server::join`]
    /// waits until it has.
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
    /// It ended because something failed, or its recording is not complete. After
    /// [`RunError::Hangs`] and [`RunError::DoesNotEnd`] threads are left behind that
    /// nobody can wait for: the process should end.
    pub fn join(mut self) -> Result<(), RunError> {
        // The network thread first: it says whether the tick thread can be waited for.
        let outcome = std::mem::take(&mut self.threads).join(&self.stop);
        if outcome.as_ref().is_err_and(RunError::leaves_threads) {
            return outcome;
        }
        outcome.and(self.recordings.join())
    }

    /// Makes the tick thread hang before its next tick until what is returned is
    /// dropped: for tests of what a server says of a hang.
    #[doc(hidden)]
    pub fn hold_ticks(&self) -> TicksHeld<'_> {
        self.gate.hold()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.request();
    }
}
