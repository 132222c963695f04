//! The scripts that players of a soak follow.

use obsp_sim::{Buttons, Command, Random};

/// Mean ticks until a player changes how they run.
const GAIT: u64 = 30;
/// Mean ticks until a player turns.
const TURN: u64 = 20;
/// Mean ticks between two jumps.
const JUMP: u64 = 25;
/// Mean ticks until a standing player ducks.
const DUCK: u64 = 120;
/// Mean ticks until a ducking player stands up.
const RISE: u64 = 20;
/// Mean ticks between two shots.
const SHOT: u64 = 40;

/// The widest turn that a player makes at once, in 65,536ths of a full turn: 66 degrees.
const WIDEST_TURN: f64 = 12_000.0;
/// Steepest view, up or down, in 65,536ths of a full turn: 55 degrees.
const STEEPEST: f64 = 10_000.0;

/// A player of a soak. The player runs, turns, jumps, ducks and shoots by a stream of random
/// numbers, without regard to the state of the match, and shoves things by running into them.
#[derive(Clone, Debug)]
pub struct Script {
    random: Random,
    command: Command,
    /// Number of actions that the player uses.
    actions: u8,
}

impl Script {
    /// The script of the `player`th player of a match with this seed.
    pub fn new(seed: u64, player: u16) -> Self {
        // The player's number is mixed into the seed, so that no player's stream is a shifted copy
        // of another's.
        let mut random = Random::new(seed);
        let mut own = random.bits() ^ u64::from(player).wrapping_mul(0xD1B5_4A32_D192_ED03);
        own = own.rotate_left(17);
        let mut random = Random::new(own);
        let yaw = random.bits() as u16;
        Self { random, command: Command { forward: 127, yaw, ..Command::default() }, actions: 3 }
    }

    /// Makes this script play a game with this number of actions. With three actions or fewer the
    /// script stays as it was.
    #[must_use]
    pub fn with_actions(mut self, actions: usize) -> Self {
        self.actions = actions.clamp(3, Buttons::MAX_ACTIONS.into()) as u8;
        self
    }

    /// The player's command for the next tick.
    pub fn next_command(&mut self) -> Command {
        if self.one_in(GAIT) {
            self.command.forward = self.one_of([127, 127, 127, 60, -127, 0]);
            self.command.right = self.one_of([0, 0, 127, -127]);
        }
        if self.one_in(TURN) {
            let turn = self.random.between(-WIDEST_TURN, WIDEST_TURN) as i16;
            self.command.yaw = self.command.yaw.wrapping_add_signed(turn);
            self.command.pitch = self.random.between(-STEEPEST, STEEPEST) as i16;
        }
        let ducks = self.command.buttons.contains(Buttons::CROUCH);
        let changes = self.one_in(if ducks { RISE } else { DUCK });
        let mut buttons = Buttons::default();
        if ducks != changes {
            buttons = buttons | Buttons::CROUCH;
        }
        if self.one_in(JUMP) {
            buttons = buttons | Buttons::JUMP;
        }
        if self.one_in(SHOT) {
            let number = self.random.below(self.actions.into()) as u8;
            buttons = buttons | Buttons::action(number).unwrap_or_default();
        }
        self.command.buttons = buttons;
        self.command
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.random.below(count) == 0
    }

    fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.random.below(N as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_player_make_a_script() {
        let commands = |seed, player| {
            let mut script = Script::new(seed, player);
            (0..600).map(|_| script.next_command()).collect::<Vec<_>>()
        };
        assert_eq!(commands(1, 0), commands(1, 0));
        assert_ne!(commands(1, 0), commands(1, 1));
        assert_ne!(commands(1, 0), commands(2, 0));
    }

    #[test]
    fn everything_a_player_can_do_is_done_within_a_minute() {
        let mut script = Script::new(1, 0).with_actions(16);
        let commands: Vec<Command> = (0..3_600).map(|_| script.next_command()).collect();
        let actions = (0..16).filter_map(Buttons::action);
        for key in [Buttons::JUMP, Buttons::CROUCH].into_iter().chain(actions) {
            assert!(commands.iter().any(|c| c.buttons.contains(key)), "{key:?}");
        }
        for octant in 0..8 {
            assert!(commands.iter().any(|c| c.yaw >> 13 == octant), "octant {octant}");
        }
    }
}
