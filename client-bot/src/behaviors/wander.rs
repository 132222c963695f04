//! Wandering about on foot.

use glam::DVec3;
use obsp_sim::{Buttons, Command, EntityState, Kind, Random};

use super::behavior::{Behavior, Perception, heading, moves_ahead};
use super::path_follower::PathFollower;
use super::sight::is_in_sight;

/// Ticks between two checks whether the bot makes progress: a third of a second at
/// 60 Hz, long enough to distinguish walking from shuffling.
const CHECK_INTERVAL: u64 = 20;

/// A bot that moves less than this between two checks, in units, is stuck. A bot that walks
/// crouched covers several times as much.
const MIN_PROGRESS: f64 = 8.0;

/// Checks in a row for which a bot waits for something ahead that moves: four seconds at 60 Hz.
const MAX_WAITS: u32 = 12;

/// An item nearer than this, in units, has been visited.
const VISITED: f64 = 40.0;

/// Maximum distance, in units, of a prop or an item that a bot walks up to.
const PROP_RANGE: f64 = 400.0;

/// Height of the eyes over the middle of a player, in units.
const EYES: f64 = 20.0;

/// Largest change of heading in one tick while walking freely: a gentle curve.
const MAX_SWAY: u64 = 400;

/// Follows routes to random positions, walks about in curves, jumps and crouches now and then,
/// turns away from obstacles, waits for bodies that move ahead, walks into props to push them, and
/// over items to take them.
#[derive(Clone, Debug)]
pub struct Wander {
    random: Random,
    ticks: u64,
    /// Heading of view and movement, as in [`Command::yaw`].
    yaw: u16,
    /// Change of `yaw` in each tick.
    sway: i16,
    /// Tick at which the bot makes another plan.
    plan_ends: u64,
    /// Tick until which the bot crouches.
    crouch_until: u64,
    /// Position at the last check of progress.
    checked_position: Option<DVec3>,
    /// Checks in a row for which the bot has waited.
    waits: u32,
    path: PathFollower,
}

impl Wander {
    /// A bot whose random numbers come from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let yaw = random.below(1 << 16) as u16;
        Self {
            random,
            ticks: 0,
            yaw,
            sway: 0,
            plan_ends: 0,
            crouch_until: 0,
            checked_position: None,
            waits: 0,
            path: PathFollower::default(),
        }
    }

    /// True once in `times` on average.
    fn once_in(&mut self, times: u64) -> bool {
        self.random.below(times) == 0
    }

    fn is_stuck(&self, position: Option<DVec3>) -> bool {
        match (position, self.checked_position) {
            (Some(here), Some(there)) => here.distance(there) < MIN_PROGRESS,
            _ => false,
        }
    }

    /// Turns by a quarter to three quarters of a turn, and walks straight for a while.
    fn turn_away(&mut self) {
        let turn = (1 << 14) + self.random.below(2 << 14) as u16;
        self.yaw = self.yaw.wrapping_add(turn);
        self.sway = 0;
        self.plan_ends = self.ticks + 30 + self.random.below(60);
    }

    /// Chooses what to do for the next seconds: follow a route, walk up to a prop or an item, or
    /// walk in a curve, crouching or upright.
    fn plan(&mut self, position: Option<DVec3>, perception: &Perception<'_>) {
        let Perception { others, nav, .. } = *perception;
        self.plan_ends = self.ticks + 60 + self.random.below(180);
        self.sway = 0;
        if self.once_in(8) {
            self.crouch_until = self.ticks + 30 + self.random.below(120);
        }
        let Some(here) = position else { return };
        if let Some(item) = nearest_item(here, perception)
            && self.once_in(2)
        {
            self.path.go_to(here, item, nav);
            self.yaw = heading(item - here);
            return;
        }
        match (self.random.below(4), nearest_prop(here, others)) {
            (0..2, Some(there)) => self.yaw = heading(there - here),
            (0..3, _) => {
                self.path.go_anywhere(here, nav, &mut self.random);
                // The route is the plan for as long as it lasts.
                self.plan_ends = self.ticks + 1200;
            }
            _ => self.sway = self.random.below(2 * MAX_SWAY + 1) as i16 - MAX_SWAY as i16,
        }
    }
}

