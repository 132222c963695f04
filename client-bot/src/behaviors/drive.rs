//! Driving a hovertank.

use glam::{DVec2, DVec3};
use obsp_sim::{Buttons, Command, EntityState, Kind, ModelId, Random};

use super::behavior::{Perception, heading};

/// The model of a repair pad, by its number in the protocol.
const REPAIR_PAD: ModelId = ModelId(10);

/// A tank's highest speed, in units per second, to which commands are relative.
const MAX_SPEED: f64 = 400.0;

/// Wanted speed, in units per second, for each unit of distance to the target. It is low enough for
/// the engine to brake in time.
const APPROACH_GAIN: f64 = 1.2;

/// Minimum and maximum height of the flight over a target, in units.
const HEIGHTS: (f64, f64) = (60.0, 160.0);

/// A target nearer than this, in units on the ground, has been reached.
const REACHED: f64 = 60.0;

/// A tank lands in a repair pad whose middle is nearer than this, in units on the ground.
const LANDING_RADIUS: f64 = 8.0;

/// Ticks until a target is given up: five seconds at 60 Hz.
const TARGET_TIMEOUT: u64 = 300;

/// Additional ticks for a plan to land: the tank comes down in the pad and stays a while.
const LANDING_TIME: u64 = 240;

/// Ticks for which a tank waits after it has dropped a box, until the box has become a pad.
const DEPLOY_TIME: u64 = 120;

/// Ticks between two checks whether the tank makes progress.
const CHECK_INTERVAL: u64 = 60;

/// A tank that moves less than this between two checks, in units, is blocked.
const MIN_PROGRESS: f64 = 24.0;

/// Maximum distance at which a player is shot at, in units.
const RANGE: f64 = 700.0;

/// Drives a hovertank: flies from position to position and shoots at players on the way. Now and
/// then it presses the third action, and lands if there is a pad. In the example game `repair_pads`
/// the action drops a box, which becomes the pad. In the arena it throws a grenade.
#[derive(Clone, Debug)]
pub struct Drive {
    random: Random,
    ticks: u64,
    plan: Plan,
    /// Tick at which the plan is given up.
    ends: u64,
    checked_position: Option<DVec3>,
    /// Tick until which the tank climbs, regardless of the plan.
    climb_until: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    /// Flies to a position.
    Fly(DVec3),
    /// Waits where the tank has dropped a box until the box becomes a pad.
    Await(DVec3),
    /// Lands in the nearest pad; at this position if the pad is gone meanwhile.
    Land(DVec3),
}

impl Drive {
    /// A driver whose random numbers come from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            ticks: 0,
            plan: Plan::Fly(DVec3::ZERO),
            ends: 0,
            checked_position: None,
            climb_until: 0,
        }
    }

    /// The command of the next tick for the driver of `tank`.
    pub fn decide(&mut self, tank: &EntityState, perception: &Perception<'_>) -> Command {
        self.ticks += 1;
        let mut drops = false;
        if self.ticks >= self.ends {
            drops = self.change_plan(tank, perception);
        }
        let pad = nearest_pad(tank, perception.others);
        let (to, lands) = match self.plan {
            Plan::Fly(to) | Plan::Await(to) => (to, false),
            Plan::Land(near) => {
                let over = pad.map_or(near, |pad| pad.position);
                let off = (tank.position - over).truncate().length();
                (over + DVec3::Z * HEIGHTS.0, off < LANDING_RADIUS)
            }
        };
        self.check_progress(tank, lands);
        let mut buttons = Buttons::default();
        if drops {
            buttons = buttons | Buttons::TERTIARY;
        } else if lands {
            buttons = buttons | Buttons::CROUCH;
        } else if self.ticks < self.climb_until || tank.position.z < to.z {
            buttons = buttons | Buttons::JUMP;
        }
        let target = nearest_player(tank, perception.others);
        let missing = to - tank.position;
        let (yaw, pitch) = match target {
            Some(target) => (heading(target), elevation(target)),
            None if missing.truncate().length() > REACHED => (heading(missing), 0),
            None => (heading(tank.orientation * DVec3::X), 0),
        };
        if target.is_some() && self.ticks.is_multiple_of(2) && !drops {
            buttons = buttons | Buttons::PRIMARY;
        }
        fly(missing.truncate(), Command { yaw, pitch, buttons, ..Command::default() })
    }

    /// Chooses the next plan; returns whether to drop a box now.
    fn change_plan(&mut self, tank: &EntityState, perception: &Perception<'_>) -> bool {
        let (plan, lasts, drops) = match self.plan {
            // Only some games answer the key with a pad.
            Plan::Await(over) if nearest_pad(tank, perception.others).is_some() => {
                (Plan::Land(over), TARGET_TIMEOUT + LANDING_TIME, false)
            }
            _ if self.random.below(4) == 0 => (Plan::Await(tank.position), DEPLOY_TIME, true),
            _ => {
                let position = perception.nav.random_position(&mut self.random);
                let position = position.unwrap_or(tank.position);
                let height = self.random.between(HEIGHTS.0, HEIGHTS.1);
                (Plan::Fly(position + DVec3::Z * height), TARGET_TIMEOUT, false)
            }
        };
        self.plan = plan;
        self.ends = self.ticks + lasts;
        drops
    }

    /// Flies elsewhere, and higher, if the tank is blocked or has arrived.
    fn check_progress(&mut self, tank: &EntityState, lands: bool) {
        if !self.ticks.is_multiple_of(CHECK_INTERVAL) {
            return;
        }
        let here = tank.position;
        let before = self.checked_position.replace(here);
        let is_blocked = before.is_some_and(|before| before.distance(here) < MIN_PROGRESS);
        if is_blocked && matches!(self.plan, Plan::Fly(_)) && !lands {
            self.ends = self.ticks;
            self.climb_until = self.ticks + CHECK_INTERVAL / 2;
        }
    }
}

