//! Everything that a server needs before its threads start. What is wrong with the options,
//! the map, the files or the ports is found here, while nothing runs yet.

use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use obsp_game::{AnyGame, RunningMatch};
use obsp_proto::Fingerprint;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::Description;
use super::network_thread::NetworkThread;
use crate::access_rules::AccessRules;
use crate::admin::Admin;
use crate::audit_thread::AuditThread;
use crate::bans::Bans;
use crate::clients::Clients;
use crate::error::StartError;
use crate::http::{self, PageState};
use crate::join_key::read_join_key;
use crate::level::{Level, LevelMaker};
use crate::match_handle::MatchHandle;
use crate::network::{
    self, Admission, Cadence, Credentials, Lobby, SendGroups, Shares, Spectators,
};
use crate::options::{Advertised, Options};
use crate::origins::Origins;
use crate::public_endpoint::PublicEndpoint;
use crate::published::{ContactSubscription, LatestState, PublishedStates};
use crate::query::QueryPort;
use crate::recording::LevelRecordings;
use crate::rounds::director::LevelPipeline;
use crate::rounds::{Loader, LoaderThread, Rounds, Schedule};
use crate::seats::JoinRequest;
use crate::spans::Exporter;
use crate::stop::Stop;
use crate::telemetry::{self, Identity, Telemetry};
use crate::tick_thread::Match;
use crate::tickets::Tickets;
use crate::token_gate::TokenGate;
use crate::watchdog::ServiceManager;

/// Finished worlds that may wait to be freed: more than there are at a time.
const FINISHED_WORLDS: usize = 4;

/// All parts of a server before its threads run.
pub(super) struct Setup {
    pub(super) description: Description,
    pub(super) simulation: Match,
    pub(super) recordings: Arc<LevelRecordings>,
    pub(super) loader_thread: LoaderThread,
    pub(super) finished_worlds: Receiver<Box<dyn RunningMatch>>,
    pub(super) audit: Option<AuditThread>,
    pub(super) admin: Option<Admin>,
    pub(super) query: Option<QueryPort>,
    pub(super) pages_listener: TcpListener,
    pub(super) public_listener: Option<TcpListener>,
    pub(super) pages: Arc<PageState>,
    pub(super) page_states: PublishedStates,
    pub(super) network_thread: NetworkThread,
    pub(super) runtime: Runtime,
    pub(super) exporter: Option<Exporter>,
}

impl Setup {
    /// Makes everything ready by `options` to play `game`.
    pub(super) fn new(options: &Options, game: Arc<dyn AnyGame>) -> Result<Self, StartError> {
        let access = access_rules(options)?;
        let simulation = Simulation::new(options, game)?;
        let sockets = Sockets::bind(options)?;
        let udp_inode = telemetry::inode(&sockets.udp);
        let Quic { endpoint, runtime, credentials, certificate, https, not_after } =
            Quic::open(options, sockets.udp)?;
        let address = StartError::Endpoint;
        let (admin, query) = (sockets.admin, sockets.query);
        let description = Description {
            map: simulation.level.match_info.map_name.clone(),
            map_hash: simulation.level.match_info.map,
            props: simulation.props,
            local_addr: endpoint.local_addr().map_err(address)?,
            http_addr: sockets.pages.local_addr().map_err(address)?,
            page_addr: sockets
                .public
                .as_ref()
                .map(TcpListener::local_addr)
                .transpose()
                .map_err(address)?,
            admin_addr: admin.as_ref().map(Admin::address).transpose().map_err(address)?,
            query_addr: query.as_ref().map(QueryPort::address).transpose().map_err(address)?,
            certificate,
        };

        let exporter = options.otlp.as_deref().map(Exporter::start).transpose()?;
        let telemetry =
            new_telemetry(options, &description, &simulation, exporter.as_ref(), udp_inode)?;
        telemetry.certificate.shows(not_after);
        let game = Arc::new(MatchHandle {
            latest: simulation.latest,
            clients: Clients::default(),
            rounds: simulation.rounds,
            access,
            endpoint: public_endpoint(options, &description, https),
            telemetry,
            stop: Stop::new(),
            epoch: Instant::now(),
        });
        let audit = match options.audit_every {
            0 => None,
            every => Some(AuditThread::new(&game, every)?),
        };
        let pages = Arc::new(PageState::new(
            Arc::clone(&game),
            simulation.recordings.latest(),
            options.replay_dir.clone(),
            simulation.contact_subscription,
        ));
        let lobby = Arc::new(lobby(options, game, simulation.joins));
        let network_thread = NetworkThread {
            endpoint,
            credentials,
            states: simulation.game.states(),
            cadence: snapshot_cadence(options),
            lobby,
            schedule: simulation.schedule,
            pipeline: simulation.pipeline,
            duration: options.duration,
            hang_limit: Some(options.hang_limit).filter(|limit| !limit.is_zero()),
            manager: ServiceManager::new(&options.service),
            agones: options.agones.clone(),
            asks_address: options.advertise.is_none(),
        };
        Ok(Self {
            description,
            page_states: simulation.game.states(),
            simulation: simulation.game,
            recordings: simulation.recordings,
            loader_thread: simulation.loader_thread,
            finished_worlds: simulation.finished_worlds,
            audit,
            admin,
            query,
            pages_listener: sockets.pages,
            public_listener: sockets.public,
            pages,
            network_thread,
            runtime,
            exporter,
        })
    }
}

