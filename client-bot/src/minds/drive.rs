use glam::{DVec2, DVec3};
use sim::{Buttons, Command, EntityState, Kind, ModelId, Random};

use super::{Sight, heading};

/// The model of a repair pad, as the protocol numbers it.
const REPAIR_PAD: ModelId = ModelId(10);

/// A tank's fastest flight, in units per second, to which commands are shares.
const FASTEST: f64 = 400.0;

/// Speed wished for each unit that is missing, per second: slow enough for the
/// engine to brake in time.
const EAGERNESS: f64 = 1.2;

/// How high over a place it flies, in units.
const HEIGHTS: (f64, f64) = (60.0, 160.0);

/// Nearer than this to a place, in units on the ground, it is there.
const THERE: f64 = 60.0;

/// Nearer than this to the middle of a pad, in units, it comes down.
const OVER: f64 = 8.0;

/// Ticks until it gives a place up: five seconds at 60 Hz.
const PATIENCE: u64 = 300;

/// Ticks that it takes to come down in a pad and stay a while.
const STAY: u64 = 240;

/// Ticks between dropping cargo and coming back for the pad.
const DEPLOYS: u64 = 120;

/// Ticks between two looks at whether it gets on.
const LOOK_EVERY: u64 = 60;

/// Who gets less far than this between two looks, in units, is stopped.
const LEAST_PROGRESS: f64 = 24.0;

/// Farther than this nobody is shot at, in units.
const RANGE: f64 = 700.0;

/// A bot that drives a hovertank: it flies from place to place and shoots at
/// whom it passes, drops its cargo, comes back for the pad that becomes of it
/// and lands in it.
#[derive(Clone, Debug)]
pub struct Drive {
    random: Random,
    ticks: u64,
    plan: Plan,
    /// When the plan is given up.
    ends: u64,
    last_seen: Option<DVec3>,
    /// Until when it climbs, whatever the plan.
    climbs_until: u64,
}

/// What a driver is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    /// Flies to a place.
    Fly(DVec3),
    /// Has dropped its cargo and comes back to where it was.
    Await(DVec3),
    /// Lands in the pad near a place.
    Land(DVec3),
}

impl Drive {
    /// A driver with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            ticks: 0,
            plan: Plan::Fly(DVec3::ZERO),
            ends: 0,
            last_seen: None,
            climbs_until: 0,
        }
    }

    /// The command of the next tick for the driver of `tank`.
    pub fn decide(&mut self, tank: &EntityState, sight: &Sight<'_>) -> Command {
        self.ticks += 1;
        let mut drops = false;
        if self.ticks >= self.ends {
            drops = self.change_plan(tank, sight);
        }
        let pad = nearest_pad(tank, sight.others);
        let (to, lands) = match self.plan {
            Plan::Fly(to) | Plan::Await(to) => (to, false),
            Plan::Land(near) => {
                let over = pad.map_or(near, |pad| pad.position);
                let off = (tank.position - over).truncate().length();
                (over + DVec3::Z * HEIGHTS.0, off < OVER)
            }
        };
        self.look_whether_it_gets_on(tank, lands);
        let mut buttons = Buttons::default();
        if drops {
            buttons = buttons | Buttons::GRENADE;
        } else if lands {
            buttons = buttons | Buttons::CROUCH;
        } else if self.ticks < self.climbs_until || tank.position.z < to.z {
            buttons = buttons | Buttons::JUMP;
        }
        let target = nearest_player(tank, sight.others);
        let missing = to - tank.position;
        let (yaw, pitch) = match target {
            Some(target) => (heading(target), elevation(target)),
            None if missing.truncate().length() > THERE => (heading(missing), 0),
            None => (heading(tank.orientation * DVec3::X), 0),
        };
        if target.is_some() && self.ticks.is_multiple_of(2) && !drops {
            buttons = buttons | Buttons::FIRE;
        }
        fly(missing.truncate(), Command { yaw, pitch, buttons, ..Command::default() })
    }

    /// Chooses what to do next; whether cargo is to be dropped now.
    fn change_plan(&mut self, tank: &EntityState, sight: &Sight<'_>) -> bool {
        let (plan, lasts, drops) = match self.plan {
            Plan::Await(over) => (Plan::Land(over), PATIENCE + STAY, false),
            _ if self.random.below(4) == 0 => (Plan::Await(tank.position), DEPLOYS, true),
            _ => {
                let place = sight.ways.any(&mut self.random).unwrap_or(tank.position);
                let height = self.random.between(HEIGHTS.0, HEIGHTS.1);
                (Plan::Fly(place + DVec3::Z * height), PATIENCE, false)
            }
        };
        self.plan = plan;
        self.ends = self.ticks + lasts;
        drops
    }

    /// Flies elsewhere, and higher, if it is stopped or already there.
    fn look_whether_it_gets_on(&mut self, tank: &EntityState, lands: bool) {
        if !self.ticks.is_multiple_of(LOOK_EVERY) {
            return;
        }
        let here = tank.position;
        let before = self.last_seen.replace(here);
        let stopped = before.is_some_and(|before| before.distance(here) < LEAST_PROGRESS);
        if stopped && matches!(self.plan, Plan::Fly(_)) && !lands {
            self.ends = self.ticks;
            self.climbs_until = self.ticks + LOOK_EVERY / 2;
        }
    }
}

