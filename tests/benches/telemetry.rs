//! The cost of telemetry, beside the ticks that it describes.
//!
//! `cargo bench -p benches --bench telemetry`
//!
//! The arena with 32 players and 500 objects is played tick by tick. Telemetry is
//! everything that the server does to describe the ticks. It notes each tick and its messages to
//! all players, answers a scrape by Prometheus every five seconds, and computes a status line every
//! ten.
//!
//! Two more lines give the cost of HTTP pages that show the metrics. The first is for one page,
//! which asks every two seconds. The second is for any number of pages, for which the server
//! renders the metrics at most once a second.
//!
//! Ticks and telemetry alternate and medians are compared, so other load on the machine hardly
//! changes the ratio. The exit code is 1 if telemetry costs more than 2 % of the tick, or if all
//! pages together do.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use obsp_sim::{Config, World};
use server::Bookkeeping;
use tests::harness::{Random, Wanderer, own_map};

const PLAYERS: u16 = 32;
const TICK_RATE: u32 = 60;

/// Ticks that are measured: half a minute.
const TICKS: u32 = 30 * TICK_RATE;

/// Ticks before anything is measured: players spread and run into things.
const WARM_UP: u32 = 60;

/// Ticks between two scrapes that are timed.
const SCRAPE_EVERY: u32 = TICK_RATE;

/// Ticks between two scrapes by Prometheus, as `deploy/prometheus` sets it up, and between two
/// requests of a page.
const PROMETHEUS_EVERY: u32 = TICK_RATE * 5;
const PAGE_EVERY: u32 = TICK_RATE * 2;

/// Minimum number of ticks between two times that the metrics are rendered for pages, however many
/// pages ask.
const AT_MOST_EVERY: u32 = TICK_RATE;

/// Ticks between two status lines.
const TIDY_EVERY: u32 = TICK_RATE * 10;

/// Share of the tick that telemetry may cost.
const BAR: f64 = 0.02;

fn main() -> ExitCode {
    let map = obsp::Map::load(&own_map("arena.obsp")).expect("the arena loads");
    let config = Config { tick_rate: TICK_RATE, seed: 1, objects: 500, max_players: PLAYERS };
    let models = obsp::model::shipped().into();
    let mut world = World::new(Arc::new(map), models, config).expect("the match sets up");
    let mut players: Vec<Wanderer> = (0..u64::from(PLAYERS))
        .map(|seed| {
            Wanderer::new(world.join().expect("there is room for the player"), Random::new(seed))
        })
        .collect();
    let books = Bookkeeping::new(&world, TICK_RATE).expect("the buckets are in order");

    let (mut ticks, mut notes, mut scrapes) = (Vec::new(), Vec::new(), Vec::new());
    let mut tidying = Duration::ZERO;
    for tick in 0..WARM_UP + TICKS {
        let commands: Vec<_> = players.iter_mut().map(Wanderer::next_command).collect();
        let begin = Instant::now();
        world.step(&commands);
        let stepped = Instant::now();
        books.note_tick(PLAYERS.into());
        let noted = Instant::now();
        let scrapes_now = tick % SCRAPE_EVERY == 0;
        if scrapes_now {
            std::hint::black_box(books.answer_scrape());
        }
        let answered = Instant::now();
        if tick % TIDY_EVERY == 0 {
            books.tidy_up();
        }
        if tick >= WARM_UP {
            ticks.push(stepped - begin);
            notes.push(noted - stepped);
            scrapes.extend(scrapes_now.then(|| answered - noted));
            tidying += answered.elapsed();
        }
    }
    let (tick, note) = (median(ticks), median(notes));
    let scrape = median(scrapes);
    let prometheus = scrape / f64::from(PROMETHEUS_EVERY);
    // Status lines are computed too seldom for a median, so their mean counts.
    let tidy = tidying.as_secs_f64() / f64::from(TICKS);
    let line = |label: &str, time: f64| {
        println!("{label:12}{:9.1}  {:6.2} %", time * 1e6, time / tick * 100.0);
    };
    println!("microseconds a tick, {PLAYERS} players and 500 objects, medians of {TICKS} ticks");
    line("simulation", tick);
    line("notes", note);
    line("Prometheus", prometheus);
    line("tidying up", tidy);
    let telemetry = note + prometheus + tidy;
    line("telemetry", telemetry);
    line("one page", scrape / f64::from(PAGE_EVERY));
    let all_pages = scrape / f64::from(AT_MOST_EVERY);
    line("all pages", all_pages);
    if telemetry.max(all_pages) <= BAR * tick { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The median in seconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
