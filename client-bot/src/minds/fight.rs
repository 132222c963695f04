use glam::DVec3;
use maps::{Trace, World};
use sim::{Buttons, Command, EntityState, Posture, Random};

use super::traveller::Traveller;
use super::{Mind, Sight, heading};

/// Units of height of the eyes over the middle of a standing player.
const EYES: f64 = 22.0;

/// Units from which on an opponent is walked up to, and nearer than which a
/// bot steps back.
const FAR: f64 = 400.0;
const NEAR: f64 = 120.0;

/// Largest change of heading in a tick, in steps of a command's: 600 degrees a
/// second at 60 Hz, as fast as a good player.
const TURN: i32 = 1800;

/// Ticks between two looks for an opponent: a quarter of a second at 60 Hz.
const LOOK_EVERY: u64 = 15;

/// Ticks between two looks at whether it gets on: a third of a second at 60 Hz.
const PROGRESS_EVERY: u64 = 20;

/// Who comes less far than this between two such looks, in units, is stuck.
const LEAST_PROGRESS: f64 = 8.0;

/// How far off, in steps, the aim may be for a shot.
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
    /// The opponent that was visible at the last look.
    opponent: Option<sim::EntityId>,
    traveller: Traveller,
    jumped: bool,
    /// Where it was when it last looked whether it gets on.
    last_seen: Option<DVec3>,
    /// Until when it walks out of where it was stuck, whatever it wants.
    evades_until: u64,
}

impl Fight {
    /// A bot with this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let yaw = random.below(1 << 16) as u16;
        let traveller = Traveller::default();
        Self {
            random,
            ticks: 0,
            yaw,
            strafe: i8::MAX,
            opponent: None,
            traveller,
            jumped: false,
            last_seen: None,
            evades_until: 0,
        }
    }

    /// The nearest player in sight.
    fn look(&self, eyes: DVec3, sight: &Sight<'_>) -> Option<sim::EntityId> {
        let seen = sight
            .others
            .iter()
            .filter(|other| other.kind.is_player() && sees(sight.map, eyes, other.position));
        let distance = |other: &EntityState| other.position.distance_squared(eyes);
        seen.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|other| other.id)
    }

    /// Sidesteps, or if there is nobody to keep in view walks off anywhere, when
    /// it does not get on.
    fn look_whether_it_gets_on(&mut self, here: DVec3) {
        let before = self.last_seen.replace(here);
        if before.is_none_or(|before| before.distance(here) >= LEAST_PROGRESS) {
            return;
        }
        self.strafe = -self.strafe;
        if self.opponent.is_none() {
            self.traveller.stop();
            self.yaw = self.random.below(1 << 16) as u16;
            self.evades_until = self.ticks + PROGRESS_EVERY + self.random.below(60);
        }
    }

    /// What to shoot with at this distance: mostly the ray, now and then a
    /// rocket where it does not burst in one's own face, seldom a grenade.
    fn weapon(&mut self, distance: f64) -> Buttons {
        match self.random.below(12) {
            0 if distance > NEAR => Buttons::ROCKET,
            1 if distance > NEAR && distance < FAR => Buttons::GRENADE,
            _ => Buttons::FIRE,
        }
    }

    /// Turns towards, moves about and shoots at an opponent.
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
        // The trigger is released every other tick, for what fires once a press.
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

impl Mind for Fight {
    fn decide(&mut self, sight: &Sight<'_>) -> Command {
        self.ticks += 1;
        let Some(own) = &sight.own else { return Command::default() };
        let position = own.position.as_dvec3();
        let ducked = own.walker.posture == Posture::Crouching;
        let eyes = position + DVec3::Z * if ducked { EYES / 2.0 } else { EYES };
        if self.ticks.is_multiple_of(LOOK_EVERY) {
            self.opponent = self.look(eyes, sight);
        }
        if self.ticks.is_multiple_of(PROGRESS_EVERY) {
            self.look_whether_it_gets_on(position);
        }
        let opponent = sight.others.iter().find(|other| Some(other.id) == self.opponent);
        if let Some(opponent) = opponent {
            self.traveller.stop();
            return self.engage(eyes, opponent);
        }
        if self.ticks < self.evades_until {
            let buttons =
                if self.ticks.is_multiple_of(8) { Buttons::JUMP } else { Buttons::default() };
            return Command { forward: i8::MAX, yaw: self.yaw, buttons, ..Command::default() };
        }
        if !self.traveller.is_under_way() {
            let players = sight.others.iter().filter(|o| o.kind.is_player());
            let heard: Vec<DVec3> = players.map(|other| other.position).collect();
            match heard.len() as u64 {
                0 => self.traveller.set_out(position, sight.ways, &mut self.random),
                count => {
                    let goal = heard[self.random.below(count) as usize];
                    self.traveller.set_out_for(position, goal, sight.ways);
                }
            }
        }
        let going = self.traveller.go_on(position, self.jumped);
        let command = going.unwrap_or_else(|| {
            // Nowhere to go from here: a few steps in any direction.
            self.yaw = self.yaw.wrapping_add(self.random.below(2000) as u16);
            Command { forward: i8::MAX, yaw: self.yaw, ..Command::default() }
        });
        self.yaw = command.yaw;
        self.jumped = command.buttons.contains(Buttons::JUMP);
        command
    }
}

/// Whether the static world leaves the line between two points free.
fn sees(map: &World, from: DVec3, to: DVec3) -> bool {
    let Some(point) = map.size("point") else { return false };
    map.find_first_transition(point, from.as_vec3(), to.as_vec3()) == Trace::Clear
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use crate::minds::tests::{arena, own_at, player_at};

    #[test]
    fn who_is_stuck_tries_another_way() {
        let (map, ways) = arena();
        let here = ways.any(&mut Random::new(3)).unwrap();
        let sight = Sight { own: Some(own_at(here)), others: &[], map: &map, ways: &ways };
        let mut mind = Fight::new(1);
        // Wherever it turns, it stays where it is.
        let headings: HashSet<u16> = (0..600).map(|_| mind.decide(&sight).yaw >> 13).collect();
        assert!(headings.len() >= 6, "{headings:?}");
    }

    #[test]
    fn an_opponent_in_sight_is_aimed_and_shot_at() {
        let (map, ways) = arena();
        // Some two places of the map that see one another.
        let mut random = Random::new(1);
        let (here, there) = std::iter::repeat_with(|| {
            let mut any = || ways.any(&mut random).unwrap() + DVec3::Z * 12.0;
            (any(), any())
        })
        .find(|(a, b)| a.distance(*b) > 200.0 && sees(&map, *a + DVec3::Z * EYES, *b))
        .unwrap();
        let others = [player_at(there)];
        let sight = Sight { own: Some(own_at(here)), others: &others, map: &map, ways: &ways };
        let mut mind = Fight::new(3);
        let commands: Vec<Command> = (0..120).map(|_| mind.decide(&sight)).collect();
        let shots = commands.iter().filter(|c| c.buttons.contains(Buttons::FIRE)).count();
        assert!(shots > 20, "{shots} shots");
        let last = commands.last().unwrap();
        assert!((last.yaw.wrapping_sub(heading(there - here)) as i16).abs() < 10);
    }
}
