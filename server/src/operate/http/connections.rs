//! Connections to the pages, and their limits. No visitor is refused. Addresses share the places
//! ([`places`](super::places)). Bytes are charged to addresses before they are sent
//! ([`metered`](super::metered)). Handshakes and heads of requests are limited in time and size.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
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

use super::gatekeeper::{Gatekeeper, harden, misdirected};
use super::limits::{BUFFER, FAREWELL_PART};
use super::metered::Metered;
use super::places::{Place, Places};
use super::tls;
use crate::common::token_bucket::{Rate, TokenBucket};
use crate::door::outgoing::{Payer, Purpose};
use crate::network::canonical_address;

/// Requests that one connection may send without waiting. A page requests all its files at once,
/// and then some data several times a second.
const REQUESTS: Rate = Rate { per_second: 20.0, burst: 60.0 };

/// How long answers that have begun may take once the server ends.
const GOODBYE: Duration = Duration::from_secs(2);

/// How long to wait after no connection could be accepted. The system may have no descriptor left,
/// and an immediate retry would keep the thread busy.
const RECOVERY: Duration = Duration::from_millis(100);

/// Serves `pages` until asked to stop. Answers that have begun are finished.
pub(crate) async fn serve(listener: TcpListener, pages: Router, gatekeeper: Gatekeeper) {
    let places = Places::new(gatekeeper.limits, gatekeeper.places_lost.clone());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    let address = canonical_address(address);
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

/// A connection that has a place.
struct Visitor {
    address: SocketAddr,
    payer: Payer,
    place: Place,
    /// Bytes that were sent to the visitor.
    sent: Arc<AtomicU64>,
}

/// Serves one connection, encrypted or not.
async fn serve_one(
    stream: TcpStream,
    address: SocketAddr,
    pages: Router,
    gatekeeper: Gatekeeper,
    place: Place,
) {
    let payer = gatekeeper.outgoing.payer(address.ip(), Purpose::Pages);
    let stream = Metered::new(stream, gatekeeper.toll(payer.clone()));
    let visitor = Visitor { address, payer, place, sent: stream.sent() };
    let Some(tls) = gatekeeper.tls.clone() else {
        return answer(stream, visitor, pages, gatekeeper).await;
    };
    let evict = visitor.place.eviction();
    let opening = async {
        // A handshake costs as much as several requests, so it is charged and waits as a request
        // does.
        visitor.payer.ask().await;
        tls::open(stream, &tls).await
    };
    let opened = tokio::select! {
        opened = timeout(gatekeeper.limits.opening, opening) => opened,
        () = evict.notified() => return,
    };
    match opened {
        Ok(Ok(tls::Opened::Encrypted(stream))) => {
            answer(*stream, visitor, pages, gatekeeper).await;
        }
        Ok(Ok(tls::Opened::Plain(stream))) => {
            answer(stream, visitor, tls::redirect(), gatekeeper).await;
        }
        Ok(Err(error)) => debug!("{address} opened no TLS connection: {error}"),
        Err(_) => debug!("the TLS handshake of {address} took too long"),
    }
}

/// Answers the requests of one connection until the connection ends.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    visitor: Visitor,
    pages: Router,
    gatekeeper: Gatekeeper,
) {
    let viewer = gatekeeper.viewer(visitor.address.ip());
    let Gatekeeper { limits, origins, stop, .. } = gatekeeper;
    let Visitor { address, payer, place, sent } = visitor;
    let evict: Arc<Notify> = place.eviction();
    let pages = TowerToHyperService::new(pages);
    let requests = Mutex::new(TokenBucket::full(std::time::Instant::now()));
    let (place, origins, requests, payer) = (&place, &origins, &requests, &payer);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let pages = pages.clone();
        async move {
            sleep(turn(requests)).await;
            payer.ask().await;
            request.extensions_mut().insert(viewer);
            let mut response = match misdirected(&request, origins) {
                Some(refusal) => refusal,
                None => pages.call(request).await?,
            };
            harden(&mut response);
            place.answered(Instant::now());
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = evict.notified() => return debug!("{address} made room for a newer connection"),
        () = async {
            // The wait ends when the connection's life is over, or when the server is asked to
            // stop.
            let _ = timeout(limits.life, stop.requested()).await;
        } => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = while_read(connection, &sent, limits.farewell) => match ended {
                    Some(ended) => ended,
                    None => return debug!("HTTP response to {address} timed out"),
                },
                () = evict.notified() => return,
            }
        }
    };
    if let Err(error) = ended {
        debug!("the connection of {address} to the pages ended: {error}");
    }
}

/// Waits for the end of a connection, for as long as its visitor reads at least [`FAREWELL_PART`]
/// bytes in each `farewell`. `None` if the visitor reads fewer.
async fn while_read<C: Future>(
    mut connection: Pin<&mut C>,
    sent: &AtomicU64,
    farewell: Duration,
) -> Option<C::Output> {
    loop {
        let before = sent.load(Ordering::Relaxed);
        if let Ok(ended) = timeout(farewell, connection.as_mut()).await {
            return Some(ended);
        }
        if sent.load(Ordering::Relaxed) - before < FAREWELL_PART {
            return None;
        }
    }
}

/// How long a request has to wait, because earlier requests on its connection have used up the
/// rate.
fn turn(requests: &Mutex<TokenBucket>) -> Duration {
    let now = std::time::Instant::now();
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = requests.wait(REQUESTS, 1.0, now);
    requests.charge(REQUESTS, 1.0, now);
    wait
}

#[cfg(test)]
mod tests;
