//! Requests to the pages of a running server.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The answer of a server's HTTP listener to a `GET`.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Requests one page of a server's HTTP listener.
///
/// # Panics
/// If there is no answer.
pub async fn get(address: SocketAddr, path: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // HTTP 1.0, in which an answer ends with its connection.
    let request = format!("GET {path} HTTP/1.0\r\nHost: test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Answer { status: status.unwrap_or_else(|| panic!("{text}")), body: body.to_owned() }
}

/// The value of one series of the metrics page, labels included in its name.
///
/// # Panics
/// If the page has no such series.
pub fn metric(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
}
