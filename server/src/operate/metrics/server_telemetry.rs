//! The metrics that a server has once for all its matches, and the page of all metrics.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::admin_metrics::AdminMetrics;
use super::catalogue;
use super::certificate_metrics::CertificateMetrics;
use super::exporter::{self, Exporter};
use super::log_metrics::LogMetrics;
use super::process_metrics::ProcessMetrics;
use super::socket_metrics::SocketMetrics;
use super::webhook_metrics::WebhookMetrics;
use crate::common::error::MetricsError;
use crate::common::token_bucket::{Rate, TokenBucket};
use crate::matches::telemetry::catalogue as matches_catalogue;
use crate::matches::telemetry::match_metrics::build_info;
use crate::matches::telemetry::network_metrics::visitor_metrics::VisitorMetrics;
use crate::matches::telemetry::pulse::Pulses;
use crate::matches::telemetry::{Registry, Spans};

/// A page of metrics that is younger than this is handed out again by
/// [`ServerTelemetry::shared_page`]. So at most one page a second is made, however many visitors
/// ask.
const FRESH: Duration = Duration::from_secs(1);

/// The rate of pages that are made for Prometheus. Each page takes about a millisecond.
const SCRAPES: Rate = Rate { per_second: 10.0, burst: 50.0 };

/// The constants with which the metrics of a server are registered.
#[derive(Default)]
pub(crate) struct ServerIdentity {
    /// Whether the server makes its certificate itself.
    pub(crate) self_signed: bool,
    /// The recorder of spans.
    pub(crate) spans: Spans,
    /// The inodes by which the kernel's tables name the UDP sockets.
    pub(crate) udp_inodes: Vec<u64>,
    /// Datagrams of proxies that were dropped so far.
    pub(crate) proxy_drops: Arc<AtomicU64>,
}

/// The metrics that a server has once, and the page of all metrics.
pub(crate) struct ServerTelemetry {
    pub(crate) certificate: CertificateMetrics,
    /// Requests of administrators.
    pub(crate) admin: AdminMetrics,
    /// Posts to the webhook.
    pub(crate) webhook: WebhookMetrics,
    /// The part that the matches write to.
    pub(crate) registry: Arc<Registry>,
    process: ProcessMetrics,
    socket: SocketMetrics,
    log: LogMetrics,
    page: Exporter,
    /// The budget of pages that are made for Prometheus.
    scrapes: Mutex<TokenBucket>,
    /// The last page that was made, and when.
    last: Mutex<Option<(Instant, Bytes)>>,
}

impl ServerTelemetry {
    /// The metrics of a server, all at zero.
    ///
    /// # Errors
    /// The edges of a histogram are wrong, which would be a defect.
    pub(crate) fn new(identity: &ServerIdentity) -> Result<Self, MetricsError> {
        let (recorder, page) =
            exporter::recorder().map_err(|error| MetricsError(error.to_string()))?;
        let register = || {
            matches_catalogue::describe();
            catalogue::describe();
            build_info();
            (
                CertificateMetrics::register(identity.self_signed),
                AdminMetrics::register(),
                WebhookMetrics::register(),
                Pulses::register(),
                VisitorMetrics::register(),
                ProcessMetrics::register(),
                SocketMetrics::register(identity.udp_inodes.clone(), &identity.proxy_drops),
                LogMetrics::register(),
            )
        };
        let (certificate, admin, webhook, pulses, visitors, process, socket, log) =
            metrics::with_local_recorder(&*recorder, register);
        Ok(Self {
            certificate,
            admin,
            webhook,
            registry: Arc::new(Registry {
                pulses,
                visitors,
                spans: identity.spans.clone(),
                connections: Arc::default(),
                recorder,
            }),
            process,
            socket,
            log,
            page,
            scrapes: Mutex::new(TokenBucket::full(Instant::now())),
            last: Mutex::default(),
        })
    }

    /// Makes the page that Prometheus scrapes. `observe` updates the metrics of the matches.
    pub(crate) fn render(&self, observe: impl FnOnce()) -> String {
        observe();
        self.process.observe();
        self.registry.pulses.observe();
        self.socket.observe();
        self.log.observe();
        self.page.render()
    }

    /// The page that Prometheus scrapes, newly made. If pages are asked for more often than any
    /// monitoring does, the last one is returned.
    pub(crate) fn scraped_page(&self, now: Instant, observe: impl FnOnce()) -> Bytes {
        let mut scrapes = self.scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        let may = scrapes.take(SCRAPES, 1.0, now);
        drop(scrapes);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, page)) = &*last
            && !may
        {
            return page.clone();
        }
        let page = Bytes::from(self.render(observe));
        *last = Some((now, page.clone()));
        page
    }

    /// The last page and its age. A page that is not fresh at `now` is made again, so many requests
    /// cost no more than a few.
    pub(crate) fn shared_page(&self, now: Instant, observe: impl FnOnce()) -> (Bytes, Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, page)) = &*last
            && let age = now.saturating_duration_since(*then)
            && age < FRESH
        {
            return (page.clone(), age);
        }
        let page = Bytes::from(self.render(observe));
        *last = Some((now, page.clone()));
        (page, Duration::ZERO)
    }

    /// Datagrams that the kernel dropped before the server read them; 0 if the kernel does not
    /// report them.
    pub(crate) fn kernel_drops(&self) -> u64 {
        self.socket.drops().unwrap_or_default()
    }

    /// Condenses what histograms have collected. Histograms grow until this method is called.
    pub(crate) fn upkeep(&self) {
        self.page.run_upkeep();
    }
}
