//! The actions of players: those that a game declares in code, and the tables `[actions.NAME]` of a
//! `game.toml`.

use obsp_proto::schema::Action;
use obsp_sim::Command;

use crate::game::Game;
use crate::game_file::GameFile;
use crate::world_mut::WorldMut;

/// The actions of a game that declares none: three buttons without a meaning of their own.
pub(crate) fn usual() -> Vec<Action> {
    vec![
        Action::new("primary", "Primary").key("Mouse0").gamepad(7),
        Action::new("secondary", "Secondary").key("Mouse2").key("Digit2").gamepad(6),
        Action::new("tertiary", "Tertiary").key("KeyE").key("Digit3").gamepad(2),
    ]
}

/// The actions of the arena game: its weapons, by the names of their keys in a `game.toml`.
pub(crate) fn of_arena() -> Vec<Action> {
    vec![
        Action::new("fire", "Ray").key("Digit1"),
        Action::new("rocket", "Rocket").key("Digit2"),
        Action::new("grenade", "Grenade").key("Digit3"),
    ]
}

/// The actions of a match: those of its game with the changes of the file, then the others of the
/// file in the order of their names.
pub(crate) fn all_actions<G: Game>(game: &G, file: &GameFile) -> Vec<Action> {
    let mut actions = game.actions();
    for own in file.actions() {
        match actions.iter_mut().find(|action| action.name() == own.name()) {
            Some(action) => *action = own.over(action),
            None => actions.push(own.action()),
        }
    }
    actions
}

impl WorldMut<'_> {
    /// Whether a player's command holds the action of this name, which the game declares in
    /// [`Game::actions`] or in its `game.toml`. False for a name that nobody declares.
    ///
    /// An action is held for as long as its key is down. A game that acts once a press keeps in its
    /// state whether the action was held in the tick before.
    pub fn pressed(&self, command: &Command, action: &str) -> bool {
        self.shared.schema.button(action).is_some_and(|button| command.buttons.contains(button))
    }
}
