//! The cost of spectators: the server's tick with ten of them, beside the tick with none.
//!
//! `cargo bench -p benches --bench spectators`
//!
//! 32 bots play the arena. Turns with ten spectators alternate with turns without, so that other
//! load on the machine affects both alike. The spectators come over WebTransport, and leave at the
//! end of their turn. The figures are differences of the server's own metrics. Spectators and bots
//! run on the server's machine and share its CPU with the tick.

#[path = "../tests/system/spectators/spectator.rs"]
#[expect(dead_code, reason = "only the test uses the rest")]
mod spectator;

use std::net::SocketAddr;
use std::time::Duration;

use client_bot::swarm::Swarm;
use server::{Options, PageOptions, Server};
use spectator::Spectator;
use tests::harness::own_map;
use tests::harness::pages::{get, metric};
use tokio::time::{Instant, timeout_at};

const SPECTATORS: usize = 10;

/// Turns with and without spectators.
const TURNS: usize = 6;
const TURN: Duration = Duration::from_secs(5);

/// The server's metrics so far: sums of seconds, and the number of ticks.
#[derive(Clone, Copy, Default)]
struct Noted {
    ticks: f64,
    seconds: [f64; 4],
}

const LABELS: [&str; 4] = ["tick", "interest", "encode", "send"];

impl Noted {
    async fn by(running: &Server) -> Self {
        let page = get(running.http_addr(), "/metrics").await.body;
        let phase =
            |name| metric(&page, &format!("game_tick_phase_seconds_sum{{phase=\"{name}\"}}"));
        Self {
            ticks: metric(&page, "game_tick_duration_seconds_count"),
            seconds: [
                metric(&page, "game_tick_duration_seconds_sum"),
                phase("interest"),
                phase("encode"),
                phase("send"),
            ],
        }
    }

    fn since(self, before: Self) -> Self {
        let seconds = std::array::from_fn(|i| self.seconds[i] - before.seconds[i]);
        Self { ticks: self.ticks - before.ticks, seconds }
    }

    fn plus(self, other: Self) -> Self {
        let seconds = std::array::from_fn(|i| self.seconds[i] + other.seconds[i]);
        Self { ticks: self.ticks + other.ticks, seconds }
    }
}

fn main() {
    let local = tokio::task::LocalSet::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    local.block_on(&runtime, compare());
}

async fn compare() {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let map = own_map("arena.obsp").to_string_lossy().into_owned();
    let options = Options {
        listen: vec![any_port],
        pages: PageOptions::at(any_port),
        objects: 200,
        ..Options::new(map)
    };
    let running = Server::start(&options).unwrap();
    let swarm = Swarm {
        duration: Some(TURN * (2 * TURNS as u32 + 2)),
        ..Swarm::new(running.local_addr(), 32)
    };
    let bots = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, swarm.run(std::future::pending(), |_| {})).is_ok()
    });
    tokio::time::sleep(TURN).await;
    let mut sums = [Noted::default(); 2];
    for _ in 0..TURNS {
        for (sum, count) in sums.iter_mut().zip([0, SPECTATORS]) {
            let looking: Vec<_> = (0..count).map(|_| Spectator::come(&running)).collect();
            let mut spectators = Vec::new();
            for spectator in looking {
                spectators.push(spectator.await.expect("there is room for the spectator"));
            }
            let end = Instant::now() + TURN;
            let before = Noted::by(&running).await;
            let watching: Vec<_> = spectators
                .into_iter()
                .map(|mut spectator| {
                    tokio::task::spawn_local(async move {
                        let mut snapshots = 0;
                        while timeout_at(end, spectator.see()).await.is_ok() {
                            snapshots += 1;
                        }
                        snapshots
                    })
                })
                .collect();
            tokio::time::sleep_until(end).await;
            *sum = sum.plus(Noted::by(&running).await.since(before));
            for watch in watching {
                let snapshots = watch.await.unwrap();
                assert!(
                    snapshots > 10 * TURN.as_secs(),
                    "a spectator got only {snapshots} snapshots"
                );
            }
        }
    }
    println!("milliseconds a tick, 32 bots and 200 objects, mean of {} ticks", sums[0].ticks);
    println!("{:10} {:>10} {:>14} {:>7}", "", "nobody", "10 spectators", "ratio");
    for (i, label) in LABELS.iter().enumerate() {
        let [without, with] = sums.map(|sum| sum.seconds[i] / sum.ticks * 1e3);
        println!("{label:10} {without:>10.3} {with:>14.3} {:>7.2}", with / without);
    }
    running.shutdown();
    let _ = running.join();
    let _ = bots.join();
}
