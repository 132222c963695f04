//! A whole server in a fleet: what a stand-in for Agones' sidecar hears of a match
//! over real HTTP, from the first tick to the end that nobody asked for.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use client_bot::Client;
use client_bot::client::{Connector, Trust};
use proto::control::{MapHash, PlayerName};
use server::{AgonesOptions, Options, Running, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const HEALTH: Duration = Duration::from_millis(200);
const EMPTY: Duration = Duration::from_millis(600);

/// Far longer than anything here takes.
const HANG: Duration = Duration::from_secs(30);

/// A sidecar that remembers what it was told and when.
struct Sidecar {
    told: Arc<Mutex<Vec<(Instant, String)>>>,
    address: SocketAddr,
}

impl Sidecar {
    /// One that answers, or takes everything and never says a word.
    async fn start(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<_>>>::default();
        let hear = Arc::clone(&told);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let told = Arc::clone(&hear);
                tokio::spawn(async move {
                    let mut stream = stream;
                    let line = request(&mut stream).await;
                    told.lock().unwrap().push((Instant::now(), line));
                    if answers {
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
                        let _ = stream.write_all(answer).await;
                    } else {
                        tokio::time::sleep(HANG).await;
                    }
                });
            }
        });
        Self { told, address }
    }

    fn lines(&self) -> Vec<String> {
        self.told.lock().unwrap().iter().map(|(_, line)| line.clone()).collect()
    }

    /// Waits until it has been told something that holds all of these.
    async fn is_told(&self, parts: &[&str]) {
        let heard = || self.lines().iter().any(|line| parts.iter().all(|part| line.contains(part)));
        let wait = async {
            while !heard() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(timeout(HANG, wait).await.is_ok(), "never {parts:?} in {:#?}", self.lines());
    }
}

/// Method, path and body of a request.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                let first = head.lines().next().unwrap_or_default();
                return format!("{} {body}", first.trim_end_matches(" HTTP/1.1"));
            }
        }
        let mut chunk = [0; 1024];
        match stream.read(&mut chunk).await {
            Ok(length) if length > 0 => bytes.extend_from_slice(&chunk[..length]),
            _ => return text,
        }
    }
}

fn serve(sidecar: SocketAddr) -> Running {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let agones = AgonesOptions {
        agones: true,
        agones_port: sidecar.port(),
        agones_health: HEALTH,
        agones_empty: EMPTY,
    };
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options = Options { listen: any_port, http: any_port, agones, ..Options::new(map) };
    Server::start(&options).unwrap()
}

async fn join(running: &Running) -> Client {
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    connector.join(&PlayerName::new("one").unwrap(), MapHash::ANY).await.unwrap()
}

#[tokio::test]
async fn a_fleet_hears_of_a_match_from_its_first_tick_to_its_end() {
    let sidecar = Sidecar::start(true).await;
    let running = serve(sidecar.address);
    sidecar.is_told(&["POST /ready"]).await;
    let before = sidecar.lines();
    let introduced = |parts: [&str; 2]| {
        let told = before.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(told, "not introduced by {parts:?}: {before:#?}");
    };
    introduced(["PUT /metadata/label", "arena"]);
    introduced(["PUT /metadata/label", "tick-rate"]);
    introduced(["PUT /metadata/annotation", &running.certificate_sha256().to_string()]);
    introduced(["PUT /metadata/annotation", &running.map_hash().to_string()]);
    introduced(["PATCH /v1beta1/counters/players", "\"count\":\"0\""]);

    let player = join(&running).await;
    sidecar.is_told(&["PATCH /v1beta1/counters/players", "\"count\":\"1\""]).await;
    sidecar.is_told(&["POST /allocate"]).await;
    player.leave().await;
    sidecar.is_told(&["POST /shutdown"]).await;
    // And nobody has to stop it.
    let ended = tokio::task::spawn_blocking(|| running.join());
    timeout(HANG, ended).await.expect("it ends by itself").unwrap().unwrap();

    let told = sidecar.told.lock().unwrap();
    let health: Vec<_> = told.iter().filter(|(_, line)| line.starts_with("POST /health")).collect();
    assert!(health.len() >= 3, "{} signs of health", health.len());
    let apart = |pair: &[&(Instant, String)]| pair[1].0 - pair[0].0;
    // A hair less: they are timed where they are sent.
    assert!(health.windows(2).all(|pair| apart(pair) > HEALTH * 4 / 5), "{health:?}");
}

#[tokio::test]
async fn a_sidecar_that_never_answers_disturbs_nobody() {
    let sidecar = Sidecar::start(false).await;
    let running = serve(sidecar.address);
    sidecar.is_told(&["POST /health"]).await;
    let player = join(&running).await;
    let ticks =
        async || metric(&get(running.http_addr(), "/metrics").await.body, "game_ticks_total");
    let before = ticks().await;
    let goes_on = async {
        while ticks().await < before + 60.0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    // Half the time that the sidecar would take to give up.
    timeout(HANG / 2, goes_on).await.expect("the match waits for the sidecar");
    player.leave().await;
    running.shutdown();
    let ended = tokio::task::spawn_blocking(|| running.join());
    timeout(HANG, ended).await.expect("it ends all the same").unwrap().unwrap();
}
