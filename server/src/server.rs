use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use obsp_proto::control::{MapHash, MapName};
use obsp_proto::token::JoinKey;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::admin::{Admin, Context};
use crate::audit_thread::AuditThread;
use crate::bans::Bans;
use crate::clients::Clients;
use crate::error::{RunError, StartError};
use crate::level::LevelMaker;
use crate::network::{
    self, Admission, Cadence, Credentials, Fingerprint, Lobby, Shares, Spectators, Waves,
};
use crate::options::{Advertised, AgonesOptions, Options};
use crate::origins::Origins;
use crate::query::QueryPort;
use crate::recording::LevelRecordings;
use crate::rounds::{self, Director, Loader, Rounds, Stage};
use crate::spans::Exporter;
use crate::stop::Stop;
use crate::telemetry::{self, Identity, Telemetry};
use crate::threads::Threads;
use crate::tick_thread::{Match, Ticks};
use crate::tickets::Tickets;
use crate::token_gate::TokenGate;
use crate::watchdog::{Gate, ServiceManager, TicksHeld};
use crate::{agones, drain, http, status, watchdog};

/// An arena server, as a type to start one by.
pub struct Server;

/// A server that runs in threads of its own until it is shut down. Dropping
/// it shuts it down too, without waiting.
#[derive(Debug)]
pub struct Running {
    description: Description,
    stop: Stop,
    /// Time that players have left once the server is asked to drain.
    drain: Duration,
    gate: Gate,
    threads: Threads,
    recordings: Arc<LevelRecordings>,
    /// Exports the last spans when it is dropped.
    _exporter: Option<Exporter>,
}

/// What a running server serves, and where.
#[derive(Clone, Debug)]
struct Description {
    map: MapName,
    map_hash: MapHash,
    props: usize,
    local_addr: SocketAddr,
    http_addr: SocketAddr,
    admin_addr: Option<SocketAddr>,
    query_addr: Option<SocketAddr>,
    certificate: Fingerprint,
}

