//! Connections to the pages, and their limits. No visitor is refused, and no visitor has to wait
//! for others. If all places are taken, or all places of one address, a new connection closes the
//! one whose last answer is longest ago. So slow readers cannot keep a probe out.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, warn};

use super::limits::Limits;
use super::places::{Place, Places};
use super::tls::{self, Tls};
use crate::origins::Origins;
use crate::stop::Stop;
use crate::token_bucket::{Rate, TokenBucket};

/// Requests that one connection may send without waiting. A page asks for all its files at once,
/// and for a few things several times a second.
const REQUESTS: Rate = Rate { per_second: 20.0, burst: 60.0 };

/// How long answers under way may take once the server ends.
const GOODBYE: Duration = Duration::from_secs(2);

/// How long to wait after no connection could be accepted. The system may have no descriptor left,
/// and an immediate retry would keep the thread busy.
const RECOVERY: Duration = Duration::from_millis(100);

/// The checks that each request has to pass.
#[derive(Clone)]
pub(super) struct Gatekeeper {
    limits: Limits,
    origins: Origins,
    stop: Stop,
    /// The TLS configuration. `None` for plain HTTP.
    tls: Option<Tls>,
}

impl Gatekeeper {
    /// The gatekeeper of plain HTTP pages. It serves requests for the hosts of `origins`, until
    /// `stop`.
    pub(super) fn new(origins: Origins, stop: Stop) -> Self {
        Self { limits: Limits::SERVED, origins, stop, tls: None }
    }

    /// Makes this gatekeeper serve HTTPS. Each connection uses the configuration that `tls` holds
    /// when it opens.
    pub(super) fn with_tls(self, tls: Tls) -> Self {
        Self { tls: Some(tls), ..self }
    }
}

/// Serves `pages` until asked to stop; answers under way are finished.
pub(super) async fn serve(listener: TcpListener, pages: Router, gatekeeper: Gatekeeper) {
    let places = Places::new(gatekeeper.limits);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    let place = places.take(address.ip(), Instant::now());
                    connections.spawn(serve_one(stream, address, pages.clone(), gatekeeper.clone(), place));
                }
                Err(error) => recover(&error).await,
            },
            Some(_) = connections.join_next() => {}
            () = gatekeeper.stop.requested() => break,
        }
    }
    let finished = async { while connections.join_next().await.is_some() {} };
    // The wait is limited, because a visitor may not read its answer.
    let _ = timeout(GOODBYE, finished).await;
}

/// Waits a moment, unless the error concerns a single connection.
async fn recover(error: &std::io::Error) {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        warn!("cannot accept a connection to the pages: {error}");
        sleep(RECOVERY).await;
    }
}

/// Serves one connection, encrypted or not.
async fn serve_one(
    stream: TcpStream,
    address: SocketAddr,
    pages: Router,
    gatekeeper: Gatekeeper,
    place: Place,
) {
    let Some(tls) = gatekeeper.tls.clone() else {
        return answer(stream, address, pages, gatekeeper, place).await;
    };
    let evict = place.eviction();
    let opened = tokio::select! {
        opened = timeout(gatekeeper.limits.request, tls::open(stream, &tls)) => opened,
        () = evict.notified() => return,
    };
    match opened {
        Ok(Ok(tls::Opened::Encrypted(stream))) => {
            answer(*stream, address, pages, gatekeeper, place).await;
        }
        Ok(Ok(tls::Opened::Plain(stream))) => {
            answer(stream, address, tls::redirect(), gatekeeper, place).await;
        }
        Ok(Err(error)) => debug!("{address} opened no TLS connection: {error}"),
        Err(_) => debug!("the TLS handshake of {address} took too long"),
    }
}

/// Answers the requests of one connection until the connection ends.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
    pages: Router,
    gatekeeper: Gatekeeper,
    place: Place,
) {
    let Gatekeeper { limits, origins, stop, .. } = gatekeeper;
    let evict: Arc<Notify> = place.eviction();
    let pages = TowerToHyperService::new(pages);
    let requests = Mutex::new(TokenBucket::full(std::time::Instant::now()));
    let (place, origins, requests) = (&place, &origins, &requests);
    let service = service_fn(move |request: Request<Incoming>| {
        let pages = pages.clone();
        async move {
            sleep(turn(requests)).await;
            let response = match misdirected(&request, origins) {
                Some(refusal) => refusal,
                None => pages.call(request).await?,
            };
            place.answered(Instant::now());
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = evict.notified() => return debug!("{address} made room for a newer connection"),
        () = async {
            // This ends when the connection's life is over, or when the server is asked to stop.
            let _ = timeout(limits.life, stop.requested()).await;
        } => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = timeout(limits.farewell, connection) => match ended {
                    Ok(ended) => ended,
                    Err(_) => return debug!("HTTP response to {address} timed out"),
                },
                () = evict.notified() => return,
            }
        }
    };
    if let Err(error) = ended {
        debug!("the connection of {address} to the pages ended: {error}");
    }
}

