//! Recordings when the disk is full, the server is killed, or a server is started again with the
//! same file. The match goes on, the written part can be replayed, and log, metrics and pages tell
//! what happened.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use obsp_client::Disconnected;
use obsp_client::quic::{Connector, Trust};
use obsp_proto::control::{ClosingReason, MapHash, PlayerName};
use serde_json::Value;
use server::replay::{Outcome, ReplayOptions, replay};
use server::soak::{SoakOptions, soak};
use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map, program};
use tokio::time::timeout;

use super::{HANG, play_to_the_end};

fn map() -> String {
    own_map("arena.obsp").to_string_lossy().into_owned()
}

/// A folder for a test, which is removed when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run_again(file: &str) -> Outcome {
    let options = ReplayOptions { map: Some(map()), ..ReplayOptions::new(file) };
    replay(&options).unwrap_or_else(|error| panic!("{error}"))
}

async fn ticks(http: SocketAddr) -> f64 {
    metric(&get(http, "/metrics").await.body, "game_ticks_total")
}

/// The recording's part of `/info`.
async fn recording(http: SocketAddr) -> Value {
    let info: Value = serde_json::from_str(&get(http, "/info").await.body).unwrap();
    info["recording"].clone()
}

/// Waits until the recording has failed. Then metrics, pages and log must all report it, and the
/// match must go on.
async fn fails_alone(process: &ServerProcess, why: &str) {
    let http = process.http;
    let begin = Instant::now();
    while metric(&get(http, "/metrics").await.body, "game_recording_failed") == 0.0 {
        assert!(begin.elapsed() < HANG, "the recording does not fail");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let info = recording(http).await;
    assert!(info["failure"].as_str().unwrap().contains(why), "{info}");
    // `/readyz` reports late ticks first, and ticks may still be late.
    let mut ready = get(http, "/readyz").await;
    while !ready.body.contains("recording") && begin.elapsed() < HANG {
        tokio::time::sleep(Duration::from_millis(50)).await;
        ready = get(http, "/readyz").await;
    }
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("recording") && ready.body.contains(why), "{}", ready.body);
    assert_eq!(get(http, "/healthz").await.status, 200);
    let before = ticks(http).await;
    while ticks(http).await < before + 60.0 {
        assert!(begin.elapsed() < HANG, "the match does not go on");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let log = process.log();
    let told: Vec<_> = log.lines().filter(|line| line.contains("recording")).collect();
    let errors = told.iter().filter(|line| line.contains("ERROR") && line.contains(why));
    assert_eq!(errors.count(), 1, "{log}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_disk_that_is_full_at_the_start_costs_the_recording_alone() {
    let mut process =
        ServerProcess::start(&["--map", &map(), "--record", "/dev/full", "--drain", "0"]);
    fails_alone(&process, "No space left").await;
    let connector = Connector::new(process.udp, Trust::Loopback).unwrap();
    let name = PlayerName::new("witness").unwrap();
    let mut client = connector.join(&name, MapHash::ANY).await.unwrap();
    process.signal("TERM");
    // The failed recording must not cut the goodbyes short.
    let lost = timeout(HANG, play_to_the_end(&mut client)).await.unwrap();
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    drop(client);
    connector.close().await;
    assert_eq!(process.wait(), Some(1), "{}", process.log());
}

#[tokio::test]
async fn a_disk_that_is_full_midway_costs_the_rest_of_the_recording_alone() {
    let folder = Folder::new("recording-limited");
    let file = folder.file("match.rec");
    // The limit leaves room for the beginning of the match and two to three seconds.
    let first = folder.file("first.rec");
    let record = Some(PathBuf::from(&first));
    let one = SoakOptions { players: 1, objects: 0, ticks: 1, record, ..SoakOptions::new(map()) };
    soak(&one).expect("the match can be played and recorded");
    let blocks = std::fs::metadata(&first).unwrap().len() / 512 + 4;
    let limited = ["--map", &map(), "--objects", "0", "--record", &file];
    let mut process = ServerProcess::start_limited(&format!("-f {blocks}"), &limited);
    fails_alone(&process, "File too large").await;
    assert!(recording(process.http).await["bytes"].as_u64().unwrap() > 0);
    process.signal("TERM");
    assert_eq!(process.wait(), Some(1), "{}", process.log());

    let outcome = run_again(&file);
    assert!(outcome.ticks >= 30, "{outcome}");
    assert_eq!((outcome.verified, outcome.difference.as_ref()), (outcome.ticks + 1, None));
    assert!(outcome.incomplete.is_some(), "{outcome}");
    // The program `server replay` reports the same to an operator.
    let arguments = ["replay", &file, "--map", &map()];
    let output = Command::new(program("server")).args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let verified = format!("{} ticks, {} digests equal", outcome.ticks, outcome.verified);
    let until = format!("breaks off after tick {}", outcome.ticks);
    assert!(told.contains(&verified) && told.contains(&until), "{told}");
}

#[tokio::test]
async fn a_killed_server_leaves_a_recording_that_a_restart_does_not_touch() {
    let folder = Folder::new("recording-killed");
    let file = folder.file("match.rec");
    let arguments = ["--map", &map(), "--record", &file];
    let mut process = ServerProcess::start(&arguments);
    assert_eq!(process.said("recording to "), file);
    let begin = Instant::now();
    let written = loop {
        let written = recording(process.http).await["ticks"].as_u64().unwrap();
        if written > 60 {
            break written;
        }
        assert!(begin.elapsed() < HANG, "only {written} ticks were written");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    process.signal("KILL");
    process.wait();
    let outcome = run_again(&file);
    assert!(outcome.ticks >= written && outcome.difference.is_none(), "{written}: {outcome}");
    assert_eq!(outcome.verified, outcome.ticks + 1);
    assert!(outcome.incomplete.is_some_and(|why| why.contains("breaks off")));
    let bytes = std::fs::read(&file).unwrap();

    let mut process = ServerProcess::start(&arguments);
    let second = format!("{file}.1");
    assert_eq!(process.said("recording to "), second);
    assert_eq!(recording(process.http).await["file"], "match.rec.1");
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0), "{}", process.log());
    assert!(run_again(&second).passed());
    assert!(Path::new(&file).is_file());
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "the first recording was touched");
}

/// After three starts with `--record-keep 1`, the first recording is deleted. The second, which is
/// finished, and the third, which is being written, stay.
#[tokio::test]
async fn only_the_newest_finished_recordings_are_kept() {
    let folder = Folder::new("recording-kept");
    let file = folder.file("match.rec");
    let arguments = ["--map", &map(), "--record", &file, "--record-keep", "1"];
    for _ in 0..2 {
        let mut process = ServerProcess::start(&arguments);
        process.said("recording to ");
        process.signal("TERM");
        process.wait();
    }
    let mut process = ServerProcess::start(&arguments);
    let running = format!("{file}.2");
    assert_eq!(process.said("recording to "), running);
    let begin = Instant::now();
    while Path::new(&file).exists() {
        assert!(begin.elapsed() < HANG, "the oldest recording is not deleted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let counted =
        async || metric(&get(process.http, "/metrics").await.body, "game_recordings_deleted_total");
    while counted().await < 1.0 {
        assert!(begin.elapsed() < HANG, "the deletion is not counted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(Path::new(&format!("{file}.1")).exists() && Path::new(&running).exists());
    process.signal("TERM");
    process.wait();
    assert!(Path::new(&running).exists());
}
