//! The scene of a heap: bodies dropped into a pen, which may be shaken, audited and timed.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use obsp::model::shipped;
use obsp_sim::audit::{Audit, Fault, Passages};
use obsp_sim::{Config, EntityState, Kind, World};
use serde::Serialize;

use super::pen::{HeapModels, PenSize, ground, pen};
use super::shaken_pen::{LIFT, ShakenPen, pen_model};
use super::{HeapOptions, SceneError};
use crate::scene::timing::TickTimes;

/// Ticks per second of the scene.
const RATE: u32 = 60;

/// The outcome of a heap. The fields have the names of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heap {
    /// Bodies that were dropped.
    pub objects: usize,
    /// The models of the bodies.
    pub models: HeapModels,
    /// Seed of the places of the bodies in the air.
    pub seed: u64,
    /// Ticks played.
    pub ticks: u32,
    /// How long a tick takes, in microseconds.
    pub tick_us: TickTimes,
    /// Time of all ticks together, in milliseconds.
    pub total_ms: f64,
    /// Time to place the bodies, in milliseconds.
    pub set_up_ms: f64,
    /// Bodies awake, on average over the ticks.
    pub awake_mean: f64,
    /// Time of a tick for each awake body, in microseconds.
    pub us_per_awake: f64,
    /// The first tick after which all bodies slept, if they did.
    pub asleep_tick: Option<u32>,
    /// Mean height of the bodies' centres above the pen's floor at the end, in units. If the pen is
    /// shaken, the floor counts as in the middle of its course.
    pub mean_height: f64,
    /// How far a shaken pen was behind its course, in units, on average over the ticks.
    pub pen_lag: Option<f64>,
    /// Guarded moves that were cut short, for each awake body and tick.
    pub stops_per_awake: f64,
    /// Islands simulated more cheaply because of overload, on average over the ticks.
    pub degraded_islands: f64,
    /// Bodies of these islands that were simulated at half rate, on average over the ticks.
    pub half_rate: f64,
    /// Ticks whose bodies were audited for overlaps.
    pub audits: u32,
    /// Overlaps found, all ticks together.
    pub interpenetrations: u64,
    /// The depth of the deepest overlap, in units.
    pub deepest: f64,
    /// Paths of bodies that led through something.
    pub tunnelled: u64,
    /// Bodies taken out of an overlap and put back elsewhere.
    pub emergency_replacements: u64,
    /// Bodies that fell out of the map and were put back.
    pub fallen: u64,
    /// Bodies waiting for a free place at the end.
    pub limbo: u64,
    /// Digest of the match at the end.
    pub digest: String,
}