/// The telemetry of a server that serves this simulation.
fn new_telemetry(
    options: &Options,
    description: &Description,
    simulation: &Simulation,
    exporter: Option<&Exporter>,
    udp_inode: Option<u64>,
) -> Result<Arc<Telemetry>, StartError> {
    Ok(Arc::new(Telemetry::new(&Identity {
        map: description.map.as_str(),
        map_hash: &description.map_hash.to_string(),
        tick_rate: options.tick_rate,
        max_players: options.max_players,
        map_load: simulation.level.load_time.as_secs_f64(),
        recording: simulation.recordings.latest(),
        self_signed: options.cert.is_none(),
        spans: exporter.map(Exporter::spans).unwrap_or_default(),
        udp_inode,
    })?))
}

/// The match on its first level, and what leads it through the next ones.
struct Simulation {
    game: Match,
    latest: LatestState,
    level: Arc<Level>,
    props: usize,
    joins: SyncSender<JoinRequest>,
    contact_subscription: Arc<ContactSubscription>,
    recordings: Arc<LevelRecordings>,
    finished_worlds: Receiver<Box<dyn RunningMatch>>,
    rounds: Rounds,
    schedule: Schedule,
    pipeline: LevelPipeline,
    loader_thread: LoaderThread,
}

impl Simulation {
    fn new(options: &Options, game: Arc<dyn AnyGame>) -> Result<Self, StartError> {
        let maps = options.rounds.rotation(&options.map);
        let first = maps.first().ok_or_else(|| StartError::NoMaps(options.rounds.maps.clone()))?;
        let maker = LevelMaker::new(options, game);
        let prepared = maker.make(first, 0)?;
        // Checked now, before the match gets there and leaves a map out.
        maps[1..].iter().try_for_each(|map| maker.check(map))?;
        let recordings = Arc::new(LevelRecordings::new(options.record.clone()));
        let recorder = recordings.begin_first(&prepared)?;
        let (joins, requests) = sync_channel(network::connection_limit(options.max_players.into()));
        let (worlds, next_worlds) = sync_channel(1);
        let (finished, finished_worlds) = sync_channel(FINISHED_WORLDS);
        let contact_subscription = Arc::<ContactSubscription>::default();
        let (level, props) = (Arc::clone(&prepared.level), prepared.props);
        let (game, latest) = Match::new(
            prepared,
            options.rewind,
            requests,
            (next_worlds, finished),
            Arc::clone(&contact_subscription),
        );
        let (loader, loader_thread) = Loader::new(maker);
        let rules = options.rounds.rules(maps.len());
        let (rounds, schedule) = Rounds::new(rules, maps, options.rounds.votes.clone());
        Ok(Self {
            game: game.with_tanks(options.tanks).recorded_by(recorder),
            latest,
            level,
            props,
            joins,
            contact_subscription,
            pipeline: LevelPipeline { loader, worlds, recordings: Arc::clone(&recordings) },
            recordings,
            finished_worlds,
            rounds,
            schedule,
            loader_thread,
        })
    }
}

