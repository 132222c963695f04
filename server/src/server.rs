use std::future::pending;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::MAX_SLOTS;
use proto::control::{MapHash, MapName};
use proto::map_transfer::announce;
use proto::quantise::{Quantiser, WorldBounds};
use proto::server::Terms;
use sim::World;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{broadcast, watch};

use crate::audit_thread::AuditThread;
use crate::error::{RunError, StartError};
use crate::network::{self, Cadence, Credentials, Fingerprint, Lobby, Spectators, Waves};
use crate::options::{AgonesOptions, Options};
use crate::recording::LiveRecorder;
use crate::sessions::Sessions;
use crate::stop::Stop;
use crate::telemetry::{Identity, Telemetry};
use crate::tick_thread::{Match, Ticks};
use crate::{agones, http, map_file, status};

/// An arena server, as a type to start one by.
pub struct Server;

/// A server that runs in threads of its own until it is shut down. Dropping
/// it shuts it down too, without waiting.
#[derive(Debug)]
pub struct Running {
    description: Description,
    stop: Stop,
    threads: Vec<(&'static str, JoinHandle<Result<(), RunError>>)>,
}

/// What a running server serves, and where.
#[derive(Clone, Debug)]
struct Description {
    map: MapName,
    map_hash: MapHash,
    props: usize,
    local_addr: SocketAddr,
    http_addr: SocketAddr,
    certificate: Fingerprint,
}

impl Server {
    /// Loads the map, sets up the match, opens the ports and starts the
    /// threads.
    ///
    /// # Errors
    /// Whatever is missing, with what to do about it. Nothing runs then.
    pub fn start(options: &Options) -> Result<Running, StartError> {
        let path = map_file::find(&options.map, &map_file::folders())?;
        let loading = Instant::now();
        let map = map_file::load(&path)?;
        let map_load = loading.elapsed().as_secs_f64();
        let map = Arc::new(map);
        let setup = Setup::new(Arc::clone(&map), options)?;
        let epoch = Instant::now();
        let stop = Stop::new();
        let (joins, requests) = sync_channel(network::connection_limit(options.max_players.into()));
        let recording = match &options.record {
            Some(path) => Some(LiveRecorder::start(path, &setup.world, setup.config)?),
            None => None,
        };
        let (recorder, writer) = recording.unzip();
        let sessions = Arc::new(Sessions::default());
        let events = broadcast::Sender::new(network::EVENTS_WAITING);
        let (game, frames) = Match::new(
            setup.world,
            setup.terms.tick_rate,
            options.rewind,
            requests,
            Arc::clone(&sessions),
            events.clone(),
        );
        let game = game.with_tanks(options.tanks).recorded_by(recorder);
        let (ticks, told) = (game.ticks(), game.ticks());

        let socket = network::bind(options.listen, options.max_players)?;
        let pages = http::bind(options.http)?;
        let address = |source| StartError::Endpoint(source);
        let credentials = match (&options.cert, &options.key) {
            (Some(certificate), Some(key)) => {
                Credentials::Files { certificate: certificate.clone(), key: key.clone() }
            }
            _ => Credentials::SelfSigned,
        };
        let certificate = credentials.certificate()?;
        let description = Description {
            map: setup.terms.map_name.clone(),
            map_hash: setup.terms.map,
            props: setup.props,
            local_addr: socket.local_addr().map_err(address)?,
            http_addr: pages.local_addr().map_err(address)?,
            certificate: certificate.fingerprint,
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StartError::Thread { part: "event loop", source })?;
        let endpoint = {
            let _context = runtime.enter();
            network::open(socket, certificate, options.max_players)?
        };

        let telemetry = Arc::new(Telemetry::new(&Identity {
            map: description.map.as_str(),
            map_hash: &description.map_hash.to_string(),
            tick_rate: options.tick_rate,
            max_players: options.max_players,
            map_load,
        })?);
        let spectator_rate = options.spectator_rate.min(options.tick_rate);
        let spectators = Spectators {
            // A tick rate fits 16 bits, and what is less does too; neither is 0.
            terms: Arc::new(Terms {
                snapshot_rate: NonZeroU16::new(spectator_rate as u16)
                    .unwrap_or(setup.terms.snapshot_rate),
                ..setup.terms.clone()
            }),
            cadence: Cadence::new(spectator_rate, options.tick_rate),
            budget: options.spectator_budget,
            limit: options.max_spectators,
        };
        let models = maps::model::shipped();
        let layers = http::Layers::new(&map, &models, game.curiosity())
            .map_err(|source| StartError::Setup { map: map.name().to_owned(), source })?;
        let lobby = Arc::new(Lobby {
            waves: Arc::new(Waves::new(options.max_players, options.tick_rate)),
            terms: Arc::new(setup.terms),
            joins,
            telemetry: Arc::clone(&telemetry),
            stop: stop.clone(),
            epoch,
            sessions,
            frames,
            events,
            map: setup.map,
            scene: http::scene::of(&map, &models),
            effects: http::Effects::default(),
            layers,
            client_budget: options.client_budget,
            banned: options.ban.clone(),
            handshakes: AtomicUsize::new(0),
            spectators,
            port: description.local_addr.port(),
            certificate: watch::Sender::new(description.certificate),
            self_signed: options.cert.is_none(),
        });
        let cadence =
            Cadence::new(options.snapshot_rate.unwrap_or(options.tick_rate), options.tick_rate);
        let duration = options.duration;
        let agones = options.agones.clone();
        let audit = match options.audit_every {
            0 => None,
            every => Some(AuditThread::new(&map, &lobby, every)?),
        };
        let io = Io { endpoint, credentials, ticks, told, cadence, pages, lobby, duration, agones };

        // From here on, whatever fails stops what already runs.
        let mut running = Running { description, stop: stop.clone(), threads: Vec::new() };
        let tick_rate = options.tick_rate;
        if let Some(writer) = writer {
            running.spawn("recording thread", move || Ok(writer.run()?))?;
        }
        if let Some(audit) = audit {
            let stop = stop.clone();
            running.spawn("audit thread", move || audit.run(&stop))?;
        }
        running.spawn("tick thread", {
            let stop = stop.clone();
            move || game.run(tick_rate, epoch, &stop, &telemetry.tick)
        })?;
        running.spawn("network thread", move || io.run(&runtime, &stop))?;
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

    /// Asks the server to tell its clients and end; [`Running::join`] waits
    /// until it has.
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
    /// It ended because something failed.
    pub fn join(mut self) -> Result<(), RunError> {
        for (part, thread) in std::mem::take(&mut self.threads) {
            thread.join().map_err(|_| RunError::Crashed { part })??;
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        part: &'static str,
        work: impl FnOnce() -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), StartError> {
        let thread = std::thread::Builder::new()
            .name(part.to_owned())
            .spawn(work)
            .map_err(|source| StartError::Thread { part, source })?;
        self.threads.push((part, thread));
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// A match that is ready to begin.
struct Setup {
    world: World,
    config: sim::Config,
    terms: Terms,
    props: usize,
    /// The compiled map as it is in a file.
    map: Bytes,
}

impl Setup {
    fn new(map: Arc<maps::World>, options: &Options) -> Result<Self, StartError> {
        let name = map.name().to_owned();
        let bounds = map.bounds();
        let bounds = WorldBounds::covering(bounds.min, bounds.max)
            .map_err(|source| StartError::Bounds { map: name.clone(), source })?;
        let config = sim::Config {
            tick_rate: options.tick_rate,
            seed: options.seed,
            objects: options.objects,
            max_players: options.max_players,
        };
        // Before the work of scattering them all.
        let players = options.max_players;
        let wanted = options.objects as usize;
        if wanted + usize::from(players) > MAX_SLOTS {
            return Err(StartError::TooManyEntities { props: wanted, players });
        }
        let world = World::new(Arc::clone(&map), maps::model::shipped().into(), config)
            .map_err(|source| StartError::Setup { map: name.clone(), source })?;
        for warning in world.warnings() {
            tracing::warn!("map {name}: {warning}");
        }
        let props = world.counters().entities as usize;
        if props + usize::from(players) > MAX_SLOTS {
            return Err(StartError::TooManyEntities { props, players });
        }
        let tick_rate = u16::try_from(options.tick_rate).ok().and_then(NonZeroU16::new);
        let tick_rate = tick_rate.ok_or(StartError::Setup {
            map: name.clone(),
            source: sim::SetupError::TickRate(options.tick_rate),
        })?;
        let snapshots = options.snapshot_rate.unwrap_or(options.tick_rate);
        let snapshot_rate = u16::try_from(snapshots).ok().and_then(NonZeroU16::new);
        let snapshot_rate = snapshot_rate.filter(|rate| *rate <= tick_rate);
        let snapshot_rate = snapshot_rate
            .ok_or(StartError::SnapshotRate { snapshots, ticks: options.tick_rate })?;
        let bytes = map.to_bytes();
        if announce(&bytes).is_none() {
            return Err(StartError::TooLarge { map: name, bytes: bytes.len() });
        }
        let terms = Terms {
            tick_rate,
            snapshot_rate,
            map: MapHash(map.hash()),
            map_name: MapName::new(&name),
            bounds,
            player_limit: players,
        };
        Ok(Self { world, config, terms, props, map: bytes.into() })
    }
}

/// What the network thread does: players, pages and the status line.
struct Io {
    endpoint: quinn::Endpoint,
    credentials: Credentials,
    ticks: Ticks,
    /// The same, for what happens in them.
    told: Ticks,
    cadence: Cadence,
    pages: TcpListener,
    lobby: Arc<Lobby>,
    duration: Option<Duration>,
    agones: AgonesOptions,
}

/// What a fleet is told of this server.
fn introduction(lobby: &Lobby) -> agones::Introduction {
    let terms = &lobby.terms;
    agones::Introduction {
        labels: vec![
            ("map", agones::label(terms.map_name.as_str())),
            ("tick-rate", terms.tick_rate.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ],
        annotations: vec![
            ("map-hash", terms.map.to_string()),
            ("certificate-sha256", lobby.certificate.borrow().to_string()),
        ],
        capacity: terms.player_limit,
    }
}

impl Io {
    fn run(self, runtime: &Runtime, stop: &Stop) -> Result<(), RunError> {
        let _stops_the_others = stop.when_dropped();
        runtime.block_on(async {
            let telemetry = Arc::clone(&self.lobby.telemetry);
            let pages = http::serve(self.pages, Arc::clone(&self.lobby));
            let quantiser = Quantiser::new(self.lobby.terms.bounds);
            let introduction = introduction(&self.lobby);
            let until_stopped = async {
                tokio::select! {
                    () = stop.requested() => Ok(()),
                    ended = self.lobby.waves.run(self.ticks, quantiser, self.cadence, &telemetry.network.round) => ended,
                    ended = pages => ended,
                    () = network::renew(self.endpoint.clone(), self.credentials, Arc::clone(&self.lobby)) => Ok(()),
                    () = self.lobby.effects.note(self.told) => Ok(()),
                    () = status::report(Arc::clone(&self.lobby)) => Ok(()),
                    () = after(self.duration) => Ok(()),
                }
            };
            let ended = async {
                let ended = until_stopped.await;
                stop.request();
                ended
            };
            let serving = network::serve(self.endpoint.clone(), Arc::clone(&self.lobby));
            let fleet = agones::run(&self.agones, introduction, Arc::clone(&self.lobby), stop);
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
