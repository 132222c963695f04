//! The cost of a tick of the moving world, beside `rapier3d`, and for heaps beside Box3D.
//!
//! `cargo bench -p benches --bench tick`
//!
//! All engines get the same solids, the same props, and the same players with the same commands.
//! The props start in the poses in which our engine lets them settle. Players are box agents in our
//! engine, and a kinematic character controller in rapier. Nobody shoots, because rapier has no
//! weapons. The engines take turns, tick by tick, so that other load on the machine affects all
//! alike: compare the ratios. The same exact audit judges how deep bodies overlap in each.
//!
//! The halls grow with their number of objects, and all have the same number of players. So the
//! cost of a tick may grow no faster than the number of objects. Heaps, and landings of many
//! hovertanks, show the cost of bodies that are awake and touch. A hall full of doors, lifts and gates
//! shows what happens to bodies and players in the way of a mover, which no contact stops.

#[path = "../world/machine.rs"]
mod machine;

mod box3d;
mod heap;
mod hovertank;
mod landing;
mod movers;
mod ours;
mod peer;
mod scene;

use std::time::{Duration, Instant};

use obsp_sim::audit::{Audit, Fault};
use obsp_sim::{Command, State};
use ours::Ours;
use peer::Peer;
use scene::Scene;

/// Ticks before anything is measured: players spread and run into things.
const WARM_UP: u32 = 60;

/// Ticks between two audits.
const AUDIT_EVERY: u32 = 20;

/// Objects scattered over halls of matching size.
const HALLS: [u32; 5] = [100, 500, 1_000, 2_000, 4_000];

fn main() {
    machine::print();
    // `cargo bench -p benches --bench tick -- heaps` measures only one of the four.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let asked = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    if asked("matches") {
        matches();
    }
    if asked("heaps") {
        heap::heaps();
    }
    if asked("landings") {
        landing::landings();
    }
    if asked("movers") {
        movers::movers();
    }
}

fn matches() {
    println!();
    println!("milliseconds a tick; deepest overlap in units (of 2.5 cm)");
    println!(
        "{:20} {:>7} {:>7} {:>7}   {:>7} {:>7} {:>7}   {:>5} {:>5} {:>5}   {:>7} {:>7} {:>9}",
        "", "ours", "", "", "rapier", "", "", "ratio", "", "", "deepest", "", "rapier's",
    );
    println!(
        "{:20} {:>7} {:>7} {:>7}   {:>7} {:>7} {:>7}   {:>5} {:>5} {:>5}   {:>7} {:>7} {:>9}",
        "",
        "median",
        "mean",
        "p99",
        "median",
        "mean",
        "p99",
        "med.",
        "mean",
        "p99",
        "ours",
        "rapier",
        "manifolds",
    );
    race(&Scene::arena(), 900);
    let halls = HALLS.map(|objects| race(&Scene::hall(objects), 300));
    grow(&halls);
}

/// The time that our engine took for one scene.
struct Cost {
    objects: u32,
    /// Time to scatter the objects and let them come to rest.
    set_up: Duration,
    /// Median, mean and 99th percentile of a tick, in milliseconds.
    tick: [f64; 3],
}