impl Server {
    /// Loads the map, sets up the match, opens the ports and starts the
    /// threads.
    ///
    /// # Errors
    /// Whatever is missing, with what to do about it. Nothing runs then.
    pub fn start(options: &Options) -> Result<Running, StartError> {
        let maps = options.rounds.rotation(&options.map);
        let first = maps.first().ok_or_else(|| StartError::NoMaps(options.rounds.maps.clone()))?;
        let curiosity = Arc::default();
        let maker = LevelMaker::new(options, Arc::clone(&curiosity));
        let prepared = maker.make(first, 0)?;
        // Now, and not when the match gets there and leaves it out.
        maps[1..].iter().try_for_each(|map| maker.check(map))?;
        let gate = match &options.joining.join_key {
            Some(path) => Some(TokenGate::new(read_join_key(path)?)),
            None => {
                tracing::info!("without --join-key, everybody may join who reaches this server");
                None
            }
        };
        let bans = Bans::read(options.ban.clone(), options.joining.bans.as_deref())?;
        let epoch = Instant::now();
        let stop = Stop::new();
        let (joins, requests) = sync_channel(network::connection_limit(options.max_players.into()));
        let recordings = Arc::new(LevelRecordings::new(options.record.clone()));
        let recorder = recordings.begin_first(&prepared)?;
        let recording = recordings.latest();
        let (worlds, next_worlds) = sync_channel(1);
        let (over, worlds_over) = sync_channel(WORLDS_OVER);
        let level = Arc::clone(&prepared.level);
        let props = prepared.props;
        let (game, frames) =
            Match::new(prepared, options.rewind, requests, (next_worlds, over), curiosity);
        let game = game.with_tanks(options.tanks).recorded_by(recorder);
        let (ticks, told) = (game.ticks(), game.ticks());
        let (loader, loader_thread) = Loader::new(maker);
        let rules = options.rounds.rules(maps.len());
        let (rounds, director) = Rounds::new(rules, maps, options.rounds.votes.clone());
        let stage = Stage { loader, worlds, recordings: Arc::clone(&recordings) };

        let socket = network::bind(options.listen, options.max_players)?;
        let pages = http::bind(options.http, "--http")?;
        let admin = match (options.admin.admin, &options.admin.admin_tokens) {
            (Some(address), Some(tokens)) => Some(Admin::open(address, tokens)?),
            _ => None,
        };
        let query = options.admin.query.map(QueryPort::bind).transpose()?;
        let address = |source| StartError::Endpoint(source);
        let credentials = match (&options.cert, &options.key) {
            (Some(certificate), Some(key)) => {
                Credentials::Files { certificate: certificate.clone(), key: key.clone() }
            }
            _ => Credentials::SelfSigned,
        };
        let certificate = credentials.certificate()?;
        if let Some(warning) = credentials.warning(&certificate) {
            tracing::warn!("{warning}");
        }
        let (not_after, udp_inode) = (certificate.not_after(), telemetry::inode(&socket));
        let state = options.state_dir.clone().or_else(network::default_state_dir);
        let reset_key = credentials.reset_key(&certificate, state.as_deref());
        let description = Description {
            map: level.terms.map_name.clone(),
            map_hash: level.terms.map,
            props,
            local_addr: socket.local_addr().map_err(address)?,
            http_addr: pages.local_addr().map_err(address)?,
            admin_addr: admin.as_ref().map(Admin::address).transpose().map_err(address)?,
            query_addr: query.as_ref().map(QueryPort::address).transpose().map_err(address)?,
            certificate: certificate.fingerprint,
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StartError::Thread { part: "event loop", source })?;
        let limits = network::Limits::from(options);
        let endpoint = {
            let _context = runtime.enter();
            network::open(socket, certificate, &reset_key, limits)?
        };

        let exporter = options.otlp.as_deref().map(Exporter::start).transpose()?;
        let telemetry = Arc::new(Telemetry::new(&Identity {
            map: description.map.as_str(),
            map_hash: &description.map_hash.to_string(),
            tick_rate: options.tick_rate,
            max_players: options.max_players,
            map_load: level.load_time.as_secs_f64(),
            recording: Arc::clone(&recording),
            self_signed: options.cert.is_none(),
            spans: exporter.as_ref().map(Exporter::spans).unwrap_or_default(),
            udp_inode,
        })?);
        telemetry.certificate.shows(not_after);
        let spectator_rate = options.spectator_rate.min(options.tick_rate);
        let spectators = Spectators {
            cadence: Cadence::new(spectator_rate, options.tick_rate),
            budget: options.spectator_budget,
            limit: options.max_spectators,
        };
        let lobby = Arc::new(Lobby {
            waves: Arc::new(Waves::new(options.max_players, options.tick_rate)),
            joins,
            telemetry: Arc::clone(&telemetry),
            stop: stop.clone(),
            epoch,
            frames,
            clients: Clients::default(),
            tickets: Tickets::new(options.joining.rejoin),
            protects_away: options.joining.rejoin_protect,
            gate,
            reserved_slots: options.joining.reserved_slots,
            idle_seconds: AtomicU64::new(options.joining.idle.as_secs()),
            rounds,
            effects: http::Effects::default(),
            recording,
            client_budget: options.client_budget,
            limits,
            bans,
            origins: Origins::new(&options.allow_origin, options.advertise.as_ref()),
            admission: Admission::new(Shares::from(&options.addresses)),
            spectators,
            local_address: description.local_addr,
            address: watch::Sender::new(
                options
                    .advertise
                    .clone()
                    .unwrap_or(Advertised { host: None, port: description.local_addr.port() }),
            ),
            certificate: watch::Sender::new(description.certificate),
            self_signed: options.cert.is_none(),
        });
        let cadence =
            Cadence::new(options.snapshot_rate.unwrap_or(options.tick_rate), options.tick_rate);
        let duration = options.duration;
        let agones = options.agones.clone();
        let audit = match options.audit_every {
            0 => None,
            every => Some(AuditThread::new(&lobby, every)?),
        };
        let hang_limit = Some(options.hang_limit).filter(|limit| !limit.is_zero());
        let io = Io {
            endpoint,
            credentials,
            ticks,
            told,
            cadence,
            lobby: Arc::clone(&lobby),
            director,
            stage,
            duration,
            hang_limit,
            manager: ServiceManager::new(&options.service),
            agones,
            asks_address: options.advertise.is_none(),
        };

        // From here on, whatever fails stops what already runs.
        let gate = Gate::default();
        let mut running = Running {
            description,
            stop: stop.clone(),
            drain: options.drain_time(),
            gate: gate.clone(),
            threads: Threads::default(),
            recordings,
            _exporter: exporter,
        };
        let tick_rate = options.tick_rate;
        running.threads.spawn_dispensable("level loader thread", move || {
            loader_thread.run();
            Ok(())
        })?;
        // To give a world's memory back takes longer than a tick.
        running.threads.spawn("cleaning thread", move || {
            worlds_over.into_iter().for_each(drop);
            Ok(())
        })?;
        if let Some(audit) = audit {
            let stop = stop.clone();
            running.threads.spawn_dispensable("audit thread", move || audit.run(&stop))?;
        }
        running.threads.spawn("tick thread", {
            let stop = stop.clone();
            move || game.run(tick_rate, epoch, &stop, &gate, &telemetry)
        })?;
        if let Some(admin) = admin {
            let context = Context { lobby: Arc::clone(&lobby), drain: options.drain_time() };
            running.threads.spawn("admin thread", move || admin.run(context))?;
        }
        if let Some(query) = query {
            let lobby = Arc::clone(&lobby);
            running.threads.spawn("query thread", move || query.run(&lobby))?;
        }
        running.threads.spawn("pages thread", move || http::run(pages, lobby))?;
        running.threads.spawn("network thread", move || io.run(&runtime, &stop))?;
        Ok(running)
    }
}

