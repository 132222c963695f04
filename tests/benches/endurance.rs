//! A long match. After an hour, the server must use no more memory and descriptors than after its
//! first minutes, and its recording must replay to the same digests.
//!
//! `cargo bench -p benches --bench endurance | tee tests/results/endurance.txt`, or
//! for a few minutes: `cargo bench -p benches --bench endurance -- --minutes 5`
//!
//! A server in a process of its own records the match. Bots fight in the match, and a few more join
//! and leave all the time. The server's memory and descriptors at the end are compared with those
//! after the warm-up. Then the recording is replayed. A figure that misses its bar is marked, and
//! makes the exit code 1.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::Parser;
use client_bot::behaviors::BehaviorChoice;
use client_bot::swarm::{Report, Swarm};
use server::replay::{ReplayOptions, replay};
use tests::harness::{ServerProcess, own_map};

/// Play a long match and check the server's memory, descriptors and recording.
#[derive(Debug, Parser)]
struct Options {
    /// Minutes that the match lasts
    #[arg(long, value_name = "M", default_value_t = 60)]
    minutes: u32,

    /// Number of bots that stay for the whole match
    #[arg(long, value_name = "N", default_value_t = 12)]
    bots: u32,

    /// Number of further bots, which join and leave all the time
    #[arg(long, value_name = "N", default_value_t = 4)]
    guests: u32,

    /// Seed of the bots
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The flag that cargo passes to every benchmark; ignored
    #[arg(long, hide = true)]
    bench: bool,
}

const MINUTE: Duration = Duration::from_secs(60);

/// Time between two readings of the server's memory and descriptors.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(5);

/// Readings in a median. A single reading depends on how many bots are in the match just then.
const MEDIAN_OF: usize = 12;

/// Time in which buffers, allocator and metrics grow to the size that the match needs. In a match
/// shorter than four times this, the warm-up is a quarter of the match.
const WARM_UP: Duration = Duration::from_secs(300);

/// Time for which a guest plays.
const VISIT: Duration = Duration::from_secs(20);

/// How much memory, in megabytes, and how many descriptors may be added after the warm-up.
const MEMORY_BAR: f64 = 2.0;
const DESCRIPTOR_BAR: usize = 0;

fn main() -> ExitCode {
    let options = Options::parse();
    let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join("endurance.obsr");
    // The server refuses to overwrite a recording.
    let _ = std::fs::remove_file(&recording);
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let file = recording.to_string_lossy();
    let mut server = ServerProcess::start(&["--map", &map, "--record", &file, "--drain", "0"]);
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let residents = play(&server, options.bots, options.seed, options.minutes);
    let guests = visit(&server, &options, stop);
    let samples = watch(&server, options.minutes);
    stop.store(true, Ordering::Relaxed);
    let report = residents.join().expect("bots do not panic");
    let visits = guests.join().expect("bots do not panic");
    server.signal("TERM");
    let code = server.wait();
    let is_equal = is_replayed(recording, map);
    println!("{} minutes, {} bots and {} guests", options.minutes, options.bots, options.guests);
    let warm = WARM_UP.min(MINUTE * options.minutes / 4);
    let warm = (warm.as_secs() / SAMPLE_INTERVAL.as_secs()) as usize;
    let (memory, descriptors) = (grown(&samples, warm, |sample| sample.memory), {
        let [begin, end] = grown(&samples, warm, |sample| sample.descriptors as f64);
        [begin as usize, end as usize]
    });
    let all = || visits.iter().chain([&report]);
    let (digests, wrong) = all().fold((0, 0), |(digests, wrong), report| {
        (digests + report.digests, wrong + report.digest_mismatches)
    });
    let lost: u64 = all().map(|report| u64::from(report.dropped) + report.reconnects).sum();
    let joins: u32 = all().map(|report| report.joined).sum();
    let rate = report.snapshots_per_second.mean;
    [
        row(
            "memory, MB",
            format!("{:.1} to {:.1}", memory[0], memory[1]),
            memory[1] - memory[0] <= MEMORY_BAR,
        ),
        row(
            "descriptors",
            format!("{} to {}", descriptors[0], descriptors[1]),
            descriptors[1] <= descriptors[0] + DESCRIPTOR_BAR,
        ),
        row("joins", joins.to_string(), all().all(|report| report.joined == report.bots)),
        row("dropped", lost.to_string(), lost == 0),
        row("snapshots a second", format!("{rate:.1}"), rate >= 58.0),
        row("digests", format!("{digests}, {wrong} of them wrong"), digests > 0 && wrong == 0),
        row("exit code", format!("{code:?}"), code == Some(0)),
        is_equal,
    ]
    .into_iter()
    .fold(ExitCode::SUCCESS, |code, is_met| if is_met { code } else { ExitCode::FAILURE })
}

