//! Fighting other players on foot.

use glam::DVec3;
use obsp_sim::{Buttons, Command, EntityState, Random};

use super::behavior::{Behavior, Perception, eyes, heading, moves_ahead};
use super::path_follower::PathFollower;
use super::sight::is_in_sight;

/// A bot approaches an opponent farther off than `FAR`, in units, and steps back from one nearer
/// than `NEAR`.
const FAR: f64 = 400.0;
const NEAR: f64 = 120.0;

/// Largest change of heading in a tick, in steps of a command's angle: 600 degrees a second at 60
/// Hz, as fast as a good player.
const TURN: i32 = 1800;

/// Ticks between two searches for an opponent: a quarter of a second at 60 Hz.
const SEARCH_INTERVAL: u64 = 15;

/// Ticks between two checks whether the bot makes progress: a third of a second at 60 Hz.
const CHECK_INTERVAL: u64 = 20;

/// A bot that moves less than this between two checks, in units, is stuck.
const MIN_PROGRESS: f64 = 8.0;

/// Largest error in heading at which the bot shoots, in steps of a command's angle.
const AIM: i32 = 500;

/// Steps of a command's angles in a turn.
const STEPS: f64 = 65_536.0;

/// A bot that looks for other players, keeps its distance, strafes and shoots.
#[derive(Clone, Debug)]
pub struct Fight {
    random: Random,
    ticks: u64,
    yaw: u16,
    strafe: i8,
    /// The opponent found by the last search.
    opponent: Option<obsp_sim::EntityId>,
    path: PathFollower,
    jumped: bool,
    /// Position at the last check of progress.
    checked_position: Option<DVec3>,
    /// Tick until which the bot walks away from the place where it was stuck.
    evade_until: u64,
}

impl Fight {
    /// A bot whose random numbers come from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let yaw = random.below(1 << 16) as u16;
        Self {
            random,
            ticks: 0,
            yaw,
            strafe: i8::MAX,
            opponent: None,
            path: PathFollower::default(),
            jumped: false,
            checked_position: None,
            evade_until: 0,
        }
    }

    /// The nearest visible player.
    fn find_opponent(
        &self,
        eyes: DVec3,
        perception: &Perception<'_>,
    ) -> Option<obsp_sim::EntityId> {
        let visible = perception.others.iter().filter(|other| {
            other.kind.is_player() && is_in_sight(perception, eyes, other.position)
        });
        let distance = |other: &EntityState| other.position.distance_squared(eyes);
        visible.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|other| other.id)
    }

    /// Strafes the other way if the bot is stuck, or walks off in a random direction if there is no
    /// opponent to keep in view. A door in front of the bot is opened first.
    fn check_progress(&mut self, here: DVec3, perception: &Perception<'_>) {
        let before = self.checked_position.replace(here);
        if before.is_none_or(|before| before.distance(here) >= MIN_PROGRESS) {
            return;
        }
        // The route itself gives up if the body ahead never comes to rest.
        if self.path.is_active() && moves_ahead(here, self.yaw, perception.others) {
            return;
        }
        if self.path.opens(here, perception.nav) {
            return;
        }
        self.strafe = -self.strafe;
        if self.opponent.is_none() {
            self.path.stop();
            self.yaw = self.random.below(1 << 16) as u16;
            self.evade_until = self.ticks + CHECK_INTERVAL + self.random.below(60);
        }
    }

    /// The weapon for this distance: mostly the ray, now and then a rocket if its explosion does
    /// not reach the bot, seldom a grenade.
    fn weapon(&mut self, distance: f64) -> Buttons {
        match self.random.below(12) {
            0 if distance > NEAR => Buttons::SECONDARY,
            1 if distance > NEAR && distance < FAR => Buttons::TERTIARY,
            _ => Buttons::PRIMARY,
        }
    }

    /// Turns towards an opponent, keeps the distance and shoots.
    fn engage(&mut self, eyes: DVec3, opponent: &EntityState) -> Command {
        let to = opponent.position - eyes;
        let wanted = heading(to);
        let off = i32::from(wanted.wrapping_sub(self.yaw) as i16);
        self.yaw = self.yaw.wrapping_add(off.clamp(-TURN, TURN) as i16 as u16);
        let flat = to.truncate().length();
        let elevation = to.z.atan2(flat) / std::f64::consts::TAU * STEPS;
        if self.random.below(40) == 0 {
            self.strafe = -self.strafe;
        }
        let forward = match flat {
            _ if flat > FAR => i8::MAX,
            _ if flat < NEAR => -i8::MAX,
            _ => 0,
        };
        let mut buttons = Buttons::default();
        // The trigger is released every other tick, for weapons that fire once a press.
        if off.abs() < AIM && self.ticks.is_multiple_of(2) {
            buttons = buttons | self.weapon(flat);
        }
        if self.random.below(90) == 0 {
            buttons = buttons | Buttons::JUMP;
        }
        let pitch = elevation.clamp(-STEPS / 4.0, STEPS / 4.0) as i16;
        Command { forward, right: self.strafe, yaw: self.yaw, pitch, buttons, ..Command::default() }
    }
}

