//! The life of a server in a fleet, against a sidecar in the test's own process.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use obsp_proto::Fingerprint;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::*;

const HEALTH: Duration = Duration::from_millis(100);
const EMPTY: Duration = Duration::from_millis(400);

/// A time far longer than any step of these tests takes.
const HANG: Duration = Duration::from_secs(20);

/// A stand-in for the sidecar. It serves real HTTP, remembers each request with its time, and
/// answers with the status that the test has set.
#[derive(Clone)]
struct StandIn {
    told: Arc<Mutex<Vec<(Instant, String)>>>,
    answer: Arc<Mutex<StatusCode>>,
}

impl StandIn {
    fn new() -> Self {
        Self { told: Arc::default(), answer: Arc::new(Mutex::new(StatusCode::OK)) }
    }

    /// Serves on `listener` until dropped.
    async fn serve(self, listener: TcpListener) {
        let pages = Router::new().fallback(Self::hear).with_state(self);
        axum::serve(listener, pages).await.unwrap();
    }

    async fn hear(State(this): State<Self>, request: Request) -> (StatusCode, &'static str) {
        let line = format!("{} {}", request.method(), request.uri());
        this.told.lock().unwrap().push((Instant::now(), line));
        (*this.answer.lock().unwrap(), "{}")
    }

    fn answers(&self, status: StatusCode) {
        *self.answer.lock().unwrap() = status;
    }

    fn lines(&self) -> Vec<String> {
        self.told.lock().unwrap().iter().map(|(_, line)| line.clone()).collect()
    }

    fn times(&self, line: &str) -> Vec<Instant> {
        let told = self.told.lock().unwrap();
        told.iter().filter(|(_, told)| told == line).map(|(time, _)| *time).collect()
    }

    /// Waits until a request has come this many times.
    async fn is_told(&self, line: &str, times: usize) {
        let wait = async {
            while self.times(line).len() < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(timeout(HANG, wait).await.is_ok(), "no {line} in {:?}", self.lines());
    }
}

/// The reports to the sidecar, and the match status that they are made from.
struct Stage {
    seen: Cell<MatchStatus>,
    stop: Stop,
    address: SocketAddr,
}

impl Stage {
    fn new(address: SocketAddr) -> Self {
        let seen = MatchStatus {
            on_time: true,
            fresh: true,
            players: 0,
            certificate: Fingerprint([7; 32]),
            draining: false,
            stopping: false,
            fleet: Fleet::default(),
        };
        Self { seen: Cell::new(seen), stop: Stop::new(), address }
    }

    async fn report(&self) {
        let introduction = Introduction {
            labels: vec![("map", "arena".into())],
            annotations: Vec::new(),
            capacity: 8,
        };
        let lifecycle = Lifecycle::new(introduction, HEALTH, EMPTY, EMPTY);
        let status = || MatchStatus { stopping: self.stop.is_requested(), ..self.seen.get() };
        report(&Sidecar::new(self.address), lifecycle, status, &self.stop).await;
    }

    fn players(&self, players: u32) {
        self.seen.set(MatchStatus { players, ..self.seen.get() });
    }

    fn fresh(&self, fresh: bool) {
        self.seen.set(MatchStatus { fresh, ..self.seen.get() });
    }
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[tokio::test]
async fn the_sidecar_hears_of_a_match_in_order() {
    let (listener, address) = listener().await;
    let stand_in = StandIn::new();
    let stage = Stage::new(address);
    let play = async {
        stand_in.is_told("POST /ready", 1).await;
        stage.players(2);
        stand_in.is_told("PATCH /v1beta1/counters/players", 2).await;
        stage.players(0);
        stand_in.is_told("PATCH /v1beta1/counters/players", 3).await;
        stage.stop.request();
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(stage.report(), play) } => {}
        () = stand_in.clone().serve(listener) => unreachable!("it serves until dropped"),
    }
    let lines = stand_in.lines();
    let order: Vec<_> = lines.iter().filter(|line| *line != "POST /health").collect();
    let players = "PATCH /v1beta1/counters/players";
    let expected = [
        "PUT /metadata/label",
        "PUT /metadata/annotation",
        players,
        "POST /ready",
        players,
        players,
        "POST /shutdown",
    ];
    assert_eq!(order, expected);
    assert_eq!(lines[0], "POST /health");
}

#[tokio::test]
async fn health_comes_on_time_and_stops_with_the_tick() {
    let (listener, address) = listener().await;
    let stand_in = StandIn::new();
    let stage = Stage::new(address);
    let play = async {
        stand_in.is_told("POST /health", 4).await;
        stage.fresh(false);
        tokio::time::sleep(POLL_INTERVAL * 2).await;
        let silent = stand_in.times("POST /health").len();
        tokio::time::sleep(HEALTH * 5 + POLL_INTERVAL).await;
        assert_eq!(stand_in.times("POST /health").len(), silent, "a stuck tick was called healthy");
        stage.fresh(true);
        stand_in.is_told("POST /health", silent + 1).await;
        stage.stop.request();
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(stage.report(), play) } => {}
        () = stand_in.clone().serve(listener) => unreachable!("it serves until dropped"),
    }
    let times = stand_in.times("POST /health");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= HEALTH), "{times:?}");
    assert_eq!(stand_in.lines().last().unwrap(), "POST /shutdown");
}

#[tokio::test]
async fn a_sidecar_that_comes_late_hears_everything() {
    let (taken, address) = listener().await;
    drop(taken);
    let stand_in = StandIn::new();
    let stage = Stage::new(address);
    let late = async {
        tokio::time::sleep(POLL_INTERVAL * 3).await;
        let listener = TcpListener::bind(address).await.unwrap();
        stand_in.clone().serve(listener).await;
    };
    let play = async {
        stand_in.is_told("POST /ready", 1).await;
        stage.stop.request();
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(stage.report(), play) } => {}
        () = late => unreachable!("it serves until dropped"),
    }
    assert!(stand_in.lines().contains(&"PUT /metadata/label".to_owned()));
}

#[tokio::test]
async fn a_sidecar_that_answers_errors_is_told_again() {
    let (listener, address) = listener().await;
    let stand_in = StandIn::new();
    stand_in.answers(StatusCode::INTERNAL_SERVER_ERROR);
    let stage = Stage::new(address);
    let play = async {
        stand_in.is_told("PUT /metadata/label", 2).await;
        assert!(stand_in.times("POST /ready").is_empty(), "ready before its label was taken");
        stand_in.answers(StatusCode::OK);
        stand_in.is_told("POST /ready", 1).await;
        stage.stop.request();
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(stage.report(), play) } => {}
        () = stand_in.clone().serve(listener) => unreachable!("it serves until dropped"),
    }
}

#[tokio::test]
async fn a_sidecar_that_is_gone_keeps_nobody_from_ending() {
    let (taken, address) = listener().await;
    drop(taken);
    let stage = Stage::new(address);
    let play = async {
        tokio::time::sleep(POLL_INTERVAL * 2).await;
        stage.stop.request();
    };
    timeout(HANG, async { tokio::join!(stage.report(), play) }).await.unwrap();
}

#[test]
fn any_name_of_a_map_becomes_a_label() {
    assert_eq!(label("arena"), "arena");
    assert_eq!(label("The Abandoned Base!"), "The-Abandoned-Base");
    assert_eq!(label("../maps"), "maps");
    assert_eq!(label(&"m".repeat(80)).len(), 63);
    assert_eq!(label("…"), "");
}
