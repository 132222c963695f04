use glam::DVec3;
use sim::{Buttons, Command, Random};

use super::heading;
use super::ways::{Waypoint, Ways};

/// Nearer than this, in units on the ground, a place has been reached.
const REACHED: f64 = 28.0;

/// The same for where one is thrown or taken away: near the edge of a pad one is
/// not on it yet.
const ENTERED: f64 = 8.0;

/// Places farther apart than this, in units, are not walked between: a pad or a
/// teleporter is in the first.
const LEAP: f64 = 144.0;

/// Who is this far above a pad, in units, has been thrown by it.
const THROWN: f64 = 60.0;

/// Ticks within which each next place must be reached: two seconds at 60 Hz,
/// ten times what a free way takes.
const PATIENCE: u32 = 120;

/// Rise, in units, from which on one must jump to a place.
const JUMP_FROM: f64 = 17.0;

/// Follows a route, place by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Traveller {
    route: Vec<Waypoint>,
    next: usize,
    /// Ticks since the last place was reached.
    ticks: u32,
}

impl Traveller {
    /// Sets out for a place drawn by lot.
    pub(super) fn set_out(&mut self, from: DVec3, ways: &Ways, random: &mut Random) {
        let goal = ways.any(random);
        self.route = goal.map_or_else(Vec::new, |goal| ways.route(from, goal));
        (self.next, self.ticks) = (0, 0);
    }

    /// Sets out for `goal`.
    pub(super) fn set_out_for(&mut self, from: DVec3, goal: DVec3, ways: &Ways) {
        self.route = ways.route(from, goal);
        (self.next, self.ticks) = (0, 0);
    }

    /// Whether there is somewhere to go.
    pub(super) fn is_under_way(&self) -> bool {
        self.next < self.route.len()
    }

    /// Gives the journey up.
    pub(super) fn stop(&mut self) {
        self.route.clear();
    }

    /// The command that leads on along the route from `position`; `None` at
    /// its end, or if it turns out not to lead on.
    pub(super) fn go_on(&mut self, position: DVec3, jumped: bool) -> Option<Command> {
        self.ticks += 1;
        let flat = |waypoint: &Waypoint| (waypoint.position - position).truncate().length();
        while let Some(waypoint) = self.route.get(self.next) {
            let after = self.route.get(self.next + 1);
            let leap = after.filter(|after| waypoint.position.distance(after.position) > LEAP);
            let is_reached = match leap {
                None => flat(waypoint) < REACHED,
                Some(lands) => {
                    flat(waypoint) < ENTERED
                        || flat(lands) < REACHED
                        || position.z - waypoint.position.z > THROWN
                }
            };
            if !is_reached {
                break;
            }
            self.next += 1;
            self.ticks = 0;
        }
        if self.ticks > PATIENCE {
            self.stop();
        }
        let target = self.route.get(self.next)?;
        let after = self.route.get(self.next + 1);
        let mut buttons = Buttons::default();
        let rise = target.position.z - position.z;
        if rise > JUMP_FROM && !jumped {
            buttons = buttons | Buttons::JUMP;
        }
        if target.low || after.is_some_and(|after| after.low) {
            buttons = buttons | Buttons::CROUCH;
        }
        let yaw = heading(target.position - position);
        Some(Command { forward: i8::MAX, yaw, buttons, ..Command::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pad_is_entered_before_its_flight_begins() {
        let place = |x, z| Waypoint { position: DVec3::new(x, 0.0, z), low: false };
        let route = vec![place(0.0, 0.0), place(500.0, 200.0)];
        let mut traveller = Traveller { route, next: 0, ticks: 0 };
        let mut next = |x, z| {
            traveller.go_on(DVec3::new(x, 0.0, z), true);
            traveller.next
        };
        assert_eq!(next(-20.0, 10.0), 0, "on its edge");
        assert_eq!(next(-12.0, 90.0), 1, "in the air");
        assert_eq!(next(490.0, 210.0), 2, "landed");
    }

    #[test]
    fn a_way_that_is_blocked_is_given_up() {
        let there = Waypoint { position: DVec3::new(500.0, 0.0, 0.0), low: false };
        let mut traveller = Traveller { route: vec![there], next: 0, ticks: 0 };
        let tried = (0..1000).take_while(|_| traveller.go_on(DVec3::ZERO, true).is_some()).count();
        assert_eq!(tried as u32, PATIENCE);
        assert!(!traveller.is_under_way());
    }
}
