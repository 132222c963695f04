//! The pilot of one of many hovertanks that land at once.

use glam::{DVec2, DVec3};
use obsp_sim::{Command, EntityId, EntityState};
use serde::Serialize;

use super::traffic::{give_way, is_column_clear};
use super::{ATTEMPT, RATE, RESTS, THERE, is_in_hollow};
use crate::scene::pilot::Pilot;

/// Height of the tanks' centres while they wait over their pads until all may come down, in units.
const HOLD: f64 = 110.0;

/// Height of the tanks' centres while they travel, in units: above the tanks that hold.
const CRUISE: f64 = 250.0;

/// A tank that climbs flies off once it has reached this height, in units.
const UP: f64 = 0.9 * CRUISE;

/// How long a tank has to rest in its pad without a break, in ticks.
const REST: u32 = RATE;

/// A tank that is nearer than this to its home, in units, is home again.
const HOME: f64 = 96.0;

/// The legs of a lander's flight, in order. A lander that does not come to rest in its pad goes
/// around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// Climbs over its home.
    Climb,
    /// Flies over its pad, and waits there until the way down is clear.
    Approach,
    /// Sinks a little, out of the others' way, until all are over their pads.
    Hold,
    /// Comes down into the pad, and rests there.
    Descend,
    /// Waits in the pad until the way up is clear, and climbs.
    Rise,
    /// Flies home.
    Depart,
    /// Is home again.
    Gone,
}

/// One lander: its leg, and what it has done so far.
#[derive(Clone, Debug)]
pub(super) struct Lander {
    pub(super) tank: EntityId,
    pub(super) pad: EntityId,
    pub(super) leg: Leg,
    /// Whether the tank has stood in the hollow of its pad.
    pub(super) landed: bool,
    /// Whether the tank has rested in its pad for long enough.
    pub(super) rested: bool,
    /// How often the tank rose from the pad to try once more.
    pub(super) go_arounds: u32,
    home: DVec3,
    /// Ticks of the leg so far.
    lasted: u32,
    /// Ticks that the tank has rested without a break.
    still: u32,
}

impl Lander {
    pub(super) fn new(tank: &EntityState, pad: EntityId) -> Self {
        Self {
            tank: tank.id,
            pad,
            leg: Leg::Climb,
            landed: false,
            rested: false,
            go_arounds: 0,
            home: tank.position,
            lasted: 0,
            still: 0,
        }
    }

    /// The command for `tank`. Its pilot sees the pad and all `tanks` as any client does. The tank
    /// comes down once all are `gathered` over their pads.
    pub(super) fn direct(
        &mut self,
        tank: &EntityState,
        pad: &EntityState,
        tanks: &[&EntityState],
        gathered: bool,
    ) -> Command {
        let pilot = Pilot { heading: heading_in(tank, pad) };
        let over = |place: DVec3| place.with_z(CRUISE);
        let travel = |to: DVec3| {
            let wish = give_way(tank, Pilot::wish(tank, to), tanks.iter().copied());
            pilot.steer(tank, wish, Some(to.z))
        };
        let clear = |low, high| is_column_clear(tank, (low, high), tanks.iter().copied());
        let height = tank.position.z;
        let (command, next) = match self.leg {
            Leg::Climb => {
                let up = height > UP;
                (pilot.fly(tank, over(self.home), true), up.then_some(Leg::Approach))
            }
            Leg::Approach => {
                let there = (tank.position - pad.position).truncate().length() < THERE
                    && tank.velocity.truncate().length() < THERE
                    && clear(pad.position.z, height);
                (travel(over(pad.position)), there.then_some(Leg::Hold))
            }
            Leg::Hold => {
                let low = height < (HOLD + CRUISE) / 2.0;
                let hold = pilot.fly(tank, pad.position.with_z(HOLD), true);
                (hold, (low && gathered).then_some(Leg::Descend))
            }
            Leg::Descend => (pilot.land(tank, pad.position), self.rest(tank, pad)),
            Leg::Rise => {
                let waits = is_in_hollow(tank, pad) && !clear(height, CRUISE);
                let next = if self.rested { Leg::Depart } else { Leg::Approach };
                let command = if waits {
                    pilot.land(tank, pad.position)
                } else {
                    pilot.fly(tank, over(pad.position), true)
                };
                (command, (height > UP).then_some(next))
            }
            Leg::Depart => {
                let away = (tank.position - self.home).truncate().length();
                (travel(over(self.home)), (away < HOME).then_some(Leg::Gone))
            }
            Leg::Gone => (pilot.land(tank, self.home), None),
        };
        self.lasted += 1;
        if let Some(next) = next.filter(|next| *next != self.leg) {
            (self.leg, self.lasted, self.still) = (next, 0, 0);
        }
        command
    }

    /// Counts how long the tank has rested in its pad. Returns the next leg if that was long
    /// enough, or if the tank has not come to rest in time.
    fn rest(&mut self, tank: &EntityState, pad: &EntityState) -> Option<Leg> {
        let landed = is_in_hollow(tank, pad);
        self.landed |= landed;
        let rests = landed && (tank.asleep || tank.velocity.length() < RESTS);
        self.still = if rests { self.still + 1 } else { 0 };
        self.rested |= self.still >= REST;
        let again = self.still == 0 && self.lasted > ATTEMPT;
        self.go_arounds += u32::from(again);
        (self.rested || again).then_some(Leg::Rise)
    }
}

/// The heading with which a tank fits into `pad`. Both ends of the pad are alike, so the heading
/// nearer to the tank's own is taken.
fn heading_in(tank: &EntityState, pad: &EntityState) -> f64 {
    let ahead = (tank.orientation * DVec3::X).truncate();
    let along = (pad.orientation * DVec3::X).truncate();
    let along = if along.dot(ahead) < 0.0 { -along } else { along };
    let DVec2 { x, y } = along;
    y.atan2(x)
}