/// Adds the keys that move the tank along `missing`, at any heading.
fn fly(missing: DVec2, command: Command) -> Command {
    let wish = (missing * APPROACH_GAIN).clamp_length_max(MAX_SPEED) / MAX_SPEED;
    let turn = f64::from(command.yaw) / 65_536.0 * std::f64::consts::TAU;
    let local = DVec2::from_angle(-turn).rotate(wish) * f64::from(i8::MAX);
    Command { forward: local.x as i8, right: -local.y as i8, ..command }
}

fn nearest_pad<'a>(tank: &EntityState, others: &'a [EntityState]) -> Option<&'a EntityState> {
    let pads = others.iter().filter(|other| other.kind == Kind::Prop { model: REPAIR_PAD });
    let distance = |other: &EntityState| other.position.distance_squared(tank.position);
    pads.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The vector to the nearest player in range.
fn nearest_player(tank: &EntityState, others: &[EntityState]) -> Option<DVec3> {
    let players = others.iter().filter(|other| other.kind.is_player());
    let offsets = players.map(|other| other.position - tank.position);
    let near = offsets.filter(|offset| offset.length() < RANGE);
    near.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
}

/// The elevation of a vector, in the steps of [`Command::pitch`].
fn elevation(offset: DVec3) -> i16 {
    let turns = offset.z.atan2(offset.truncate().length()) / std::f64::consts::TAU;
    (turns * 65_536.0).clamp(-16_384.0, 16_384.0) as i16
}

#[cfg(test)]
#[path = "../../../server/examples/repair_pads/rules.rs"]
mod repair_pads;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use obsp_game::{Match, RunningMatch};
    use obsp_sim::{Config, PlayerKind};

    use super::repair_pads::RepairPads;
    use super::*;
    use crate::behaviors::NavGraph;
    use crate::behaviors::tests::arena;

    /// In matches of their own, drivers travel, drop boxes and come to rest in pads, though not
    /// with every seed.
    #[test]
    fn drivers_travel_drop_boxes_and_land_in_pads() {
        let (map, nav) = arena();
        let drives: Vec<_> = (1..=4).map(|seed| drive(&map, &nav, seed)).collect();
        println!("units, pads, ticks in pads: {drives:?}");
        assert!(drives.iter().all(|(distance, ..)| *distance > 3_000.0), "{drives:?}");
        assert!(drives.iter().map(|(_, pads, _)| pads).sum::<usize>() >= 4, "{drives:?}");
        assert!(drives.iter().map(|(.., landed)| landed).sum::<u32>() > 60, "{drives:?}");
    }

    /// Units that a driver travels in 90 s, pads that it drops, and ticks that it spends in a pad.
    fn drive(map: &Arc<obsp::Map>, nav: &NavGraph, seed: u64) -> (f64, usize, u32) {
        let config = Config { tick_rate: 60, seed, objects: 0, max_players: 2 };
        let mut game = Match::new(RepairPads, Arc::clone(map), config).unwrap();
        let id = game.join_as(PlayerKind::Hovertank).unwrap();
        let mut driver = Drive::new(seed + 2);
        let (mut pads, mut landed, mut distance) = (0, 0, 0.0);
        let mut before = None;
        for _ in 0..60 * 90 {
            let state = game.world().state();
            let others: Vec<_> = state.entities.iter().filter(|e| e.id != id).copied().collect();
            let tank = *state.entities.iter().find(|entity| entity.id == id).unwrap();
            let perception =
                Perception { own: None, others: &others, pictures: &[], map, models: &[], nav };
            let command = driver.decide(&tank, &perception);
            distance += tank.velocity.length() / 60.0;
            let pad = nearest_pad(&tank, &others);
            landed += u32::from(pad.is_some_and(|pad| {
                let between = tank.position - pad.position;
                between.truncate().length() < 24.0 && between.z < 18.0
            }));
            game.step(&[(id, command)]);
            let own = game.state().pad(id);
            pads += usize::from(own.is_some() && own != before);
            before = own;
        }
        (distance, pads, landed)
    }
}