impl Behavior for Wander {
    fn decide(&mut self, perception: &Perception<'_>) -> Command {
        let position = perception.own.map(|own| own.position.as_dvec3());
        let tick = self.ticks;
        self.ticks += 1;
        let mut jump = self.once_in(300);
        if tick.is_multiple_of(CHECK_INTERVAL) {
            let comes = |here| moves_ahead(here, self.yaw, perception.others);
            if !self.is_stuck(position) {
                self.waits = 0;
            } else if self.waits < MAX_WAITS && position.is_some_and(comes) {
                self.waits += 1;
            } else if position.is_some_and(|here| self.path.opens(here, perception.nav)) {
                self.waits = 0;
            } else {
                self.waits = 0;
                self.path.stop();
                self.turn_away();
                jump |= self.once_in(2);
            }
            self.checked_position = position;
        }
        if tick >= self.plan_ends {
            self.plan(position, perception);
        }
        if self.waits > 0 {
            return Command { yaw: self.yaw, ..Command::default() };
        }
        if self.path.is_active() {
            let next =
                position.and_then(|here| self.path.next_command(here, tick.is_multiple_of(2)));
            match next {
                Some(command) => {
                    self.yaw = command.yaw;
                    return command;
                }
                None => self.plan_ends = self.ticks,
            }
        }
        self.yaw = self.yaw.wrapping_add_signed(self.sway);

        let mut buttons = Buttons::default();
        if jump {
            buttons = buttons | Buttons::JUMP;
        }
        if tick < self.crouch_until {
            buttons = buttons | Buttons::CROUCH;
        }
        Command { forward: i8::MAX, yaw: self.yaw, buttons, ..Command::default() }
    }
}

/// The nearest item in sight within [`PROP_RANGE`] that the bot is not at already.
fn nearest_item(here: DVec3, perception: &Perception<'_>) -> Option<DVec3> {
    let near = |item: &&DVec3| (VISITED..PROP_RANGE).contains(&item.distance(here));
    let seen = perception.pictures.iter().filter(near).filter(|item| {
        let eyes = here + DVec3::Z * EYES;
        is_in_sight(perception, eyes, **item)
    });
    seen.min_by(|a, b| a.distance(here).total_cmp(&b.distance(here))).copied()
}

