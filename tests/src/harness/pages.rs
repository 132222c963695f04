//! Requests to the pages of a running server, over HTTP or HTTPS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use obsp_client::quic::pinned;
use obsp_proto::Fingerprint;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The answer of a server's HTTP listener to a `GET`.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The status line and the headers, in lower case.
    pub head: String,
    /// The body as text; bytes that are not UTF-8 are replaced.
    pub body: String,
    /// The body, unchanged.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Requests one page of a server's HTTP listener.
///
/// # Panics
/// If there is no answer.
pub async fn get(address: SocketAddr, path: &str) -> Answer {
    get_with(address, path, "").await
}

/// Like [`get`], with more headers, each ended by `\r\n`.
///
/// # Panics
/// If there is no answer.
pub async fn get_with(address: SocketAddr, path: &str, headers: &str) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    read_answer(stream, path, headers).await
}

/// Like [`get`], from another address of this machine.
///
/// # Panics
/// If there is no answer.
pub async fn get_from(source: IpAddr, address: SocketAddr, path: &str) -> Answer {
    read_answer(connect_from(source, address).await.unwrap(), path, "").await
}

/// Connects from another address of this machine.
///
/// # Errors
/// The connection cannot be made.
pub async fn connect_from(source: IpAddr, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind((source, 0).into())?;
    socket.connect(address).await
}

/// Requests one page of a server's HTTPS listener, which must show the certificate whose
/// SHA-256 is `pin`.
///
/// # Panics
/// If there is no answer, or the server shows another certificate.
pub async fn get_encrypted(address: SocketAddr, pin: [u8; 32], path: &str) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    read_answer(encrypt(stream, address, pin).await.unwrap(), path, "").await
}

/// Opens TLS on a connection to a server that must show the certificate whose SHA-256 is `pin`.
///
/// # Errors
/// The handshake failed.
///
/// # Panics
/// Never: TLS 1.3 is supported.
pub async fn encrypt<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    address: SocketAddr,
    pin: [u8; 32],
) -> io::Result<TlsStream<S>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(pinned(Fingerprint(pin)))
        .with_no_client_auth();
    let name = ServerName::IpAddress(address.ip().into());
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// Sends a request by an open connection, with more headers, each ended by `\r\n`, and reads the
/// answer.
///
/// # Panics
/// If there is no answer.
pub async fn read_answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
    headers: &str,
) -> Answer {
    // In HTTP 1.0, the server closes the connection after its answer.
    let request = format!("GET {path} HTTP/1.0\r\nHost: test\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(answer.len());
    let bytes = answer.split_off((head + 4).min(answer.len()));
    let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = String::from_utf8_lossy(&bytes).into_owned();
    Answer { status: status.unwrap_or_else(|| panic!("no status: {head}")), head, body, bytes }
}

/// The value of one series on the metrics page. `series` is its name with its labels.
///
/// # Panics
/// If the page has no such series.
pub fn metric(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
}
