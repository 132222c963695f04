//! What telemetry costs beside the ticks that it tells of.
//!
//! `cargo bench -p tests --bench telemetry`
//!
//! The arena with 32 players and 500 objects, tick by tick; after each, what a
//! server notes of such a tick and of telling all players, and every five
//! seconds a scrape by Prometheus and one by the browser's page each second. The
//! two take turns, so the ratio holds on a busy machine too. Exits with 1 if it
//! is above 2 %.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use server::Bookkeeping;
use sim::{Config, World};
use tests::harness::{Random, Wanderer, own_map};

const PLAYERS: u16 = 32;
const TICK_RATE: u32 = 60;

/// Half a minute.
const TICKS: u32 = 30 * TICK_RATE;

/// Ticks before anything is measured: players spread and run into things.
const WARM_UP: u32 = 60;

/// Ticks between two scrapes: Prometheus' every five seconds and one page's
/// every second make 1.2 a second.
const SCRAPE_EVERY: u32 = TICK_RATE * 5 / 6;

/// Share of the tick that telemetry may cost.
const BAR: f64 = 0.02;

fn main() -> ExitCode {
    let map = maps::World::load(&own_map("arena.obsp")).expect("the arena loads");
    let config = Config { tick_rate: TICK_RATE, seed: 1, objects: 500, max_players: PLAYERS };
    let models = maps::model::shipped().into();
    let mut world = World::new(Arc::new(map), models, config).expect("the match sets up");
    let mut players: Vec<Wanderer> = (0..u64::from(PLAYERS))
        .map(|seed| Wanderer::new(world.join().expect("there is room"), Random::new(seed)))
        .collect();
    let books = Bookkeeping::new(TICK_RATE).expect("the edges are in order");

    let (mut ticks, mut notes, mut scrapes) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for tick in 0..WARM_UP + TICKS {
        let commands: Vec<_> = players.iter_mut().map(Wanderer::next_command).collect();
        let begin = Instant::now();
        world.step(&commands);
        let stepped = Instant::now();
        books.note_tick(PLAYERS.into());
        let noted = Instant::now();
        if tick % SCRAPE_EVERY == 0 {
            std::hint::black_box(books.answer_scrape(&world));
        }
        if tick >= WARM_UP {
            ticks += stepped - begin;
            notes += noted - stepped;
            scrapes += noted.elapsed();
        }
    }
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(TICKS);
    let share = |time: Duration| time.as_secs_f64() / ticks.as_secs_f64();
    println!("microseconds a tick, {PLAYERS} players and 500 objects, mean of {TICKS} ticks");
    println!("simulation  {:9.1}", microseconds(ticks));
    println!("notes       {:9.1}  {:6.2} %", microseconds(notes), share(notes) * 100.0);
    println!("scrapes     {:9.1}  {:6.2} %", microseconds(scrapes), share(scrapes) * 100.0);
    let total = share(notes + scrapes);
    println!(
        "telemetry   {:9.1}  {:6.2} % of the tick",
        microseconds(notes + scrapes),
        total * 100.0
    );
    if total <= BAR { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