/// How long a request has to wait because of earlier requests on its connection.
fn turn(requests: &Mutex<TokenBucket>) -> Duration {
    let now = std::time::Instant::now();
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = requests.wait(REQUESTS, 1.0, now);
    requests.charge(REQUESTS, 1.0, now);
    wait
}

/// The refusal of a request for an unknown host: a page elsewhere may have made that host's name
/// point to this server (DNS rebinding). A request without a host passes, because it does not come
/// from a browser.
fn misdirected(request: &Request<Incoming>, origins: &Origins) -> Option<Response<Body>> {
    let host = request.headers().get(header::HOST)?;
    if host.to_str().is_ok_and(|host| origins.knows_host(host)) {
        return None;
    }
    let text = "this server does not know that host; --allow-origin SCHEME://HOST allows it\n";
    let mut refusal = Response::new(Body::from(text));
    *refusal.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    Some(refusal)
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

    /// A time that is long enough to be measured and short enough for a test.
    const SHORT: Duration = Duration::from_millis(400);

    /// A time after which a step of a test counts as hanging.
    const HANG: Duration = Duration::from_secs(20);

    async fn pages(limits: Limits) -> (SocketAddr, Stop) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Stop::new());
        // This answer is longer than the buffers of both ends.
        let long = "long ".repeat(10_000_000);
        let pages = Router::new()
            .route("/", get(async || "here"))
            .route("/long", get(async move || long.clone()));
        let origins = Origins::new(&[], None);
        tokio::spawn(serve(
            listener,
            pages,
            Gatekeeper { limits, origins, stop: stop.clone(), tls: None },
        ));
        (address, stop)
    }

    async fn say(address: SocketAddr, words: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(words).await.unwrap();
        stream
    }

    /// Reads all that the server sends until it closes the connection.
    async fn hear(stream: &mut TcpStream) -> String {
        let mut heard = Vec::new();
        // The result is ignored: the connection may end by a reset instead of a close.
        let _ = timeout(HANG, stream.read_to_end(&mut heard)).await.expect("never closed");
        String::from_utf8(heard).unwrap()
    }

    #[tokio::test]
    async fn half_a_request_is_not_waited_for() {
        let (address, _stop) = pages(Limits { request: SHORT, ..Limits::SERVED }).await;
        let begin = Instant::now();
        let mut slow = say(address, b"GET / HT").await;
        let mut silent = say(address, b"").await;
        // Other visitors do not wait for these two, whose requests are incomplete.
        assert!(hear(&mut say(address, ASK).await).await.ends_with("here"));
        assert!(!hear(&mut slow).await.contains("here"));
        assert!(!hear(&mut silent).await.contains("here"));
        assert!(begin.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn slow_connections_make_room_for_a_probe_at_once() {
        let limits = Limits { of_one_address: 4, ..Limits::SERVED };
        let (address, _stop) = pages(limits).await;
        let mut slow = Vec::new();
        for _ in 0..40 {
            slow.push(say(address, b"GET").await);
        }
        slow.push(say(address, b"GET /long HTTP/1.0\r\n\r\n").await);
        let begin = Instant::now();
        assert!(hear(&mut say(address, ASK).await).await.ends_with("here"));
        assert!(begin.elapsed() < limits.request / 2, "{:?}", begin.elapsed());
        // The first slow connection was closed. The last one before `/long` is still open.
        assert_eq!(hear(&mut slow[0]).await, "");
        let mut last = slow.swap_remove(39);
        assert!(timeout(SHORT, last.read_u8()).await.is_err());
    }

    #[tokio::test]
    async fn requests_in_a_row_wait_for_their_turn() {
        let (address, _stop) = pages(Limits::SERVED).await;
        let asked = REQUESTS.burst as usize + 10;
        let ask = "GET / HTTP/1.1\r\nhost: test\r\n\r\n".repeat(asked);
        let begin = Instant::now();
        let mut stream = say(address, ask.as_bytes()).await;
        let (mut heard, mut chunk) = (String::new(), [0; 4096]);
        while heard.matches("here").count() < asked {
            let length = timeout(HANG, stream.read(&mut chunk)).await.unwrap().unwrap();
            heard += std::str::from_utf8(&chunk[..length]).unwrap();
        }
        assert!(begin.elapsed() >= SHORT, "{:?}", begin.elapsed());
    }

    #[tokio::test]
    async fn a_name_that_is_not_ours_is_not_answered() {
        let (address, _stop) = pages(Limits::SERVED).await;
        let mut rebound = say(address, b"GET / HTTP/1.0\r\nhost: evil.example\r\n\r\n").await;
        let answer = hear(&mut rebound).await;
        assert!(answer.starts_with("HTTP/1.0 421") && !answer.ends_with("here"), "{answer}");
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_gives_its_place_back() {
        let limits = Limits { life: SHORT, farewell: SHORT, ..Limits::SERVED };
        let (address, _stop) = pages(limits).await;
        let begin = Instant::now();
        let mut deaf = say(address, b"GET /long HTTP/1.0\r\n\r\n").await;
        sleep(10 * SHORT).await;
        // Only the part that was already in the buffers arrives.
        assert!(hear(&mut deaf).await.len() < 50_000_000);
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
