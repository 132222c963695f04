//! The REST interface of the Agones sidecar: requests, answers and errors.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::lifecycle::{ReportOutcome, count_request};

/// How long the sidecar, a process on this host, may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum number of bytes of an answer that are read. The description of this server has a few
/// thousand bytes.
const LONGEST_ANSWER: usize = 256 * 1024;

/// The REST interface of an Agones sidecar.
pub(super) struct Sidecar {
    address: SocketAddr,
}

/// A request to the sidecar: a report, or a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) body: serde_json::Value,
}

/// Why a request to the sidecar failed.
#[derive(Debug, Error)]
pub(super) enum Error {
    #[error("cannot reach the sidecar on {address}: {source}")]
    Unreachable { address: SocketAddr, source: std::io::Error },
    #[error("the exchange with the sidecar about {path} failed: {source}")]
    Http { path: &'static str, source: hyper::Error },
    #[error("the sidecar did not answer {path} within {PATIENCE:?}")]
    Silent { path: &'static str },
    #[error("the answer of the sidecar to {path} cannot be read")]
    Unreadable { path: &'static str },
    #[error("the sidecar answered {path} with {status}")]
    Refused { path: &'static str, status: StatusCode },
}

impl Error {
    /// The outcome of a report that failed with this error.
    pub(super) fn answer(&self) -> ReportOutcome {
        let unknown =
            [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED];
        match self {
            Self::Refused { status, .. } if unknown.contains(status) => ReportOutcome::Unknown,
            Self::Refused { status, .. } if status.is_client_error() => ReportOutcome::Rejected,
            _ => ReportOutcome::Lost,
        }
    }
}

impl Sidecar {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Sends the sidecar a report on a new connection. A few small requests a second need no pool
    /// of connections, and a broken connection leaves no state behind.
    pub(super) async fn tell(&self, report: &Report) -> Result<(), Error> {
        self.answer(report).await.map(|_| ())
    }

    /// Asks the sidecar for the description of this game server.
    pub(super) async fn game_server(&self) -> Result<serde_json::Value, Error> {
        let (path, body) = ("/gameserver", serde_json::Value::Null);
        self.ask(&Report { method: Method::GET, path, body }).await
    }

    /// Asks the sidecar how many places are counted as taken.
    pub(super) async fn counted(&self) -> Result<u32, Error> {
        let request = count_request();
        let answer = self.ask(&request).await?;
        let count = &answer["count"];
        // The count may be left out if it is zero, as in all of protobuf's JSON.
        let number = count.as_u64().or_else(|| count.as_str()?.parse().ok());
        let number = number.or_else(|| count.is_null().then_some(0));
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.ok_or(Error::Unreadable { path: request.path })
    }

    async fn ask(&self, request: &Report) -> Result<serde_json::Value, Error> {
        let answer = self.answer(request).await?;
        serde_json::from_slice(&answer).map_err(|_| Error::Unreadable { path: request.path })
    }

    async fn answer(&self, report: &Report) -> Result<Bytes, Error> {
        let path = report.path;
        match timeout(PATIENCE, self.exchange(report)).await {
            Ok(Ok((status, answer))) if status.is_success() => Ok(answer),
            Ok(Ok((status, _))) => Err(Error::Refused { path, status }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::Silent { path }),
        }
    }

    async fn exchange(&self, report: &Report) -> Result<(StatusCode, Bytes), Error> {
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
            .body(Full::new(match &report.body {
                serde_json::Value::Null => Bytes::new(),
                body => Bytes::from(body.to_string()),
            }));
        let Ok(request) = request else {
            unreachable!("a constant method, path and header make a valid request");
        };
        let mut answer = pin!(async {
            let answer = sender.send_request(request).await.map_err(broken)?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
            let body = body.map_err(|_| Error::Unreadable { path: report.path })?;
            Ok((status, body.to_bytes()))
        });
        let ended = tokio::select! {
            answer = &mut answer => return answer,
            // Polling the connection drives the exchange.
            ended = connection => ended,
        };
        // An answer counts even if the sidecar closes the connection after it.
        match (answer.await, ended) {
            (Ok(answer), _) => Ok(answer),
            (Err(_), Err(source)) => Err(broken(source)),
            (Err(error), Ok(())) => Err(error),
        }
    }
}
