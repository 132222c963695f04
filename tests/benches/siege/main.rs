//! What one stranger can cost: a release server with 16 honest bots, and everything
//! that was ever thrown at it.
//!
//! `cargo bench -p tests --bench siege | tee tests/results/siege.txt`, or some rows
//! alone: `cargo bench -p tests --bench siege -- chat joins`. With `--server PATH`,
//! another build of the server is besieged: an earlier one, to compare with.
//!
//! Server, bots and attackers are processes of their own on one machine. The attackers
//! run at the lowest priority, as if they were elsewhere. They begin first; two seconds
//! later the bots join, while a probe asks for `/healthz` ten times a second. Figures
//! beyond their bar are marked, and the exit code is 1 then.

#[path = "../../tests/siege/attacker.rs"]
#[expect(dead_code, reason = "the tests of strangers ask more of them")]
mod attacker;
mod attacks;

use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attacks::{ATTACKS, Attack, Target};
use clap::Parser;
use client_bot::swarm::{Report, Swarm};
use tests::harness::pages::get;
use tests::harness::{ServerProcess, own_map};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

/// Honest bots.
const BOTS: u32 = 16;

/// Players that the server takes: the attack that chats within the rules needs them.
const MAX_PLAYERS: &str = "48";

/// How long the attackers are alone.
const HEAD_START: Duration = Duration::from_secs(2);

/// Time between two probes, and the longest that one is waited for.
const PROBE: Duration = Duration::from_millis(100);
const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// What every row is held to.
const LEAST_SNAPSHOTS: f64 = 58.0;
const MOST_GAP_MS: f64 = 50.0;
const MOST_LOG: f64 = 1024.0 * 1024.0;
const MOST_MEMORY: f64 = 64.0 * 1024.0 * 1024.0;
const MOST_PROBE_MS: f64 = 50.0;

#[derive(Debug, Parser)]
struct Options {
    /// Only rows whose name contains one of these
    filters: Vec<String>,

    /// Seconds that the bots play in each row
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,

    /// The server to besiege, if it is not the one of this build
    #[arg(long, value_name = "PATH")]
    server: Option<String>,

    /// The attackers come from the bots' own address, 127.0.0.1, which has no share of
    /// players and joins
    #[arg(long)]
    same_address: bool,

    /// Attack UDP and HTTP address by this name from this address, until killed
    #[arg(long, hide = true, num_args = 4)]
    attack: Option<Vec<String>>,

    /// What cargo says to every benchmark
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
        "gap p99 {MOST_GAP_MS} ms, log 1 MiB, memory 64 MiB, /healthz {MOST_PROBE_MS} ms; * misses its bar\n"
    );
    println!(
        "{:18} {:>8} {:>12} {:>11} {:>10} {:>11} {:>12}",
        "attack", "joins", "snapshots/s", "gap p99 ms", "log KiB", "memory MiB", "/healthz ms"
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

/// Attacks until killed.
fn besiege(attack: &[String]) {
    let [name, udp, http, source] = attack else { unreachable!("clap asks for four") };
    let attack = ATTACKS.iter().find(|known| known.name == name).expect("a known attack");
    let target = Target {
        udp: udp.parse().unwrap(),
        http: http.parse().unwrap(),
        source: source.parse().unwrap(),
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(attacks::run(attack, target));
}

/// Attackers in a process of their own, ended with the row whatever comes.
struct Attackers(Child);

impl Attackers {
    fn start(attack: &Attack, server: &ServerProcess, source: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let [udp, http] = [server.udp.to_string(), server.http.to_string()];
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program).args([
            "--attack",
            attack.name,
            &udp,
            &http,
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

/// What became of the honest.
struct Row {
    report: Report,
    log: f64,
    memory: f64,
    probe_ms: f64,
}

impl Row {
    fn of(attack: &Attack, options: &Options) -> Self {
        let map = own_map("arena.obsp").to_string_lossy().into_owned();
        let arguments = ["--map", &map, "--max-players", MAX_PLAYERS];
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
        let (report, probe_ms) = std::thread::scope(|scope| {
            let probing = scope.spawn(|| probe(server.http, &over));
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let report = runtime.block_on(swarm.run(std::future::pending(), |_| {}));
            over.store(true, Ordering::Relaxed);
            (report.expect("bots can be sent"), probing.join().unwrap())
        });
        drop(attackers);
        let memory = server.memory().map_or(0, |[_, most]| most) as f64;
        Self { report, log: server.log().len() as f64, memory, probe_ms }
    }

    /// Prints the row; whether all its bars hold.
    fn print(&self, attack: &Attack) -> bool {
        let Self { report, log, memory, probe_ms } = self;
        let joins = f64::from(report.joined) - f64::from(report.dropped);
        let (snapshots, gap) = (report.snapshots_per_second.mean, report.snapshot_gap_ms.p99);
        let mut holds = true;
        let mut cell = |value: String, is_within: bool, width: usize| {
            holds &= is_within;
            let mark = if is_within { " " } else { "*" };
            format!("{:>width$}", format!("{value}{mark}"))
        };
        println!(
            "{:18} {} {} {} {} {} {}",
            attack.name,
            cell(format!("{joins}/{BOTS}"), joins == f64::from(BOTS), 8),
            cell(format!("{snapshots:.1}"), snapshots >= LEAST_SNAPSHOTS, 12),
            cell(format!("{gap:.1}"), gap <= MOST_GAP_MS, 11),
            cell(format!("{:.0}", log / 1024.0), *log <= MOST_LOG, 10),
            cell(format!("{:.1}", memory / 1048576.0), *memory <= MOST_MEMORY, 11),
            cell(format!("{probe_ms:.1}"), *probe_ms <= MOST_PROBE_MS, 12),
        );
        holds
    }
}

/// The longest that an answer of `/healthz` took, in milliseconds.
fn probe(http: SocketAddr, over: &AtomicBool) -> f64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut longest = Duration::ZERO;
        while !over.load(Ordering::Relaxed) {
            let begin = Instant::now();
            // An error counts as no answer.
            let answered = tokio::spawn(timeout(PROBE_PATIENCE, get(http, "/healthz"))).await;
            let is_healthy = matches!(answered, Ok(Ok(answer)) if answer.status == 200);
            longest = longest.max(if is_healthy { begin.elapsed() } else { PROBE_PATIENCE });
            sleep(PROBE).await;
        }
        longest.as_secs_f64() * 1000.0
    })
}
