//! Heaps: bodies dropped into a pen, awake until they rest. There are no players, so no engine
//! spends time on players.

use obsp_sim::{Kind, State};
use tests::scene::HeapModels;

use super::box3d::{Box3d, Program};
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

/// One engine's heap, and its figures.
struct Heap<E> {
    engine: E,
    measured: Measured,
    /// Bodies awake, summed over the ticks.
    awake: u64,
}

impl<E: Engine> Heap<E> {
    fn new(engine: E) -> Self {
        Self { engine, measured: Measured::default(), awake: 0 }
    }

    fn step(&mut self) {
        self.measured.step(&mut self.engine, &[]);
        self.awake += self.engine.awake();
    }

    /// The time of all ticks in milliseconds, the 99th percentile of a tick in milliseconds, and
    /// the microseconds a tick for each awake body.
    fn cost(&mut self) -> [f64; 3] {
        let [_, mean, late] = self.measured.summary();
        let total = mean * self.measured.ticks.len() as f64;
        [total, late, total * 1e3 / self.awake.max(1) as f64]
    }

    /// Prints a line, without its end. Returns [`cost`](Self::cost).
    fn print(&mut self, name: &str) -> [f64; 3] {
        let [total, late, each] = self.cost();
        print!(
            "{name:7} {total:7.0} {late:7.2} {each:6.1} {:6.0} {:6.1} {:7.4}",
            self.awake as f64 / f64::from(TICKS),
            mean_height(&self.engine.state()),
            self.measured.deepest,
        );
        [total, late, each]
    }
}

/// Drops heaps of all kinds and sizes in all engines, and prints a line for each engine.
pub(crate) fn heaps() {
    println!();
    let box3d = Program::compiled();
    println!(
        "heaps, {TICKS} ticks: time of all ticks in ms, 99th percentile of a tick in ms, µs a tick for each"
    );
    println!(
        "awake body, bodies awake on average, mean height of the bodies and deepest overlap in units."
    );
    println!(
        "Beside a peer: our time divided by the peer's. Beside two threads: our time divided by theirs."
    );
    println!(
        "{:14} {:7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>7}   {:>6} {:>6} {:>6}",
        "", "", "total", "p99", "us", "awake", "height", "deepest", "total", "p99", "us",
    );
    for models in [HeapModels::Crates, HeapModels::Mixed, HeapModels::Concave] {
        for objects in SIZES {
            drop_heap(&Scene::heap(objects, models), box3d.as_ref());
        }
    }
}

fn drop_heap(scene: &Scene, box3d: Option<&Program>) {
    let [mut ours, mut doubled] = [(); 2].map(|()| Heap::new(Ours::new(scene)));
    doubled.engine.set_threads(2);
    let start = ours.engine.state();
    let mut box3d = box3d.map(|program| Heap::new(Box3d::new(program, scene, &start)));
    let mut rapier = Heap::new(Peer::new(scene, &start));
    let [mut own_audit, mut box3d_audit, mut rapier_audit] = [(); 3].map(|()| scene.audit());
    for tick in 1..=TICKS {
        ours.step();
        if let Some(box3d) = &mut box3d {
            box3d.step();
        }
        rapier.step();
        doubled.step();
        if tick % AUDIT_EVERY == 0 {
            ours.measured.judge(&mut ours.engine, &mut own_audit);
            if let Some(box3d) = &mut box3d {
                box3d.measured.judge(&mut box3d.engine, &mut box3d_audit);
            }
            rapier.measured.judge(&mut rapier.engine, &mut rapier_audit);
        }
    }
    assert_eq!(
        ours.engine.digest(),
        doubled.engine.digest(),
        "two threads compute a different heap than one thread"
    );
    print!("{:14} ", scene.name());
    let own = ours.print("ours");
    let print_ratios = |other: [f64; 3]| {
        println!(
            "   {:5.2}x {:5.2}x {:5.2}x",
            own[0] / other[0],
            own[1] / other[1],
            own[2] / other[2]
        );
    };
    println!();
    if let Some(box3d) = &mut box3d {
        print!("{:14} ", "");
        print_ratios(box3d.print("box3d"));
    }
    print!("{:14} ", "");
    print_ratios(rapier.print("rapier"));
    print!("{:14} ", "");
    print_ratios(doubled.print("by two"));
}

fn mean_height(state: &State) -> f64 {
    let props = || state.entities.iter().filter(|entity| matches!(entity.kind, Kind::Prop { .. }));
    props().map(|prop| prop.position.z).sum::<f64>() / props().count().max(1) as f64
}
