//! Everything that a server needs before its threads start. Faults of the options, the map, the
//! files or the ports are found here, while nothing runs yet.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::{Instant, SystemTime};

use obsp_proto::Fingerprint;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::match_builder::Plan;
use super::match_setup::{MatchSetup, Shared};
use super::network_thread::NetworkThread;
use super::options::Options;
use super::reload::Reload;
use super::{Description, reloadable};
use crate::common::clock::Clock;
use crate::common::error::StartError;
use crate::common::stop::Stop;
use crate::door::AccessRules;
use crate::door::admission::{Admission, Shares};
use crate::door::admittance::Admittance;
use crate::door::bans::Bans;
use crate::door::introduction::Introduction;
use crate::door::introduction::options::IntroductionOptions;
use crate::door::mutes::Mutes;
use crate::door::outgoing::Outgoing;
use crate::door::public_endpoint::PublicEndpoint;
use crate::door::public_endpoint::advertise::Advertised;
use crate::door::public_endpoint::origins::Origins;
use crate::door::public_endpoint::validity::Validity;
use crate::door::token_gate::TokenGate;
use crate::door::token_gate::join_key::read_join_key;
use crate::matches::watchdog::{Gate, ServiceManager, WatchdogThread};
use crate::matches::{MatchHandles, Matches};
use crate::network;
use crate::network::{Credentials, Endpoints, Renewal};
use crate::operate::admin::Admin;
use crate::operate::metrics::server_telemetry::ServerIdentity;
use crate::operate::metrics::server_telemetry::ServerTelemetry;
use crate::operate::metrics::socket_metrics::inode;
use crate::operate::page::PagePorts;
use crate::operate::page::page_state::AllPages;
use crate::operate::queries::QueryPorts;
use crate::operate::service::handed_over::HandedOver;
use crate::operate::spans::Exporter;
use crate::operate::webhook::Poster;

/// All parts of a server before its threads run.
pub(super) struct Setup {
    pub(super) description: Description,
    pub(super) matches: Matches<MatchSetup>,
    pub(super) games: MatchHandles,
    pub(super) admin: Option<Admin>,
    pub(super) query: QueryPorts,
    pub(super) page_ports: PagePorts,
    pub(super) pages: Arc<AllPages>,
    pub(super) network_thread: NetworkThread,
    pub(super) runtime: Runtime,
    pub(super) watchdog: WatchdogThread,
    pub(super) reload: Arc<Reload>,
    pub(super) telemetry: Arc<ServerTelemetry>,
    pub(super) exporter: Option<Exporter>,
    pub(super) poster: Option<Poster>,
}

