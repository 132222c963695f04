//! The cost of snapshots for 32 clients: bytes, time and staleness. It is measured in a staged
//! scene of 400 entities, compared with sending every entity whole, and in a real match of 32
//! players and 500 bodies on the arena, at rest and in a fight.
//!
//! Run it with `cargo bench -p obsp-proto`. With `-- priors` it prints the table of initial
//! probabilities that fits the fight, in 256ths.

#[path = "snapshots/arena.rs"]
mod arena;
#[path = "snapshots/priors.rs"]
mod priors;
#[path = "../tests/wire/random.rs"]
mod random;
#[path = "../tests/wire/scene.rs"]
mod scene;

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arena::Moment;
use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::control::{MapHash, MapName, PlayerName};
use obsp_proto::quantise::{Quantised, Quantiser, WorldBounds};
use obsp_proto::server::{MatchInfo, OwnPlayer, Session};
use obsp_proto::snapshot::Lead;
use obsp_proto::{Tick, Time, client};
use obsp_sim::{Command, EntityId};
use scene::Scene;

const CLIENTS: usize = 32;
const TICKS: usize = 600;
/// Ticks until an acknowledgement arrives: 50 ms.
const ROUND_TRIP: usize = 3;
const LIMIT: usize = 1200;
const RATE: f64 = 60.0;

fn main() {
    if std::env::args().any(|word| word == "priors") {
        return priors::print(&arena::play(true, TICKS * 3));
    }
    println!("{CLIENTS} clients, {TICKS} ticks, acknowledged after {ROUND_TRIP}");
    for (name, kicks, restless) in
        [("props at rest", 0.0, false), ("a fight", 0.004, false), ("all moving", 0.0, true)]
    {
        let moments = staged(kicks, restless);
        println!("staged, {name}: {:.0} % of entities awake", awake(&moments) * 100.0);
        let (changes, whole) = (measure(&moments, true), measure(&moments, false));
        print!("  changes: {changes}  whole:   {whole}");
        let ratio = changes.bytes / changes.records.max(1.0) / (whole.bytes / whole.records);
        println!("  ratio of bytes per record: {ratio:.3}");
    }
    for (name, fights) in [("at rest", false), ("a fight", true)] {
        let moments = arena::play(fights, 2 * TICKS);
        println!("arena, {name}: {:.0} % of entities awake", awake(&moments) * 100.0);
        print!("  changes: {}", measure(&moments, true));
    }
}

/// Moments of a scene of 400 entities; no client is sent its own motion.
fn staged(kicks: f64, restless: bool) -> Vec<Moment> {
    let mut scene = Scene::new(1, 32, 368);
    scene.turnover = 0.0;
    scene.kicks = kicks;
    scene.restless = restless;
    (0..600).for_each(|_| scene.step());
    let mut quantiser = Quantiser::new(Scene::bounds());
    let moment = |_| {
        scene.step();
        let state = Arc::new(quantiser.quantise(scene.state()).unwrap());
        let player = |slot| (EntityId { slot, generation: 1 }, OwnPlayer::default());
        Moment { state, players: (0..CLIENTS as u16).map(player).collect() }
    };
    (0..2 * TICKS).map(moment).collect()
}

fn awake(moments: &[Moment]) -> f64 {
    let share = |state: &Quantised| {
        let there: Vec<_> = state.entities().flatten().collect();
        there.iter().filter(|entity| !entity.asleep).count() as f64 / there.len() as f64
    };
    moments.iter().map(|moment| share(&moment.state)).sum::<f64>() / moments.len() as f64
}

struct Cost {
    /// Averages over the snapshots: bytes, records, and records that had to wait.
    bytes: f64,
    records: f64,
    postponed: f64,
    /// Time of a tick for the snapshots of all clients.
    time: Duration,
    /// Maximum age, in ticks, of an outdated state at the first client.
    stalest: usize,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, records, postponed, time, stalest } = self;
        writeln!(
            f,
            "{bytes:6.1} bytes ({:5.1} kbit/s) and {records:5.1} records a snapshot, {postponed:4.1} \
             postponed, {:4} µs a tick, stalest {:.0} ms",
            bytes * 8.0 * RATE / 1000.0,
            time.as_micros(),
            *stalest as f64 / RATE * 1000.0
        )
    }
}

