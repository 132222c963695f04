//! The behaviors that a swarm can be given by name.

use clap::ValueEnum;
use obsp_sim::Command;

use super::behavior::{Behavior, Perception};
use super::fight::Fight;
use super::wander::Wander;

/// How the bots of a swarm behave: the values of `--behavior`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BehaviorChoice {
    /// All bots walk about and push props.
    Wander,
    /// All bots look for other players and shoot at them.
    Fight,
    /// Every other bot fights, the rest wander.
    #[default]
    Mix,
    /// All bots stand still, which shows the cost of a match in which nothing happens.
    Idle,
}

/// A bot that stands still.
#[derive(Clone, Copy, Debug)]
struct Idle;

impl Behavior for Idle {
    fn decide(&mut self, _: &Perception<'_>) -> Command {
        Command::default()
    }
}

impl BehaviorChoice {
    /// The behavior of the bot with this number.
    pub fn behavior(self, number: u32, seed: u64) -> Box<dyn Behavior> {
        match self {
            Self::Mix if number % 2 == 1 => Box::new(Fight::new(seed)),
            Self::Fight => Box::new(Fight::new(seed)),
            Self::Wander | Self::Mix => Box::new(Wander::new(seed)),
            Self::Idle => Box::new(Idle),
        }
    }
}
