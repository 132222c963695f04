//! Rides on the arena's lift over a line with delay and loss. The player sets off the lift again
//! and again, and is always where the client predicts.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use obsp::Map;
use obsp_game::arena::Arena;
use obsp_sim::{Command, Config, EntityId};

use super::lagged_match::{Lag, LaggedMatch};

/// The ticks of a minute, and the ticks before it, in which the client joins and the player is put
/// beside the lift.
const TICKS: usize = 3_600;
const FIRST: usize = 120;

/// The middle of the lift, and a place beside it, on the floor of the hall.
const MIDDLE: DVec3 = DVec3::new(464.0, 224.0, 0.0);
const BESIDE: DVec3 = DVec3::new(350.0, 290.0, 28.2);

/// The height of the middle of a player who stands on the raised lift, in units, and a bit less.
const RAISED: f64 = 218.0;

/// The largest error that nobody sees, in units.
const VISIBLE: f64 = 0.1;

/// The player's next action.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Runs onto the lift.
    GetsOn,
    /// Stands on the lift until it is raised, and this many ticks more.
    Rides(u32),
    /// Runs off the raised lift, and falls.
    GetsOff,
    /// Waits beside the lift for this many ticks.
    Waits(u32),
}

/// A player who rides again and again. After every other ride the player comes back at once, and
/// waits for the lift as it comes down. So the lift rises again as soon as it is down.
struct Rider {
    does: Does,
    rides: usize,
}

impl Rider {
    fn command(&mut self, here: DVec3) -> Command {
        let to = |place: DVec3| (place - here).with_z(0.0);
        let way = match self.does {
            Does::GetsOn => to(MIDDLE),
            Does::GetsOff => to(BESIDE),
            Does::Rides(_) | Does::Waits(_) => DVec3::ZERO,
        };
        self.does = match self.does {
            Does::GetsOn if way.length() < 12.0 => Does::Rides(40),
            Does::Rides(0) => Does::GetsOff,
            Does::Rides(left) if here.z > RAISED => Does::Rides(left - 1),
            Does::GetsOff if way.length() < 20.0 && here.z < 40.0 => {
                self.rides += 1;
                Does::Waits(if self.rides.is_multiple_of(2) { 1 } else { 150 })
            }
            Does::Waits(0) => Does::GetsOn,
            Does::Waits(left) => Does::Waits(left - 1),
            does => does,
        };
        if way == DVec3::ZERO { Command::default() } else { Command::running_towards(way) }
    }
}

/// The outcome of a minute.
#[derive(Debug)]
struct Outcome {
    /// The errors in units, ascending.
    errors: Vec<f64>,
    /// The longest distance by which a correction moved the player, in units.
    shift: f64,
    visible: u64,
    /// How often the lift began to rise.
    starts: usize,
    rides: usize,
}

fn ride(lag: Lag) -> Outcome {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/arena.obsp"));
    let map = Arc::new(Map::load(path).expect("the arena"));
    let config = Config { tick_rate: 60, seed: 5, objects: 0, max_players: 2 };
    let mut play = LaggedMatch::new(&Arena, (map, "arena"), config, lag);
    let mut rider = Rider { does: Does::Waits(0), rides: 0 };
    let mut outcome = Outcome { errors: Vec::new(), shift: 0.0, visible: 0, starts: 0, rides: 0 };
    let (mut before, mut lift): (u64, Option<EntityId>) = (0, None);
    let mut rose = false;
    for tick in 0..FIRST + TICKS {
        if tick == FIRST / 2 {
            let player = play.player.expect("the player has joined");
            let world = play.game.world_mut();
            world.teleport(player, BESIDE, Default::default()).expect("there is room");
            let lifts =
                world.boxes_touching(&obsp::geometry::Aabb::from_centre(MIDDLE, DVec3::splat(4.0)));
            lift = lifts.into_iter().next();
        }
        let plays = tick >= FIRST;
        let errors = play.tick(|here| if plays { rider.command(here) } else { Command::default() });
        if !plays {
            before = play.stats().visible_corrections;
            continue;
        }
        outcome.errors.extend(errors.iter().map(|error| error.units));
        let shifts = errors.iter().map(|error| error.correction.length());
        outcome.shift = shifts.fold(outcome.shift, f64::max);
        let body = lift.and_then(|lift| play.game.world().entity(lift)).expect("the lift");
        let rises = body.velocity.z > 0.0;
        outcome.starts += usize::from(rises && !rose);
        rose = rises;
    }
    outcome.errors.sort_by(f64::total_cmp);
    outcome.visible = play.stats().visible_corrections - before;
    outcome.rides = rider.rides;
    outcome
}

#[test]
fn a_rider_who_sets_off_the_lift_is_never_put_right_visibly() {
    for (what, lag) in
        [("60 ms, 1 % loss", Lag { delay: 2, loss: 100 }), ("100 ms", Lag { delay: 3, loss: 0 })]
    {
        let Outcome { errors, shift, visible, starts, rides } = ride(lag);
        let at = |share: usize| errors[(errors.len() - 1) * share / 100];
        let (p99, most) = (at(99), at(100));
        println!(
            "{what}: p99 {p99}, at most {most} units of {}, shifts of at most {shift}, {visible} \
             visible corrections, {starts} starts, {rides} rides",
            errors.len()
        );
        assert!(starts >= 8 && rides >= 7, "{what}: {starts} starts, {rides} rides");
        assert!(p99 <= VISIBLE && visible == 0, "{what}: p99 {p99}, {visible} visible");
        assert!(shift <= VISIBLE, "{what}: a shift of {shift}");
    }
}
