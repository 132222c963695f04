//! The server as an operator starts it: a process that says where it serves,
//! answers its pages, and ends well when a service manager asks it to.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use client_bot::client::{Client, Connector, Lost, Trust};
use proto::control::{ClosingReason, MapHash, PlayerName};
use tests::harness::pages::{get, metric};
use tests::harness::{own_map, program};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// A server process, ended with the test whatever comes.
struct Process {
    child: Child,
    log: BufReader<ChildStderr>,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program("server"))
            .args(arguments)
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, log }
    }

    /// What follows `words` on the first line that has them.
    fn told(&mut self, words: &str) -> String {
        let mut heard = String::new();
        loop {
            let begin = heard.len();
            assert_ne!(self.log.read_line(&mut heard).unwrap(), 0, "no {words:?} in\n{heard}");
            if let Some((_, rest)) = heard[begin..].split_once(words) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays until the server ends it.
async fn play_to_the_end(client: &mut Client) -> Lost {
    loop {
        if let Err(lost) = client.next().await {
            return lost;
        }
    }
}

#[tokio::test]
async fn a_server_process_serves_until_it_is_told_to_stop() {
    for signal in ["TERM", "INT"] {
        let map = own_map("arena.obsp").to_string_lossy().into_owned();
        let any_port = "127.0.0.1:0";
        let mut process =
            Process::start(&["--map", &map, "--listen", any_port, "--http", any_port]);
        assert!(process.told("map ").starts_with("arena, hash "));
        assert!(process.told("60 Hz, ").contains("up to 32 players"));
        let server: SocketAddr = process.told("players join on UDP ").parse().unwrap();
        let pin = process.told("certificate SHA-256 ").parse().unwrap();
        let metrics = process.told("metrics on http://");
        let http: SocketAddr = metrics.strip_suffix("/metrics").unwrap().parse().unwrap();

        assert_eq!(get(http, "/healthz").await.status, 200);
        let connector = Connector::new(server, Trust::Pin(pin)).unwrap();
        let name = PlayerName::new("witness").unwrap();
        let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
        assert_eq!(metric(&get(http, "/metrics").await.body, "game_players"), 1.0);

        process.signal(signal);
        let lost = timeout(HANG, play_to_the_end(&mut client)).await.unwrap();
        assert!(matches!(lost, Lost::Closed(ClosingReason::ShuttingDown)), "{lost}");
        drop(client);
        connector.close().await;
        assert_eq!(process.child.wait().unwrap().code(), Some(0), "SIG{signal}");
    }
}

#[test]
fn wrong_usage_and_missing_maps_end_with_their_codes_and_a_way_out() {
    for (arguments, code, says) in [
        (&["--map", "nowhere.obsp"][..], 1, "arena"),
        (&["--map", "arena.obsp", "--tick-rate", "7"], 2, "10..=128"),
        (&[], 2, "--map"),
    ] {
        let output = Command::new(program("server")).args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.contains(says), "{arguments:?}: {told}");
    }
}
