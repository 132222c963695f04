//! The operator's pages (`--http`): the web page that shows the match, the data that this page
//! fetches, metrics, probes, and a description of the server for programs. The public page
//! (`--page`) is the same over HTTPS (`tls`), without the parts for operators.
//!
//! `connections` limits what one visitor may use. `page_state` holds the data that the pages are
//! made from. `level_view` computes the part of a level that snapshots do not contain.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::error::{RunError, StartError};
use crate::match_handle::MatchHandle;
use crate::published::PublishedStates;
use crate::telemetry::STALL;

use connections::Gatekeeper;
pub(crate) use page_state::{AllPages, PageState};

mod connections;
mod effects;
mod info;
mod layers;
mod level_view;
mod limits;
mod page;
mod page_state;
mod places;
mod replays;
mod rewind;
mod scene;
mod tls;

/// The pages of the match that a request names by `?match=`, or of the server's first match.
struct Pages(Arc<PageState>);

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
type All = State<Arc<AllPages>>;

/// Binds the TCP socket of the operator's pages, or of another service. `option` names the option
/// that holds its address.
pub(crate) fn bind(address: SocketAddr, option: &'static str) -> Result<TcpListener, StartError> {
    let bind = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|source| StartError::Http { address, option, source })
}

/// Serves the operator's pages until asked to stop, in a separate runtime, so that requests do not
/// delay players, and players' traffic does not delay a probe.
pub(crate) fn run(
    listener: TcpListener,
    state: &Arc<AllPages>,
    states: Vec<PublishedStates>,
) -> Result<(), RunError> {
    let game = Arc::clone(&state.first().game);
    let _stops_the_others = game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(listener, operator_routes(state), &game) => served,
            () = record_effects(state, states) => Ok(()),
        }
    });
    // Work on a view of a level may still run. The end of the server does not wait for it.
    runtime.shutdown_background();
    served
}

/// Records the effects of all matches, for as long as it is polled.
async fn record_effects(all: &AllPages, states: Vec<PublishedStates>) {
    let mut recording = JoinSet::new();
    for (pages, states) in all.iter().map(Arc::clone).zip(states) {
        recording.spawn(async move { match pages.effects.record(states).await {} });
    }
    while recording.join_next().await.is_some() {}
}

/// Serves the public page until asked to stop, in a separate thread, so that strangers do not delay
/// the operator's probes.
pub(crate) fn run_public(listener: TcpListener, state: &Arc<AllPages>) -> Result<(), RunError> {
    let game = &state.first().game;
    let _stops_the_others = game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
        let gatekeeper = Gatekeeper::new(game.access.origins.clone(), game.stop.clone())
            .with_tls(game.endpoint.https.subscribe());
        connections::serve(listener, public_routes(state, Audience::Everybody), gatekeeper).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Serves `pages` until asked to stop, under the limits that hold for all pages.
pub(crate) async fn serve(
    listener: TcpListener,
    pages: Router,
    game: &MatchHandle,
) -> Result<(), RunError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
    let gatekeeper = Gatekeeper::new(game.access.origins.clone(), game.stop.clone());
    connections::serve(listener, pages, gatekeeper).await;
    Ok(())
}

/// The audience of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// The operators of the server.
    Operators,
    /// Everybody.
    Everybody,
}

/// The routes for everybody: the page, and the data of the match that it shows.
fn public_routes(state: &Arc<AllPages>, audience: Audience) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/web/wasm/{name}", get(page::wasm))
        .route("/web/{*path}", get(page::file))
        .route("/scene", get(scene))
        .route("/scene/{hash}", get(replays::scene_of))
        .route("/maps/{hash}", get(replays::map))
        .route("/games/{hash}", get(replays::game))
        .route("/replays", get(replays::list))
        .route("/replays/{name}", get(replays::one))
        .route(
            "/rewind",
            get(async move |pages: Pages| rewind::last_seconds(pages, audience).await),
        )
        .route("/effects/{after}", get(effects::after))
        .route("/contacts", get(layers::contacts))
        .route("/onion/{height}", get(layers::onion))
        .route("/info", get(async move |pages: Pages, all: All| info::info(&pages, &all, audience)))
        .with_state(Arc::clone(state))
}