/// The cost of the later half of these moments. The first half contains the cost of joining.
fn measure(moments: &[Moment], acknowledge: bool) -> Cost {
    let players: Vec<EntityId> = moments[0].players.iter().map(|(id, _)| *id).collect();
    let mut pairs: Vec<_> =
        players.iter().map(|&player| join(player, moments[0].state.tick())).collect();
    let mut time = Duration::ZERO;
    let (mut before, mut stalest) = ((0, 0, 0), 0);
    for (count, Moment { state, players }) in moments.iter().enumerate() {
        let measured = count >= moments.len() / 2;
        if count == moments.len() / 2 {
            time = Duration::ZERO;
            before = totals(&pairs);
        }
        let start = Instant::now();
        let encode =
            |((session, _), (_, own)): (&mut (Session, client::Session), &(_, OwnPlayer))| {
                let own = OwnPlayer { lead: Some(Lead::from_ticks(1.5)), ..*own };
                session.encode_snapshot(state, &own, LIMIT).unwrap()
            };
        let datagrams: Vec<_> = pairs.iter_mut().zip(players).map(encode).collect();
        time += start.elapsed();
        if acknowledge && count >= ROUND_TRIP {
            let latest = moments[count - ROUND_TRIP].state.tick();
            let before = (1_u64 << (count - ROUND_TRIP).min(32)) - 1;
            let acknowledgement = Some(Acknowledgement { latest, before: before as u32 });
            let batch = CommandBatch::new(state.tick(), vec![Command::default()]).unwrap();
            let datagram = CommandDatagram { acknowledgement, batch }.encode();
            for (session, _) in &mut pairs {
                session.receive_datagram(Time::ZERO, &datagram).unwrap();
            }
        }
        let client = &mut pairs[0].1;
        let received = client.receive_datagram(Time::ZERO, &datagrams[0]).unwrap().unwrap();
        assert_ne!(received.digest_agrees, Some(false));
        if measured {
            stalest = stalest.max(staleness(client, state));
        }
    }
    let after = totals(&pairs);
    let ticks = moments.len() - moments.len() / 2;
    let snapshots = (ticks * pairs.len()) as f64;
    Cost {
        bytes: (after.0 - before.0) as f64 / snapshots,
        records: (after.1 - before.1) as f64 / snapshots,
        postponed: (after.2 - before.2) as f64 / snapshots,
        time: time / ticks as u32,
        stalest,
    }
}

/// Age, in ticks, of the oldest outdated state at a client.
fn staleness(client: &client::Session, state: &Quantised) -> usize {
    let age = |entity: obsp_sim::EntityState| {
        let slot = entity.id.slot;
        let (observed, _) = client.history(entity.id).last()?;
        let differs = client.quantised(slot) != state.entity(slot.into());
        differs.then(|| state.tick().distance(observed) as usize)
    };
    client.entities().filter_map(age).max().unwrap_or(0)
}

/// Bytes, records and records postponed so far.
fn totals(pairs: &[(Session, client::Session)]) -> (u64, u64, u64) {
    pairs.iter().map(|(session, _)| session.stats()).fold((0, 0, 0), |(bytes, records, late), s| {
        (bytes + s.snapshot_bytes, records + s.records, late + s.postponed)
    })
}

fn join(player: EntityId, tick: Tick) -> (Session, client::Session) {
    let rate = NonZeroU16::new(60).expect("not zero");
    let match_info = MatchInfo {
        tick_rate: rate,
        snapshot_rate: rate,
        map: MapHash::ANY,
        map_name: MapName::new("bench"),
        bounds: bounds(),
        player_limit: 32,
        schema: Arc::default(),
        game: None,
    };
    let mut session = Session::new(Arc::new(match_info), Time::ZERO);
    let name = PlayerName::new("bench").unwrap();
    let mut client = client::Session::new(&name, MapHash::ANY, Time::ZERO);
    session.receive_stream(Time::ZERO, &client.stream_output()).unwrap();
    session.accept(player, tick);
    client.receive_stream(Time::ZERO, &session.stream_output()).unwrap();
    (session, client)
}

/// The lattice of both the scene and the arena.
fn bounds() -> WorldBounds {
    Scene::bounds()
}
