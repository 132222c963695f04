//! A process that stands still as a whole, as on a suspended machine. Afterwards the process
//! reports the stall in its log, on its pages and to its service manager.

use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map};

/// Far longer than anything here takes: only a hang lasts as long.
const HANG: Duration = Duration::from_secs(20);

/// The next report to the service manager that contains `words`.
fn is_told(manager: &UnixDatagram, words: &str) -> String {
    let begin = Instant::now();
    let mut buffer = [0; 500];
    loop {
        assert!(begin.elapsed() < HANG, "no report with {words}");
        let length = manager.recv(&mut buffer).expect("a report comes in time");
        let report = String::from_utf8(buffer[..length].into()).unwrap();
        if report.contains(words) {
            return report;
        }
    }
}

/// Symptom: a process that had been stopped for 1.3 s reported that it was ready, and its log did
/// not report the stall. Cause: only the number of late ticks counted, and a stall is a single one.
/// Cure: the time between two ticks counts.
#[tokio::test]
async fn a_process_that_stood_still_says_so_and_is_not_taken_for_hung() {
    let path = std::env::temp_dir().join(format!("arena-stalls-{}", std::process::id()));
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(HANG)).unwrap();
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    // A hang of the tick thread for as long would end the server.
    let arguments = ["--map", &map, "--hang-limit", "2s"];
    let socket = path.to_string_lossy().into_owned();
    let environment = [("NOTIFY_SOCKET", socket.as_str()), ("WATCHDOG_USEC", "400000")];
    let mut process = ServerProcess::start_unread(&arguments, &environment);
    process.read_log();
    is_told(&manager, "READY=1");
    let counters = async |process: &ServerProcess| {
        let page = get(process.http, "/metrics").await.body;
        ["game_ticks_dropped_total", "game_tick_stalls_total", "game_udp_receive_drops_total"]
            .map(|name| metric(&page, name))
    };
    let before = counters(&process).await;

    process.signal("STOP");
    // The flood exceeds any buffer that the system grants the socket.
    let flood = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..20_000 {
        flood.send_to(&[0; 1200], process.udp).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(2200)).await;
    process.signal("CONT");

    let line = process.logged("no tick was finished for ");
    assert!(line.contains("WARN") && line.contains("the whole process stood still"), "{line}");
    let readiness = get(process.http, "/readyz").await;
    assert_eq!(readiness.status, 503, "{}", readiness.body);
    assert!(readiness.body.starts_with("no tick was finished for "), "{}", readiness.body);
    assert_eq!(get(process.http, "/healthz").await.status, 200);
    let after = counters(&process).await;
    // About 130 ticks were due, of which 4 may be caught up.
    assert!(after[0] - before[0] >= 100.0, "{before:?} {after:?}");
    assert!(after[1] > before[1], "{before:?} {after:?}");
    assert!(after[2] - before[2] > 1000.0, "{before:?} {after:?}");

    let report = is_told(&manager, "WATCHDOG=1");
    assert!(report.contains("STATUS=players: 0 of 32"), "{report}");
    process.signal("TERM");
    is_told(&manager, "STOPPING=1");
    assert_eq!(process.wait(), Some(0), "{}", process.log());
    std::fs::remove_file(path).unwrap();
}
