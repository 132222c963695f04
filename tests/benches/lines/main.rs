//! A match over good and bad lines, as its bots measure it.
//!
//! `cargo bench -p benches --bench lines | tee tests/results/lines.txt`, or one line
//! alone: `cargo bench -p benches --bench lines -- '64 kbit'`
//!
//! The server has a process of its own, and the bots are in this one. Between them is the faulty
//! UDP proxy, in which each bot has a line of its own. The bots have the map already.
//!
//! The figures come from the bots' report, without the first second after joining; a figure's bar,
//! if it has one, stands beside it. Corrections of more than four units are counted twice: as they
//! are, and as a player sees them. A player's view spreads a correction over a tenth of a second.
//! So the second count has only the corrections that move the view by more than four units in a
//! frame. A figure that misses its bar is marked, and makes the exit code 1.

mod lines;
mod table;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use client_bot::swarm::{Report, Swarm};
use lines::{BadLine, lines};
use table::Row;
use tests::badline::{Proxy, Setup};
use tests::harness::{ServerProcess, compile, foreign_map, own_map};

/// Play a match over good and bad lines and print its figures.
#[derive(Debug, Parser)]
struct Options {
    /// Only lines whose name or map contains one of these
    filters: Vec<String>,

    /// How many bots play
    #[arg(long, value_name = "N", default_value_t = 8)]
    bots: u32,

    /// Seconds that the bots play over each line
    #[arg(long, value_name = "S", default_value_t = 30)]
    seconds: u64,

    /// Seed of the bots and of the lines
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Also print each report, and how many datagrams the line delayed and lost
    #[arg(long)]
    verbose: bool,

    /// Print reports as JSON instead of the table
    #[arg(long)]
    json: bool,

    /// The flag that cargo passes to every benchmark; ignored
    #[arg(long, hide = true)]
    bench: bool,
}

/// A map to play on, and the server's options for it.
struct Map {
    name: &'static str,
    path: PathBuf,
    objects: &'static str,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut rows = Vec::new();
    let maps = maps();
    for line in lines() {
        for map in &maps {
            let name = format!("{} {}", line.name, map.name);
            if options.filters.is_empty() || options.filters.iter().any(|f| name.contains(f)) {
                eprintln!("{name} ...");
                let report = play(&line, map, &options);
                rows.push(Row::new(line.name, map.name, &report, &(line.bars)(map.name)));
                if options.json {
                    print_json(line.name, map.name, &report);
                }
            }
        }
    }
    if !options.json {
        let (bots, seconds, seed) = (options.bots, options.seconds, options.seed);
        println!("{bots} bots, {seconds} s over each line, seed {seed}");
        table::print(&rows);
    }
    if rows.iter().all(Row::is_within_bars) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn maps() -> Vec<Map> {
    let arena = Map { name: "arena", path: own_map("arena.obsp"), objects: "0" };
    // `foreign_map` prints a line if the map is absent.
    let dm4 = foreign_map("id-gpl/dm4.map").map(|source| {
        // The map is compiled once here, rather than by each server. Bots look for it by its file
        // name.
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lines");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let path = folder.join("dm4.obsp");
        std::fs::write(&path, compile(&source).to_bytes()).expect("the map can be written");
        Map { name: "dm4", path, objects: "300" }
    });
    [arena].into_iter().chain(dm4).collect()
}

/// Plays a match over this line and returns the bots' report.
fn play(line: &BadLine, map: &Map, options: &Options) -> Report {
    let path = map.path.to_string_lossy();
    let server = ServerProcess::start(&["--map", &path, "--objects", map.objects]);
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let setup = Setup {
        listen: any_port,
        to: server.udp,
        line: line.line.clone(),
        seed: options.seed,
        rebinds: Vec::new(),
    };
    let proxy = Proxy::start(setup).expect("there is a free port");
    let swarm = Swarm {
        duration: Some(Duration::from_secs(options.seconds)),
        seed: options.seed,
        own_sockets: true,
        // The bots have the map, because its transfer is not measured here.
        maps: map.path.parent().map(Path::to_owned).into_iter().collect(),
        ..Swarm::new(proxy.address(), options.bots)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(swarm.run(std::future::pending(), |_| {}));
    let report = report.expect("the bots can be started");
    if options.verbose {
        eprintln!("{report}\n{}", proxy.stats());
    }
    report
}

fn print_json(line: &str, map: &str, report: &Report) {
    println!("{}", serde_json::json!({ "line": line, "map": map, "report": report }));
}
