//! Actions of a game that no behavior knows: bots try them at random.

use obsp_proto::schema::{Action, Schema};
use obsp_sim::{Buttons, Command, Random};

/// The actions of the arena game, which the behaviors use with aim.
const AIMED: [&str; 3] = ["fire", "rocket", "grenade"];

/// Mean number of commands between two actions of a bot, and the greatest number of commands for
/// which it holds an action.
const INTERVAL: u64 = 60;
const LONGEST: u64 = 30;

/// The actions that a bot tries.
#[derive(Debug)]
pub(crate) struct Actions {
    buttons: Vec<Buttons>,
    random: Random,
    held: Buttons,
    commands_left: u64,
}

impl Actions {
    /// The actions of a game.
    pub(crate) fn new(schema: &Schema, seed: u64) -> Self {
        let is_unknown = |action: &&Action| !AIMED.contains(&action.name());
        let names = schema.actions().iter().filter(is_unknown).map(Action::name);
        let buttons = names.filter_map(|name| schema.button(name)).collect();
        Self { buttons, random: Random::new(seed), held: Buttons::default(), commands_left: 0 }
    }

    /// The command with the action that the bot holds, if it holds one.
    pub(crate) fn add_to(&mut self, command: Command) -> Command {
        if self.buttons.is_empty() {
            return command;
        }
        if self.commands_left > 0 {
            self.commands_left -= 1;
        } else if self.random.below(INTERVAL) == 0 {
            let index = self.random.below(self.buttons.len() as u64) as usize;
            self.held = self.buttons.get(index).copied().unwrap_or_default();
            self.commands_left = self.random.below(LONGEST);
        } else {
            self.held = Buttons::default();
        }
        Command { buttons: command.buttons | self.held, ..command }
    }
}

#[cfg(test)]
mod tests {
    use obsp_proto::schema::SchemaParts;

    use super::*;

    fn schema(names: &[&str]) -> Schema {
        let actions = names.iter().map(|name| Action::new(name, name)).collect();
        Schema::new(SchemaParts { actions, ..SchemaParts::default() }).unwrap()
    }

    #[test]
    fn every_unknown_action_is_tried_within_a_minute() {
        let schema = schema(&["fire", "throw", "rocket", "carry", "call"]);
        let mut actions = Actions::new(&schema, 3);
        let mut held = Buttons::default();
        for _ in 0..3600 {
            held = held | actions.add_to(Command::default()).buttons;
        }
        for name in ["throw", "carry", "call"] {
            assert!(held.contains(schema.button(name).unwrap()), "{name}");
        }
        for name in ["fire", "rocket"] {
            assert!(!held.contains(schema.button(name).unwrap()), "{name}");
        }
    }

    #[test]
    fn bots_of_the_arena_game_press_nothing_more() {
        let mut actions = Actions::new(&schema(&AIMED), 3);
        for _ in 0..3600 {
            assert_eq!(actions.add_to(Command::default()), Command::default());
        }
    }
}
