//! What snapshots cost: bytes and time for 32 clients of a match of 400
//! entities, against the same match for clients that never acknowledge and so
//! are sent every entity whole.
//!
//! `cargo bench -p proto`

#[path = "../tests/wire/random.rs"]
mod random;
#[path = "../tests/wire/scene.rs"]
mod scene;

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use proto::control::{MapHash, MapName, PlayerName};
use proto::quantise::Quantiser;
use proto::server::{OwnPlayer, Session, Terms};
use proto::{Tick, Time, client};
use scene::Scene;
use sim::{Command, EntityId};

const CLIENTS: usize = 32;
const TICKS: u32 = 600;
/// Ticks until an acknowledgement is back: 50 ms.
const ROUND_TRIP: u32 = 3;
const LIMIT: usize = 1200;

fn main() {
    println!("{CLIENTS} clients, 400 entities, {TICKS} ticks, acknowledged after {ROUND_TRIP}");
    for (name, kicks, restless) in
        [("props at rest", 0.0, false), ("a fight", 0.004, false), ("all moving", 0.0, true)]
    {
        let mut settled = Scene::new(1, 32, 368);
        settled.turnover = 0.0;
        settled.kicks = kicks;
        settled.restless = restless;
        (0..600).for_each(|_| settled.step());
        let changes = measure(&settled, true);
        let whole = measure(&settled, false);
        println!("{name}: {:.0} % of entities awake", awake(&settled) * 100.0);
        for (way, cost) in [("changes", &changes), ("whole  ", &whole)] {
            println!(
                "  {way}: {:7.1} bytes and {:5.1} records a snapshot, {:5.1} postponed, {:4} µs a tick",
                cost.bytes,
                cost.records,
                cost.postponed,
                cost.time.as_micros()
            );
        }
        println!(
            "  ratio: {:.3} of the bytes a record, quantising {} µs a tick",
            changes.bytes / changes.records.max(1.0) / (whole.bytes / whole.records),
            changes.quantising.as_micros()
        );
    }
}

struct Cost {
    /// Per snapshot.
    bytes: f64,
    records: f64,
    postponed: f64,
    /// Per tick, for all clients.
    time: Duration,
    quantising: Duration,
}

fn awake(scene: &Scene) -> f64 {
    let entities = &scene.state().entities;
    entities.iter().filter(|entity| !entity.asleep).count() as f64 / entities.len() as f64
}

fn measure(scene: &Scene, acknowledge: bool) -> Cost {
    let mut scene = scene.clone();
    let joined = Tick(scene.state().tick as u32);
    let mut sessions: Vec<Session> = (0..CLIENTS).map(|slot| join(slot as u16, joined)).collect();
    let mut quantiser = Quantiser::new(Scene::bounds());
    let (mut time, mut quantising) = (Duration::ZERO, Duration::ZERO);
    let mut before = (0, 0, 0);
    // What joining costs is left out.
    for tick in 0..2 * TICKS {
        if tick == TICKS {
            (time, quantising) = (Duration::ZERO, Duration::ZERO);
            before = totals(&sessions);
        }
        scene.step();
        let start = Instant::now();
        let state = Arc::new(quantiser.quantise(scene.state()).unwrap());
        quantising += start.elapsed();
        let start = Instant::now();
        for session in &mut sessions {
            session.encode_snapshot(&state, &OwnPlayer::default(), LIMIT).unwrap();
        }
        time += start.elapsed();
        if acknowledge && tick >= ROUND_TRIP {
            let latest = Tick(state.tick().0 - ROUND_TRIP);
            let before = (1_u64 << (tick - ROUND_TRIP).min(32)) - 1;
            let acknowledgement = Some(Acknowledgement { latest, before: before as u32 });
            let batch = CommandBatch::new(state.tick(), vec![Command::default()]).unwrap();
            let datagram = CommandDatagram { acknowledgement, batch }.encode();
            for session in &mut sessions {
                session.receive_datagram(Time::ZERO, &datagram).unwrap();
            }
        }
    }
    let after = totals(&sessions);
    let snapshots = f64::from(TICKS) * CLIENTS as f64;
    Cost {
        bytes: (after.0 - before.0) as f64 / snapshots,
        records: (after.1 - before.1) as f64 / snapshots,
        postponed: (after.2 - before.2) as f64 / snapshots,
        time: time / TICKS,
        quantising: quantising / TICKS,
    }
}

/// Bytes, records and records postponed so far.
fn totals(sessions: &[Session]) -> (u64, u64, u64) {
    sessions.iter().map(Session::stats).fold((0, 0, 0), |(bytes, records, postponed), stats| {
        (bytes + stats.snapshot_bytes, records + stats.records, postponed + stats.postponed)
    })
}

fn join(slot: u16, tick: Tick) -> Session {
    let rate = NonZeroU16::new(60).expect("not zero");
    let terms = Terms {
        tick_rate: rate,
        snapshot_rate: rate,
        map: MapHash::ANY,
        map_name: MapName::new("bench"),
        bounds: Scene::bounds(),
        player_limit: 32,
    };
    let mut session = Session::new(Arc::new(terms), Time::ZERO);
    let name = PlayerName::new("bench").unwrap();
    let hello = client::Session::new(&name, MapHash::ANY, Time::ZERO).stream_output();
    session.receive_stream(Time::ZERO, &hello).unwrap();
    session.accept(EntityId { slot, generation: 1 }, tick);
    session
}