/// The rules by which clients may join, from the files that the options name.
fn access_rules(options: &Options) -> Result<AccessRules, StartError> {
    let gate = match &options.joining.join_key {
        Some(path) => Some(TokenGate::new(read_join_key(path)?)),
        None => {
            tracing::info!("without --join-key, everybody may join who reaches this server");
            None
        }
    };
    Ok(AccessRules {
        gate,
        reserved_slots: options.joining.reserved_slots,
        idle_seconds: AtomicU64::new(options.joining.idle.as_secs()),
        bans: Bans::read(options.ban.clone(), options.joining.bans.as_deref())?,
        origins: Origins::new(&options.allow_origin, options.advertise.as_ref()),
        max_spectators: options.max_spectators,
    })
}

/// Where clients reach the server, as far as that is known at the start.
fn public_endpoint(
    options: &Options,
    description: &Description,
    https: rustls::ServerConfig,
) -> PublicEndpoint {
    let own_address = Advertised { host: None, port: description.local_addr.port() };
    PublicEndpoint {
        local: description.local_addr,
        advertised: watch::Sender::new(options.advertise.clone().unwrap_or(own_address)),
        certificate: watch::Sender::new(description.certificate),
        https: watch::Sender::new(Arc::new(https)),
        self_signed: options.cert.is_none(),
    }
}

/// The ports of a server.
struct Sockets {
    udp: UdpSocket,
    pages: TcpListener,
    public: Option<TcpListener>,
    admin: Option<Admin>,
    query: Option<QueryPort>,
}

impl Sockets {
    fn bind(options: &Options) -> Result<Self, StartError> {
        let udp = network::bind(options.listen, options.max_players)?;
        let pages = http::bind(options.http, "--http")?;
        let public = options.page.map(|address| http::bind(address, "--page")).transpose()?;
        let admin = match (options.admin.admin, &options.admin.admin_tokens) {
            (Some(address), Some(tokens)) => Some(Admin::open(address, tokens)?),
            _ => None,
        };
        let query = options.admin.query.map(QueryPort::bind).transpose()?;
        Ok(Self { udp, pages, public, admin, query })
    }
}

/// The QUIC endpoint with its certificate, and the event loop that runs it.
struct Quic {
    endpoint: quinn::Endpoint,
    runtime: Runtime,
    credentials: Credentials,
    certificate: Fingerprint,
    /// The same certificate for the public page.
    https: rustls::ServerConfig,
    /// When the certificate expires, in seconds since 1970, if that is known.
    not_after: Option<i64>,
}

impl Quic {
    fn open(options: &Options, socket: UdpSocket) -> Result<Self, StartError> {
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
        let (fingerprint, not_after) = (certificate.fingerprint, certificate.not_after());
        let https = certificate.https()?;
        let state = options.state_dir.clone().or_else(network::default_state_dir);
        let reset_key = credentials.reset_key(&certificate, state.as_deref());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StartError::Thread { part: "event loop", source })?;
        let endpoint = {
            let _context = runtime.enter();
            network::open(socket, certificate, &reset_key, network::Limits::from(options))?
        };
        Ok(Self { endpoint, runtime, credentials, certificate: fingerprint, https, not_after })
    }
}

/// The ticks of which players are sent a snapshot.
fn snapshot_cadence(options: &Options) -> Cadence {
    Cadence::new(options.snapshot_rate.unwrap_or(options.tick_rate), options.tick_rate)
}

/// The state that the connections share.
fn lobby(options: &Options, game: Arc<MatchHandle>, joins: SyncSender<JoinRequest>) -> Lobby {
    let spectator_rate = options.spectator_rate.min(options.tick_rate);
    Lobby {
        game,
        joins,
        send_groups: Arc::new(SendGroups::new(options.max_players, options.tick_rate)),
        tickets: Tickets::new(options.joining.rejoin),
        protects_away: options.joining.rejoin_protect,
        admission: Admission::new(Shares::from(&options.addresses)),
        client_budget: options.client_budget,
        spectators: Spectators {
            cadence: Cadence::new(spectator_rate, options.tick_rate),
            budget: options.spectator_budget,
        },
        limits: network::Limits::from(options),
    }
}
