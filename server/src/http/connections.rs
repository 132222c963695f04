//! Who is served the pages, and for how long: players share the thread and the
//! process's descriptors with whoever asks, so neither many connections nor slow
//! ones may take more than their share.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use crate::stop::Stop;

/// What connections to the pages are allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many may be open at once; more wait to be accepted.
    pub(super) connections: usize,
    /// How long a request may be on its way, or stay away.
    pub(super) request: Duration,
    /// After how long a connection takes no further request.
    pub(super) life: Duration,
    /// How long the last answer may take to be read.
    pub(super) farewell: Duration,
}

impl Limits {
    /// What is served: a browser opens six connections at most, and a quarter of
    /// the 1024 descriptors that systems grant is plenty. Pages ask once a
    /// second, and the largest answer, the scene, passes a slow line in 30 s.
    pub(super) const SERVED: Self = Self {
        connections: 256,
        request: Duration::from_secs(10),
        life: Duration::from_secs(60),
        farewell: Duration::from_secs(30),
    };
}

/// How long to wait when the system gives no connection: it may have no
/// descriptor left, and asking again at once would take the thread.
const RECOVERY: Duration = Duration::from_millis(100);

/// Serves `pages` until asked to stop; answers under way are finished.
pub(super) async fn serve(listener: TcpListener, pages: Router, limits: Limits, stop: Stop) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let accepted = async || {
        // Nobody closes the semaphore.
        let place = Arc::clone(&places).acquire_owned().await.ok()?;
        match listener.accept().await {
            Ok((stream, address)) => Some((stream, address, place)),
            Err(error) => {
                recover(&error).await;
                None
            }
        }
    };
    loop {
        let (stream, address, place) = tokio::select! {
            accepted = accepted() => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
            () = stop.requested() => return,
        };
        let (pages, stop) = (pages.clone(), stop.clone());
        tokio::spawn(async move {
            answer(stream, address, pages, limits, stop).await;
            drop(place);
        });
    }
}

/// Waits, unless the error was that of a single connection.
async fn recover(error: &std::io::Error) {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        warn!("no connection to the pages could be accepted: {error}");
        sleep(RECOVERY).await;
    }
}

/// Answers all that one connection asks within its life.
async fn answer(stream: TcpStream, address: SocketAddr, pages: Router, limits: Limits, stop: Stop) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async {
            // Whichever comes first.
            let _ = timeout(limits.life, stop.requested()).await;
        } => {
            connection.as_mut().graceful_shutdown();
            match timeout(limits.farewell, connection).await {
                Ok(ended) => ended,
                Err(_) => return debug!("{address} did not take its answer"),
            }
        }
    };
    if let Err(error) = ended {
        debug!("the connection of {address} to the pages ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

    /// Long enough to tell from nothing at all, short enough to wait for.
    const SHORT: Duration = Duration::from_millis(400);

    /// Only a hang lasts as long.
    const HANG: Duration = Duration::from_secs(20);

    async fn pages(limits: Limits) -> (SocketAddr, Stop) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
        // More than the buffers of both ends hold.
        let long = "long ".repeat(10_000_000);
        let pages = Router::new()
            .route("/", get(async || "here"))
            .route("/long", get(async move || long.clone()));
        tokio::spawn(serve(listener, pages, limits, stop.clone()));
        (address, stop)
    }

    async fn say(address: SocketAddr, words: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(words).await.unwrap();
        stream
    }

    /// All that the other end has to say until it closes.
    async fn hear(stream: &mut TcpStream) -> String {
        let mut heard = Vec::new();
        // Whether it closes or resets, it is gone.
        let _ = timeout(HANG, stream.read_to_end(&mut heard)).await.expect("never closed");
        String::from_utf8(heard).unwrap()
    }

    #[tokio::test]
    async fn half_a_request_is_not_waited_for() {
        let (address, _stop) = pages(Limits { request: SHORT, ..Limits::SERVED }).await;
        let begin = Instant::now();
        let mut slow = say(address, b"GET / HT").await;
        let mut silent = say(address, b"").await;
        // Others need not wait for them.
        assert!(hear(&mut say(address, ASK).await).await.ends_with("here"));
        assert!(!hear(&mut slow).await.contains("here"));
        assert!(!hear(&mut silent).await.contains("here"));
        assert!(begin.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn no_more_are_served_at_once_than_there_are_places() {
        let limits = Limits { connections: 2, request: SHORT, ..Limits::SERVED };
        let (address, _stop) = pages(limits).await;
        let begin = Instant::now();
        let _slow = [say(address, b"GET").await, say(address, b"GET").await];
        assert!(hear(&mut say(address, ASK).await).await.ends_with("here"));
        assert!(begin.elapsed() >= SHORT, "the third was served after {:?}", begin.elapsed());
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_gives_its_place_back() {
        let limits = Limits { connections: 1, life: SHORT, farewell: SHORT, ..Limits::SERVED };
        let (address, _stop) = pages(limits).await;
        let begin = Instant::now();
        let _deaf = say(address, b"GET /long HTTP/1.0\r\n\r\n").await;
        assert!(hear(&mut say(address, ASK).await).await.ends_with("here"));
        assert!(begin.elapsed() >= 2 * SHORT);
    }

    #[tokio::test]
    async fn a_stop_ends_idle_connections() {
        let (address, stop) = pages(Limits::SERVED).await;
        let mut idle = say(address, b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await;
        let mut answer = [0; 8];
        idle.read_exact(&mut answer).await.unwrap();
        let begin = Instant::now();
        stop.request();
        hear(&mut idle).await;
        assert!(begin.elapsed() < Limits::SERVED.request);
    }
}