impl Setup {
    /// Makes everything ready to play these matches by `options`.
    pub(super) fn new(
        options: &Options,
        first: Plan,
        others: Vec<Plan>,
    ) -> Result<Self, StartError> {
        // All holders of these shares see the change when a reload changes them.
        let shares = Shares::from(&options.addresses);
        let access = Arc::new(access_rules(options, &shares)?);
        let first = MatchSetup::load(first)?;
        let others: Vec<_> = others.into_iter().map(MatchSetup::load).collect::<Result<_, _>>()?;
        let players = others.iter().map(|other| other.options.max_players);
        // The endpoint is made for the players of all matches.
        let all = Options {
            max_players: players.fold(options.max_players, u16::saturating_add),
            ..options.clone()
        };
        let sockets = Sockets::bind(&all)?;
        let proxy_drops = Arc::clone(&sockets.udp.proxy_drops);
        let udp_inodes = sockets.udp.sockets.iter().filter_map(inode).collect();
        let Quic { endpoints, runtime, credentials, certificate, validity, https } =
            Quic::open(&all, sockets.udp, access.clock.now().wall)?;
        let address = StartError::Endpoint;
        let (admin, query) = (sockets.admin, sockets.query);
        let description = Description {
            map: first.level.match_info.map_name.clone(),
            map_hash: first.level.match_info.map,
            props: first.props,
            local_addrs: endpoints.addresses().map_err(address)?,
            pages: sockets.pages.addresses().map_err(address)?,
            admin_addr: admin.as_ref().map(Admin::address).transpose().map_err(address)?,
            query_addrs: query.addresses().map_err(address)?,
            certificate,
        };

        let exporter = Exporter::start(&options.otlp)?;
        let telemetry = Arc::new(ServerTelemetry::new(&ServerIdentity {
            self_signed: options.cert.is_none(),
            spans: exporter.as_ref().map(Exporter::spans).unwrap_or_default(),
            udp_inodes,
            proxy_drops,
        })?);
        telemetry.certificate.shows(validity.map(|validity| validity.end));
        let IntroductionOptions { name, motd } = options.introduction.clone();
        let sent = telemetry.registry.visitors.sent.clone();
        let (poster, webhook) = Poster::start(&options.webhook, name.as_ref(), &telemetry)?.unzip();
        let shared = Shared {
            access,
            endpoint: Arc::new(public_endpoint(options, &description, validity, https)),
            introduction: Arc::new(Introduction::new(name, motd)),
            webhook: webhook.unwrap_or_default(),
            telemetry,
            stop: Stop::new(),
            epoch: Instant::now(),
            admission: Admission::new(shares.clone()),
            outgoing: Outgoing::new(&options.outgoing, shares.clone(), sent),
            limits: network::Limits::from(&all),
            played: Arc::new(AtomicUsize::new(1 + others.len())),
        };
        let (mut first, mut others) = (first, others);
        let first_game = first.handle(&shared)?;
        let other_games = others.iter_mut().map(|other| other.handle(&shared));
        let games = Matches::new(first_game, other_games.collect::<Result<_, _>>()?);
        let matches = Matches::new(first, others);
        let pages = matches.zip(&games).map(|(setup, game)| setup.pages(game, &shared.telemetry));
        let telemetry = Arc::clone(&shared.telemetry);
        let shows_end = move |not_after| telemetry.certificate.shows(not_after);
        let renewal = Arc::new(Renewal::new(
            credentials,
            endpoints.clone(),
            shared.limits,
            Arc::clone(&shared.endpoint),
            shows_end,
            shared.access.clock.clone(),
        ));
        let manager = ServiceManager::new(&options.service);
        let tokens = admin.as_ref().map(Admin::tokens);
        let reload = Reload::new(
            options,
            reloadable::parts(&shared, &shares, &games, &renewal, tokens),
            manager.notifier(),
        );
        let network_thread = NetworkThread {
            endpoints,
            renewal,
            games: games.clone(),
            led: Vec::new(),
            duration: options.duration,
            agones: options.agones.clone(),
            asks_address: options.advertise.is_none(),
            gate: Gate::default(),
        };
        let watchdog = WatchdogThread {
            runtime: event_loop("watchdog thread")?,
            hang_limit: Some(options.hang_limit).filter(|limit| !limit.is_zero()),
            manager,
        };
        Ok(Self {
            description,
            pages: Arc::new(pages),
            matches,
            games,
            admin,
            query,
            page_ports: sockets.pages,
            network_thread,
            runtime,
            watchdog,
            reload,
            telemetry: shared.telemetry,
            exporter,
            poster,
        })
    }
}

impl From<&Options> for network::Limits {
    fn from(options: &Options) -> Self {
        Self {
            players: options.max_players,
            budget: options.client_budget.max(options.spectator_budget),
            snapshot_rate: options.tick_rate,
        }
    }
}

