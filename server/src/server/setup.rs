//! Everything that a server needs before its threads start. Faults of the options, the map, the
//! files or the ports are found here, while nothing runs yet.

use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Instant;

use obsp_proto::Fingerprint;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::Description;
use super::match_builder::PlannedMatch;
use super::match_setup::{MatchSetup, Shared, Simulation};
use super::network_thread::NetworkThread;
use crate::access_rules::AccessRules;
use crate::admin::Admin;
use crate::bans::Bans;
use crate::error::StartError;
use crate::http::{self, AllPages};
use crate::join_key::read_join_key;
use crate::matches::Matches;
use crate::network::{self, Admission, Credentials, Shares};
use crate::options::{Advertised, Options};
use crate::origins::Origins;
use crate::public_endpoint::PublicEndpoint;
use crate::query::QueryPort;
use crate::spans::Exporter;
use crate::stop::Stop;
use crate::telemetry::{self, ServerIdentity, ServerTelemetry};
use crate::token_gate::TokenGate;
use crate::watchdog::ServiceManager;

/// All parts of a server before its threads run.
pub(super) struct Setup {
    pub(super) description: Description,
    pub(super) matches: Matches<MatchSetup>,
    pub(super) admin: Option<Admin>,
    pub(super) query: Option<QueryPort>,
    pub(super) pages_listener: TcpListener,
    pub(super) public_listener: Option<TcpListener>,
    pub(super) pages: Arc<AllPages>,
    pub(super) network_thread: NetworkThread,
    pub(super) runtime: Runtime,
    pub(super) exporter: Option<Exporter>,
}

impl Setup {
    /// Makes everything ready to play these matches by `options`.
    pub(super) fn new(
        options: &Options,
        first: PlannedMatch,
        others: Vec<PlannedMatch>,
    ) -> Result<Self, StartError> {
        let access = Arc::new(access_rules(options)?);
        let first = Simulation::new(first)?;
        let others: Vec<_> = others.into_iter().map(Simulation::new).collect::<Result<_, _>>()?;
        let players = others.iter().map(|other| other.options.max_players);
        // The endpoint is made for the players of all matches.
        let all = Options {
            max_players: players.fold(options.max_players, u16::saturating_add),
            ..options.clone()
        };
        let sockets = Sockets::bind(&all)?;
        let udp_inode = telemetry::inode(&sockets.udp);
        let Quic { endpoint, runtime, credentials, certificate, https, not_after } =
            Quic::open(&all, sockets.udp)?;
        let address = StartError::Endpoint;
        let (admin, query) = (sockets.admin, sockets.query);
        let description = Description {
            map: first.level.match_info.map_name.clone(),
            map_hash: first.level.match_info.map,
            props: first.props,
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
        let telemetry = Arc::new(ServerTelemetry::new(&ServerIdentity {
            self_signed: options.cert.is_none(),
            spans: exporter.as_ref().map(Exporter::spans).unwrap_or_default(),
            udp_inode,
        })?);
        telemetry.certificate.shows(not_after);
        let shared = Shared {
            access,
            endpoint: Arc::new(public_endpoint(options, &description, https)),
            telemetry,
            stop: Stop::new(),
            epoch: Instant::now(),
            admission: Admission::new(Shares::from(&options.addresses)),
            limits: network::Limits::from(&all),
            played: Arc::new(AtomicUsize::new(1 + others.len())),
        };
        let (first, first_led) = MatchSetup::new(first, &shared)?;
        let mut led = vec![first_led];
        let mut setups = Vec::new();
        for other in others {
            let (setup, other_led) = MatchSetup::new(other, &shared)?;
            setups.push(setup);
            led.push(other_led);
        }
        let matches = Matches::new(first, setups);
        let network_thread = NetworkThread {
            endpoint,
            credentials,
            lobbies: Arc::new(matches.map(|each| Arc::clone(&each.lobby))),
            led,
            duration: options.duration,
            hang_limit: Some(options.hang_limit).filter(|limit| !limit.is_zero()),
            manager: ServiceManager::new(&options.service),
            agones: options.agones.clone(),
            asks_address: options.advertise.is_none(),
        };
        Ok(Self {
            description,
            pages: Arc::new(matches.map(|each| Arc::clone(&each.pages))),
            matches,
            admin,
            query,
            pages_listener: sockets.pages,
            public_listener: sockets.public,
            network_thread,
            runtime,
            exporter,
        })
    }
}

/// The rules by which clients may join, from the files that the options name.
fn access_rules(options: &Options) -> Result<AccessRules, StartError> {
    let gate = match &options.joining.join_key {
        Some(path) => Some(TokenGate::new(read_join_key(path)?)),
        None => {
            tracing::info!("without --join-key, anybody who reaches this server may join");
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

/// The address at which clients reach the server, as far as it is known at the start.
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
    /// The TLS configuration of the public page, with the same certificate.
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
