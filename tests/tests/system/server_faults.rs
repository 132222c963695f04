//! Faults around a server process that must not cost a match: a log that cannot be written,
//! signals, a system that grants too little, and misspelt options.

use std::fs::File;
use std::net::UdpSocket;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use obsp_client::Disconnected;
use obsp_client::quic::{Client, ClientEvent, Connector, Trust};
use obsp_proto::control::{ClosingReason, MapHash, PlayerName};
use obsp_sim::Command;
use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map, program};
use tokio::time::timeout;

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(30);

fn arena() -> String {
    own_map("arena.obsp").to_string_lossy().into_owned()
}

async fn join(process: &ServerProcess) -> (Connector, Client) {
    let connector = Connector::new(process.udp, Trust::Loopback).unwrap();
    let name = PlayerName::new("witness").unwrap();
    let client = timeout(HANG, connector.join(&name, MapHash::ANY)).await;
    let client = client.expect("the server answers in time").unwrap();
    (connector, client)
}

/// Plays until `snapshots` more have come.
async fn play(client: &mut Client, snapshots: u64) {
    let end = client.session().stats().snapshots + snapshots;
    let played = async {
        while client.session().stats().snapshots < end {
            if client.next().await.unwrap() == ClientEvent::CommandDue {
                client.command(Command::default());
            }
        }
    };
    timeout(HANG, played).await.expect("snapshots come in time");
}

/// Plays until the server ends the connection, and returns the reason.
async fn play_to_the_end(client: &mut Client) -> Disconnected {
    let lost = async {
        loop {
            if let Err(lost) = client.next().await {
                return lost;
            }
        }
    };
    timeout(HANG, lost).await.expect("the server ends the connection in time")
}

async fn lost_lines(process: &ServerProcess, reason: &str) -> f64 {
    let page =
        timeout(HANG, get(process.http, "/metrics")).await.expect("the server answers in time");
    metric(&page.body, &format!("game_log_lines_lost_total{{reason=\"{reason}\"}}"))
}

