//! The receiver of the webhook: an HTTP or HTTPS address, and the key by which posts are signed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use ring::hmac;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ConfigBuilder};
use rustls_platform_verifier::BuilderVerifierExt;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Post;
use super::delivery::Receives;
use crate::common::error::WebhookError;
use crate::common::regular_file;

/// How long the receiver may take to connect and answer.
const TRY_LIMIT: Duration = Duration::from_secs(5);

/// Headers with the name of the event and the id of the post, for receivers that do not read the
/// body.
const EVENT: &str = "arena-event";
const DELIVERY: &str = "arena-delivery";

/// The header with the signature: `sha256=` and the HMAC-SHA256 of the body in hexadecimal, as
/// GitHub signs its posts.
const SIGNATURE: &str = "arena-signature-256";

/// Fewest bytes of a key: 128 bits. Anybody who has seen one signed post can try keys against it at
/// full speed, and would find a short key.
const SHORTEST_KEY: usize = 16;

/// Maximum size of the key file in bytes.
const LONGEST_KEY: u64 = 4096;

/// The key by which posts are signed.
#[derive(Debug)]
pub(super) struct Key(hmac::Key);

impl Key {
    /// Reads the key: the text of the file without spaces and line ends around it.
    pub(super) fn read(path: &Path) -> Result<Self, WebhookError> {
        let wrong = |reason| WebhookError::Key { path: path.to_owned(), reason };
        let text = regular_file::read_text(path, LONGEST_KEY);
        let text = text.map_err(|error| wrong(error.to_string()))?;
        Self::new(text.trim()).ok_or_else(|| {
            wrong(format!(
                "a key needs at least {SHORTEST_KEY} bytes; `openssl rand -hex 32` makes one"
            ))
        })
    }

    fn new(key: &str) -> Option<Self> {
        let is_long = key.len() >= SHORTEST_KEY;
        is_long.then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes())))
    }

    fn sign(&self, body: &[u8]) -> String {
        let tag = hmac::sign(&self.0, body);
        let digits = tag.as_ref().iter().map(|byte| format!("{byte:02x}"));
        format!("sha256={}", digits.collect::<String>())
    }
}

/// Why a post was not taken.
#[derive(Debug, Error)]
pub(super) enum PostError {
    #[error("cannot reach {host}: {source}")]
    Unreachable { host: String, source: std::io::Error },
    #[error("the exchange with {host} failed: {source}")]
    Http { host: String, source: hyper::Error },
    #[error("{host} did not answer within {TRY_LIMIT:?}")]
    Silent { host: String },
    #[error("the receiver answered with {0}{remark}", remark = remark(.0))]
    Status(StatusCode),
}

fn remark(status: &StatusCode) -> &'static str {
    if status.is_redirection() { "; redirections are not followed" } else { "" }
}

impl PostError {
    /// Whether another try would fail as well.
    pub(super) fn is_final(&self) -> bool {
        let passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
        match self {
            Self::Status(status) => !status.is_server_error() && !passing.contains(status),
            Self::Unreachable { .. } | Self::Http { .. } | Self::Silent { .. } => false,
        }
    }
}

/// The receiver.
pub(super) struct Target {
    authority: Authority,
    /// The path with its query. It may hold a secret and is never shown.
    path: String,
    port: u16,
    key: Option<Key>,
    /// The name in the receiver's certificate and how it is checked; `None` for plain HTTP.
    tls: Option<(ServerName<'static>, TlsConnector)>,
}

/// The TLS configuration of a client that trusts the system's root certificates.
pub(super) fn system_roots() -> Result<ClientConfig, rustls::Error> {
    Ok(tls_builder()?.with_platform_verifier()?.with_no_client_auth())
}

fn tls_builder() -> Result<ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

impl Target {
    /// The receiver at this URL. `tls` is used for `https://`.
    pub(super) fn new(
        url: &str,
        key: Option<Key>,
        tls: ClientConfig,
    ) -> Result<Self, WebhookError> {
        let wrong = |reason| WebhookError::Address { reason };
        let uri: Uri = url.parse().map_err(|_| wrong("the value is not a web address"))?;
        let is_https = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong("the address must begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("the address names no host"))?.clone();
        if authority.as_str().contains('@') {
            return Err(wrong("a name and a password in the address are not supported"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(|_| wrong("the host is no valid address"))?;
        let port = authority.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let tls = is_https.then(|| (name, TlsConnector::from(Arc::new(tls))));
        Ok(Self { authority, path, port, key, tls })
    }

    fn host(&self) -> String {
        self.authority.to_string()
    }

    async fn exchange(&self, post: &Post) -> Result<StatusCode, PostError> {
        let unreachable = |source| PostError::Unreachable { host: self.host(), source };
        let host = self.authority.host().trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, self.port)).await.map_err(unreachable)?;
        match &self.tls {
            Some((name, connector)) => {
                let stream = connector.connect(name.clone(), stream).await.map_err(unreachable)?;
                self.ask(stream, post).await
            }
            None => self.ask(stream, post).await,
        }
    }

    async fn ask(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        post: &Post,
    ) -> Result<StatusCode, PostError> {
        let broken = |source| PostError::Http { host: self.host(), source };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        let asked = async { sender.send_request(self.request(post)).await.map_err(broken) };
        let mut asked = std::pin::pin!(asked);
        tokio::select! {
            answer = &mut asked => return Ok(answer?.status()),
            // Polling the connection drives the exchange.
            _ = connection => {}
        }
        // An answer counts even if the receiver closes the connection after it.
        Ok(asked.await?.status())
    }

    fn request(&self, post: &Post) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(&post.body)));
        *request.method_mut() = Method::POST;
        // The path was read from a valid address.
        *request.uri_mut() = self.path.parse().unwrap_or_default();
        let headers = [
            (HOST, self.host()),
            (CONTENT_TYPE, "application/json".to_owned()),
            (USER_AGENT, concat!("arena-server/", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        let own = [(EVENT, post.event.to_owned()), (DELIVERY, post.id.clone())];
        let signature = self.key.as_ref().map(|key| (SIGNATURE, key.sign(&post.body)));
        let own = own.into_iter().chain(signature);
        let own = own.map(|(name, value)| (hyper::header::HeaderName::from_static(name), value));
        for (name, value) in headers.into_iter().chain(own) {
            // All values are plain ASCII.
            if let Ok(value) = value.parse() {
                request.headers_mut().insert(name, value);
            }
        }
        request
    }
}

impl Receives for Target {
    async fn post(&self, post: &Post) -> Result<(), PostError> {
        match timeout(TRY_LIMIT, self.exchange(post)).await {
            Ok(Ok(status)) if status.is_success() => Ok(()),
            Ok(Ok(status)) => Err(PostError::Status(status)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(PostError::Silent { host: self.host() }),
        }
    }
}

#[cfg(test)]
mod tests;