/// Drops a heap of bodies into a pen, and audits it.
///
/// # Errors
/// The scene cannot be set up.
pub fn heap(options: &HeapOptions) -> Result<Heap, SceneError> {
    let HeapOptions { objects, models: kind, seed, shake, .. } = *options;
    let lift = if shake { LIFT } else { 0 };
    let map = if shake { ground(objects, kind, seed, lift) } else { pen(objects, kind, seed) };
    let map = Arc::new(map?);
    let config = Config { tick_rate: RATE, seed: options.seed, objects: 0, max_players: 1 };
    let mut models = shipped();
    let moving_pen = if shake { Some(pen_model(PenSize::of(objects))?) } else { None };
    models.extend(moving_pen.clone());
    let begin = Instant::now();
    let mut world = World::unsettled(map, models.clone().into(), config)?;
    world.set_threads(options.sim_threads);
    world.set_budget(options.budget.filter(|&budget| budget > 0));
    let moving_pen = moving_pen.as_ref().map(|model| ShakenPen::new(&mut world, model));
    let mut moving_pen = moving_pen.transpose()?;
    let set_up_ms = begin.elapsed().as_secs_f64() * 1e3;
    let mut audit = Audit::new(world.map(), &models)?;
    let mut passages = Passages::new(world.map(), &models, RATE)?;
    let mut durations = Vec::with_capacity(options.ticks as usize);
    let (mut awake, mut overlaps, mut deepest, mut tunnelled) = (0, 0, 0.0_f64, 0);
    let (mut degraded, mut half_rate) = (0, 0);
    let (mut asleep_tick, mut audits) = (None, 0);
    passages.check(&world.state());
    for tick in 1..=options.ticks {
        if let Some(pen) = &mut moving_pen {
            pen.drive(&mut world, tick, RATE)?;
        }
        let begin = Instant::now();
        world.step(&[]);
        durations.push(begin.elapsed());
        if let Some(pen) = &mut moving_pen {
            pen.note_lag(&world, tick, RATE)?;
        }
        // A shaken pen never sleeps, so it is left out of the count.
        let moving = world.counters().awake.saturating_sub(u64::from(options.shake));
        awake += moving;
        degraded += world.counters().degraded_islands;
        half_rate += world.counters().half_rate;
        asleep_tick = if moving > 0 { None } else { asleep_tick.or(Some(tick)) };
        if options.audit_every == 0 {
            continue;
        }
        let state = world.state();
        // A path leads from one tick to the next, so every tick is judged.
        tunnelled += passages.judge(&state, world.relocations()).count() as u64;
        if tick % options.audit_every == 0 {
            audits += 1;
            let found = audit.check(&state);
            overlaps += found.len() as u64;
            deepest = found.iter().filter_map(Fault::depth).fold(deepest, f64::max);
        }
    }
    let (state, counters) = (world.state(), world.counters());
    let total: f64 = durations.iter().map(|duration| duration.as_secs_f64()).sum();
    let is_dropped = |entity: &&EntityState| {
        let is_pen = moving_pen.as_ref().is_some_and(|pen| pen.is(entity.id));
        matches!(entity.kind, Kind::Prop { .. }) && !is_pen
    };
    let props: Vec<&EntityState> = state.entities.iter().filter(is_dropped).collect();
    let height: DVec3 = props.iter().map(|prop| prop.position).sum();
    Ok(Heap {
        objects: props.len(),
        models: options.models,
        seed: options.seed,
        ticks: options.ticks,
        tick_us: TickTimes::of(durations),
        total_ms: total * 1e3,
        set_up_ms,
        awake_mean: awake as f64 / f64::from(options.ticks),
        us_per_awake: total * 1e6 / awake.max(1) as f64,
        asleep_tick,
        mean_height: height.z / props.len().max(1) as f64 - f64::from(lift),
        pen_lag: moving_pen.map(|pen| pen.mean_lag(options.ticks)),
        stops_per_awake: counters.blocked_moves as f64 / awake.max(1) as f64,
        degraded_islands: degraded as f64 / f64::from(options.ticks),
        half_rate: half_rate as f64 / f64::from(options.ticks),
        audits,
        interpenetrations: overlaps,
        deepest,
        tunnelled,
        emergency_replacements: counters.emergency_replacements,
        fallen: counters.fallen,
        limbo: counters.limbo,
        digest: format!("{:016x}", world.digest()),
    })
}

impl Heap {
    /// Whether nothing overlapped or passed through anything, and no body was lost or had to be put
    /// elsewhere.
    pub fn is_clean(&self) -> bool {
        let hurt = self.interpenetrations + self.tunnelled + self.emergency_replacements;
        hurt + self.fallen + self.limbo == 0
    }
}

