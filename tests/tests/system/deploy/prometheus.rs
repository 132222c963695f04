//! Prometheus as a process.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::harness::pages::get;

use crate::deploy::files::folder;

/// Far longer than Prometheus needs to start.
const HANG: Duration = Duration::from_secs(30);

/// The path of a program of the package `prometheus`. If the program is absent, this prints that
/// the test is skipped and returns `None`.
///
/// # Panics
/// If the program is absent and `ARENA_NEED_PROMETHEUS=1` is set.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&paths).map(|path| path.join(program)).find(|path| path.is_file());
    if found.is_none() {
        let needed = std::env::var_os("ARENA_NEED_PROMETHEUS").is_some_and(|value| value == "1");
        let skipped = format!("there is no {program}; `apt-get install prometheus` brings it");
        assert!(!needed, "{skipped}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {skipped}");
    }
    found
}

/// A Prometheus with our configuration, which ends with the test.
pub(crate) struct Prometheus {
    process: Child,
    address: SocketAddr,
    data: PathBuf,
}

impl Prometheus {
    /// Starts a Prometheus that scrapes `server` with the shipped configuration, only more often,
    /// and waits for the first scrape.
    pub(crate) async fn start(program: &Path, server: SocketAddr) -> Self {
        let data = std::env::temp_dir().join(format!("arena-prometheus-{}", std::process::id()));
        std::fs::create_dir_all(&data).unwrap();
        let shipped = std::fs::read_to_string(folder().join("prometheus/prometheus.yml")).unwrap();
        let config = shipped
            .replace("server:8080", &server.to_string())
            .replace("_interval: 5s", "_interval: 500ms");
        assert_ne!(config, shipped);
        std::fs::write(data.join("prometheus.yml"), config).unwrap();
        std::fs::copy(folder().join("prometheus/rules.yml"), data.join("rules.yml")).unwrap();
        // This port was free a moment ago. Prometheus cannot choose a port and report it.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new(program)
            .arg(format!("--config.file={}", data.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", data.join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let this = Self { process, address, data };
        let begin = Instant::now();
        while tokio::net::TcpStream::connect(address).await.is_err()
            || this.value("up").await != Some(1.0)
        {
            assert!(begin.elapsed() < HANG, "Prometheus at {address} reports no successful scrape");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        this
    }

    /// The result of a query.
    pub(crate) async fn query(&self, query: &str) -> Result<Value, String> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = get(self.address, &format!("/api/v1/query?query={encoded}")).await;
        if answer.status == 200 {
            Ok(serde_json::from_str(&answer.body).unwrap())
        } else {
            Err(answer.body)
        }
    }

    /// The value of a query that returns one series; `None` if it returns none.
    pub(crate) async fn value(&self, query: &str) -> Option<f64> {
        let answer = self.query(query).await.ok()?;
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }

    /// Prometheus' report on our rules, in JSON.
    pub(crate) async fn rules(&self) -> String {
        get(self.address, "/api/v1/rules").await.body
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // A failure to clean up does not fail the test.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}
