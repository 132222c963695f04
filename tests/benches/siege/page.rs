//! The public page: attackers of it, and visitors far away.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tests::harness::pages::{connect_from, encrypt, get, read_answer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::client::TlsStream;

/// Delay between a visitor and the server, in one direction.
const FLIGHT: Duration = Duration::from_millis(100);

/// Longest time in which a visitor opens the page.
const VISIT: Duration = Duration::from_secs(10);

/// Bytes of a head that does not end.
const UNFINISHED: usize = 390_000;

/// The public page of the server under attack.
#[derive(Clone)]
pub(crate) struct PublicPage {
    pub(crate) address: SocketAddr,
    pin: [u8; 32],
    /// The path of the map.
    map: String,
}

impl PublicPage {
    /// The page at `address` of the server whose other pages are at `http`.
    pub(crate) async fn of(address: SocketAddr, http: SocketAddr) -> Self {
        let info = get(http, "/info").await.body;
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        let hex = info["certificate_sha256"].as_str().unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
        let map = format!("/maps/{}", info["map_hash"].as_str().unwrap());
        Self { address, pin: std::array::from_fn(byte), map }
    }

    async fn open(&self, source: Ipv4Addr) -> io::Result<TlsStream<TcpStream>> {
        let stream = connect_from(source.into(), self.address).await?;
        encrypt(stream, self.address, self.pin).await
    }
}

fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")
}

/// Asks for the map four times by one connection, and reads until the connection ends.
pub(crate) async fn page_downloads(page: &PublicPage, source: Ipv4Addr) -> Option<()> {
    let mut stream = page.open(source).await.ok()?;
    let ask = request(&page.map).repeat(4);
    let mut chunk = vec![0; 1 << 16];
    stream.write_all(ask.as_bytes()).await.ok()?;
    while stream.read(&mut chunk).await.ok()? > 0 {}
    Some(())
}

/// Holds a place by sending a small request now and then.
pub(crate) async fn hold(page: &PublicPage, source: Ipv4Addr) -> Option<()> {
    let mut stream = page.open(source).await.ok()?;
    let mut chunk = [0; 4096];
    loop {
        stream.write_all(request("/games/none").as_bytes()).await.ok()?;
        (stream.read(&mut chunk).await.ok()? > 0).then_some(())?;
        sleep(Duration::from_millis(2000)).await;
    }
}

/// Opens a connection every 50 ms, and holds it without a request.
pub(crate) async fn newcomer(page: &PublicPage, source: Ipv4Addr) {
    let page = page.clone();
    tokio::spawn(async move {
        if let Ok(mut stream) = page.open(source).await {
            let _ = stream.read_u8().await;
        }
    });
    sleep(Duration::from_millis(40)).await;
}

/// Sends a head that does not end.
pub(crate) async fn unfinished_heads(page: &PublicPage, source: Ipv4Addr) -> Option<()> {
    let mut stream = page.open(source).await.ok()?;
    let head = format!("GET / HTTP/1.1\r\nhost: test\r\nx: {}", "x".repeat(UNFINISHED));
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut chunk = [0; 4096];
    while stream.read(&mut chunk).await.ok()? > 0 {}
    Some(())
}

/// Opens the page as a browser far away does. Returns whether the page came within [`VISIT`].
pub(crate) async fn visit(page: &PublicPage, source: Ipv4Addr) -> bool {
    let opened = async {
        // Opening the connection takes a round trip.
        sleep(2 * FLIGHT).await;
        let stream = connect_from(source.into(), page.address).await.ok()?;
        let mut stream = encrypt(far_away(stream), page.address, page.pin).await.ok()?;
        stream.write_all(request("/").as_bytes()).await.ok()?;
        let mut heard = Vec::new();
        let mut chunk = [0; 4096];
        while !heard.ends_with(b"</html>\n") {
            let length = stream.read(&mut chunk).await.ok()?;
            heard.extend(&chunk[..length]);
            (length > 0).then_some(())?;
        }
        // The page's largest part comes by another connection.
        sleep(2 * FLIGHT).await;
        let stream = connect_from(source.into(), page.address).await.ok()?;
        let stream = encrypt(far_away(stream), page.address, page.pin).await.ok()?;
        let wasm = "/web/wasm/play.wasm";
        let answer =
            tokio::spawn(async move { read_answer(stream, wasm, "Accept-Encoding: br\r\n").await });
        Some(answer.await.ok()?.bytes.len() > 100_000)
    };
    matches!(timeout(VISIT, opened).await, Ok(Some(true)))
}

/// The near end of a line whose bytes take [`FLIGHT`] in each direction.
fn far_away(stream: TcpStream) -> DuplexStream {
    let (near, far) = duplex(1 << 20);
    let ((from_server, to_server), (from_visitor, to_visitor)) = (split(stream), split(far));
    tokio::spawn(fly(from_server, to_visitor));
    tokio::spawn(fly(from_visitor, to_server));
    near
}

async fn fly(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin + Send + 'static,
) {
    let (sender, mut receiver) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((due, bytes)) = receiver.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    });
    let mut chunk = vec![0; 1 << 14];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        let _ = sender.send((Instant::now() + FLIGHT, chunk[..length].to_vec()));
    }
}
