//! Times of impact, judged by an oracle of exact triangles. Bodies that overlap at a known moment
//! of a tick must be stopped before that moment, and hardly sooner than the guard's margin demands.
//!
//! Each case is built from the moment of overlap: two bodies are put into each other by a given
//! depth, and their paths lead through these poses. So the oracle knows that they meet and need not
//! search for the moment, however thin and fast they are, and however soon they part again.
//!
//! `SIM_PASSAGES=100000 cargo test -p tests --release --test simulation sim_passage` judges this
//! many cases. `SIM_PAIRS_SEED` chooses other cases.

use glam::{DQuat, DVec3};
use obsp_sim::query::{MARGIN, Passing, Way, passing, separation};
use obsp_sim::{Resolution, Stages};
use tests::harness::near::{Figure, direction, touching_distance, turn};
use tests::harness::{Random, setting};
use tests::oracle::bodies::interpenetrate;

/// Default number of cases, which take a few seconds.
const SAMPLE: usize = 2_000;

/// Bodies may be stopped early by this much at the 99th percentile. The unit is the shortest
/// interval of the time bisection at the fastest approach. One interval is the resolution of the
/// bisection. The second one is for searches that end because they advance only in tiny steps.
const EARLY: f64 = 2.0;

/// Moments before the impact at which the oracle looks for an overlap.
const LOOKS: u32 = 24;

struct Case<'a> {
    figures: [&'a Figure; 2],
    ways: [Way; 2],
    /// The moment at which the two are known to overlap.
    moment: f64,
}

impl Case<'_> {
    fn meet(&self, time: f64) -> bool {
        let [a, b] = [0, 1].map(|i| self.figures[i].placed(self.ways[i].at(time)));
        interpenetrate(&a, &b)
    }

    fn gap(&self, time: f64) -> Option<f64> {
        let [a, b] = [0, 1].map(|i| self.ways[i].at(time));
        separation(&self.figures[0].solid, a, &self.figures[1].solid, b)
    }

    fn passing(&self, stages: Stages, [i, j]: [usize; 2]) -> Passing {
        let side = |i: usize| (&self.figures[i].solid, &self.ways[i]);
        passing(side(i), side(j), stages, Resolution::default())
    }

    /// An upper bound of the relative speed of any two points of the bodies, in units a tick.
    fn fastest(&self) -> f64 {
        let travel = |i: usize| self.ways[i].to.0 - self.ways[i].from.0;
        let turning = |i: usize| {
            let angle = self.ways[i].from.1.angle_between(self.ways[i].to.1);
            // Orientations are interpolated linearly, so the middle of a turn is faster.
            1.3 * angle * self.figures[i].radius
        };
        travel(0).distance(travel(1)) + turning(0) + turning(1)
    }
}

/// The path of a body that turns from one orientation to another and is at `place` at `moment`.
fn way(travel: DVec3, [from, to]: [DQuat; 2], place: DVec3, moment: f64) -> Way {
    Way { from: (place - travel * moment, from), to: (place + travel * (1.0 - moment), to) }
}

/// The orientations of a body at the start and the end of a tick. They differ by as much as a body
/// may spin in a tick, or more.
fn turns(random: &mut Random) -> [DQuat; 2] {
    let first = turn(random);
    let angle = match random.below(4) {
        0 => 0.0,
        1 => random.between(0.0, 0.1),
        2 => random.between(0.0, 1.0),
        _ => random.between(0.0, 3.0),
    };
    [first, DQuat::from_axis_angle(direction(random), angle) * first]
}

fn case<'a>(figures: &'a [Figure], random: &mut Random) -> Case<'a> {
    let pair = [(); 2].map(|()| &figures[random.below(figures.len())]);
    let moment = random.between(0.02, 1.0);
    let spins = [turns(random), turns(random)];
    // Bodies move from 0.1 to 300 units in the tick, which is across a room.
    let mut travel = || direction(random) * 10.0_f64.powf(random.between(-1.0, 2.5));
    let travels = [travel(), travel()];
    let home = direction(random) * random.between(0.0, 3_000.0);
    let turned = spins.map(|spin| way(DVec3::ZERO, spin, DVec3::ZERO, 0.0).at(moment).1);
    let approach = direction(random);
    let distance = touching_distance((pair[0], (home, turned[0])), (pair[1], turned[1]), approach);
    // The depth is from hardly more than rounding to three units.
    let depth = 10.0_f64.powf(random.between(-5.0, 0.5));
    let places = [home, home + approach * (distance - depth)];
    let ways = [0, 1].map(|i| way(travels[i], spins[i], places[i], moment));
    Case { figures: pair, ways, moment }
}

#[test]
fn bodies_that_meet_within_a_tick_are_stopped_before_they_do_and_hardly_sooner() {
    let mut figures = Figure::shipped();
    figures.push(Figure::cuboid("sheet", DVec3::new(0.5, 64.0, 64.0)));
    figures.push(Figure::cuboid("needle", DVec3::new(40.0, 0.25, 0.25)));
    let (seed, cases) = (setting("SIM_PAIRS_SEED", 7) as u64, setting("SIM_PASSAGES", SAMPLE));
    let mut random = Random::new(seed);
    let (mut judged, mut parted, mut early) = (0, 0, Vec::new());
    for number in 0..cases {
        let case = case(&figures, &mut random);
        // In a match, bodies are apart at the start of every tick.
        let first = if case.meet(0.0) { None } else { case.gap(0.0) };
        let Some(first) = first.filter(|_| case.meet(case.moment)) else { continue };
        judged += 1;
        parted += usize::from(!case.meet(1.0));
        let [a, b] = case.figures.map(|figure| &figure.name);
        let context = |what: &str| {
            let Case { ways, moment, .. } = &case;
            format!("seed {seed}, case {number}: {a} and {b}, {moment}: {what}: {ways:?}")
        };
        for (order, stages) in [
            ([0, 1], Stages::default()),
            ([1, 0], Stages::default()),
            ([0, 1], Stages::EXACT),
            ([0, 1], Stages::ALL),
        ] {
            let answer = case.passing(stages, order);
            let Passing::Until(time) = answer else {
                panic!("{}", context(&format!("{answer:?}")))
            };
            assert!(
                time < case.moment,
                "{}",
                context(&format!("the simulation calls the bodies apart until {time}"))
            );
            for look in 0..LOOKS {
                let looked = time * f64::from(look) / f64::from(LOOKS - 1);
                let met = format!(
                    "the bodies meet at {looked}, but the simulation calls them apart until {time}"
                );
                assert!(!case.meet(looked), "{}", context(&met));
            }
            if first > MARGIN {
                let gap = case.gap(time).filter(|&gap| gap > MARGIN);
                let gap = gap.unwrap_or_else(|| {
                    panic!("{}", context("the bodies are stopped within the guard's margin"))
                });
                early.push((gap - MARGIN) / case.fastest() * 4_096.0);
            }
        }
    }
    early.sort_by(f64::total_cmp);
    let [median, late] = [0.5, 0.99].map(|share| early[(early.len() as f64 * share) as usize]);
    let worst = early.last().copied().unwrap_or_default();
    eprintln!(
        "seed {seed}: {judged} of {cases} judged, of which {parted} part again; stopped \
         {median:.2} shortest intervals early in the median, {late:.2} at the 99th percentile, \
         {worst:.2} at worst"
    );
    assert!(judged > cases / 2 && parted > cases / 4, "{judged} judged, {parted} part again");
    assert!(late < EARLY, "bodies are stopped {late} shortest intervals too early");
}
