//! The operator's pages (`--http`): the web page that shows the match and what it asks for,
//! metrics, probes, and what a program needs to know of the server. The public page
//! (`--page`) is the same over HTTPS (`tls`), without what is for operators. `connections`
//! limits what one visitor may take; `page_state` holds what the pages are made from, and
//! `level_view` computes what is shown of a level besides its snapshots.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use tokio::runtime::Builder;

use crate::error::{RunError, StartError};
use crate::match_handle::MatchHandle;
use crate::published::PublishedStates;

use connections::Gatekeeper;
pub(crate) use page_state::PageState;

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
mod scene;
mod tls;

/// The state of all handlers.
type Pages = State<Arc<PageState>>;

/// The TCP socket of the operator's pages, or of another service whose address
/// `option` names.
pub(crate) fn bind(address: SocketAddr, option: &'static str) -> Result<TcpListener, StartError> {
    let bind = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|source| StartError::Http { address, option, source })
}

/// Serves the operator's pages until asked to stop, in a runtime of its own: however many
/// requests arrive, players do not wait for them, and however much players send, a probe
/// is answered.
pub(crate) fn run(
    listener: TcpListener,
    state: &Arc<PageState>,
    states: PublishedStates,
) -> Result<(), RunError> {
    let game = Arc::clone(&state.game);
    let _stops_the_others = game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(listener, operator_routes(state), &game) => served,
            never = state.effects.record(states) => match never {},
        }
    });
    // Work on a view of the level may take longer than the end of the server.
    runtime.shutdown_background();
    served
}

/// Serves the public page until asked to stop, in a thread of its own: however many
/// strangers open it, the operator's probes are answered.
pub(crate) fn run_public(listener: TcpListener, state: &Arc<PageState>) -> Result<(), RunError> {
    let _stops_the_others = state.game.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        let game = &state.game;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
        let gatekeeper = Gatekeeper::new(game.access.origins.clone(), game.stop.clone())
            .with_tls(game.endpoint.https.subscribe());
        connections::serve(listener, public_routes(state, Audience::Everybody), gatekeeper).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Serves `pages` under the limits of all pages, until asked to stop.
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

/// What everybody may see: the page, and what it shows of the match.
fn public_routes(state: &Arc<PageState>, audience: Audience) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/web/wasm/page.wasm", get(page::wasm))
        .route("/web/{*path}", get(page::file))
        .route("/scene", get(scene))
        .route("/scene/{hash}", get(replays::scene_of))
        .route("/maps/{hash}", get(replays::map))
        .route("/replays", get(replays::list))
        .route("/replays/{name}", get(replays::one))
        .route("/effects/{after}", get(effects::after))
        .route("/contacts", get(layers::contacts))
        .route("/onion/{height}", get(layers::onion))
        .route("/info", get(async move |State(pages): Pages| Json(info::of(&pages, audience))))
        .with_state(Arc::clone(state))
}

/// What operators may see: all that everybody may, the cost of the match and its health.
fn operator_routes(state: &Arc<PageState>) -> Router {
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
async fn scene(State(pages): Pages) -> impl IntoResponse {
    let json = |scene| ([(header::CONTENT_TYPE, "application/json")], scene);
    pages.level_views.respond(pages.game.level(), move |view| json(view.scene.clone())).await
}

/// The version of the text format that the exporter writes.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `/metrics`, for Prometheus.
async fn metrics(State(pages): Pages) -> impl IntoResponse {
    let published = Arc::clone(&pages.game.latest.borrow());
    (
        [(header::CONTENT_TYPE, FORMAT)],
        pages.game.telemetry.scraped_page(&published, Instant::now()),
    )
}

/// `/figures`: the same for pages, at most a second old, with its age. All requests within
/// that second share one.
async fn figures(State(pages): Pages) -> impl IntoResponse {
    let published = Arc::clone(&pages.game.latest.borrow());
    let (page, age) = pages.game.telemetry.shared_page(&published, Instant::now());
    // The header `age` itself knows whole seconds alone.
    let age = (HeaderName::from_static("x-age-seconds"), format!("{:.3}", age.as_secs_f64()));
    ([(header::CONTENT_TYPE, FORMAT.to_owned()), age], page)
}

/// `/healthz`: whether the match is alive, for a supervisor that restarts it.
async fn health(State(pages): Pages) -> (StatusCode, String) {
    if pages.game.telemetry.tick.is_stalled() {
        let age = pages.game.telemetry.tick.age(Instant::now()).as_secs_f64();
        (StatusCode::SERVICE_UNAVAILABLE, format!("the last tick was {age:.1} s ago\n"))
    } else {
        (StatusCode::OK, "ok\n".to_owned())
    }
}

/// Time after a stall before players are sent here again: a machine that stops
/// once may do so again, and a probe every few seconds must see it.
const SETTLING: Duration = Duration::from_secs(10);

/// `/readyz`: whether players should be sent here, for a matchmaker or load balancer.
async fn readiness(State(pages): Pages) -> (StatusCode, String) {
    let (status, text) = health(State(Arc::clone(&pages))).await;
    let tick = &pages.game.telemetry.tick;
    let stall = tick.last_stall().filter(|stall| stall.ended.elapsed() < SETTLING);
    if pages.game.stop.is_requested() {
        (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned())
    } else if let Some(left) = pages.game.stop.draining() {
        let text = format!("draining: it shuts down in {:.1} s\n", left.as_secs_f64());
        (StatusCode::SERVICE_UNAVAILABLE, text)
    } else if status != StatusCode::OK {
        (status, text)
    } else if let Some(stall) = stall {
        let lasted = stall.lasted.as_secs_f64();
        let ago = stall.ended.elapsed().as_secs_f64();
        let text = format!("no tick was finished for {lasted:.1} s, until {ago:.1} s ago\n");
        (StatusCode::SERVICE_UNAVAILABLE, text)
    } else if !tick.is_on_time() {
        (StatusCode::SERVICE_UNAVAILABLE, "ticks are late\n".to_owned())
    } else if let Some(why) =
        pages.recording.status().and_then(|status| status.failure().map(str::to_owned))
    {
        (StatusCode::SERVICE_UNAVAILABLE, format!("the recording failed: {why}\n"))
    } else {
        (StatusCode::OK, "ready\n".to_owned())
    }
}