impl fmt::Display for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TickTimes { p50, p90, p99, max } = self.tick_us;
        writeln!(
            f,
            "heap of {} bodies ({:?}, seed {}): {} ticks in {:.0} ms without audits, set up in {:.0} ms",
            self.objects, self.models, self.seed, self.ticks, self.total_ms, self.set_up_ms
        )?;
        writeln!(f, "tick, us          p50 {p50:.0}  p90 {p90:.0}  p99 {p99:.0}  max {max:.0}")?;
        writeln!(
            f,
            "awake             {:.1} on average, {:.1} us each a tick, {:.2} stops each a tick",
            self.awake_mean, self.us_per_awake, self.stops_per_awake
        )?;
        match self.asleep_tick {
            Some(tick) => writeln!(f, "all asleep        after tick {tick}")?,
            None => writeln!(f, "all asleep        not within {} ticks", self.ticks)?,
        }
        writeln!(f, "mean height       {:.1} units", self.mean_height)?;
        if let Some(lag) = self.pen_lag {
            writeln!(f, "shaken pen        {lag:.2} units behind its course on average")?;
        }
        if self.degraded_islands > 0.0 {
            writeln!(
                f,
                "overload          {:.1} islands degraded on average, {:.1} bodies at half rate",
                self.degraded_islands, self.half_rate
            )?;
        }
        writeln!(
            f,
            "interpenetrations {} in {} audits (deepest {}), tunnelled {}, replaced {}, fallen {}, \
             limbo {}",
            self.interpenetrations,
            self.audits,
            self.deepest,
            self.tunnelled,
            self.emergency_replacements,
            self.fallen,
            self.limbo
        )?;
        write!(f, "digest            {}", self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a past fault: a body pressed from all sides was stopped at the guard's margin
    /// several times a tick, and the whole heap stayed in the air with it.
    #[test]
    fn a_heap_sinks_to_the_ground_and_sleeps_instead_of_jamming() {
        for models in [HeapModels::Crates, HeapModels::Mixed, HeapModels::Concave] {
            let options = HeapOptions {
                objects: 60,
                models,
                ticks: 900,
                seed: 1,
                audit_every: 1,
                sim_threads: 1,
                budget: None,
                shake: false,
                json: false,
            };
            let outcome = heap(&options).unwrap();
            assert!(outcome.is_clean(), "{outcome}");
            assert!(outcome.stops_per_awake < 0.5, "{outcome}");
            assert!(outcome.asleep_tick.is_some(), "{outcome}");
            // The mean is of 900 ticks, and all bodies sleep in the last third of them.
            assert!(outcome.awake_mean < 0.65 * 60.0, "{outcome}");
        }
    }

    /// All bodies stay awake, and the pen keeps to its course, although bodies are wedged between
    /// its walls.
    #[test]
    fn a_heap_in_a_shaken_pen_overlaps_nothing_and_lets_the_pen_go_on() {
        for models in [HeapModels::Crates, HeapModels::Mixed, HeapModels::Concave] {
            let shaken = |seed, sim_threads| {
                let options = HeapOptions {
                    objects: 60,
                    models,
                    ticks: 300,
                    seed,
                    audit_every: 1,
                    sim_threads,
                    budget: None,
                    shake: true,
                    json: false,
                };
                let outcome = heap(&options).unwrap();
                assert!(outcome.is_clean(), "{outcome}");
                assert!(outcome.awake_mean > 59.0, "{outcome}");
                // A pen that stood still would be ten units behind.
                assert!(outcome.pen_lag.is_some_and(|lag| lag < 1.0), "{outcome}");
                outcome.digest
            };
            assert_eq!(shaken(1, 1), shaken(1, 2), "{models:?}");
            for seed in 2..=4 {
                shaken(seed, 1);
            }
        }
    }

    /// Half of the heaps have a budget for which some bodies have to be degraded. For the long
    /// heaps of a release, set `HEAP_TICKS=12000` and build with `--release`.
    #[test]
    fn the_number_of_threads_changes_nothing() {
        let ticks = std::env::var("HEAP_TICKS").map_or(60, |ticks| ticks.parse().unwrap());
        for models in [HeapModels::Crates, HeapModels::Mixed, HeapModels::Concave] {
            for budget in [None, Some(300)] {
                let digest = |sim_threads| {
                    let options = HeapOptions {
                        objects: 300,
                        models,
                        ticks,
                        seed: 1,
                        audit_every: 60,
                        sim_threads,
                        budget,
                        shake: false,
                        json: false,
                    };
                    let outcome = heap(&options).unwrap();
                    assert!(outcome.is_clean(), "{outcome}");
                    assert_eq!(outcome.half_rate > 0.0, budget.is_some(), "{outcome}");
                    outcome.digest
                };
                let one = digest(1);
                assert_eq!([2, 3, 8].map(digest), [(); 3].map(|()| one.clone()), "{models:?}");
            }
        }
    }
}