/// Plays for a moment, leaves, and ends the server. The log that cannot be written must not disturb
/// the server.
async fn is_unharmed(mut process: ServerProcess) {
    let (connector, mut client) = join(&process).await;
    play(&mut client, 30).await;
    client.leave().await;
    connector.close().await;
    let begin = Instant::now();
    while lost_lines(&process, "unwritable").await < 2.0 {
        assert!(begin.elapsed() < HANG, "the lost lines about joining and leaving are not counted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}

#[tokio::test]
async fn a_log_on_a_full_disk_costs_nothing_but_its_lines() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let process = ServerProcess::start_logging_to(full.into(), &["--map", &arena()]);
    is_unharmed(process).await;
}

#[tokio::test]
async fn a_log_whose_reader_is_gone_costs_nothing_but_its_lines() {
    let mut process = ServerProcess::start_unread(&["--map", &arena()], &[]);
    process.close_log();
    is_unharmed(process).await;
}

/// A server that logs everything, also from its libraries, to a log that nobody reads. The log's
/// pipe and queue are full.
async fn overflowing() -> ServerProcess {
    let process = ServerProcess::start_unread(&["--map", &arena()], &[("RUST_LOG", "trace")]);
    let noise = UdpSocket::bind("127.0.0.1:0").unwrap();
    let begin = Instant::now();
    while lost_lines(&process, "queue_full").await == 0.0 {
        assert!(begin.elapsed() < HANG, "the queue of the log does not fill");
        // Each datagram causes at least one line.
        for _ in 0..500 {
            noise.send_to(&[0x40; 60], process.udp).unwrap();
        }
    }
    process
}

#[tokio::test]
async fn a_log_that_nobody_reads_stops_nobody_and_tells_later_what_is_missing() {
    let mut process = overflowing().await;
    let (connector, mut client) = join(&process).await;
    play(&mut client, 30).await;
    assert_eq!(lost_lines(&process, "unwritable").await, 0.0);

    process.read_log();
    let notice = process.logged("lines of the log were lost here");
    let dropped = notice.split_once("queue_full=").unwrap().1.split(' ').next().unwrap();
    assert!(dropped.parse::<u64>().unwrap() > 0, "{notice}");
    client.leave().await;
    connector.close().await;
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}

#[tokio::test]
async fn the_end_does_not_wait_for_a_log_that_nobody_reads() {
    let mut process = overflowing().await;
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}

#[tokio::test]
async fn a_terminal_that_is_gone_ends_no_match() {
    // Under nohup, child processes ignore SIGHUP, so `env` restores the default for the server.
    let heeding = ["env", "--default-signal=HUP"];
    let mut process = ServerProcess::start_within(&heeding, &["--map", &arena(), "--drain", "0"]);
    let (connector, mut client) = join(&process).await;
    for _ in 0..3 {
        process.signal("HUP");
        process.logged("reloaded changed=0 needs_restart=0 refused=0");
    }
    play(&mut client, 5).await;
    process.signal("TERM");
    let lost = play_to_the_end(&mut client).await;
    assert!(matches!(lost, Disconnected::Closed(ClosingReason::ShuttingDown)), "{lost}");
    drop(client);
    connector.close().await;
    assert_eq!(process.wait(), Some(0));
}

#[tokio::test]
async fn a_server_that_was_told_to_outlive_its_terminal_does() {
    // The shell ignores the signal for its child, as nohup does.
    let shell = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""];
    let mut process = ServerProcess::start_within(&shell, &["--map", &arena()]);
    process.signal("HUP");
    let (connector, mut client) = join(&process).await;
    play(&mut client, 5).await;
    client.leave().await;
    connector.close().await;
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
}

#[tokio::test]
async fn an_interrupt_after_the_drain_ends_the_server_at_once() {
    let mut process = ServerProcess::start(&["--map", &arena(), "--drain", "0"]);
    // The server waits for this client, which does not answer the goodbye.
    let (_connector, _client) = join(&process).await;
    process.signal("TERM");
    process.logged("shutting down signal=\"SIGTERM\"");
    process.logged("drained");
    process.signal("INT");
    assert_eq!(process.wait(), Some(1));
    process.logged("ERROR ended at once by another signal, SIGINT");
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a server that fails before it serves, with this exit code, and returns its output.
fn fails(command: &mut std::process::Command, code: i32) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{told}");
    told
}

#[test]
fn a_fatal_error_is_a_line_of_the_log_in_the_chosen_format() {
    let mut command = ServerProcess::command(&["--map", "nowhere.obsp", "--log-format", "json"]);
    // Fatal errors pass every filter.
    let told = fails(command.env("RUST_LOG", "off"), 1);
    let line: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(line["level"], "ERROR");
    let message = line["fields"]["message"].as_str().unwrap();
    assert!(message.starts_with("there is no map nowhere.obsp"), "{message}");

    let told = fails(&mut ServerProcess::command(&["--map", "nowhere.obsp"]), 1);
    assert!(told.contains(" ERROR there is no map nowhere.obsp"), "{told}");
}

#[test]
fn a_filter_that_makes_no_sense_is_told_and_not_used() {
    let mut command = ServerProcess::command(&["--map", "nowhere.obsp"]);
    let told = fails(command.env("RUST_LOG", "server=loud"), 1);
    assert!(told.contains(" WARN RUST_LOG: \"server=loud\" is not a log filter"), "{told}");
}

#[test]
fn a_misspelt_variable_or_key_is_wrong_usage() {
    let mut command = ServerProcess::command(&["--map", "nowhere.obsp"]);
    let told = fails(command.env("ARENA_TICKRATE", "30"), 2);
    assert!(told.contains("did you mean ARENA_TICK_RATE?"), "{told}");

    let path = std::env::temp_dir().join(format!("misspelt-{}.toml", std::process::id()));
    std::fs::write(&path, "map = 'arena'\nmax-player = 4\n").unwrap();
    let told = fails(&mut ServerProcess::command(&["--config", &path.to_string_lossy()]), 2);
    std::fs::remove_file(path).unwrap();
    assert!(told.contains("did you mean max-players?"), "{told}");
}

#[test]
fn too_few_descriptors_are_an_error_with_a_way_out() {
    let limited = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -n 9; exec \"$0\" \"$@\""]).arg(program(name)).args(arguments);
        fails(&mut command, 1)
    };
    let any_port = "127.0.0.1:0";
    let server = limited("server", &["--map", &arena(), "--listen", any_port, "--http", any_port]);
    let bots = limited("client-bot", &["--server", "127.0.0.1:1", "--duration", "1s"]);
    for told in [server, bots] {
        assert!(told.contains("ulimit -n") && !told.contains("panicked"), "{told}");
    }
}
