//! Many pages at once: ten play and ten watch, and the match does as well as with ten bots. Twenty
//! browsers need a machine for themselves, so the test runs only if `ARENA_CROWD=1` is set.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use tests::harness::pages::{get, metric};
use tests::harness::{ServerProcess, own_map};

use crate::chromium::{Chromium, installed};
use crate::walkers::Walkers;

/// The number of pages that play, and of pages that watch.
const PAGES: usize = 10;

/// Size of a page, so small that a machine without a graphics processor can draw all of them.
const SIZE: (u32, u32) = (160, 120);

/// Time for which ticks are measured.
const MEASURED: Duration = Duration::from_secs(10);

/// A tick with pages may take this many times the CPU time of a tick with bots. The bots walk other
/// ways, and twenty browsers leave little of the CPU's cache to the tick.
const MORE: f64 = 1.5;

/// Share of predictions that may be off by more than a tenth of a unit even if the server had all
/// commands. Each page has other players in its way, whose turns it cannot predict.
const WRONG: f64 = 0.02;

/// A series of the server's metrics.
fn read(http: SocketAddr, series: &str) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metric(&runtime.block_on(get(http, "/metrics")).body, series)
}

/// Ticks of players for which the server had no command. It then plays another command, which the
/// client did not predict, so each such tick may cause a correction.
fn ticks_without_command(server: &ServerProcess) -> f64 {
    let of = |source| format!("game_command_ticks_total{{source=\"{source}\"}}");
    read(server.http, &of("repeated")) + read(server.http, &of("neutral"))
}

/// The number of compared predictions of all pages, and the number of visible corrections.
fn predictions(pages: &mut [Chromium]) -> [f64; 2] {
    pages.iter_mut().fold([0.0; 2], |[compared, visible], page| {
        let stats = page.evaluate("arena.play.player.engine.stats()");
        assert_eq!(stats["mismatches"], 0, "{stats}");
        let [more, wrong] = ["compared", "visible"].map(|name| stats[name].as_f64().unwrap());
        [compared + more, visible + wrong]
    })
}

/// Seconds of CPU time that the tick thread has taken. Twenty browsers that compete for the CPU
/// make ticks longer, but do not add to this time.
fn tick_thread(server: &ServerProcess) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let tick = tasks.map(|task| task.unwrap().path()).find(|task| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "tick thread")
    });
    let spent = fs::read_to_string(tick.unwrap().join("schedstat")).unwrap();
    spent.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Mean CPU time of a tick over [`MEASURED`], in milliseconds.
fn mean_tick(server: &ServerProcess) -> f64 {
    let measure = || (tick_thread(server), read(server.http, "game_ticks_total"));
    let (before, ticks) = measure();
    std::thread::sleep(MEASURED);
    let (after, later) = measure();
    (after - before) / (later - ticks) * 1000.0
}

#[test]
fn ten_pages_play_and_ten_look_on_as_ten_bots_do() {
    if std::env::var_os("ARENA_CROWD").is_none_or(|asked| asked != "1") {
        let _ = writeln!(std::io::stderr(), "SKIPPED: twenty browsers; ARENA_CROWD=1 starts them");
        return;
    }
    let Some(program) = installed() else { return };
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let server = ServerProcess::start(&["--map", &map, "--objects", "40", "--sim-threads", "1"]);
    let bots = Walkers::join(server.udp, PAGES as u16);
    std::thread::sleep(Duration::from_secs(2));
    let with_bots = mean_tick(&server);
    bots.leave();

    let open = |number: usize, query: &str| {
        let mut browser = Chromium::start(&program, &format!("crowd-{number}"), SIZE);
        browser.open(&format!("http://{}/{query}", server.http), "");
        browser
    };
    let mut watching: Vec<_> = (0..PAGES).map(|number| open(number, "")).collect();
    let mut playing: Vec<_> =
        (PAGES..2 * PAGES).map(|number| open(number, &format!("?play=page+{number}"))).collect();
    for browser in &mut watching {
        browser.wait_for("globalThis.arena?.watcher.connection?.history?.digests >= 0");
    }
    for (number, browser) in playing.iter_mut().enumerate() {
        browser.wait_for("globalThis.arena?.play?.player.isThere");
        browser.evaluate(&format!(
            "arena.play.keys.stick('test', 0, 1);
            setInterval(() => (arena.play.keys.yaw += 0.86), 1000 + {number} * 37); 0"
        ));
    }
    // Predictions and ticks without a command are counted while ticks are measured.
    let before = (predictions(&mut playing), ticks_without_command(&server));
    let with_pages = mean_tick(&server);
    let after = (predictions(&mut playing), ticks_without_command(&server));
    let [compared, visible] = [0, 1].map(|of| after.0[of] - before.0[of]);
    let unused = after.1 - before.1;
    let told = format!(
        "a tick with {PAGES} bots: {with_bots:.3} ms of CPU time; with {PAGES} pages that \
         play and {PAGES} that watch: {with_pages:.3} ms; {visible} of {compared} predictions \
         were corrected by more than a tenth of a unit; {unused} ticks had no command"
    );
    let _ = writeln!(std::io::stderr(), "{told}");
    assert!(compared > 100.0, "{told}");
    if unused > compared / 4.0 {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: predictions are not judged: this machine lets {} pages wait too often",
            2 * PAGES
        );
    } else {
        assert!(visible <= compared * WRONG + unused, "{told}");
    }
    for browser in &mut watching {
        assert_eq!(browser.evaluate("arena.watcher.connection.history.mismatches.length"), 0);
    }
    assert_eq!(read(server.http, "game_digest_mismatches_total"), 0.0);
    assert!(
        with_pages < with_bots * MORE,
        "a tick takes {with_pages} ms with pages and {with_bots} ms with bots"
    );
    for browser in watching.iter_mut().chain(&mut playing) {
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{complaints:?}");
    }
}
