//! Heaps: bodies dropped into a pen, awake until they rest. There are no players, so neither engine
//! spends time on players.

use obsp_sim::{Kind, State};
use tests::scene::HeapModels;

use super::ours::Ours;
use super::peer::Peer;
use super::scene::Scene;
use super::{Engine, Measured};

/// The numbers of bodies in the heaps.
const SIZES: [u32; 5] = [125, 250, 500, 1_000, 2_000];

/// Ticks for which each heap is played.
const TICKS: u32 = 600;

/// Ticks between two audits.
const AUDIT_EVERY: u32 = 10;

/// The figures of one engine's heap.
#[derive(Default)]
struct Fallen {
    measured: Measured,
    /// Bodies awake, summed over the ticks.
    awake: u64,
}

impl Fallen {
    fn step(&mut self, engine: &mut impl Engine) {
        self.measured.step(engine, &[]);
        self.awake += engine.awake();
    }

    /// The time of all ticks, in milliseconds.
    fn total(&self) -> f64 {
        self.measured.ticks.iter().map(|tick| tick.as_secs_f64() * 1e3).sum()
    }
}

/// Drops heaps of all kinds and sizes in both engines and prints a line for each.
pub(crate) fn heaps() {
    println!();
    println!(
        "heaps, {TICKS} ticks: time of all ticks in ms, 99th percentile of a tick in ms, µs a tick for each"
    );
    println!(
        "awake body, bodies awake on average, mean height of the bodies and deepest overlap in units;"
    );
    println!(
        "our time divided by rapier's (all ticks, p99), and our time with one thread divided by that with two"
    );
    println!(
        "{:14} {:>7} {:>7} {:>6} {:>6} {:>6} {:>7}   {:>7} {:>7} {:>6} {:>6} {:>6} {:>7}   {:>5} {:>5} {:>7}",
        "",
        "ours",
        "p99",
        "us",
        "awake",
        "height",
        "deepest",
        "rapier",
        "p99",
        "us",
        "awake",
        "height",
        "deepest",
        "total",
        "p99",
        "threads",
    );
    for models in [HeapModels::Crates, HeapModels::Mixed, HeapModels::Concave] {
        for objects in SIZES {
            drop_heap(&Scene::heap(objects, models));
        }
    }
}

fn drop_heap(scene: &Scene) {
    let (mut ours, mut doubled) = (Ours::new(scene), Ours::new(scene));
    doubled.set_threads(2);
    let mut peer = Peer::new(scene, &ours.state());
    let (mut audit, mut peers_audit) = (scene.audit(), scene.audit());
    let (mut own, mut others) = (Fallen::default(), Fallen::default());
    let mut by_two = Fallen::default();
    for tick in 1..=TICKS {
        own.step(&mut ours);
        others.step(&mut peer);
        by_two.step(&mut doubled);
        if tick % AUDIT_EVERY == 0 {
            own.measured.judge(&ours, &mut audit);
            others.measured.judge(&peer, &mut peers_audit);
        }
    }
    assert_eq!(
        ours.digest(),
        doubled.digest(),
        "two threads compute a different heap than one thread"
    );
    let print = |fallen: &mut Fallen, state: State| {
        let total = fallen.total();
        let [_, _, late] = fallen.measured.summary();
        print!(
            " {total:7.0} {late:7.2} {:6.1} {:6.0} {:6.1} {:7.4}  ",
            total * 1e3 / fallen.awake.max(1) as f64,
            fallen.awake as f64 / f64::from(TICKS),
            mean_height(&state),
            fallen.measured.deepest,
        );
        [total, late]
    };
    print!("{:14}", scene.name());
    let a = print(&mut own, ours.state());
    let b = print(&mut others, peer.state());
    println!(" {:4.2}x {:4.2}x {:6.2}x", a[0] / b[0], a[1] / b[1], a[0] / by_two.total());
}

fn mean_height(state: &State) -> f64 {
    let props = || state.entities.iter().filter(|entity| matches!(entity.kind, Kind::Prop { .. }));
    props().map(|prop| prop.position.z).sum::<f64>() / props().count().max(1) as f64
}
