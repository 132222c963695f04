use glam::DVec3;
use maps::World;
use maps::geometry::Aabb;
use serde::Serialize;
use sim::{Command, PlayerMotion, Posture};

/// Ticks between two looks at whether a bot gets on: a second at 60 Hz.
const LOOK_EVERY: u64 = 60;

/// Who wants to get on and comes less far than this between two looks, in
/// units, is hindered.
const LEAST_PROGRESS: f64 = 16.0;

/// Half extents of a standing player, in units: who touches a pad rides it.
const REACH: DVec3 = DVec3::new(16.0, 16.0, 28.0);

/// What a bot does with its time.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    ticks: u64,
    travelled: f64,
    crouched: u64,
    shoving: u64,
    wants_on: bool,
    looks: u64,
    hindered: u64,
    in_a_row: u64,
    longest: u64,
    pads: Vec<Aabb>,
    on_pad: bool,
    rides: u64,
    driving: u64,
    drops: u64,
    dropping: bool,
    last: Option<DVec3>,
    looked: Option<DVec3>,
}

/// What the bots of a swarm did with their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Doings {
    /// Units that a bot came, on average, a minute.
    pub units_per_minute: f64,
    /// Share of the seconds in which a bot wanted to get on and did not.
    pub hindered_share: f64,
    /// Most such seconds in a row that any bot had.
    pub longest_hindered_seconds: u64,
    /// Share of the time spent ducking.
    pub crouched_share: f64,
    /// Share of the time spent shoving something.
    pub shoving_share: f64,
    /// Jump pads that all bots together rode.
    pub pads_ridden: u64,
    /// Share of the time spent driving a hovertank.
    pub driving_share: f64,
    /// Times that bots in hovertanks let go of their cargo.
    pub cargo_dropped: u64,
}

impl Deeds {
    /// Nothing done yet, on this map.
    pub(super) fn new(map: &World) -> Self {
        let pads = map.entities().iter().filter(|entity| entity.classname() == "trigger_push");
        let pads = pads.flat_map(|pad| pad.solids()).map(|solid| *solid.bounds()).collect();
        Self { pads, wants_on: true, ..Self::default() }
    }

    /// Takes in a tick at the wheel of a hovertank, and whether the cargo was let
    /// go in it.
    pub(super) fn note_driving(&mut self, drops: bool) {
        self.driving += 1;
        let before = std::mem::replace(&mut self.dropping, drops);
        self.drops += u64::from(drops && !before);
    }

    /// Takes in a tick: how the bot moves, if it is anywhere on foot, what it
    /// wants, and whether it shoves something.
    pub(super) fn note(&mut self, own: Option<&PlayerMotion>, command: Command, shoves: bool) {
        let Some(own) = own else {
            (self.last, self.looked, self.on_pad) = (None, None, false);
            return;
        };
        let here = own.position.as_dvec3();
        self.ticks += 1;
        self.crouched += u64::from(own.walker.posture == Posture::Crouching);
        self.shoving += u64::from(shoves);
        // Teleporters and spawning are no way that was walked.
        let way = self.last.replace(here).map_or(0.0, |last| last.distance(here));
        self.travelled += if way < LEAST_PROGRESS * 2.0 { way } else { 0.0 };
        let around = Aabb::from_centre(here, REACH);
        let on_pad = self.pads.iter().any(|pad| pad.overlaps(&around));
        self.rides += u64::from(on_pad && !std::mem::replace(&mut self.on_pad, on_pad));
        self.wants_on &= command.forward != 0;
        if self.ticks.is_multiple_of(LOOK_EVERY) {
            let before = self.looked.replace(here);
            let stays = before.is_some_and(|before| before.distance(here) < LEAST_PROGRESS);
            let is_hindered = std::mem::replace(&mut self.wants_on, true) && stays;
            self.looks += 1;
            self.hindered += u64::from(is_hindered);
            self.in_a_row = if is_hindered { self.in_a_row + 1 } else { 0 };
            self.longest = self.longest.max(self.in_a_row);
        }
    }
}

impl Doings {
    /// Sums up what several bots did, at this many ticks a second.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Deeds> + Clone, tick_rate: f64) -> Self {
        let sum = |of: fn(&Deeds) -> u64| all.clone().map(of).sum::<u64>();
        let ticks = sum(|deeds| deeds.ticks).max(1) as f64;
        let driving = sum(|deeds| deeds.driving) as f64;
        let travelled: f64 = all.clone().map(|deeds| deeds.travelled).sum();
        Self {
            units_per_minute: travelled / ticks * tick_rate * 60.0,
            hindered_share: sum(|deeds| deeds.hindered) as f64
                / sum(|deeds| deeds.looks).max(1) as f64,
            longest_hindered_seconds: all.clone().map(|deeds| deeds.longest).max().unwrap_or(0),
            crouched_share: sum(|deeds| deeds.crouched) as f64 / ticks,
            shoving_share: sum(|deeds| deeds.shoving) as f64 / ticks,
            pads_ridden: sum(|deeds| deeds.rides),
            driving_share: driving / (driving + sum(|deeds| deeds.ticks) as f64).max(1.0),
            cargo_dropped: sum(|deeds| deeds.drops),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use sim::Walker;

    fn at(x: f64) -> PlayerMotion {
        let position = Vec3::new(x as f32, 0.0, 0.0);
        PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() }
    }

    #[test]
    fn who_runs_against_a_wall_is_hindered_and_who_stands_is_not() {
        let forward = Command { forward: 127, ..Command::default() };
        let mut deeds = Deeds {
            pads: vec![Aabb::from_centre(DVec3::ZERO, DVec3::splat(8.0))],
            ..Deeds::default()
        };
        // A second of running, from a pad and past another ride; five against a
        // wall, five of standing there.
        (0..60).for_each(|tick| deeds.note(Some(&at(f64::from(tick) * 5.0)), forward, false));
        (0..300).for_each(|_| deeds.note(Some(&at(300.0)), forward, true));
        (0..300).for_each(|_| deeds.note(Some(&at(300.0)), Command::default(), false));
        let doings = Doings::of([&deeds].into_iter(), 60.0);
        assert_eq!((doings.longest_hindered_seconds, doings.pads_ridden), (5, 1));
        assert!((doings.hindered_share - 5.0 / 11.0).abs() < 1e-9, "{doings:?}");
        assert!((doings.shoving_share - 300.0 / 660.0).abs() < 1e-9, "{doings:?}");
        assert!((doings.units_per_minute - 300.0 / 11.0 * 60.0).abs() < 1.0, "{doings:?}");
    }
}
