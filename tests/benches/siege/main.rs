//! The harm that one attacker can do: a release server with 16 honest bots under every known
//! attack, one after the other.
//!
//! `cargo bench -p benches --bench siege | tee tests/results/siege.txt`, or some rows
//! alone: `cargo bench -p benches --bench siege -- chat joins`. With `--server PATH`,
//! another build of the server is besieged, an earlier one for example.
//!
//! Server, bots and attackers are processes of their own on one machine. The attackers run at the
//! lowest priority, as if they were elsewhere. The attackers begin first; two seconds later the
//! bots join. Meanwhile a probe asks for `/healthz` ten times a second, and 20 visitors open the
//! public page, each from an address of its own, with a delay of 100 ms in each direction. A figure
//! that misses its bar is marked, and makes the exit code 1.

#[path = "../../tests/network/siege/attacker.rs"]
#[expect(dead_code, reason = "only the tests use the rest")]
mod attacker;
mod attacks;
mod frames;
mod page;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attacks::{ATTACKS, Attack, Target};
use clap::Parser;
use client_bot::swarm::{Report, Swarm};
use page::{PublicPage, visit};
use tests::harness::pages::get;
use tests::harness::{ServerProcess, own_map};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

/// Honest bots.
const BOTS: u32 = 16;

/// The server's places: 16 bots and the 22 attackers of `chat` must fit.
const MAX_PLAYERS: &str = "48";

/// Time between the start of an attack and the bots' joining.
const HEAD_START: Duration = Duration::from_secs(2);

/// Time between two probes, and the longest wait for an answer.
const PROBE: Duration = Duration::from_millis(100);
const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// Limits of the figures in every row. `MOST_LOG` and `MOST_MEMORY` are in bytes.
const LEAST_SNAPSHOTS: f64 = 58.0;
const MOST_GAP_MS: f64 = 50.0;
const MOST_LOG: f64 = 1024.0 * 1024.0;
const MOST_MEMORY: f64 = 64.0 * 1024.0 * 1024.0;
const MOST_PROBE_MS: f64 = 50.0;
/// Memory in bytes once the attackers are gone.
const MOST_KEPT: f64 = 40.0 * 1024.0 * 1024.0;
/// Number of visitors of the page, and how many of them must get it.
const VISITORS: u8 = 20;
const LEAST_VISITORS: usize = 19;

/// Time after an attack until the memory is read again.
const AFTERMATH: Duration = Duration::from_secs(3);

#[derive(Debug, Parser)]
struct Options {
    /// Only rows whose name contains one of these
    filters: Vec<String>,

    /// Seconds that the bots play in each row
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,

    /// The server to besiege, instead of the server of this build
    #[arg(long, value_name = "PATH")]
    server: Option<String>,

    /// Attack from the bots' own address, 127.0.0.1, to which no limits per address apply
    #[arg(long)]
    same_address: bool,

    /// Carry out one attack until killed: its name, the server's UDP, HTTP and HTTPS addresses,
    /// and the attackers' address
    #[arg(long, hide = true, num_args = 5)]
    attack: Option<Vec<String>>,

    /// The flag that cargo passes to every benchmark; ignored
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(attack) = &options.attack {
        besiege(attack);
        return ExitCode::SUCCESS;
    }
    println!(
        "{BOTS} honest bots, {} s in each row; bars: all join, {LEAST_SNAPSHOTS} snapshots/s,",
        options.seconds
    );
    println!(
        "gap p99 {MOST_GAP_MS} ms, log 1 MiB, memory 64 MiB, 40 MiB of it kept, /healthz {MOST_PROBE_MS} ms,\n\
         {LEAST_VISITORS} of {VISITORS} visitors; * misses its bar\n"
    );
    println!(
        "{:18} {:>8} {:>12} {:>11} {:>10} {:>11} {:>9} {:>12} {:>9}",
        "attack",
        "joins",
        "snapshots/s",
        "gap p99 ms",
        "log KiB",
        "memory MiB",
        "kept MiB",
        "/healthz ms",
        "visitors"
    );
    let mut holds = true;
    for attack in ATTACKS {
        let is_wanted = |filter: &String| attack.name.contains(filter.as_str());
        if options.filters.is_empty() || options.filters.iter().any(is_wanted) {
            let row = Row::of(attack, &options);
            holds &= row.print(attack);
        }
    }
    println!();
    for attack in ATTACKS {
        println!("{:18} {}", attack.name, attack.what);
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Carries out one attack until this process is killed.
fn besiege(attack: &[String]) {
    let [name, udp, http, page, source] = attack else { unreachable!("clap requires five values") };
    let attack = ATTACKS.iter().find(|known| known.name == name).expect("a known attack");
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let http = http.parse().unwrap();
        let target = Target {
            udp: udp.parse().unwrap(),
            http,
            page: PublicPage::of(page.parse().unwrap(), http).await,
            source: source.parse().unwrap(),
        };
        attacks::run(attack, target).await;
    });
}

/// The attackers, in a process of their own, which is killed when this value is dropped.
struct Attackers(Child);

