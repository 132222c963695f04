use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::error::{RunError, StartError};
use crate::telemetry::Telemetry;
use crate::tick_thread::LastFrame;

/// A match without a new frame for this long is not healthy: ten ticks at the
/// slowest rate there is.
const STALE: Duration = Duration::from_secs(1);

/// What the pages tell of.
#[derive(Clone)]
struct Pages {
    telemetry: Arc<Telemetry>,
    frame: LastFrame,
}

/// The TCP socket of the operator's pages.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    let bind = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|source| StartError::Http { address, source })
}

/// Serves the operator's pages until `stopped`.
pub(crate) async fn serve(
    listener: TcpListener,
    telemetry: Arc<Telemetry>,
    frame: LastFrame,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(), RunError> {
    let pages = Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(health))
        .with_state(Pages { telemetry, frame });
    let listener = tokio::net::TcpListener::from_std(listener).map_err(RunError::Http)?;
    axum::serve(listener, pages).with_graceful_shutdown(stopped).await.map_err(RunError::Http)
}

async fn metrics(State(pages): State<Pages>) -> impl IntoResponse {
    let frame = Arc::clone(&pages.frame.borrow());
    // The version of the text format that the exporter writes.
    let format = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (format, pages.telemetry.render(&frame))
}

async fn health(State(pages): State<Pages>) -> impl IntoResponse {
    let age = pages.frame.borrow().simulated.elapsed();
    if age < STALE {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        let text = format!("the last tick was {:.1} s ago\n", age.as_secs_f64());
        (StatusCode::SERVICE_UNAVAILABLE, text)
    }
}