/// The rules by which clients may join, from the files that the options name.
fn access_rules(options: &Options, shares: &Shares) -> Result<AccessRules, StartError> {
    let gate = match &options.joining.join_key {
        Some(path) => Some(TokenGate::new(read_join_key(path)?)),
        None => {
            if options.joining.password.is_none() && options.joining.allow.is_none() {
                tracing::info!(
                    "without --join-key, --password or --allow, anybody who reaches this server may join"
                );
            }
            None
        }
    };
    let mutes = options.joining.mutes.as_deref();
    let mutes = Mutes::read(mutes, shares.clone(), gate.is_some())?;
    Ok(AccessRules {
        gate,
        admittance: Admittance::read(&options.joining, shares.clone())?,
        reserved_slots: options.joining.reserved_slots,
        idle_seconds: AtomicU64::new(options.joining.idle.as_secs()),
        bans: Bans::read(options.ban.clone(), options.joining.bans.as_deref())?,
        mutes,
        origins: Origins::new(&options.allow_origin, options.advertise.as_ref()),
        clock: Clock::default(),
        // Spectators come by WebTransport only.
        max_spectators: if cfg!(feature = "webtransport") { options.max_spectators } else { 0 },
    })
}

/// The address at which clients reach the server, as far as it is known at the start.
fn public_endpoint(
    options: &Options,
    description: &Description,
    validity: Option<Validity>,
    https: rustls::ServerConfig,
) -> PublicEndpoint {
    let own_address = Advertised { host: None, port: description.local_addr().port() };
    PublicEndpoint {
        listens: description.local_addrs.clone(),
        advertised: watch::Sender::new(options.advertise.clone().unwrap_or(own_address)),
        certificate: watch::Sender::new(description.certificate),
        validity: watch::Sender::new(validity),
        https: watch::Sender::new(Arc::new(https)),
        self_signed: options.cert.is_none(),
    }
}

/// An event loop for one thread.
fn event_loop(part: &'static str) -> Result<Runtime, StartError> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|source| StartError::Thread { part, source })
}

/// The ports of a server.
struct Sockets {
    udp: network::Sockets,
    pages: PagePorts,
    admin: Option<Admin>,
    query: QueryPorts,
}

impl Sockets {
    fn bind(options: &Options) -> Result<Self, StartError> {
        let HandedOver { listen, query, http, page } = HandedOver::take(&options.service)?;
        let sockets = match listen.is_empty() {
            true => network::bind(&options.listen)?,
            false => listen,
        };
        let pages = PagePorts::bind(&options.pages, http, page)?;
        let admin = Admin::open(&options.admin)?;
        let listens = sockets.iter().map(UdpSocket::local_addr).collect::<Result<Vec<_>, _>>();
        let listens = listens.map_err(StartError::Endpoint)?;
        let query = QueryPorts::bind(&options.query, &listens, query)?;
        let proxies = options.addresses.proxy_from.clone();
        let proxy_drops = Arc::default();
        let udp = network::Sockets { sockets, queries: query.queries(), proxies, proxy_drops };
        Ok(Self { udp, pages, admin, query })
    }
}

/// The QUIC endpoints with their certificate, and the event loop that runs them.
struct Quic {
    endpoints: Endpoints,
    runtime: Runtime,
    credentials: Credentials,
    certificate: Fingerprint,
    /// The TLS configuration of the public page. It uses the certificate of the QUIC endpoint.
    https: rustls::ServerConfig,
    /// When the certificate is valid, if that is known.
    validity: Option<Validity>,
}

impl Quic {
    fn open(
        options: &Options,
        sockets: network::Sockets,
        now: SystemTime,
    ) -> Result<Self, StartError> {
        let credentials = Credentials::new(options.cert.as_deref(), options.key.as_deref());
        let certificate = credentials.certificate(now)?;
        let (fingerprint, validity) = (certificate.fingerprint, certificate.validity);
        if let Some(warning) = credentials.warning(validity, now) {
            tracing::warn!("{warning}");
        }
        let https = certificate.https()?;
        let state = options.state_dir.clone().or_else(network::default_state_dir);
        let reset_key = credentials.reset_key(&certificate, state.as_deref());
        let runtime = event_loop("event loop")?;
        let endpoints = {
            let _context = runtime.enter();
            Endpoints::open(sockets, certificate, &reset_key, network::Limits::from(options))?
        };
        Ok(Self { endpoints, runtime, credentials, certificate: fingerprint, validity, https })
    }
}
