//! The traces of a match, which a stand-in for an OpenTelemetry collector gets by OTLP over HTTP.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use obsp_client::quic::{Connector, MapStore, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;
use server::{Options, OtlpOptions, PageOptions, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Far longer than anything here takes.
const HANG: Duration = Duration::from_secs(30);

/// A stand-in for a collector, which keeps all spans.
struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    address: SocketAddr,
}

impl Collector {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let spans = Arc::<Mutex<Vec<Span>>>::default();
        let collected = Arc::clone(&spans);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(collect(stream, Arc::clone(&collected)));
            }
        });
        Self { spans, address }
    }

    fn named(&self, name: &str) -> Vec<Span> {
        self.spans.lock().unwrap().iter().filter(|span| span.name == name).cloned().collect()
    }
}

/// Answers the requests of one connection.
async fn collect(mut stream: TcpStream, spans: Arc<Mutex<Vec<Span>>>) {
    let mut bytes = Vec::new();
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().trim().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                assert!(head.starts_with("post /v1/traces "), "{head}");
                let body = &bytes[end + 4..end + 4 + length];
                let request = ExportTraceServiceRequest::decode(body).unwrap();
                let scopes = request.resource_spans.into_iter().flat_map(|of| of.scope_spans);
                spans.lock().unwrap().extend(scopes.flat_map(|scope| scope.spans));
                bytes.drain(..end + 4 + length);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                continue;
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(length) if length > 0 => bytes.extend_from_slice(&chunk[..length]),
            _ => return,
        }
    }
}

/// Serves a match for one player, and sends its traces to `collector`.
fn serve(collector: SocketAddr) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let otlp = OtlpOptions { otlp: Some(format!("http://{collector}")) };
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        otlp,
        max_players: 1,
        ..Options::new(map)
    };
    Server::start(&options).unwrap()
}

/// A connector that has no map, so that the server must send it.
fn connector(running: &Server) -> Connector {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    connector.with_maps(Arc::new(MapStore::new(Vec::new())))
}

fn name() -> PlayerName {
    PlayerName::new("one").unwrap()
}

#[tokio::test]
async fn a_collector_is_told_of_joins_map_transfers_and_ticks() {
    let collector = Collector::start().await;
    let running = serve(collector.address);
    let connector = connector(&running);
    let player = connector.join(&name(), MapHash::ANY).await.unwrap();
    // The match has room for one player.
    assert!(connector.join(&name(), MapHash::ANY).await.is_err());
    // One tick in 600 has a span.
    let told = async {
        while metric(&get(running.http_addr(), "/metrics").await.body, "game_ticks_total") < 610.0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(HANG, told).await.expect("the match goes on for 610 ticks");
    player.leave().await;
    running.shutdown();
    // The server sends its last spans before it ends.
    let ended = tokio::task::spawn_blocking(|| running.join());
    timeout(HANG, ended).await.unwrap().unwrap().unwrap();

    let joins = collector.named("join");
    let (refused, joined): (Vec<_>, Vec<_>) = joins.into_iter().partition(|span| {
        span.status.as_ref().is_some_and(|status| status.code == StatusCode::Error as i32)
    });
    let ([refused], [joined]) = (&refused[..], &joined[..]) else {
        panic!("{} refused, {} joined", refused.len(), joined.len())
    };
    assert_eq!(refused.status.as_ref().unwrap().message, "full");
    let attribute = |name| joined.attributes.iter().any(|attribute| attribute.key == name);
    assert!(attribute("arena.slot") && attribute("client.address"), "{joined:?}");
    // The map is followed by the game's data, which has the models of the map's items.
    let transfers = collector.named("map transfer");
    let [transfer, data] = &transfers[..] else { panic!("{transfers:?}") };
    assert_eq!(data.parent_span_id, joined.span_id);
    assert_eq!(transfer.parent_span_id, joined.span_id);
    assert_eq!(transfer.trace_id, joined.trace_id);
    assert!(transfer.start_time_unix_nano >= joined.start_time_unix_nano);
    assert!(transfer.end_time_unix_nano > transfer.start_time_unix_nano);
    let ticks = collector.named("tick");
    assert!((1..=2).contains(&ticks.len()), "{} ticks", ticks.len());
    for phase in ["input", "sim", "publish", "wake"] {
        let parts = collector.named(phase);
        assert_eq!(parts.len(), ticks.len());
        assert_eq!(parts[0].parent_span_id, ticks[0].span_id);
    }
}

#[tokio::test]
async fn a_collector_that_is_gone_or_never_answers_stops_nobody() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for collector in [gone, silent.local_addr().unwrap()] {
        let running = serve(collector);
        let player = connector(&running).join(&name(), MapHash::ANY).await.unwrap();
        player.leave().await;
        running.shutdown();
        let begin = Instant::now();
        let ended = tokio::task::spawn_blocking(|| running.join());
        timeout(HANG, ended).await.unwrap().unwrap().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
}

#[test]
fn an_address_that_is_none_is_named_with_the_way_out() {
    for url in ["collector:4318", "https://collector", "http://"] {
        let options =
            Options { otlp: OtlpOptions { otlp: Some(url.into()) }, ..Options::new("arena") };
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let error = Server::start(&Options {
            listen: vec![any_port],
            pages: PageOptions::at(any_port),
            ..options
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(url) && error.contains("http://127.0.0.1:4318"), "{error}");
    }
}
