//! The mass landing: all players land at once, which Blow expected to slow his system down.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use obsp::model::shipped;
use obsp_sim::audit::{Audit, Fault, Passages};
use obsp_sim::{
    Clock, Command, Config, EntityId, EntityState, Kind, PlayerKind, Random, State, World,
};
use serde::Serialize;

use super::RATE;
use super::lander::{Lander, Leg};
use super::yard::yard;
use crate::scene::timing::{TickTimes, nanoseconds};
use crate::scene::{HardCase, LandingOptions, SceneError, Table};

/// Longest time of the whole scene, in ticks.
const LONGEST: u64 = 120 * RATE as u64;

/// The pilots of all landers of a scene. They see only what every client sees.
#[derive(Clone, Debug)]
pub struct Landers(Vec<Lander>);

/// How far the landers have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Landers that stood in their pads.
    pub landed: usize,
    /// Landers that rested in their pads for a second.
    pub rested: usize,
    /// Landers that rested and are home again.
    pub left: usize,
    /// How often a lander rose from its pad to try once more.
    pub go_arounds: u32,
    /// Landers that are on the way down, or stand in their pads.
    pub down: usize,
}

/// A lander that did not do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The lander's number, from 0.
    pub lander: usize,
    /// The leg that the lander had come to.
    pub leg: Leg,
    /// Whether the lander stood in its pad.
    pub landed: bool,
    /// Whether the lander rested in its pad for a second.
    pub rested: bool,
}

impl Landers {
    /// Makes a pilot for every hovertank in `start`, and gives each a pad that is drawn from
    /// `seed`.
    pub fn new(start: &State, seed: u64) -> Self {
        let props = start.entities.iter().filter(|entity| matches!(entity.kind, Kind::Prop { .. }));
        let mut pads: Vec<EntityId> = props.map(|pad| pad.id).collect();
        let mut random = Random::new(seed);
        for last in (1..pads.len()).rev() {
            pads.swap(last, random.below(last as u64 + 1) as usize);
        }
        let tanks = start.entities.iter().filter(|entity| is_tank(entity));
        Self(tanks.zip(pads).map(|(tank, pad)| Lander::new(tank, pad)).collect())
    }

    /// The commands of all pilots for the tick after `state`.
    pub fn commands(&mut self, state: &State) -> Vec<(EntityId, Command)> {
        let find = |id: EntityId| state.entities.iter().find(|entity| entity.id == id);
        let tanks: Vec<&EntityState> =
            state.entities.iter().filter(|entity| is_tank(entity)).collect();
        let gathered = self.0.iter().all(|lander| lander.leg >= Leg::Hold);
        let command = |lander: &mut Lander| {
            let (tank, pad) = (find(lander.tank)?, find(lander.pad)?);
            Some((lander.tank, lander.direct(tank, pad, &tanks, gathered)))
        };
        self.0.iter_mut().filter_map(command).collect()
    }

    /// How far the landers have come.
    pub fn tally(&self) -> Tally {
        let count = |which: fn(&Lander) -> bool| self.0.iter().filter(|&one| which(one)).count();
        Tally {
            landed: count(|one| one.landed),
            rested: count(|one| one.rested),
            left: count(is_done),
            go_arounds: self.0.iter().map(|one| one.go_arounds).sum(),
            down: count(|one| one.leg == Leg::Descend || one.leg == Leg::Rise && !one.rested),
        }
    }

    /// The landers that have not done everything.
    pub fn unfinished(&self) -> Vec<Unfinished> {
        let all = self.0.iter().enumerate().filter(|(_, one)| !is_done(one));
        all.map(|(lander, one)| Unfinished {
            lander,
            leg: one.leg,
            landed: one.landed,
            rested: one.rested,
        })
        .collect()
    }
}

fn is_done(lander: &Lander) -> bool {
    lander.landed && lander.rested && lander.leg == Leg::Gone
}

fn is_tank(entity: &EntityState) -> bool {
    matches!(entity.kind, Kind::Vehicle { .. })
}

/// The outcome of a mass landing. The fields have the names of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MassLanding {
    /// Number of hovertanks, and of pads.
    pub landers: u16,
    /// Whether the cascade ran its hard case.
    pub hard_case: HardCase,
    /// Seed that placed the pads and assigned them to the landers.
    pub seed: u64,
    /// Ticks played.
    pub ticks: u64,
    /// How long a tick takes, in microseconds; pilots and audit are not counted.
    pub tick_us: TickTimes,
    /// Duration in microseconds of a tick in which tanks come down or stand in their pads.
    pub down_tick_us: TickTimes,
    /// Time of all ticks together, in milliseconds.
    pub total_ms: f64,
    /// Landers that stood in their pads.
    pub landed: usize,
    /// Landers that rested in their pads for a second.
    pub rested: usize,
    /// Landers that rested and are home again.
    pub left: usize,
    /// How often a lander rose from its pad to try once more.
    pub go_arounds: u32,
    /// Maximum number of landers on their way down, or in their pads, at a time.
    pub down_at_once: usize,
    /// Guarded moves that were cut short.
    pub stops: u64,
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
    /// Digest of the match at the end.
    pub digest: String,
    /// Landers that did not do everything.
    pub unfinished: Vec<Unfinished>,
    /// The counts of the filters, with their times only if they were asked for.
    #[serde(flatten)]
    pub table: Table,
}

