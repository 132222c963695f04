//! What a tick of the moving world costs, beside `rapier3d`.
//!
//! `cargo bench -p tests --bench tick`
//!
//! Both engines get the same solids, the same props where ours lets them lie
//! after settling, and the same players with the same commands: box agents
//! here, a kinematic character controller there. Nobody shoots, for the other
//! has no weapons. The two take turns, tick by tick, so that whatever else the
//! machine does hits both alike: the ratios are what counts. How deep bodies
//! stand in each other is judged by the same exact audit.

#[path = "../world/machine.rs"]
mod machine;

mod ours;
mod peer;
mod scene;

use std::time::{Duration, Instant};

use ours::Ours;
use peer::Peer;
use scene::Scene;
use sim::audit::Audit;
use sim::{Command, State};

/// Ticks before anything is measured: players spread and run into things.
const WARM_UP: u32 = 60;

/// Ticks between two audits.
const AUDIT_EVERY: u32 = 20;

fn main() {
    machine::print();
    println!();
    println!(
        "milliseconds a tick, median and 99th percentile; deepest overlap in units (of 2.5 cm)"
    );
    println!(
        "{:24} {:>7} {:>7}   {:>7} {:>7}   {:>6} {:>6}   {:>7} {:>7} {:>9}",
        "", "ours", "p99", "rapier", "p99", "ratio", "p99", "ours", "rapier", "manifolds",
    );
    race(&Scene::arena(), 900);
    for objects in [100, 500, 1_000, 2_000, 4_000] {
        race(&Scene::hall(objects), 300);
    }
}

/// One of the two engines, playing a scene.
trait Engine {
    /// Advances by one tick, one command for each player.
    fn step(&mut self, commands: &[Command]);
    /// Where everybody is.
    fn state(&self) -> State;
}

/// The ticks of one engine.
#[derive(Default)]
struct Measured {
    ticks: Vec<Duration>,
    deepest: f64,
}

impl Measured {
    fn step(&mut self, engine: &mut impl Engine, commands: &[Command]) {
        let begin = Instant::now();
        engine.step(commands);
        self.ticks.push(begin.elapsed());
    }

    fn judge(&mut self, engine: &impl Engine, audit: &mut Audit) {
        let found = audit.check(&engine.state());
        self.deepest = found.iter().map(|overlap| overlap.depth).fold(self.deepest, f64::max);
    }

    /// Milliseconds that this share of the ticks stayed below.
    fn percentile(&mut self, share: f64) -> f64 {
        self.ticks.sort_unstable();
        let index = (self.ticks.len() - 1) as f64 * share;
        self.ticks[index as usize].as_secs_f64() * 1e3
    }
}

/// Plays one scene in both engines and prints a line.
fn race(scene: &Scene, ticks: u32) {
    let mut ours = Ours::new(scene);
    let mut peer = Peer::new(scene, &ours.state());
    let mut players = scene.players();
    let mut audit = scene.audit();
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
            own.judge(&ours, &mut audit);
            others.judge(&peer, &mut audit);
        }
    }
    let [a, b] = [&mut own, &mut others].map(|m| [m.percentile(0.5), m.percentile(0.99)]);
    println!(
        "{:24} {:7.3} {:7.3}   {:7.3} {:7.3}   {:5.2}x {:5.2}x   {:7.4} {:7.4} {:9.4}",
        scene.name(),
        a[0],
        a[1],
        b[0],
        b[1],
        a[0] / b[0],
        a[1] / b[1],
        own.deepest,
        others.deepest,
        deepest_contact,
    );
}
