//! A real server as an operator's programs see it: its pages, the audit of a served match, which
//! finds nothing, and the reports on a thread that hangs.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use obsp_client::Disconnected;
use obsp_client::quic::{Connector, Trust};
use obsp_proto::control::{ClosingReason, MapHash, PlayerName};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use server::{Options, PageOptions, RunError, Server, ServiceOptions};
use tests::harness;
use tests::harness::pages::{Answer, get, get_encrypted, metric};

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

fn options() -> Options {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    Options { listen: vec![any_port], pages: PageOptions::at(any_port), ..Options::new(map) }
}

fn serve() -> Server {
    Server::start(&Options { audit_every: 10, ..options() }).unwrap()
}

/// A stand-in for systemd's notification socket.
struct ServiceManager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl ServiceManager {
    fn start() -> Self {
        // Each socket has a path of its own, because several tests of this process run at once.
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("arena-systemd-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        Self { socket, path }
    }

    fn options(&self) -> ServiceOptions {
        let notify_socket = Some(self.path.clone().into());
        ServiceOptions {
            notify_socket,
            watchdog_usec: Some(10_000_000),
            ..ServiceOptions::default()
        }
    }

    /// Waits for a message that contains `words`; returns the messages up to and including it.
    fn is_told(&self, words: &str) -> Vec<String> {
        let mut told = Vec::<String>::new();
        let mut buffer = [0; 500];
        while !told.last().is_some_and(|last| last.contains(words)) {
            let length = self.socket.recv(&mut buffer).unwrap_or_else(|error| {
                panic!("no message with {words:?} among {told:?}: {error}");
            });
            told.push(String::from_utf8(buffer[..length].into()).unwrap());
        }
        told
    }
}

impl Drop for ServiceManager {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether `server health` finds the server healthy, and its output.
async fn health(address: SocketAddr) -> (bool, String) {
    let asked = tokio::task::spawn_blocking(move || {
        let program = harness::program("server");
        Command::new(program).args(["health", "--http", &address.to_string()]).output().unwrap()
    });
    let output = asked.await.unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// The log of all servers of this process.
static LOG: Mutex<String> = Mutex::new(String::new());

/// Writes to [`LOG`].
struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the log of all servers of this process in [`LOG`] from now on.
fn keep_log() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // The first test sets this up for all, and the others wait for it.
    ONCE.call_once(|| {
        let log = tracing_subscriber::fmt().with_ansi(false).with_target(false);
        log.with_writer(|| Log).init();
    });
}

/// Asks for a page until `is_wanted` accepts the answer.
async fn until(address: SocketAddr, path: &str, is_wanted: impl Fn(&Answer) -> bool) -> Answer {
    let begin = Instant::now();
    loop {
        let answer = get(address, path).await;
        if is_wanted(&answer) {
            return answer;
        }
        assert!(begin.elapsed() < HANG, "{path} keeps answering {} {}", answer.status, answer.body);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_tells_who_it_is_and_that_it_is_ready() {
    let running = serve();
    let address = running.http_addr();
    assert_eq!(get(address, "/healthz").await.status, 200);
    let begin = Instant::now();
    until(address, "/readyz", |answer| answer.status == 200).await;

    let info: serde_json::Value = serde_json::from_str(&get(address, "/info").await.body).unwrap();
    assert_eq!(info["map"], "arena");
    assert_eq!(info["map_hash"], running.map_hash().to_string());
    assert_eq!(info["tick_rate"], 60);
    assert_eq!(info["snapshot_rate"], 60);
    assert_eq!(info["max_players"], 32);
    assert_eq!(info["players"], 0);
    assert_eq!(info["port"], running.local_addr().port());
    assert_eq!(info["host"], serde_json::Value::Null);
    assert_eq!(info["certificate_sha256"], running.certificate_sha256().to_string());
    assert_eq!(info["self_signed"], true);
    assert_eq!(info["protocol"], obsp_proto::PROTOCOL_VERSION);

    let page = loop {
        let page = get(address, "/metrics").await.body;
        if metric(&page, "game_audits_total") >= 2.0 {
            break page;
        }
        assert!(begin.elapsed() < HANG, "no audit is counted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(metric(&page, "game_audit_failures_total"), 0.0);
    // All open pages share the figures that the server computed for one of them.
    let shared = get(address, "/figures").await.body;
    assert_eq!(get(address, "/figures").await.body, shared);
    let names = |page: &str| -> BTreeSet<String> {
        let series = page.lines().filter(|line| !line.starts_with('#'));
        series.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect()
    };
    let missing: Vec<_> = names(&page).difference(&names(&shared)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(metric(&page, "game_process_resident_memory_bytes") > 1e6);
    assert!(metric(&page, "game_tick_phase_seconds_count{phase=\"sim\"}") > 0.0);

    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_page_finds_all_that_it_asks_for() {
    let running = serve();
    let address = running.http_addr();
    let page = get(address, "/").await;
    assert_eq!(page.status, 200);
    assert!(page.body.starts_with("<!doctype html>"), "{}", page.body);
    for path in ["/web/main.js", "/web/wire/snapshot.js", "/web/style.css"] {
        assert_eq!(get(address, path).await.status, 200, "{path}");
    }
    for path in ["/web/", "/web/no.js", "/web/../Cargo.toml", "/web/wire/vectors.test.mjs"] {
        assert_eq!(get(address, path).await.status, 404, "{path}");
    }

    let json = async |path: &str| -> serde_json::Value {
        let answer = get(address, path).await;
        assert_eq!(answer.status, 200, "{path}");
        serde_json::from_str(&answer.body).unwrap()
    };
    let scene = json("/scene").await;
    assert_eq!(scene["hash"], running.map_hash().to_string());
    let models: Vec<_> = scene["models"].as_array().unwrap().iter().map(|m| &m["name"]).collect();
    // The models of the map's items and movers follow the shipped ones.
    let shipped = obsp::model::shipped();
    assert!(models.len() > shipped.len(), "{models:?}");
    assert!(models.iter().zip(&shipped).all(|(name, model)| *name == model.name()), "{models:?}");
    let polygons = scene["polygons"].as_array().unwrap();
    assert!(polygons.len() > 100);
    for polygon in polygons {
        let corners = polygon.as_array().unwrap().len();
        assert!(corners >= 9 && corners % 3 == 0, "{polygon}");
    }
    // Faces towards the void would hide the arena from above, so the scene must not have them.
    let highest = scene["bounds"]["max"][2].as_f64().unwrap();
    let on_top = |polygon: &&serde_json::Value| {
        polygon.as_array().unwrap().chunks(3).all(|corner| corner[2] == highest)
    };
    assert_eq!(polygons.iter().filter(on_top).count(), 0);

    assert_eq!(json("/effects/0").await, serde_json::json!([]));
    let stages = json("/cascade").await["stages"].as_array().unwrap().len();
    assert_eq!(stages, obsp_sim::Stage::COUNT);
    assert!(json("/contacts").await["points"].is_array());
    assert_eq!(json("/onion/60").await["sizes"][0], "point");
    for path in ["/onion/inf", "/onion/high", "/effects/-1"] {
        assert_eq!(get(address, path).await.status, 400, "{path}");
    }
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_hung_tick_thread_is_told_by_log_metrics_probes_and_silence_and_so_is_its_end() {
    keep_log();
    let manager = ServiceManager::start();
    let (hang_limit, service) = (Duration::ZERO, manager.options());
    let running = Server::start(&Options { hang_limit, service, ..options() }).unwrap();
    let address = running.http_addr();
    manager.is_told("READY=1");
    assert_eq!(health(address).await, (true, "ok\n".to_owned()));
    until(address, "/readyz", |answer| answer.status == 200).await;
    let page = get(address, "/metrics").await.body;
    assert_eq!(metric(&page, "game_tick_stalls_total"), 0.0);

    let held = running.hold_ticks();
    let counted = |answer: &Answer| metric(&answer.body, "game_tick_stalls_total") == 1.0;
    let page = until(address, "/metrics", counted).await.body;
    assert!(metric(&page, "game_tick_age_seconds") >= 1.0, "{page}");
    for path in ["/healthz", "/readyz"] {
        let answer = get(address, path).await;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.body.starts_with("the last tick was "), "{path}: {}", answer.body);
    }
    let logged = |words: &str| LOG.lock().unwrap().contains(words);
    // The stall is counted before it is logged.
    let begin = Instant::now();
    while !logged("ERROR the tick thread hangs: no tick was finished for ") {
        assert!(begin.elapsed() < HANG, "{LOG:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let (healthy, said) = health(address).await;
    assert!(!healthy && said.contains("the last tick was "), "{said}");
    // The signs of life stop while there are no ticks, and come again with the ticks.
    let told = manager.is_told("STATUS=no tick was finished for ");
    assert!(!told.last().unwrap().contains("WATCHDOG=1"), "{told:?}");

    drop(held);
    manager.is_told("WATCHDOG=1");
    until(address, "/healthz", |answer| answer.status == 200).await;
    // The server is not ready at once, so that no players are sent to a match that just hung.
    let answer = get(address, "/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.starts_with("no tick was finished for "), "{}", answer.body);
    let page = get(address, "/metrics").await.body;
    assert!(metric(&page, "game_ticks_dropped_total") >= 30.0, "{page}");
    let begin = Instant::now();
    while !logged("WARN the tick thread goes on: no tick was finished for ") {
        assert!(begin.elapsed() < HANG, "{LOG:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
    manager.is_told("STOPPING=1");
    assert!(!health(address).await.0);
}

/// Symptom: while only the network thread was stopped, for 26 s, `/healthz` and `/readyz` answered
/// 200, and the log was empty. Cause: the watchdog ran on the thread that it should have watched.
/// Cure: the watchdog has a thread of its own, and every other thread gives it signs of life.
#[tokio::test]
async fn a_hung_network_thread_is_told_by_log_metrics_probes_and_silence_and_so_is_its_end() {
    keep_log();
    let manager = ServiceManager::start();
    let (hang_limit, service) = (Duration::ZERO, manager.options());
    let running = Server::start(&Options { hang_limit, service, ..options() }).unwrap();
    let address = running.http_addr();
    manager.is_told("READY=1");
    until(address, "/readyz", |answer| answer.status == 200).await;

    let held = running.hold_network();
    for path in ["/healthz", "/readyz"] {
        let answer = until(address, path, |answer| answer.status == 503).await;
        assert!(answer.body.starts_with("the network thread hangs"), "{path}: {}", answer.body);
    }
    let page = get(address, "/metrics").await.body;
    assert!(metric(&page, "game_thread_age_seconds{thread=\"network\"}") >= 1.0, "{page}");
    assert!(metric(&page, "game_thread_age_seconds{thread=\"pages\"}") < 1.0, "{page}");
    let logged = |words: &str| LOG.lock().unwrap().contains(words);
    let begin = Instant::now();
    while !logged("ERROR the network thread hangs: its event loop has not turned for ") {
        assert!(begin.elapsed() < HANG, "{LOG:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (healthy, said) = health(address).await;
    assert!(!healthy && said.contains("the network thread hangs"), "{said}");
    let told = manager.is_told("STATUS=the network thread hangs");
    assert!(!told.last().unwrap().contains("WATCHDOG=1"), "{told:?}");

    drop(held);
    manager.is_told("WATCHDOG=1");
    until(address, "/healthz", |answer| answer.status == 200).await;
    let begin = Instant::now();
    while !logged("WARN the network thread goes on: its event loop did not turn for ") {
        assert!(begin.elapsed() < HANG, "{LOG:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
    manager.is_told("STOPPING=1");
}

#[tokio::test]
async fn a_server_whose_network_thread_hangs_for_good_ends_and_says_why() {
    let options = Options { hang_limit: Duration::from_secs(2), ..options() };
    let running = Server::start(&options).unwrap();
    // The network thread is held until the process ends.
    std::mem::forget(running.hold_network());
    let ended = tokio::task::spawn_blocking(|| running.join());
    let error =
        tokio::time::timeout(HANG, ended).await.expect("the server ends").unwrap().unwrap_err();
    assert!(matches!(error, RunError::NetworkHangs { seconds: 2.. }), "{error}");
    assert!(error.to_string().contains("restart the server"), "{error}");
}

#[tokio::test]
async fn a_server_whose_network_thread_hangs_ends_when_it_is_asked_to() {
    let running = Server::start(&options()).unwrap();
    std::mem::forget(running.hold_network());
    tokio::time::sleep(Duration::from_millis(500)).await;
    running.shutdown();
    let ended = tokio::task::spawn_blocking(|| running.join());
    let error =
        tokio::time::timeout(HANG, ended).await.expect("the server ends").unwrap().unwrap_err();
    assert!(matches!(error, RunError::DoesNotEnd { part: "network thread" }), "{error}");
}

/// A certificate that expired long ago, and its key, in files of a new folder.
fn expired_certificate() -> [PathBuf; 3] {
    let own = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.not_before = date_time_ymd(2001, 1, 1);
    parameters.not_after = date_time_ymd(2001, 9, 9);
    let certificate = parameters.self_signed(&own).unwrap();
    let folder = std::env::temp_dir().join(format!("arena-expired-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = [folder.join("cert.pem"), folder.join("key.pem")];
    std::fs::write(&files[0], harness::pem("CERTIFICATE", certificate.der())).unwrap();
    std::fs::write(&files[1], harness::pem("PRIVATE KEY", &own.serialize_der())).unwrap();
    let [cert, key] = files;
    [folder, cert, key]
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_told_by_log_and_metrics() {
    keep_log();
    let [folder, cert, key] = expired_certificate();
    let path = cert.display().to_string();
    let running =
        Server::start(&Options { cert: Some(cert), key: Some(key), ..options() }).unwrap();
    let page = get(running.http_addr(), "/metrics").await.body;
    let expiry = metric(&page, "game_certificate_expiry_timestamp_seconds{source=\"files\"}");
    // 2001-09-09 00:00:00 UTC.
    assert_eq!(expiry, 999_993_600.0);
    let log = LOG.lock().unwrap().clone();
    let warned = |line: &str| line.contains(&path) && line.contains("the certificate expired ");
    assert!(log.lines().any(warned), "{log}");
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_server_whose_tick_thread_hangs_for_good_ends_and_says_why() {
    let options = Options { hang_limit: Duration::from_secs(2), ..options() };
    let running = Server::start(&options).unwrap();
    // The tick thread is held until the process ends.
    std::mem::forget(running.hold_ticks());
    let ended = tokio::task::spawn_blocking(|| running.join());
    let error =
        tokio::time::timeout(HANG, ended).await.expect("the server ends").unwrap().unwrap_err();
    assert!(matches!(error, RunError::Hangs { seconds: 2.. }), "{error}");
    assert!(error.to_string().contains("restart the server"), "{error}");
}

/// Symptom: at its end, the server waited for ever for a tick thread that hung, and for the
/// players.
#[tokio::test]
async fn a_server_whose_tick_thread_hangs_ends_when_it_is_asked_to() {
    keep_log();
    let options = Options { drain: Some(Duration::from_secs(600)), ..options() };
    let running = Server::start(&options).unwrap();
    let connector = Connector::new(running.local_addr(), Trust::Loopback).unwrap();
    let name = PlayerName::new("witness").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    std::mem::forget(running.hold_ticks());
    tokio::time::sleep(Duration::from_secs(2)).await;
    running.drain();
    let goodbye = async {
        loop {
            if let Err(lost) = client.next().await {
                return lost;
            }
        }
    };
    let lost = tokio::time::timeout(HANG, goodbye).await.expect("the server says goodbye");
    let begin = Instant::now();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    let ended = tokio::task::spawn_blocking(|| running.join()).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(matches!(ended, Err(RunError::DoesNotEnd { part: "tick thread" })), "{ended:?}");
    let log = LOG.lock().unwrap().clone();
    assert!(log.contains("the tick thread hangs: players are not waited for"), "{log}");
}

#[tokio::test]
async fn a_server_behind_a_mapped_port_tells_where_it_is_reached() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = harness::own_map("arena.obsp").to_string_lossy().into_owned();
    let advertise = Some("game.example.org:7777".parse().unwrap());
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        advertise,
        ..Options::new(map)
    };
    let running = Server::start(&options).unwrap();
    let info = get(running.http_addr(), "/info").await.body;
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(
        (info["host"].as_str(), info["port"].as_u64()),
        (Some("game.example.org"), Some(7777))
    );
    running.shutdown();
    tokio::task::spawn_blocking(|| running.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn everybody_may_open_the_page_over_https_but_not_what_is_for_operators() {
    let any_port = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let running = Server::start(&Options {
        pages: PageOptions { page: any_port, ..options().pages },
        ..options()
    })
    .unwrap();
    let (address, pin) = (running.page_addr().unwrap(), running.certificate_sha256().0);
    for path in ["/", "/web/main.js", "/scene", "/info", "/effects/0", "/replays"] {
        assert_eq!(get_encrypted(address, pin, path).await.status, 200, "{path}");
    }
    let info = get_encrypted(address, pin, "/info").await.body;
    assert!(info.contains("\"for_operators\":false"), "{info}");
    for path in ["/metrics", "/figures", "/cascade", "/healthz", "/readyz"] {
        assert_eq!(get_encrypted(address, pin, path).await.status, 404, "{path}");
        // A server that has just started may not be ready yet.
        assert_ne!(get(running.http_addr(), path).await.status, 404, "{path}");
    }
    let own = get(running.http_addr(), "/info").await.body;
    assert!(own.contains("\"for_operators\":true"), "{own}");
    // A visitor who typed the address without `https` is redirected.
    assert_eq!(get(address, "/?play=Ann").await.status, 308);
    // Connections that stay silent or send nonsense keep nobody out.
    let mut silent = Vec::new();
    for _ in 0..100 {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, &[22, 3, 1]).await.unwrap();
        silent.push(stream);
    }
    assert_eq!(get_encrypted(address, pin, "/").await.status, 200);
    running.shutdown();
    running.join().unwrap();
}
