//! HTTPS of the public page, with the certificate of the match. A page may open WebTransport only
//! if it came over HTTPS, or from the browser's own machine.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::limits::BUFFER;
use super::metered::Metered;

/// The TLS configuration, which changes when the certificate is renewed.
pub(super) type Tls = watch::Receiver<Arc<rustls::ServerConfig>>;

/// The first byte of a TLS connection: the type of a handshake record (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// A connection whose kind is known from its first byte.
pub(super) enum Opened {
    /// A TLS connection after its handshake.
    Encrypted(Box<TlsStream<Metered<TcpStream>>>),
    /// A plain HTTP connection, to be redirected.
    Plain(Metered<TcpStream>),
}

/// Tells by the first byte of a connection whether it is TLS, and does the handshake if it is. The
/// caller limits the time.
///
/// # Errors
/// The connection broke, or the handshake failed or is too long.
pub(super) async fn open(mut stream: Metered<TcpStream>, tls: &Tls) -> io::Result<Opened> {
    let mut first = [0];
    if stream.get_ref().peek(&mut first).await? == 1 && first[0] != HANDSHAKE {
        return Ok(Opened::Plain(stream));
    }
    let config = Arc::clone(&tls.borrow());
    stream.opens();
    let mut stream = TlsAcceptor::from(config).accept(stream).await?;
    let (metered, session) = stream.get_mut();
    metered.is_open();
    session.set_buffer_limit(Some(BUFFER));
    Ok(Opened::Encrypted(Box::new(stream)))
}

/// Redirects a visitor who typed the address without `https` to the same address with it.
pub(super) fn redirect() -> Router {
    Router::new().fallback(async |headers: HeaderMap, uri: Uri| -> Response {
        match headers.get(header::HOST).and_then(|host| host.to_str().ok()) {
            Some(host) => Redirect::permanent(&format!("https://{host}{uri}")).into_response(),
            None => (StatusCode::BAD_REQUEST, "this port serves only HTTPS\n").into_response(),
        }
    })
}
