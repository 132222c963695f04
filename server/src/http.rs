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
use crate::network::Lobby;

use connections::Gatekeeper;
pub(crate) use effects::Effects;
pub(crate) use layers::Layers;

mod connections;
mod effects;
mod info;
mod layers;
mod page;
mod places;
pub(crate) mod scene;

/// What the pages tell of.
type Pages = State<Arc<Lobby>>;

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

/// Serves the operator's pages until asked to stop, in a runtime of its own: however
/// much is asked, players do not wait for it, and however much they send, a probe is
/// answered.
pub(crate) fn run(listener: TcpListener, lobby: Arc<Lobby>) -> Result<(), RunError> {
    let _stops_the_others = lobby.stop.when_dropped();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Http)?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
        connections::serve(listener, pages(&lobby), Gatekeeper::of(&lobby)).await;
        Ok(())
    });
    // What is worked out for a page may take longer than the end of the server.
    runtime.shutdown_background();
    served
}

/// Serves other pages by the same rules, until asked to stop.
pub(crate) async fn serve(
    listener: TcpListener,
    pages: Router,
    lobby: &Lobby,
) -> Result<(), RunError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
    connections::serve(listener, pages, Gatekeeper::of(lobby)).await;
    Ok(())
}

fn pages(lobby: &Arc<Lobby>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/web/{*path}", get(page::file))
        .route("/scene", get(scene))
        .route("/effects/{after}", get(effects::after))
        .route("/contacts", get(layers::contacts))
        .route("/cascade", get(layers::cascade))
        .route("/onion/{height}", get(layers::onion))
        .route("/metrics", get(metrics))
        .route("/figures", get(figures))
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .route("/info", get(async |State(lobby): Pages| Json(info::of(&lobby))))
        .with_state(Arc::clone(lobby))
}

/// What the match is played in, for whoever draws it.
async fn scene(State(lobby): Pages) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], lobby.level().scene.clone())
}

/// The version of the text format that the exporter writes.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What Prometheus asks for.
async fn metrics(State(lobby): Pages) -> impl IntoResponse {
    let frame = Arc::clone(&lobby.frames.borrow());
    ([(header::CONTENT_TYPE, FORMAT)], lobby.telemetry.scraped_page(&frame, Instant::now()))
}

/// The same for who looks on, up to a second old, and how old it is: all who ask
/// share one.
async fn figures(State(lobby): Pages) -> impl IntoResponse {
    let frame = Arc::clone(&lobby.frames.borrow());
    let (page, age) = lobby.telemetry.shared_page(&frame, Instant::now());
    // The header `age` itself knows whole seconds alone.
    let age = (HeaderName::from_static("x-age-seconds"), format!("{:.3}", age.as_secs_f64()));
    ([(header::CONTENT_TYPE, FORMAT.to_owned()), age], page)
}

/// Whether the match is alive: for who restarts what is not.
async fn health(State(lobby): Pages) -> (StatusCode, String) {
    if lobby.telemetry.tick.is_stalled() {
        let age = lobby.telemetry.tick.age(Instant::now()).as_secs_f64();
        (StatusCode::SERVICE_UNAVAILABLE, format!("the last tick was {age:.1} s ago\n"))
    } else {
        (StatusCode::OK, "ok\n".to_owned())
    }
}

/// Time after a stall before players are sent here again: a machine that stops
/// once may do so again, and a probe every few seconds must see it.
const SETTLING: Duration = Duration::from_secs(10);

/// Whether players should be sent here: for who spreads them over servers.
async fn readiness(State(lobby): Pages) -> (StatusCode, String) {
    let (status, text) = health(State(Arc::clone(&lobby))).await;
    let tick = &lobby.telemetry.tick;
    let stall = tick.last_stall().filter(|stall| stall.ended.elapsed() < SETTLING);
    if lobby.stop.is_requested() {
        (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned())
    } else if let Some(left) = lobby.stop.draining() {
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
        lobby.recording.status().and_then(|status| status.failure().map(str::to_owned))
    {
        (StatusCode::SERVICE_UNAVAILABLE, format!("the recording failed: {why}\n"))
    } else {
        (StatusCode::OK, "ready\n".to_owned())
    }
}