impl Attackers {
    fn start(attack: &Attack, server: &ServerProcess, source: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let [udp, http] = [server.udp.to_string(), server.http.to_string()];
        let page = page_of(server).to_string();
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program).args([
            "--attack",
            attack.name,
            &udp,
            &http,
            &page,
            source,
        ]);
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The figures of one attack.
struct Row {
    report: Report,
    log: f64,
    memory: f64,
    kept: f64,
    probe_ms: f64,
    visitors: usize,
}

/// The address of the server's public page.
fn page_of(server: &ServerProcess) -> SocketAddr {
    let address = server.said("everybody may open the page on https://");
    address.trim_end_matches('/').parse().unwrap()
}

impl Row {
    fn of(attack: &Attack, options: &Options) -> Self {
        let map = own_map("arena.obsp").to_string_lossy().into_owned();
        let arguments = ["--map", &map, "--max-players", MAX_PLAYERS, "--page", "127.0.0.1:0"];
        let server = match &options.server {
            None => ServerProcess::start(&arguments),
            Some(path) => {
                let script = format!("exec '{path}' \"$@\"");
                ServerProcess::start_within(&["sh", "-c", &script], &arguments)
            }
        };
        let source = if options.same_address { "127.0.0.1" } else { "127.0.1.2" };
        let attackers = Attackers::start(attack, &server, source);
        std::thread::sleep(HEAD_START);
        let swarm = Swarm {
            duration: Some(Duration::from_secs(options.seconds)),
            ..Swarm::new(server.udp, BOTS)
        };
        let over = AtomicBool::new(false);
        let (report, probe_ms, visitors) = std::thread::scope(|scope| {
            let probing = scope.spawn(|| probe(server.http, &over));
            let visiting = scope.spawn(|| visits(page_of(&server), server.http));
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let report = runtime.block_on(swarm.run(std::future::pending(), |_| {}));
            over.store(true, Ordering::Relaxed);
            let visitors = visiting.join().unwrap();
            (report.expect("the bots can be started"), probing.join().unwrap(), visitors)
        });
        drop(attackers);
        std::thread::sleep(AFTERMATH);
        let [kept, memory] = server.memory().unwrap_or_default().map(|bytes| bytes as f64);
        Self { report, log: server.log().len() as f64, memory, kept, probe_ms, visitors }
    }

    /// Prints the row and returns whether all its bars hold.
    fn print(&self, attack: &Attack) -> bool {
        let Self { report, log, memory, kept, probe_ms, visitors } = self;
        let joins = f64::from(report.joined) - f64::from(report.dropped);
        let (snapshots, gap) = (report.snapshots_per_second.mean, report.snapshot_gap_ms.p99);
        let mut holds = true;
        let mut cell = |value: String, is_within: bool, width: usize| {
            holds &= is_within;
            let mark = if is_within { " " } else { "*" };
            format!("{:>width$}", format!("{value}{mark}"))
        };
        println!(
            "{:18} {} {} {} {} {} {} {} {}",
            attack.name,
            cell(format!("{joins}/{BOTS}"), joins == f64::from(BOTS), 8),
            cell(format!("{snapshots:.1}"), snapshots >= LEAST_SNAPSHOTS, 12),
            cell(format!("{gap:.1}"), gap <= MOST_GAP_MS, 11),
            cell(format!("{:.0}", log / 1024.0), *log <= MOST_LOG, 10),
            cell(format!("{:.1}", memory / 1048576.0), *memory <= MOST_MEMORY, 11),
            cell(format!("{:.1}", kept / 1048576.0), *kept <= MOST_KEPT, 9),
            cell(format!("{probe_ms:.1}"), *probe_ms <= MOST_PROBE_MS, 12),
            cell(format!("{visitors}/{VISITORS}"), *visitors >= LEAST_VISITORS, 9),
        );
        holds
    }
}

/// Returns how many of the visitors get the page. A visitor comes every 100 ms.
fn visits(page: SocketAddr, http: SocketAddr) -> usize {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let page = PublicPage::of(page, http).await;
        let mut visitors = tokio::task::JoinSet::new();
        for number in 0..VISITORS {
            let page = page.clone();
            visitors.spawn(async move { visit(&page, Ipv4Addr::new(127, 0, 3, 1 + number)).await });
            sleep(PROBE).await;
        }
        visitors.join_all().await.into_iter().filter(|came| *came).count()
    })
}

/// Asks for `/healthz` until `over`, and returns the longest time to an answer, in milliseconds.
fn probe(http: SocketAddr, over: &AtomicBool) -> f64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut longest = Duration::ZERO;
        while !over.load(Ordering::Relaxed) {
            let begin = Instant::now();
            // An error counts as the longest wait, like no answer at all.
            let answered = tokio::spawn(timeout(PROBE_PATIENCE, get(http, "/healthz"))).await;
            let is_healthy = matches!(answered, Ok(Ok(answer)) if answer.status == 200);
            longest = longest.max(if is_healthy { begin.elapsed() } else { PROBE_PATIENCE });
            sleep(PROBE).await;
        }
        longest.as_secs_f64() * 1000.0
    })
}