/// The command with the keys that lead along `missing`, whatever the heading.
fn fly(missing: DVec2, command: Command) -> Command {
    let wish = (missing * EAGERNESS).clamp_length_max(FASTEST) / FASTEST;
    let turn = f64::from(command.yaw) / 65_536.0 * std::f64::consts::TAU;
    let local = DVec2::from_angle(-turn).rotate(wish) * f64::from(i8::MAX);
    Command { forward: local.x as i8, right: -local.y as i8, ..command }
}

fn nearest_pad<'a>(tank: &EntityState, others: &'a [EntityState]) -> Option<&'a EntityState> {
    let pads = others.iter().filter(|other| other.kind == Kind::Prop { model: REPAIR_PAD });
    let distance = |other: &EntityState| other.position.distance_squared(tank.position);
    pads.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The way to the nearest player in range.
fn nearest_player(tank: &EntityState, others: &[EntityState]) -> Option<DVec3> {
    let ways = others.iter().filter(|other| other.kind.is_player());
    let ways = ways.map(|other| other.position - tank.position);
    let near = ways.filter(|way| way.length() < RANGE);
    near.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
}

/// The view's elevation along a way, in steps of a command.
fn elevation(way: DVec3) -> i16 {
    let turns = way.z.atan2(way.truncate().length()) / std::f64::consts::TAU;
    (turns * 65_536.0).clamp(-16_384.0, 16_384.0) as i16
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sim::{Config, Event, PlayerKind, World};

    use super::*;
    use crate::minds::Ways;
    use crate::minds::tests::arena;

    /// In matches of their own drivers get about, drop cargo, and come to rest in
    /// pads; some are luckier than others.
    #[test]
    fn drivers_get_about_drop_cargo_and_land_in_pads() {
        let (map, ways) = arena();
        let drives: Vec<_> = (1..=4).map(|seed| drive(&map, &ways, seed)).collect();
        println!("units, pads, ticks in pads: {drives:?}");
        assert!(drives.iter().all(|(way, ..)| *way > 3_000.0), "{drives:?}");
        assert!(drives.iter().map(|(_, pads, _)| pads).sum::<usize>() >= 4, "{drives:?}");
        assert!(drives.iter().map(|(.., landed)| landed).sum::<u32>() > 60, "{drives:?}");
    }

    /// How far a driver comes in 90 s, how many pads they drop, and for how many
    /// ticks they are in one.
    fn drive(map: &Arc<maps::World>, ways: &Ways, seed: u64) -> (f64, usize, u32) {
        let config = Config { tick_rate: 60, seed, objects: 0, max_players: 2 };
        let models = maps::model::shipped();
        let mut world = World::new(Arc::clone(map), models.into(), config).unwrap();
        let id = world.join_as(PlayerKind::Hovertank).unwrap();
        let mut driver = Drive::new(seed + 2);
        let (mut pads, mut landed, mut way) = (0, 0, 0.0);
        for _ in 0..60 * 90 {
            let state = world.state();
            let others: Vec<_> = state.entities.iter().filter(|e| e.id != id).copied().collect();
            let tank = *state.entities.iter().find(|entity| entity.id == id).unwrap();
            let sight = Sight { own: None, others: &others, map, ways };
            let command = driver.decide(&tank, &sight);
            way += tank.velocity.length() / 60.0;
            let pad = nearest_pad(&tank, &others);
            landed += u32::from(pad.is_some_and(|pad| {
                let between = tank.position - pad.position;
                between.truncate().length() < 24.0 && between.z < 18.0
            }));
            world.step(&[(id, command)]);
            let deployed = |event: &&Event| matches!(event, Event::Deployed { .. });
            pads += world.events().iter().filter(deployed).count();
        }
        (way, pads, landed)
    }
}
