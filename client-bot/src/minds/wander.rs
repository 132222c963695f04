use glam::DVec3;
use sim::{Buttons, Command, Random};

/// Ticks between two looks at how far the bot has come: a third of a second
/// at 60 Hz, long enough to tell walking from shuffling.
const LOOK_EVERY: u64 = 20;

/// Units that a bot which wants to move covers between two looks at least. A
/// crouching walk comes to several times this; a wall in the way does not.
const LEAST_PROGRESS: f64 = 8.0;

/// How near a prop must be, in units, to be worth walking up to.
const INTEREST: f64 = 400.0;

/// Largest change of heading in one tick while walking freely: a gentle curve.
const LARGEST_SWAY: u64 = 400;

/// A bot that walks about in curves, jumps and crouches now and then, turns
/// away from what stops it, and walks into props to push them.
#[derive(Clone, Debug)]
pub struct Wander {
    random: Random,
    ticks: u64,
    /// Where it looks and walks, as in [`Command::yaw`].
    yaw: u16,
    /// Change of `yaw` each tick.
    sway: i16,
    /// Tick at which it makes a new plan.
    plan_ends: u64,
    /// Tick until which it ducks.
    crouch_until: u64,
    /// Where it was when it last looked.
    last_seen: Option<DVec3>,
}

impl Wander {
    /// A bot with this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let yaw = random.below(1 << 16) as u16;
        Self { random, ticks: 0, yaw, sway: 0, plan_ends: 0, crouch_until: 0, last_seen: None }
    }

    /// The command of the next tick, for a bot at `position` (in units; `None`
    /// until it knows) among `props`.
    pub fn decide(
        &mut self,
        position: Option<DVec3>,
        props: impl IntoIterator<Item = DVec3>,
    ) -> Command {
        let tick = self.ticks;
        self.ticks += 1;
        let mut jump = self.once_in(300);
        if tick.is_multiple_of(LOOK_EVERY) {
            if self.is_stuck(position) {
                self.turn_away();
                jump |= self.once_in(2);
            }
            self.last_seen = position;
        }
        if tick >= self.plan_ends {
            self.plan(position, props);
        }
        self.yaw = self.yaw.wrapping_add_signed(self.sway);

        let mut buttons = Buttons::default();
        if jump {
            buttons = buttons | Buttons::JUMP;
        }
        if tick < self.crouch_until {
            buttons = buttons | Buttons::CROUCH;
        }
        Command { forward: i8::MAX, right: 0, yaw: self.yaw, pitch: 0, buttons }
    }

    /// True once in `times` on average.
    fn once_in(&mut self, times: u64) -> bool {
        self.random.below(times) == 0
    }

    fn is_stuck(&self, position: Option<DVec3>) -> bool {
        match (position, self.last_seen) {
            (Some(here), Some(there)) => here.distance(there) < LEAST_PROGRESS,
            _ => false,
        }
    }

    /// Turns by a quarter to three quarters, and goes straight for a while.
    fn turn_away(&mut self) {
        let turn = (1 << 14) + self.random.below(2 << 14) as u16;
        self.yaw = self.yaw.wrapping_add(turn);
        self.sway = 0;
        self.plan_ends = self.ticks + 30 + self.random.below(60);
    }

    /// Chooses what to do for the next seconds: walk up to a prop, or on in a
    /// curve, ducked or upright.
    fn plan(&mut self, position: Option<DVec3>, props: impl IntoIterator<Item = DVec3>) {
        self.plan_ends = self.ticks + 60 + self.random.below(180);
        if self.once_in(8) {
            self.crouch_until = self.ticks + 30 + self.random.below(120);
        }
        let target = if self.once_in(2) {
            position.and_then(|here| Some((here, nearest(here, props)?)))
        } else {
            None
        };
        match target {
            Some((here, there)) => {
                self.yaw = heading(there - here);
                self.sway = 0;
            }
            None => {
                self.sway = self.random.below(2 * LARGEST_SWAY + 1) as i16 - LARGEST_SWAY as i16
            }
        }
    }
}

/// The nearest of `props` within [`INTEREST`].
fn nearest(here: DVec3, props: impl IntoIterator<Item = DVec3>) -> Option<DVec3> {
    let distance = |prop: &DVec3| prop.distance_squared(here);
    props
        .into_iter()
        .filter(|prop| distance(prop) < INTEREST * INTEREST)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The heading of a direction, as in [`Command::yaw`].
fn heading(direction: DVec3) -> u16 {
    let turns = direction.y.atan2(direction.x) / std::f64::consts::TAU;
    // Through i32, so that negative turns wrap instead of saturating.
    (turns * 65_536.0).round() as i32 as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two seconds at 60 Hz: several looks and at least one plan.
    const WHILE: usize = 120;

    #[test]
    fn the_same_seed_acts_the_same() {
        let act = |seed| {
            let mut mind = Wander::new(seed);
            let places = (0..600).map(|tick| DVec3::new(f64::from(tick), 0.0, 0.0));
            places.map(|place| mind.decide(Some(place), [DVec3::ZERO])).collect::<Vec<_>>()
        };
        assert_eq!(act(7), act(7));
        assert_ne!(act(7), act(8));
    }

    #[test]
    fn a_bot_that_is_stopped_turns_away() {
        for seed in 0..100 {
            let mut mind = Wander::new(seed);
            let first = mind.decide(Some(DVec3::ZERO), []);
            let turned = (0..WHILE).any(|_| {
                let turn = mind.decide(Some(DVec3::ZERO), []).yaw.wrapping_sub(first.yaw) as i16;
                i32::from(turn).abs() >= 1 << 14
            });
            assert!(turned, "seed {seed} went on into the wall");
        }
    }

    #[test]
    fn bots_walk_up_to_props_that_are_near() {
        let prop = DVec3::new(0.0, 100.0, 0.0);
        let towards = (0..100).filter(|&seed| {
            let mut mind = Wander::new(seed);
            mind.decide(Some(DVec3::ZERO), [prop, prop * 10.0]).yaw == 1 << 14
        });
        let count = towards.count();
        assert!((30..70).contains(&count), "{count} of 100 bots");
    }

    #[test]
    fn headings_go_counter_clockwise_from_x() {
        assert_eq!(heading(DVec3::X), 0);
        assert_eq!(heading(DVec3::Y), 1 << 14);
        assert_eq!(heading(-DVec3::X), 1 << 15);
        assert_eq!(heading(-DVec3::Y), 3 << 14);
    }

    #[test]
    fn bots_jump_and_crouch_but_mostly_walk() {
        let mut mind = Wander::new(1);
        let (mut jumps, mut crouches) = (0, 0);
        for tick in 0..10_000 {
            let place = DVec3::new(f64::from(tick) * 5.0, 0.0, 0.0);
            let buttons = mind.decide(Some(place), []).buttons;
            jumps += u32::from(buttons.contains(Buttons::JUMP));
            crouches += u32::from(buttons.contains(Buttons::CROUCH));
        }
        assert!((10..100).contains(&jumps), "{jumps} jumps");
        assert!((100..3000).contains(&crouches), "{crouches} ticks ducked");
    }
}
