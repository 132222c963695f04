use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long the sidecar, a process on this host, may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The REST interface of an Agones sidecar.
pub(super) struct Sidecar {
    address: SocketAddr,
}

/// One thing to tell: where and in which words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) body: serde_json::Value,
}

/// Why the sidecar was not told.
#[derive(Debug, Error)]
pub(super) enum Error {
    #[error("cannot reach the sidecar on {address}: {source}")]
    Unreachable { address: SocketAddr, source: std::io::Error },
    #[error("the sidecar broke off at {path}: {source}")]
    Http { path: &'static str, source: hyper::Error },
    #[error("the sidecar did not answer {path} within {PATIENCE:?}")]
    Silent { path: &'static str },
    #[error("the sidecar answered {path} with {status}")]
    Refused { path: &'static str, status: StatusCode },
}

impl Error {
    /// Whether asking again can have no other answer: this sidecar does not
    /// know the request at all.
    pub(super) fn is_final(&self) -> bool {
        let unknown =
            [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED];
        matches!(self, Self::Refused { status, .. } if unknown.contains(status))
    }
}

impl Sidecar {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Tells the sidecar one thing, on a connection of its own: a few small
    /// ones a second need no pool, and one that broke is no state to keep.
    pub(super) async fn tell(&self, report: &Report) -> Result<(), Error> {
        let path = report.path;
        match timeout(PATIENCE, self.exchange(report)).await {
            Ok(Ok(status)) if status.is_success() => Ok(()),
            Ok(Ok(status)) => Err(Error::Refused { path, status }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::Silent { path }),
        }
    }

    async fn exchange(&self, report: &Report) -> Result<StatusCode, Error> {
        let address = self.address;
        let unreachable = |source| Error::Unreachable { address, source };
        let broken = |source| Error::Http { path: report.path, source };
        let stream = TcpStream::connect(address).await.map_err(unreachable)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let request = Request::builder()
            .method(report.method.clone())
            .uri(report.path)
            .header(HOST, address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(report.body.to_string())));
        let Ok(request) = request else {
            unreachable!("a path and a header known beforehand make a request");
        };
        let mut answer = pin!(sender.send_request(request));
        let ended = tokio::select! {
            answer = &mut answer => return Ok(answer.map_err(broken)?.status()),
            // Drives the exchange.
            ended = connection => ended,
        };
        // Who closes the line behind an answer has answered all the same.
        match (answer.await, ended) {
            (Ok(answer), _) => Ok(answer.status()),
            (Err(_), Err(source)) | (Err(source), Ok(())) => Err(broken(source)),
        }
    }
}