impl Behavior for Fight {
    fn decide(&mut self, perception: &Perception<'_>) -> Command {
        self.ticks += 1;
        let Some(own) = &perception.own else { return Command::default() };
        let position = own.position.as_dvec3();
        let eyes = eyes(own, perception.map);
        if self.ticks.is_multiple_of(SEARCH_INTERVAL) {
            self.opponent = self.find_opponent(eyes, perception);
        }
        if self.ticks.is_multiple_of(CHECK_INTERVAL) {
            self.check_progress(position, perception);
        }
        let opponent = perception.others.iter().find(|other| Some(other.id) == self.opponent);
        // A bot on a ladder, or on the way to a switch, has no time to fight.
        let opponent = opponent.filter(|_| !self.path.is_busy(position));
        if let Some(opponent) = opponent {
            self.path.stop();
            return self.engage(eyes, opponent);
        }
        if self.ticks < self.evade_until {
            let buttons =
                if self.ticks.is_multiple_of(8) { Buttons::JUMP } else { Buttons::default() };
            return Command { forward: i8::MAX, yaw: self.yaw, buttons, ..Command::default() };
        }
        if !self.path.is_active() {
            let players = perception.others.iter().filter(|o| o.kind.is_player());
            let players: Vec<DVec3> = players.map(|other| other.position).collect();
            match players.len() as u64 {
                0 => self.path.go_anywhere(position, perception.nav, &mut self.random),
                count => {
                    let goal = players[self.random.below(count) as usize];
                    self.path.go_to(position, goal, perception.nav);
                }
            }
        }
        let next = self.path.next_command(position, self.jumped);
        let command = next.unwrap_or_else(|| {
            // No route leads from here, so the bot takes a few steps in any direction.
            self.yaw = self.yaw.wrapping_add(self.random.below(2000) as u16);
            Command { forward: i8::MAX, yaw: self.yaw, ..Command::default() }
        });
        self.yaw = command.yaw;
        self.jumped = command.buttons.contains(Buttons::JUMP);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use crate::behaviors::sight::sees;
    use crate::behaviors::tests::{arena, own_at, player_at};

    #[test]
    fn a_stuck_bot_tries_another_direction() {
        let (map, nav) = arena();
        let here = nav.random_position(&mut Random::new(3)).unwrap();
        let perception = Perception {
            own: Some(own_at(here)),
            others: &[],
            pictures: &[],
            map: &map,
            models: &[],
            nav: &nav,
        };
        let mut behavior = Fight::new(1);
        // The bot cannot move, whatever it tries.
        let headings: HashSet<u16> =
            (0..600).map(|_| behavior.decide(&perception).yaw >> 13).collect();
        assert!(headings.len() >= 6, "{headings:?}");
    }

    #[test]
    fn a_visible_opponent_is_aimed_and_shot_at() {
        let (map, nav) = arena();
        // Two positions of the map that see one another.
        let mut random = Random::new(1);
        let (here, there) = std::iter::repeat_with(|| {
            let mut any = || nav.random_position(&mut random).unwrap() + DVec3::Z * 12.0;
            (any(), any())
        })
        .find(|(a, b)| a.distance(*b) > 200.0 && sees(&map, *a + DVec3::Z * 22.0, *b))
        .unwrap();
        let others = [player_at(there)];
        let own = Some(own_at(here));
        let perception =
            Perception { own, others: &others, pictures: &[], map: &map, models: &[], nav: &nav };
        let mut behavior = Fight::new(3);
        let commands: Vec<Command> = (0..120).map(|_| behavior.decide(&perception)).collect();
        let shots = commands.iter().filter(|c| c.buttons.contains(Buttons::PRIMARY)).count();
        assert!(shots > 20, "{shots} shots");
        let last = commands.last().unwrap();
        assert!((last.yaw.wrapping_sub(heading(there - here)) as i16).abs() < 10);
    }
}