/// The routes for operators: the routes for everybody, and the cost and the health of the match.
fn operator_routes(state: &Arc<AllPages>) -> Router {
    let routes = Router::new()
        .route("/cascade", get(layers::cascade))
        .route("/metrics", get(metrics))
        .route("/figures", get(figures))
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .with_state(Arc::clone(state));
    public_routes(state, Audience::Operators).merge(routes)
}

/// `/scene`: the map and the models.
async fn scene(Pages(pages): Pages) -> impl IntoResponse {
    let json = |scene| ([(header::CONTENT_TYPE, "application/json")], scene);
    pages.level_views.respond(pages.game.level(), move |view| json(view.scene.clone())).await
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
    let server = &all.first().game.telemetry.server;
    ([(header::CONTENT_TYPE, FORMAT)], server.scraped_page(Instant::now(), || observe(&all)))
}

/// `/figures`: the metrics for web pages, at most a second old, with their age. All requests within
/// that second get the same page.
async fn figures(State(all): All) -> impl IntoResponse {
    let server = &all.first().game.telemetry.server;
    let (page, age) = server.shared_page(Instant::now(), || observe(&all));
    // The age has a separate header, because the standard header `age` can only hold whole seconds.
    let age = (HeaderName::from_static("x-age-seconds"), format!("{:.3}", age.as_secs_f64()));
    ([(header::CONTENT_TYPE, FORMAT.to_owned()), age], page)
}

/// `/healthz`: whether any match is alive, for a supervisor that restarts the server. The answer
/// also names the matches that hang or have failed. Its status is 200 while any match is alive, so
/// the supervisor lets that match go on.
async fn health(State(all): All) -> (StatusCode, String) {
    let now = Instant::now();
    let hanging = hanging(&all, now);
    match all.is_alive(now) {
        true => (StatusCode::OK, format!("ok\n{hanging}{}", failures(&all))),
        false => (StatusCode::SERVICE_UNAVAILABLE, hanging),
    }
}

/// A line for each match that hangs: it has not failed, but its last tick is at least [`STALL`]
/// ago.
fn hanging(all: &AllPages, now: Instant) -> String {
    let line = |pages: &Arc<PageState>| {
        let age = pages.game.telemetry.tick.age(now);
        let (prefix, seconds) = (pages.game.prefix(), age.as_secs_f64());
        (age >= STALL).then(|| format!("{prefix}the last tick was {seconds:.1} s ago\n"))
    };
    all.played().filter_map(line).collect()
}

/// A line for each match that has failed.
fn failures(all: &AllPages) -> String {
    let line = |pages: &Arc<PageState>| {
        let why = pages.game.failure.get()?;
        Some(format!("{}has failed: {why}\n", pages.game.prefix()))
    };
    all.iter().filter_map(line).collect()
}

/// Time after a stall before the server is ready for players again. A machine that stalls once may
/// do so again, and a probe every few seconds must see it.
const SETTLING: Duration = Duration::from_secs(10);

/// `/readyz`: whether players should be sent here, for a matchmaker or load balancer.
async fn readiness(State(all): All) -> (StatusCode, String) {
    let stop = &all.first().game.stop;
    let hanging = hanging(&all, Instant::now());
    let refused = if stop.is_requested() {
        Some("shutting down\n".to_owned())
    } else if let Some(left) = stop.draining() {
        Some(format!("draining: it shuts down in {:.1} s\n", left.as_secs_f64()))
    } else if !hanging.is_empty() {
        Some(hanging)
    } else {
        all.played().find_map(|pages| unready(pages))
    };
    match refused {
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
        None => (StatusCode::OK, format!("ready\n{}", failures(&all))),
    }
}

/// The reason why no players should be sent to this match, if there is one.
fn unready(pages: &PageState) -> Option<String> {
    let (tick, prefix) = (&pages.game.telemetry.tick, pages.game.prefix());
    let stall = tick.last_stall().filter(|stall| stall.ended.elapsed() < SETTLING);
    if let Some(stall) = stall {
        let lasted = stall.lasted.as_secs_f64();
        let ago = stall.ended.elapsed().as_secs_f64();
        Some(format!("{prefix}no tick was finished for {lasted:.1} s, until {ago:.1} s ago\n"))
    } else if !tick.is_on_time() {
        Some(format!("{prefix}ticks are late\n"))
    } else {
        let status = pages.recording.status();
        let failure = status.and_then(|status| status.failure().map(str::to_owned));
        failure.map(|why| format!("{prefix}the recording failed: {why}\n"))
    }
}
