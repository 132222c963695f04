//! Follows a route of the navigation graph. At a door with a name, the way first leads to the
//! switch that opens the door, and back.
//!
//! Call [`PathFollower::go_to`] or [`PathFollower::go_anywhere`] first, then
//! [`PathFollower::next_command`] every tick for as long as it
//! [`is_active`](PathFollower::is_active).

use glam::DVec3;
use obsp_sim::{Buttons, Command, MovementParameters, Random};

use super::behavior::heading;
use super::gates::Switch;
use super::nav_graph::{NavGraph, Waypoint};

/// A waypoint nearer than this, in units on the ground, has been reached.
const REACHED: f64 = 28.0;

/// A waypoint in a jump pad or teleporter nearer than this, in units on the ground, has been
/// reached. A player at the edge of the pad is not transported yet.
const ENTERED: f64 = 8.0;

/// Waypoints farther apart than this, in units, are not connected on foot: the first is in a
/// jump pad or a teleporter.
const TRANSPORT_DISTANCE: f64 = 144.0;

/// A player this many units above the reach of a jump from a jump pad has been thrown by it.
const THROWN: f64 = 15.0;

/// Ticks within which the next waypoint must be reached: two seconds at 60 Hz, ten times
/// what a free path takes.
const WAYPOINT_TIMEOUT: u32 = 120;

/// Ticks for which a bot uses the switch of a door: long enough to walk a stride to it.
const USES: u32 = 45;

/// How often a bot goes to open a door on the way to one goal.
const MAX_ERRANDS: u32 = 3;

/// A bot jumps if the next waypoint is higher than the step height minus this many units.
const BELOW_A_STEP: f64 = 1.0;

/// Follows a route, waypoint by waypoint.
#[derive(Clone, Debug, Default)]
pub(super) struct PathFollower {
    route: Vec<Waypoint>,
    next: usize,
    /// Ticks since a waypoint was last reached.
    ticks: u32,
    movement: MovementParameters,
    errand: Option<Errand>,
    /// Errands since the bot set out for its goal.
    errands: u32,
}

/// A walk to the switch of a door. The present route ends at the switch.
#[derive(Clone, Debug)]
struct Errand {
    switch: Switch,
    /// The route from the switch to the goal.
    back: Vec<Waypoint>,
    /// Ticks for which the bot has used the switch.
    used: u32,
}

impl PathFollower {
    /// Starts towards a random position.
    pub(super) fn go_anywhere(&mut self, from: DVec3, nav: &NavGraph, random: &mut Random) {
        match nav.random_position(random) {
            Some(goal) => self.go_to(from, goal, nav),
            None => self.stop(),
        }
    }

    /// Starts towards `goal`.
    pub(super) fn go_to(&mut self, from: DVec3, goal: DVec3, nav: &NavGraph) {
        self.route = nav.route(from, goal);
        (self.next, self.ticks, self.movement) = (0, 0, *nav.movement());
        (self.errand, self.errands) = (None, 0);
    }

    /// Whether there is a waypoint ahead, or a switch to use.
    pub(super) fn is_active(&self) -> bool {
        self.next < self.route.len() || self.errand.is_some()
    }

    /// Whether the bot goes to open a door, or climbs to the next waypoint.
    pub(super) fn is_busy(&self, position: DVec3) -> bool {
        let next = self.route.get(self.next);
        let rise = next.map_or(0.0, |next| next.position.z - position.z);
        self.errand.is_some() || rise > self.movement.step_height
    }

    /// Gives up the route.
    pub(super) fn stop(&mut self) {
        self.route.clear();
        self.errand = None;
    }

