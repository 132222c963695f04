//! How bots spend their time: distance travelled, time stuck, jump pads, vehicles.

use glam::DVec3;
use obsp::Map;
use obsp::geometry::Aabb;
use obsp_sim::{Command, PlayerMotion, Posture};
use serde::Serialize;

/// Ticks between two checks whether a bot makes progress: a second at 60 Hz.
const CHECK_INTERVAL: u64 = 60;

/// A bot that wants to move and covers less than this between two checks, in units, is
/// stuck.
const MIN_PROGRESS: f64 = 16.0;

/// Records how one bot spends its time, tick by tick.
#[derive(Clone, Debug, Default)]
pub(super) struct ActivityRecorder {
    ticks: u64,
    travelled: f64,
    crouched: u64,
    shoving: u64,
    wants_to_move: bool,
    checks: u64,
    stuck: u64,
    stuck_in_a_row: u64,
    longest_stuck: u64,
    pads: Vec<Aabb>,
    /// Half of the sides of a standing player's box. A bot uses a jump pad that its box overlaps.
    half_extents: DVec3,
    on_pad: bool,
    pads_ridden: u64,
    driving: u64,
    last_position: Option<DVec3>,
    checked_position: Option<DVec3>,
}

/// How the bots of a swarm spent their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BotActivity {
    /// Average distance that a bot covered, in units a minute.
    pub units_per_minute: f64,
    /// Share of the seconds in which a bot wanted to move and did not.
    pub stuck_share: f64,
    /// The longest run of seconds in which any bot was stuck.
    pub longest_stuck_seconds: u64,
    /// Share of the time spent crouching.
    pub crouched_share: f64,
    /// Share of the time spent shoving something.
    pub shoving_share: f64,
    /// Jump pads used by all bots together.
    pub pads_ridden: u64,
    /// Share of the time spent driving a hovertank.
    pub driving_share: f64,
}

impl ActivityRecorder {
    /// A recorder of a bot that begins to play on this map.
    pub(super) fn new(map: &Map) -> Self {
        let pads = map.entities().iter().filter(|entity| entity.classname() == "trigger_push");
        let pads = pads.flat_map(|pad| pad.solids()).map(|solid| *solid.bounds()).collect();
        let standing = map.size("standing").map(|size| map.sizes()[size.index()].half_extents);
        let half_extents = standing.unwrap_or_default().as_dvec3();
        Self { pads, half_extents, wants_to_move: true, ..Self::default() }
    }

    /// Records a tick in a hovertank.
    pub(super) fn record_driving(&mut self) {
        self.driving += 1;
    }

    /// Records a tick: how the bot moves, if it is in the world on foot, its command,
    /// and whether it shoves something.
    pub(super) fn record_tick(
        &mut self,
        own: Option<&PlayerMotion>,
        command: Command,
        shoves: bool,
    ) {
        let Some(own) = own else {
            (self.last_position, self.checked_position, self.on_pad) = (None, None, false);
            return;
        };
        let here = own.position.as_dvec3();
        self.ticks += 1;
        self.crouched += u64::from(own.walker.posture == Posture::Crouching);
        self.shoving += u64::from(shoves);
        // A teleport or a spawn covers no distance.
        let distance = self.last_position.replace(here).map_or(0.0, |last| last.distance(here));
        self.travelled += if distance < MIN_PROGRESS * 2.0 { distance } else { 0.0 };
        let player = Aabb::from_centre(here, self.half_extents);
        let on_pad = self.pads.iter().any(|pad| pad.overlaps(&player));
        self.pads_ridden += u64::from(on_pad && !std::mem::replace(&mut self.on_pad, on_pad));
        self.wants_to_move &= command.forward != 0;
        if self.ticks.is_multiple_of(CHECK_INTERVAL) {
            let before = self.checked_position.replace(here);
            let stays = before.is_some_and(|before| before.distance(here) < MIN_PROGRESS);
            let is_stuck = std::mem::replace(&mut self.wants_to_move, true) && stays;
            self.checks += 1;
            self.stuck += u64::from(is_stuck);
            self.stuck_in_a_row = if is_stuck { self.stuck_in_a_row + 1 } else { 0 };
            self.longest_stuck = self.longest_stuck.max(self.stuck_in_a_row);
        }
    }
}

impl BotActivity {
    /// Sums up the activity of several bots, at this many ticks a second.
    pub(super) fn of<'a>(
        all: impl Iterator<Item = &'a ActivityRecorder> + Clone,
        tick_rate: f64,
    ) -> Self {
        let sum = |of: fn(&ActivityRecorder) -> u64| all.clone().map(of).sum::<u64>();
        let ticks = sum(|bot| bot.ticks).max(1) as f64;
        let driving = sum(|bot| bot.driving) as f64;
        let travelled: f64 = all.clone().map(|bot| bot.travelled).sum();
        Self {
            units_per_minute: travelled / ticks * tick_rate * 60.0,
            stuck_share: sum(|bot| bot.stuck) as f64 / sum(|bot| bot.checks).max(1) as f64,
            longest_stuck_seconds: all.clone().map(|bot| bot.longest_stuck).max().unwrap_or(0),
            crouched_share: sum(|bot| bot.crouched) as f64 / ticks,
            shoving_share: sum(|bot| bot.shoving) as f64 / ticks,
            pads_ridden: sum(|bot| bot.pads_ridden),
            driving_share: driving / (driving + sum(|bot| bot.ticks) as f64).max(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use obsp_sim::Walker;

    fn at(x: f64) -> PlayerMotion {
        let position = Vec3::new(x as f32, 0.0, 0.0);
        PlayerMotion { position, velocity: Vec3::ZERO, walker: Walker::default() }
    }

    #[test]
    fn a_bot_that_runs_against_a_wall_is_stuck_and_one_that_stands_is_not() {
        let forward = Command { forward: 127, ..Command::default() };
        let mut recorder = ActivityRecorder {
            pads: vec![Aabb::from_centre(DVec3::ZERO, DVec3::splat(8.0))],
            ..ActivityRecorder::default()
        };
        // The bot runs away from a jump pad for a second, runs against a wall for five, and stands
        // there for five.
        (0..60).for_each(|tick| {
            recorder.record_tick(Some(&at(f64::from(tick) * 5.0)), forward, false)
        });
        (0..300).for_each(|_| recorder.record_tick(Some(&at(300.0)), forward, true));
        (0..300).for_each(|_| recorder.record_tick(Some(&at(300.0)), Command::default(), false));
        let activity = BotActivity::of([&recorder].into_iter(), 60.0);
        assert_eq!((activity.longest_stuck_seconds, activity.pads_ridden), (5, 1));
        assert!((activity.stuck_share - 5.0 / 11.0).abs() < 1e-9, "{activity:?}");
        assert!((activity.shoving_share - 300.0 / 660.0).abs() < 1e-9, "{activity:?}");
        assert!((activity.units_per_minute - 300.0 / 11.0 * 60.0).abs() < 1.0, "{activity:?}");
    }
}
