use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};

use crate::error::{RunError, StartError};
use crate::network::Lobby;

pub(crate) use effects::Effects;
pub(crate) use layers::Layers;

mod connections;
mod effects;
mod info;
mod layers;
mod page;
pub(crate) mod scene;

/// What the pages tell of.
type Pages = State<Arc<Lobby>>;

/// The TCP socket of the operator's pages.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    let bind = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|source| StartError::Http { address, source })
}

/// Serves the operator's pages until asked to stop.
pub(crate) async fn serve(listener: TcpListener, lobby: Arc<Lobby>) -> Result<(), RunError> {
    let stop = lobby.stop.clone();
    let pages = Router::new()
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
        .with_state(lobby);
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
    connections::serve(listener, pages, connections::Limits::SERVED, stop).await;
    Ok(())
}

/// What the match is played in, for whoever draws it.
async fn scene(State(lobby): Pages) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], lobby.scene.clone())
}

/// The version of the text format that the exporter writes.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What Prometheus asks for.
async fn metrics(State(lobby): Pages) -> impl IntoResponse {
    let frame = Arc::clone(&lobby.frames.borrow());
    ([(header::CONTENT_TYPE, FORMAT)], lobby.telemetry.render(&frame))
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
    let frame = Arc::clone(&lobby.frames.borrow());
    if frame.is_fresh() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        let age = frame.simulated.elapsed().as_secs_f64();
        (StatusCode::SERVICE_UNAVAILABLE, format!("the last tick was {age:.1} s ago\n"))
    }
}

/// Whether players should be sent here: for who spreads them over servers.
async fn readiness(State(lobby): Pages) -> (StatusCode, String) {
    let (status, text) = health(State(Arc::clone(&lobby))).await;
    if status != StatusCode::OK {
        (status, text)
    } else if lobby.stop.is_requested() {
        (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned())
    } else if !lobby.telemetry.tick.is_on_time() {
        (StatusCode::SERVICE_UNAVAILABLE, "ticks are late\n".to_owned())
    } else {
        (StatusCode::OK, "ready\n".to_owned())
    }
}