    /// Whether a bot that makes no progress uses a switch, or now goes to the switch of the door in
    /// front of it.
    pub(super) fn opens(&mut self, here: DVec3, nav: &NavGraph) -> bool {
        let ahead = self.route.get(self.next..).unwrap_or_default();
        if self.errand.is_some() {
            return ahead.is_empty();
        }
        let Some(goal) = ahead.last().filter(|_| self.errands < MAX_ERRANDS) else { return false };
        let Some((way, switch)) = nav.way_to_open(here, ahead) else { return false };
        let back = nav.route(switch.from, goal.position);
        self.errand = Some(Errand { switch, back, used: 0 });
        self.errands += 1;
        (self.route, self.next, self.ticks) = (way, 0, 0);
        true
    }

    /// The command that leads from `position` along the route, or uses a switch at its end; `None`
    /// at the goal, or if the next waypoint was not reached in time.
    pub(super) fn next_command(&mut self, position: DVec3, jumped: bool) -> Option<Command> {
        if let Some(command) = self.along_route(position, jumped) {
            return Some(command);
        }
        let errand = self.errand.as_mut()?;
        errand.used += 1;
        if errand.used <= USES {
            return Some(errand.switch.command(position, errand.used));
        }
        self.route = self.errand.take().map_or_else(Vec::new, |errand| errand.back);
        (self.next, self.ticks) = (0, 0);
        self.along_route(position, jumped)
    }

    fn along_route(&mut self, position: DVec3, jumped: bool) -> Option<Command> {
        self.ticks += 1;
        let thrown = self.movement.jump_height() + THROWN;
        let flat = |waypoint: &Waypoint| (waypoint.position - position).truncate().length();
        while let Some(waypoint) = self.route.get(self.next) {
            let after = self.route.get(self.next + 1);
            let transported = after
                .filter(|after| waypoint.position.distance(after.position) > TRANSPORT_DISTANCE);
            let is_reached = match transported {
                None => flat(waypoint) < REACHED && waypoint.position.z - position.z < thrown,
                Some(landing) => {
                    flat(waypoint) < ENTERED
                        || flat(landing) < REACHED
                        || position.z - waypoint.position.z > thrown
                }
            };
            if !is_reached {
                break;
            }
            self.next += 1;
            self.ticks = 0;
        }
        let target = self.route.get(self.next)?;
        let before = self.next.checked_sub(1).and_then(|before| self.route.get(before));
        // A climb takes less than a tick for each unit.
        let climb = before.map_or(0.0, |before| target.position.z - before.position.z);
        if self.ticks > WAYPOINT_TIMEOUT + climb.max(0.0) as u32 {
            self.stop();
            return None;
        }
        let after = self.route.get(self.next + 1);
        let mut buttons = Buttons::default();
        let rise = target.position.z - position.z;
        // A bot that climbs holds the jump key.
        let climbs = rise > thrown;
        let is_high = rise > (self.movement.step_height - BELOW_A_STEP).max(BELOW_A_STEP);
        if climbs || (is_high && !jumped) {
            buttons = buttons | Buttons::JUMP;
        }
        if target.crouch || after.is_some_and(|after| after.crouch) {
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
    fn a_jump_pad_is_entered_before_its_flight_begins() {
        let at = |x, z| Waypoint { position: DVec3::new(x, 0.0, z), crouch: false };
        let route = vec![at(0.0, 0.0), at(500.0, 200.0)];
        let mut path = PathFollower { route, ..PathFollower::default() };
        let mut next = |x, z| {
            path.next_command(DVec3::new(x, 0.0, z), true);
            path.next
        };
        assert_eq!(next(-20.0, 10.0), 0, "on its edge");
        assert_eq!(next(-12.0, 90.0), 1, "in the air");
        assert_eq!(next(490.0, 210.0), 2, "landed");
    }

    #[test]
    fn a_blocked_route_is_given_up() {
        let there = Waypoint { position: DVec3::new(500.0, 0.0, 0.0), crouch: false };
        let mut path = PathFollower { route: vec![there], ..PathFollower::default() };
        let tried =
            (0..1000).take_while(|_| path.next_command(DVec3::ZERO, true).is_some()).count();
        assert_eq!(tried as u32, WAYPOINT_TIMEOUT);
        assert!(!path.is_active());
    }
}