impl Running {
    /// The UDP address that players join at.
    pub fn local_addr(&self) -> SocketAddr {
        self.description.local_addr
    }

    /// The TCP address of the operator's pages.
    pub fn http_addr(&self) -> SocketAddr {
        self.description.http_addr
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

    /// What the map is called.
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

    /// Asks the server to let nobody join any more and to end when the last player
    /// has left, or when they have had the time that [`Options::drain`] grants
    /// them. [`Running::join`] waits until it has ended.
    pub fn drain(&self) {
        self.stop.drain(self.drain);
    }

    /// Asks the server to tell its clients and end at once; [`Running::join`]
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

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// Worlds that are over and wait to be given back: more than there are at a time.
const WORLDS_OVER: usize = 4;

/// Reads the key that seals tokens.
pub(crate) fn read_join_key(path: &Path) -> Result<JoinKey, StartError> {
    let wrong = |reason: String| StartError::JoinKey { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    text.parse().map_err(|error: obsp_proto::token::JoinKeySyntax| wrong(error.to_string()))
}

/// What the network thread does: players, pages and the status line.
struct Io {
    endpoint: quinn::Endpoint,
    credentials: Credentials,
    ticks: Ticks,
    /// The same, for what happens in them.
    told: Ticks,
    cadence: Cadence,
    lobby: Arc<Lobby>,
    director: Director,
    stage: Stage,
    duration: Option<Duration>,
    /// How long the tick thread may hang before the server ends; for ever if `None`.
    hang_limit: Option<Duration>,
    /// Who supervises this process.
    manager: ServiceManager,
    agones: AgonesOptions,
    /// Whether no operator has said where clients reach this server.
    asks_address: bool,
}

/// What a fleet is told of this server.
fn introduction(lobby: &Lobby) -> agones::Introduction {
    let terms = lobby.terms();
    agones::Introduction {
        labels: vec![
            ("map", agones::label(terms.map_name.as_str())),
            ("tick-rate", terms.tick_rate.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        annotations: vec![("map-hash", terms.map.to_string())],
        capacity: terms.player_limit,
    }
}

impl Io {
    fn run(mut self, runtime: &Runtime, stop: &Stop) -> Result<(), RunError> {
        let _stops_the_others = stop.when_dropped();
        runtime.block_on(async {
            let telemetry = Arc::clone(&self.lobby.telemetry);
            let introduction = introduction(&self.lobby);
            let ended = async {
                let ended = tokio::select! {
                    () = stop.requested() => Ok(()),
                    ended = self.lobby.waves.run(self.ticks, self.cadence, &telemetry.network.round) => ended,
                    () = network::renew(self.endpoint.clone(), self.credentials, Arc::clone(&self.lobby)) => Ok(()),
                    () = self.lobby.effects.note(self.told) => Ok(()),
                    () = status::report(Arc::clone(&self.lobby)) => Ok(()),
                    hangs = watchdog::watch(Arc::clone(&self.lobby), self.hang_limit, &mut self.manager) => Err(hangs),
                    () = after(self.duration) => Ok(()),
                    () = drain::run(Arc::clone(&self.lobby)) => Ok(()),
                    () = rounds::direct(self.director, self.stage, Arc::clone(&self.lobby)) => Ok(()),
                    () = network::expire(Arc::clone(&self.lobby)) => Ok(()),
                };
                self.manager.stopping();
                stop.request();
                ended
            };
            let serving = network::serve(self.endpoint.clone(), Arc::clone(&self.lobby));
            let fleet = agones::run(&self.agones, self.asks_address, introduction, Arc::clone(&self.lobby), stop);
            let (ended, (), ()) = tokio::join!(ended, serving, fleet);
            ended
        })
    }
}

/// Waits this long, or forever.
async fn after(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => pending().await,
    }
}