/// A match on the yard with a hovertank for each pad.
fn set_up(landers: u16, seed: u64) -> Result<World, SceneError> {
    let map = Arc::new(yard(landers, seed)?);
    let config = Config { tick_rate: RATE, seed, objects: 0, max_players: landers };
    let mut world = World::new(map, shipped().into(), config)?;
    for _ in 0..landers {
        world.join_as(PlayerKind::Hovertank)?;
    }
    Ok(world)
}

/// Plays a mass landing of as many hovertanks as pads. All climb, fly past each other and over
/// others' pads to their own, land at once, rest for a second, and fly home. Every tick is audited.
///
/// # Errors
/// The yard cannot be made, or a tank cannot join.
pub fn mass_landing(landers: u16, options: &LandingOptions) -> Result<MassLanding, SceneError> {
    play(landers, options, LONGEST)
}

fn play(landers: u16, options: &LandingOptions, longest: u64) -> Result<MassLanding, SceneError> {
    let mut world = set_up(landers, options.seed)?;
    world.set_stages(options.hard_case.stages());
    world.set_threads(options.sim_threads);
    if options.time_stages {
        world.set_clock(Some(Clock::new(nanoseconds)));
    }
    let mut audit = Audit::new(world.map(), &shipped())?;
    let mut passages = Passages::new(world.map(), &shipped(), RATE)?;
    let mut pilots = Landers::new(&world.state(), options.seed);
    let before = *world.counters();
    let (mut overlaps, mut deepest, mut tunnelled) = (0, 0.0_f64, 0);
    let (mut all_ticks, mut down_ticks, mut down_at_once) = (Vec::new(), Vec::new(), 0);
    while pilots.tally().left < usize::from(landers) && world.state().tick < longest {
        let commands = pilots.commands(&world.state());
        let begin = Instant::now();
        world.step(&commands);
        let lasted = begin.elapsed();
        let down = pilots.tally().down;
        all_ticks.push(lasted);
        down_ticks.extend((down > 0).then_some(lasted));
        down_at_once = down_at_once.max(down);
        let state = world.state();
        tunnelled += passages.judge(&state, world.relocations()).count() as u64;
        let found = audit.check(&state);
        overlaps += found.len() as u64;
        deepest = found.iter().filter_map(Fault::depth).fold(deepest, f64::max);
    }
    let (tally, counters) = (pilots.tally(), world.counters());
    Ok(MassLanding {
        landers,
        hard_case: options.hard_case,
        seed: options.seed,
        ticks: world.state().tick,
        total_ms: all_ticks.iter().map(|tick| tick.as_secs_f64() * 1e3).sum(),
        tick_us: TickTimes::of(all_ticks),
        down_tick_us: TickTimes::of(down_ticks),
        landed: tally.landed,
        rested: tally.rested,
        left: tally.left,
        go_arounds: tally.go_arounds,
        down_at_once,
        stops: counters.blocked_moves - before.blocked_moves,
        interpenetrations: overlaps,
        deepest,
        tunnelled,
        emergency_replacements: counters.emergency_replacements,
        fallen: counters.fallen,
        digest: format!("{:016x}", world.digest()),
        unfinished: pilots.unfinished(),
        table: Table::between(&before, counters),
    })
}

impl MassLanding {
    /// Whether all landed, rested and left, and nothing overlapped.
    pub fn is_as_meant(&self) -> bool {
        let hurt = self.interpenetrations + self.tunnelled + self.emergency_replacements;
        self.unfinished.is_empty() && hurt + self.fallen == 0
    }
}

impl fmt::Display for MassLanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { landers, hard_case, seed, ticks, total_ms, .. } = self;
        writeln!(
            f,
            "{landers} landers (seed {seed}, hard case {hard_case}): {ticks} ticks in {total_ms:.0} ms"
        )?;
        for (which, times) in [("tick, us", self.tick_us), ("while down", self.down_tick_us)] {
            let TickTimes { p50, p90, p99, max } = times;
            writeln!(f, "{which:<17} p50 {p50:.0}  p90 {p90:.0}  p99 {p99:.0}  max {max:.0}")?;
        }
        writeln!(
            f,
            "landed {}, rested {}, left {}; {} go-arounds, {} down at once, {} stops",
            self.landed, self.rested, self.left, self.go_arounds, self.down_at_once, self.stops
        )?;
        writeln!(
            f,
            "interpenetrations {} (deepest {}), tunnelled {}, replaced {}, fallen {}",
            self.interpenetrations,
            self.deepest,
            self.tunnelled,
            self.emergency_replacements,
            self.fallen
        )?;
        for Unfinished { lander, leg, landed, rested } in &self.unfinished {
            writeln!(
                f,
                "lander {lander} did not finish: came to {leg:?}, landed: {landed}, rested: {rested}"
            )?;
        }
        writeln!(f, "digest            {}", self.digest)?;
        write!(f, "{}", self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_land_rest_and_leave_whatever_becomes_of_the_hard_case() {
        let play = |hard_case| {
            let options = LandingOptions { hard_case, ..LandingOptions::default() };
            let outcome = mass_landing(4, &options).unwrap();
            assert!(outcome.is_as_meant(), "{outcome}");
            assert_eq!([outcome.landed, outcome.rested, outcome.left], [4; 3], "{outcome}");
            outcome.digest
        };
        let on = play(HardCase::On);
        assert_eq!(play(HardCase::Off), on);
    }

    #[test]
    fn landers_that_do_not_finish_are_named_and_fail_the_scene() {
        let outcome = play(2, &LandingOptions::default(), 150).unwrap();
        assert!(!outcome.is_as_meant());
        assert_eq!(outcome.unfinished.len(), 2);
        assert!(outcome.to_string().contains("lander 1 did not finish: came to Approach"));
    }
}