/// Prints a figure, marked if it misses its bar. Returns `is_met`.
fn row(name: &str, figure: String, is_met: bool) -> bool {
    println!("{name:<20}{figure}{}", if is_met { "" } else { "   MISSED" });
    is_met
}

/// Sends bots that fight until the match is over.
fn play(server: &ServerProcess, bots: u32, seed: u64, minutes: u32) -> JoinHandle<Report> {
    let swarm = fighters(server, bots, seed, MINUTE * minutes);
    std::thread::spawn(move || send(&swarm))
}

/// Sends bots that play for [`VISIT`] and leave, then the next group, until `stop` is set.
fn visit(
    server: &ServerProcess,
    options: &Options,
    stop: &'static AtomicBool,
) -> JoinHandle<Vec<Report>> {
    let mut swarm = fighters(server, options.guests, options.seed, VISIT);
    std::thread::spawn(move || {
        let mut reports = Vec::new();
        while !stop.load(Ordering::Relaxed) && swarm.bots > 0 {
            swarm.seed += 1;
            reports.push(send(&swarm));
        }
        reports
    })
}

fn fighters(server: &ServerProcess, bots: u32, seed: u64, duration: Duration) -> Swarm {
    Swarm {
        duration: Some(duration),
        seed,
        behavior: BehaviorChoice::Fight,
        own_sockets: true,
        ..Swarm::new(server.udp, bots)
    }
}

fn send(swarm: &Swarm) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime for the bots starts");
    let report = runtime.block_on(swarm.run(std::future::pending(), |_| {}));
    report.expect("the bots can be started")
}

/// One reading of the server's resources.
#[derive(Clone, Copy)]
struct Sample {
    /// Memory in megabytes.
    memory: f64,
    descriptors: usize,
}

/// Reads the server's resources until the match is over, and prints them each minute.
fn watch(server: &ServerProcess, minutes: u32) -> Vec<Sample> {
    let begin = Instant::now();
    let mut samples = Vec::new();
    while begin.elapsed() < MINUTE * minutes {
        std::thread::sleep(SAMPLE_INTERVAL);
        let [memory, _] = server.memory().expect("the memory of the server can be read");
        let descriptors = server.descriptors().expect("the descriptors can be counted");
        samples.push(Sample { memory: memory as f64 / 1e6, descriptors });
        if samples.len() % MEDIAN_OF == 0 {
            let minute = begin.elapsed().as_secs() / 60;
            println!(
                "minute {minute:>3}: {:.1} MB, {descriptors} descriptors",
                memory as f64 / 1e6
            );
        }
    }
    samples
}

/// The medians of the first and the last [`MEDIAN_OF`] readings after the warm-up.
fn grown(samples: &[Sample], warm: usize, value: impl Fn(&Sample) -> f64) -> [f64; 2] {
    let median = |samples: &[Sample]| {
        let mut values: Vec<f64> = samples.iter().map(&value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let after = &samples[warm.min(samples.len())..];
    let few = after.len().min(MEDIAN_OF);
    [median(&after[..few]), median(&after[after.len() - few..])]
}

/// Replays the recording and prints the outcome. Returns whether the replay is equal.
fn is_replayed(file: PathBuf, map: String) -> bool {
    match replay(&ReplayOptions { map: Some(map), ..ReplayOptions::new(file) }) {
        Ok(outcome) => {
            let difference =
                outcome.difference.as_ref().map_or("equal".to_owned(), |d| d.to_string());
            let figure = format!("{} ticks, {difference}", outcome.ticks);
            row("replay", figure, outcome.difference.is_none() && outcome.ticks > 0)
        }
        Err(error) => row("replay", error.to_string(), false),
    }
}
