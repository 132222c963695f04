//! A whole server in a fleet: a stand-in for Agones' sidecar gets the server's requests over real
//! HTTP, from the first tick of a match to its end.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use obsp_client::quic::{Client, Connector, Trust};
use obsp_proto::control::{MapHash, PlayerName};
use serde_json::json;
use server::{AgonesOptions, Options, PageOptions, Server};
use tests::harness;
use tests::harness::pages::{get, metric};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const HEALTH: Duration = Duration::from_millis(200);
const EMPTY: Duration = Duration::from_millis(600);

/// Far longer than anything here takes.
const HANG: Duration = Duration::from_secs(30);

/// The fleet's knowledge of the server.
#[derive(Debug, Default)]
struct GameServer {
    is_allocated: bool,
    /// The number of places that are taken.
    count: i64,
}

impl GameServer {
    /// Carries out a request, and returns the answer.
    fn hear(&mut self, line: &str) -> String {
        let body = line.split_once(' ').and_then(|(_, rest)| rest.split_once(' '));
        let body: serde_json::Value =
            body.and_then(|(_, body)| serde_json::from_str(body).ok()).unwrap_or_default();
        if let Some(by) = body["countDiff"].as_str() {
            self.count += by.parse::<i64>().unwrap();
        }
        self.is_allocated &= !line.starts_with("POST /ready");
        if line.starts_with("GET /v1beta1/counters/players") {
            return json!({ "name": "players", "count": self.count.to_string() }).to_string();
        }
        let state = if self.is_allocated { "Allocated" } else { "Ready" };
        let ports = json!([{ "name": "players", "port": 7123 }]);
        let status = json!({ "state": state, "address": "203.0.113.7", "ports": ports });
        json!({ "status": status }).to_string()
    }
}

/// A stand-in for the sidecar, which remembers the requests and their times.
struct Sidecar {
    told: Arc<Mutex<Vec<(Instant, String)>>>,
    game_server: Arc<Mutex<GameServer>>,
    address: SocketAddr,
}

impl Sidecar {
    /// Starts a sidecar that answers, or one that accepts requests and never answers.
    async fn start(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<_>>>::default();
        let game_server = Arc::<Mutex<GameServer>>::default();
        let (hear, state) = (Arc::clone(&told), Arc::clone(&game_server));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (told, state) = (Arc::clone(&hear), Arc::clone(&state));
                tokio::spawn(async move {
                    let mut stream = stream;
                    let line = request(&mut stream).await;
                    told.lock().unwrap().push((Instant::now(), line.clone()));
                    if answers {
                        let answer = state.lock().unwrap().hear(&line);
                        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}", answer.len());
                        let _ =
                            stream.write_all(format!("{head}\r\n\r\n{answer}").as_bytes()).await;
                    } else {
                        tokio::time::sleep(HANG).await;
                    }
                });
            }
        });
        Self { told, game_server, address }
    }

    fn lines(&self) -> Vec<String> {
        self.told.lock().unwrap().iter().map(|(_, line)| line.clone()).collect()
    }

    /// Allocates the match to this many players.
    fn allocate(&self, players: i64) {
        let mut game_server = self.game_server.lock().unwrap();
        game_server.is_allocated = true;
        game_server.count += players;
    }

    /// Waits until this many places are taken.
    async fn counts(&self, count: i64) {
        let wait = async {
            while self.game_server.lock().unwrap().count != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(
            timeout(HANG, wait).await.is_ok(),
            "the count of players does not become {count}: {:?}",
            self.game_server
        );
    }

    /// The number of requests that begin with `begin`.
    fn times(&self, begin: &str) -> usize {
        self.lines().iter().filter(|line| line.starts_with(begin)).count()
    }

    /// Waits for a request that contains all `parts`.
    async fn is_told(&self, parts: &[&str]) {
        let heard = || self.lines().iter().any(|line| parts.iter().all(|part| line.contains(part)));
        let wait = async {
            while !heard() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(
            timeout(HANG, wait).await.is_ok(),
            "no request with {parts:?} among {:#?}",
            self.lines()
        );
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

fn serve(sidecar: SocketAddr) -> Server {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let agones = AgonesOptions {
        agones: true,
        agones_port: sidecar.port(),
        agones_health: HEALTH,
        agones_empty: EMPTY,
        agones_reservation: HANG,
    };
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        agones,
        ..Options::new(map)
    };
    Server::start(&options).unwrap()
}

async fn join(running: &Server) -> Client {
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
        assert!(told, "no request with {parts:?} before the server was ready: {before:#?}");
    };
    introduced(["PUT /metadata/label", "arena"]);
    introduced(["PUT /metadata/label", "tick-rate"]);
    introduced(["PUT /metadata/annotation", &running.certificate_sha256().to_string()]);
    introduced(["PUT /metadata/annotation", &running.map_hash().to_string()]);
    introduced(["PATCH /v1beta1/counters/players", "\"capacity\":\"32\""]);

    // Players use the port of the node, not the port of the container.
    let reached = async {
        loop {
            let info = get(running.http_addr(), "/info").await.body;
            let info: serde_json::Value = serde_json::from_str(&info).unwrap();
            if (&info["host"], &info["port"]) == (&"203.0.113.7".into(), &7123.into()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(HANG, reached).await.expect("`/info` gets the address that the sidecar knows");

    // Without an allocation, a player's place is taken and given back, and nothing else happens.
    let player = join(&running).await;
    sidecar.counts(1).await;
    player.leave().await;
    sidecar.counts(0).await;

    // The match is allocated for two players, who take the reserved places. When both have left,
    // the match is offered again.
    sidecar.allocate(2);
    let asked = sidecar.times("GET /gameserver");
    let noticed = async {
        while sidecar.times("GET /gameserver") < asked + 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(HANG, noticed).await.expect("the server asks for the state of the allocation");
    let players = [join(&running).await, join(&running).await];
    // The server reads the number of players before each sign of health. By the second sign from
    // now on, it has seen both players.
    let healthy = sidecar.times("POST /health");
    let looked = async {
        while sidecar.times("POST /health") < healthy + 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(HANG, looked).await.expect("the server sends signs of health");
    sidecar.counts(2).await;
    for player in players {
        player.leave().await;
    }
    sidecar.counts(0).await;
    assert_eq!(sidecar.times("POST /ready"), 1, "{:#?}", sidecar.lines());
    let offered = async {
        while sidecar.times("POST /ready") < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(HANG, offered).await.expect("the match is offered again");
    assert_eq!(sidecar.times("POST /allocate") + sidecar.times("POST /shutdown"), 0);

    running.shutdown();
    let ended = tokio::task::spawn_blocking(|| running.join());
    timeout(HANG, ended).await.expect("the server ends").unwrap().unwrap();
    assert_eq!(sidecar.times("POST /shutdown"), 1);

    let told = sidecar.told.lock().unwrap();
    let health: Vec<_> = told.iter().filter(|(_, line)| line.starts_with("POST /health")).collect();
    assert!(health.len() >= 3, "{} signs of health", health.len());
    let apart = |pair: &[&(Instant, String)]| pair[1].0 - pair[0].0;
    // The signs may arrive a little closer together than they are sent.
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
    // This is half of the time for which the sidecar keeps a request open.
    timeout(HANG / 2, goes_on).await.expect("the match goes on without the sidecar's answer");
    player.leave().await;
    running.shutdown();
    let ended = tokio::task::spawn_blocking(|| running.join());
    timeout(HANG, ended)
        .await
        .expect("the server ends without the sidecar's answer")
        .unwrap()
        .unwrap();
}