/// The nearest prop within [`PROP_RANGE`].
fn nearest_prop(here: DVec3, others: &[EntityState]) -> Option<DVec3> {
    let props = others.iter().filter(|other| matches!(other.kind, Kind::Prop { .. }));
    let distance = |prop: &DVec3| prop.distance_squared(here);
    props
        .map(|prop| prop.position)
        .filter(|prop| distance(prop) < PROP_RANGE * PROP_RANGE)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviors::NavGraph;
    use crate::behaviors::tests::{arena, own_at, prop_at};

    /// Number of ticks in a test: two seconds at 60 Hz. In this time a bot checks several times
    /// whether it makes progress, and makes at least one plan.
    const WHILE: usize = 120;

    /// The commands of a bot that finds itself at these positions in turn.
    fn act(
        seed: u64,
        positions: impl Iterator<Item = DVec3>,
        others: &[EntityState],
    ) -> Vec<Command> {
        let (map, nav) = (arena().0, NavGraph::default());
        let mut behavior = Wander::new(seed);
        positions
            .map(|position| {
                let own = Some(own_at(position));
                behavior.decide(&Perception {
                    own,
                    others,
                    pictures: &[],
                    map: &map,
                    models: &[],
                    nav: &nav,
                })
            })
            .collect()
    }

    fn walking() -> impl Iterator<Item = DVec3> {
        (0..).map(|tick| DVec3::new(f64::from(tick) * 5.0, 0.0, 0.0))
    }

    #[test]
    fn the_same_seed_acts_the_same() {
        let of = |seed| act(seed, walking().take(600), &[prop_at(DVec3::ZERO)]);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_stuck_bot_turns_away() {
        for seed in 0..20 {
            let commands = act(seed, std::iter::repeat_n(DVec3::ZERO, WHILE), &[]);
            let first = commands[0].yaw;
            let turned = commands
                .iter()
                .any(|command| i32::from(command.yaw.wrapping_sub(first) as i16).abs() >= 1 << 14);
            assert!(turned, "seed {seed} went on into the wall");
        }
    }

    #[test]
    fn bots_walk_up_to_near_props() {
        let near = DVec3::new(0.0, 100.0, 0.0);
        let towards = (0..40).filter(|&seed| {
            let props = [prop_at(near), prop_at(near * 10.0)];
            act(seed, std::iter::once(DVec3::ZERO), &props)[0].yaw == 1 << 14
        });
        let count = towards.count();
        assert!((10..30).contains(&count), "{count} of 40 bots");
    }

    #[test]
    fn bots_walk_up_to_items_in_sight_until_they_are_there() {
        let (map, nav) = (arena().0, NavGraph::default());
        let here = arena().1.random_position(&mut Random::new(3)).unwrap();
        let walks_to = |item: DVec3| {
            let perception = Perception {
                own: Some(own_at(here)),
                others: &[],
                pictures: &[item],
                map: &map,
                models: &[],
                nav: &nav,
            };
            let yaw = heading(item - here);
            (0..40).filter(|&seed| Wander::new(seed).decide(&perception).yaw == yaw).count()
        };
        let up = DVec3::new(0.1, 0.1, 1.0).normalize();
        let count = walks_to(here + up * 60.0);
        assert!((10..30).contains(&count), "{count} of 40 bots");
        assert_eq!(walks_to(here + up * 30.0), 0, "they are there");
        assert_eq!(walks_to(here - up * 300.0), 0, "below the floor");
    }

    #[test]
    fn bots_wait_for_what_moves_ahead_but_not_for_ever() {
        let (map, nav) = (arena().0, NavGraph::default());
        let mut behavior = Wander::new(5);
        let mut decide = |moves: bool| {
            let ahead = Command { yaw: behavior.yaw, ..Command::default() }.ahead();
            let velocity = DVec3::Z * if moves { 60.0 } else { 0.0 };
            let door = EntityState { velocity, ..prop_at(ahead * 60.0) };
            let (own, others) = (Some(own_at(DVec3::ZERO)), [door]);
            let perception = Perception {
                own,
                others: &others,
                pictures: &[],
                map: &map,
                models: &[],
                nav: &nav,
            };
            behavior.decide(&perception)
        };
        let mut waits = |moves: bool, ticks: u32| {
            let still: Vec<bool> = (0..ticks).map(|_| decide(moves).forward == 0).collect();
            let waits = still.split(|waits| !waits);
            waits.map(<[bool]>::len).max().unwrap_or_default()
        };
        assert_eq!(waits(false, 100), 0, "nobody waits before a door that stays shut");
        assert_eq!(waits(true, 1_000), MAX_WAITS as usize * CHECK_INTERVAL as usize);
    }

    #[test]
    fn bots_follow_routes() {
        let (map, nav) = arena();
        let mut random = Random::new(2);
        let mut here = nav.random_position(&mut random).unwrap();
        let mut behavior = Wander::new(4);
        let mut farthest = 0.0_f64;
        let start = here;
        // A player who walks through walls gets far only by following routes.
        for _ in 0..6000 {
            let own = Some(own_at(here));
            let perception =
                Perception { own, others: &[], pictures: &[], map: &map, models: &[], nav: &nav };
            let command = behavior.decide(&perception);
            if behavior.path.is_active() {
                let angle = f64::from(command.yaw) / 65_536.0 * std::f64::consts::TAU;
                here += DVec3::new(angle.cos(), angle.sin(), 0.0) * 5.0;
                farthest = farthest.max(here.distance(start));
            }
        }
        assert!(farthest > 300.0, "{farthest}");
    }

    #[test]
    fn bots_jump_and_crouch_but_mostly_walk() {
        let commands = act(1, walking().take(10_000), &[]);
        let pressed = |key| commands.iter().filter(|c| c.buttons.contains(key)).count();
        let (jumps, crouches) = (pressed(Buttons::JUMP), pressed(Buttons::CROUCH));
        assert!((10..100).contains(&jumps), "{jumps} jumps");
        assert!((100..3000).contains(&crouches), "{crouches} ticks crouched");
    }
}
