//! The pages of a server: the web page that shows the match, the data that this page fetches,
//! recordings to play again, metrics, probes, and a description of the server for programs.
//!
//! Operators get all pages from `--http`. Everybody else gets the public pages from `--page`, over
//! HTTPS. [`routes`] says which pages are public. [`page_state`] holds the data that the pages are
//! made from. [`level_view`] computes the part of a level that snapshots do not contain.

pub(crate) mod content;
pub(crate) mod effects;
pub(crate) mod files;
pub(crate) mod info;
pub(crate) mod layers;
pub(crate) mod level_view;
pub(crate) mod options;
pub(crate) mod page_state;
pub(crate) mod probes;
pub(crate) mod replays;
pub(crate) mod routes;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use tokio::runtime::Builder;

use super::http;
use super::http::connections;
use super::http::gatekeeper::{Audience, Gatekeeper};
use super::http::serve;
use crate::common::error::{RunError, StartError};
use crate::common::threads::Threads;
use crate::matches::telemetry::EventLoop;
use files::Edition;
use options::PageOptions;
use page_state::{AllPages, PageState};

/// The pages of the match that a request names by `?match=`, or of the server's first match.
pub(crate) struct Pages(Arc<PageState>);

impl FromRequestParts<Arc<AllPages>> for Pages {
    type Rejection = (StatusCode, String);

    async fn from_request_parts(
        parts: &mut Parts,
        all: &Arc<AllPages>,
    ) -> Result<Self, Self::Rejection> {
        let missing =
            |names| (StatusCode::NOT_FOUND, format!("no such match; the matches are: {names}\n"));
        all.asked(parts.uri.query()).map(|pages| Self(Arc::clone(pages))).map_err(missing)
    }
}

/// The state of handlers that need all matches.
pub(crate) type All = State<Arc<AllPages>>;

/// The listeners of the pages, and the page that they serve.
pub(crate) struct PagePorts {
    operators: TcpListener,
    public: Option<TcpListener>,
    edition: Arc<Edition>,
}

impl PagePorts {
    /// Binds the addresses of the options. Sockets that are handed over take their places.
    ///
    /// # Errors
    /// An address cannot be bound, or the file of `--replay-module` is not a module.
    pub(crate) fn bind(
        options: &PageOptions,
        http: Option<TcpListener>,
        page: Option<TcpListener>,
    ) -> Result<Self, StartError> {
        let own = |listener: TcpListener| {
            let set = listener.set_nonblocking(true);
            set.map(|()| listener).map_err(StartError::Endpoint)
        };
        let operators = http.map_or_else(|| http::bind(options.http, "--http"), own)?;
        let public = match (page, options.page) {
            (Some(page), _) => Some(own(page)?),
            (None, Some(address)) => Some(http::bind(address, "--page")?),
            (None, None) => None,
        };
        Ok(Self { operators, public, edition: Edition::new(options)? })
    }

    /// The address of the operator's pages, and of the public page if there is one.
    pub(crate) fn addresses(&self) -> std::io::Result<PageAddresses> {
        let page = self.public.as_ref().map(TcpListener::local_addr).transpose()?;
        Ok(PageAddresses { http: self.operators.local_addr()?, page })
    }

    /// Starts the threads that serve the pages until the server ends.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(
        self,
        threads: &mut Threads,
        pages: Arc<AllPages>,
    ) -> Result<(), StartError> {
        let Self { operators, public, edition } = self;
        if let Some(public) = public {
            let routes = routes::of(&pages, &edition, Audience::Everybody);
            let pages = Arc::clone(&pages);
            threads.spawn("public page thread", move || run_public(public, routes, &pages))?;
        }
        let routes = routes::of(&pages, &edition, Audience::Operators);
        threads.spawn("pages thread", move || run(operators, routes, &pages))
    }
}

/// The TCP addresses of the pages.
#[derive(Clone, Debug)]
pub(crate) struct PageAddresses {
    pub(crate) http: SocketAddr,
    pub(crate) page: Option<SocketAddr>,
}

/// Serves the operator's pages until asked to stop, in a separate runtime, so that requests do not
/// delay players, and players' traffic does not delay a probe.
fn run(listener: TcpListener, routes: Router, state: &Arc<AllPages>) -> Result<(), RunError> {
    let game = Arc::clone(&state.first().game);
    let _stops_the_others = game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let pulse = game.telemetry.registry.pulses.of(EventLoop::Pages);
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(listener, routes, Audience::Operators, &game) => served,
            never = pulse.keep(|| {}) => match never {},
        }
    });
    // Work on a view of a level may still run. The end of the server does not wait for it.
    runtime.shutdown_background();
    served
}

/// Serves the public page until asked to stop, in a separate thread, so that strangers do not delay
/// the operator's probes.
fn run_public(
    listener: TcpListener,
    routes: Router,
    state: &Arc<AllPages>,
) -> Result<(), RunError> {
    let game = &state.first().game;
    let _stops_the_others = game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
        let gatekeeper =
            Gatekeeper::new(Audience::Everybody, game).with_tls(game.endpoint.https.subscribe());
        let pulse = game.telemetry.registry.pulses.of(EventLoop::PublicPage);
        tokio::select! {
            () = connections::serve(listener, routes, gatekeeper) => Ok(()),
            never = pulse.keep(|| {}) => match never {},
        }
    });
    runtime.shutdown_background();
    served
}

/// The version of the text format that the exporter writes.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Brings the metrics of all matches up to date, for a page of metrics.
fn observe(all: &AllPages) {
    for pages in all.iter() {
        let published = Arc::clone(&pages.game.latest.borrow());
        pages.game.telemetry.observe(&published);
    }
}

/// `/metrics`, for Prometheus.
async fn metrics(State(all): All) -> impl IntoResponse {
    let server = &all.first().telemetry;
    ([(header::CONTENT_TYPE, FORMAT)], server.scraped_page(Instant::now(), || observe(&all)))
}

/// `/figures`: the metrics for web pages, at most a second old, with their age. All requests within
/// that second get the same page.
async fn figures(State(all): All) -> impl IntoResponse {
    let server = &all.first().telemetry;
    let (page, age) = server.shared_page(Instant::now(), || observe(&all));
    // The age has a separate header, because the standard header `age` can only hold whole seconds.
    let age = (HeaderName::from_static("x-age-seconds"), format!("{:.3}", age.as_secs_f64()));
    ([(header::CONTENT_TYPE, FORMAT.to_owned()), age], page)
}