/// Prints the cost of an object in halls of all sizes, and whether the cost of a tick has grown
/// faster than the number of objects.
fn grow(halls: &[Cost]) {
    println!();
    println!("ours, microseconds a tick and object; the set-up in milliseconds an object");
    println!("{:20} {:>7} {:>7} {:>7}   {:>7}", "", "median", "mean", "p99", "set-up");
    let per_object = |cost: &Cost| {
        let [median, mean, late] = cost.tick.map(|ms| ms * 1e3 / f64::from(cost.objects));
        [median, mean, late, cost.set_up.as_secs_f64() * 1e3 / f64::from(cost.objects)]
    };
    for hall in halls {
        let [median, mean, late, set_up] = per_object(hall);
        println!(
            "{:20} {median:7.2} {mean:7.2} {late:7.2}   {set_up:7.2}",
            format!("hall, {} objects", hall.objects),
        );
    }
    let [Some(first), Some(last)] = [halls.first(), halls.last()] else { return };
    let objects = f64::from(last.objects) / f64::from(first.objects);
    let (before, after) = (per_object(first), per_object(last));
    for (index, what) in ["median", "mean", "p99", "set-up"].into_iter().enumerate() {
        let share = after[index] / before[index];
        let verdict = if share <= 1.0 { "no worse than" } else { "WORSE than" };
        println!(
            "{what}: {objects:.0} times the objects cost {:.1} times as much: {verdict} in proportion",
            share * objects
        );
    }
}

/// One of the engines, which plays a scene.
trait Engine {
    /// Advances by one tick, one command for each player. Returns how long the engine took.
    fn step(&mut self, commands: &[Command]) -> Duration;
    /// The state of all entities.
    fn state(&mut self) -> State;
    /// Bodies awake after the last tick.
    fn awake(&self) -> u64;
}

/// The ticks of one engine.
#[derive(Default)]
struct Measured {
    ticks: Vec<Duration>,
    deepest: f64,
}

impl Measured {
    fn step(&mut self, engine: &mut impl Engine, commands: &[Command]) {
        self.ticks.push(engine.step(commands));
    }

    /// Looks for overlaps and returns how many there are.
    fn judge(&mut self, engine: &mut impl Engine, audit: &mut Audit) -> usize {
        let found = audit.check(&engine.state());
        self.deepest = found.iter().filter_map(Fault::depth).fold(self.deepest, f64::max);
        found.len()
    }

    /// Median, mean and 99th percentile of a tick, in milliseconds.
    fn summary(&mut self) -> [f64; 3] {
        self.ticks.sort_unstable();
        let most = (self.ticks.len() - 1) as f64;
        let late = |share: f64| self.ticks[(most * share) as usize].as_secs_f64() * 1e3;
        let all: Duration = self.ticks.iter().sum();
        [late(0.5), all.as_secs_f64() * 1e3 / self.ticks.len() as f64, late(0.99)]
    }
}

/// Plays one scene in both engines and prints a line.
fn race(scene: &Scene, ticks: u32) -> Cost {
    let begin = Instant::now();
    let mut ours = Ours::new(scene);
    let set_up = begin.elapsed();
    let mut peer = Peer::new(scene, &ours.state());
    let mut players = scene.players();
    let (mut audit, mut peers_audit) = (scene.audit(), scene.audit());
    let (mut own, mut others) = (Measured::default(), Measured::default());
    let mut deepest_contact: f64 = 0.0;
    for tick in 0..WARM_UP + ticks {
        let commands: Vec<Command> = players.iter_mut().map(|p| p.next_command().1).collect();
        if tick == WARM_UP {
            own.ticks.clear();
            others.ticks.clear();
        }
        own.step(&mut ours, &commands);
        others.step(&mut peer, &commands);
        deepest_contact = deepest_contact.max(peer.deepest_contact());
        if tick % AUDIT_EVERY == 0 {
            own.judge(&mut ours, &mut audit);
            others.judge(&mut peer, &mut peers_audit);
        }
    }
    let [a, b] = [own.summary(), others.summary()];
    println!(
        "{:20} {:7.3} {:7.3} {:7.3}   {:7.3} {:7.3} {:7.3}   {:4.2}x {:4.2}x {:4.2}x   {:7.4} {:7.4} {:9.4}",
        scene.name(),
        a[0],
        a[1],
        a[2],
        b[0],
        b[1],
        b[2],
        a[0] / b[0],
        a[1] / b[1],
        a[2] / b[2],
        own.deepest,
        others.deepest,
        deepest_contact,
    );
    Cost { objects: scene.config.objects, set_up, tick: a }
}
