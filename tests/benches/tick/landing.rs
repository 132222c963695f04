//! Mass landings, which Blow expected to slow his system down. As many hovertanks
//! as pads fly past each other, land at once, rest for a second and leave. Our engine plays it
//! twice, with the hard case of the cascade on and off. In `rapier3d`, tanks and
//! pads are compounds of the same convex parts. Each engine has pilots of its own, that steer by
//! its states alone.

use std::time::Duration;

use obsp_sim::State;
use obsp_sim::audit::Audit;
use tests::scene::{HardCase, Landers, LandingOptions, Tally, mass_landing};

use super::ours::Ours;
use super::peer::Peer;
use super::scene::Scene;
use super::{Engine, Measured};

/// The numbers of tanks that land at once.
const LANDERS: [u16; 4] = [4, 8, 16, 32];

/// Seed of the pads' places and of the tanks that land in them.
const SEED: u64 = 1;

/// Maximum number of ticks of a landing.
const LONGEST: u32 = 120 * 60;

/// A tick at 60 Hz, in milliseconds.
const BUDGET: f64 = 1e3 / 60.0;

/// One engine's landing.
struct Flight<E> {
    name: String,
    engine: E,
    pilots: Landers,
    audit: Audit,
    measured: Measured,
    /// Times of the ticks in which tanks came down or stood in their pads.
    down: Vec<Duration>,
    tally: Tally,
    /// Bodies awake, summed over the ticks.
    awake: usize,
    /// Number of overlaps found in all ticks.
    overlaps: usize,
}

impl<E: Engine> Flight<E> {
    fn new(name: String, engine: E, start: &State, scene: &Scene) -> Self {
        let pilots = Landers::new(start, SEED);
        let tally = pilots.tally();
        let (audit, measured) = (scene.audit(), Measured::default());
        Self {
            name,
            engine,
            pilots,
            audit,
            measured,
            down: Vec::new(),
            tally,
            awake: 0,
            overlaps: 0,
        }
    }

    /// Plays a tick, unless all have left.
    fn step(&mut self, landers: u16) -> bool {
        if self.tally.left == usize::from(landers) {
            return false;
        }
        // Both engines know the tanks in the order of their ids, as the pilots do.
        let commands = self.pilots.commands(&self.engine.state());
        let commands: Vec<_> = commands.into_iter().map(|(_, command)| command).collect();
        self.measured.step(&mut self.engine, &commands);
        self.tally = self.pilots.tally();
        if self.tally.down > 0 {
            self.down.extend(self.measured.ticks.last());
        }
        let entities = self.engine.state().entities;
        self.awake += entities.iter().filter(|entity| !entity.asleep).count();
        self.overlaps += self.measured.judge(&mut self.engine, &mut self.audit);
        true
    }

    /// Prints a line and returns the time of all ticks in milliseconds.
    fn print(&mut self) -> f64 {
        let ticks = self.measured.ticks.len();
        let [median, mean, late] = self.measured.summary();
        let mut down = Measured { ticks: std::mem::take(&mut self.down), ..Measured::default() };
        let [down_median, _, down_late] =
            if down.ticks.is_empty() { [0.0; 3] } else { down.summary() };
        let Tally { landed, rested, left, go_arounds, .. } = self.tally;
        println!(
            "{:22} {ticks:6} {median:7.3} {late:7.3} {down_median:7.3} {down_late:7.3} {:6.1} % {:6.1} {:6.2} {landed:6} {rested:6} {left:6} {go_arounds:6} {:8} {:8.4}",
            self.name,
            late / BUDGET * 100.0,
            self.awake as f64 / ticks.max(1) as f64,
            mean * 1e3 * ticks as f64 / self.awake.max(1) as f64,
            self.overlaps,
            self.measured.deepest,
        );
        mean * ticks as f64
    }
}

/// Plays landings of all sizes in both engines and prints a line for each. Then prints the work of
/// each stage of the cascade in the largest landing.
pub(crate) fn landings() {
    println!();
    println!(
        "landings, seed {SEED}. A tick in ms: median and p99 of all ticks, then of ticks with tanks down;"
    );
    println!(
        "p99 of all ticks as % of 16.7 ms; mean number of awake bodies; µs a tick and awake body;"
    );
    println!(
        "landers that landed, that rested a second, that left; new attempts; overlaps; the deepest, in units"
    );
    println!(
        "{:22} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8}",
        "",
        "ticks",
        "median",
        "p99",
        "down",
        "p99",
        "of tick",
        "awake",
        "us",
        "landed",
        "rested",
        "left",
        "again",
        "overlaps",
        "deepest",
    );
    for landers in LANDERS {
        race(landers);
    }
    for hard_case in [HardCase::On, HardCase::Off] {
        let options =
            LandingOptions { hard_case, time_stages: true, seed: SEED, ..Default::default() };
        let most = LANDERS[LANDERS.len() - 1];
        let outcome = mass_landing(most, &options).expect("the landing can be played");
        println!(
            "\n{most} landers, hard case {hard_case}, every stage timed; digest {}",
            outcome.digest
        );
        println!("{}", outcome.table);
    }
}

fn race(landers: u16) {
    let scene = Scene::landing(landers, SEED);
    let start = scene.set_up().0.state();
    let mut ours = [HardCase::On, HardCase::Off].map(|hard_case| {
        let mut engine = Ours::new(&scene);
        engine.set_stages(hard_case.stages());
        Flight::new(format!("{landers}, hard case {hard_case}"), engine, &start, &scene)
    });
    let peer = Peer::new(&scene, &start);
    let mut peer = Flight::new(format!("{landers}, rapier"), peer, &start, &scene);
    for _ in 0..LONGEST {
        let own = ours.each_mut().map(|flight| flight.step(landers));
        if !peer.step(landers) && own == [false; 2] {
            break;
        }
    }
    let totals = ours.each_mut().map(Flight::print);
    let others = peer.print();
    let [on, off] = totals.map(|total| total / others);
    println!("{:22} of rapier's total: on {on:.2}, off {off:.2}", "");
}
