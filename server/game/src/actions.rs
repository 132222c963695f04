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
    /// Holds an action down in a player's command, as if the player pressed its key. The agents of
    /// a game act like this: [`Game::command`] presses, and [`Game::moved`] asks
    /// [`WorldMut::pressed`] for agents and players alike. Returns whether there is an action of
    /// this name; if not, the command stays as it is.
    ///
    /// ```
    /// use obsp_game::{Action, Game, Match, RunningMatch, WorldMut};
    /// use obsp_sim::{Command, EntityId, PlayerKind};
    ///
    /// #[derive(Clone, Debug)]
    /// struct Drummers;
    ///
    /// impl Game for Drummers {
    ///     /// The number of beats.
    ///     type State = u32;
    ///
    ///     fn actions(&self) -> Vec<Action> {
    ///         vec![Action::new("drum", "Drum").key("KeyF")]
    ///     }
    ///
    ///     fn set_up(&self, world: &mut WorldMut<'_>) -> u32 {
    ///         world.spawn_agent(PlayerKind::Box).expect("there is a slot");
    ///         0
    ///     }
    ///
    ///     fn command(&self, _: &mut u32, world: &mut WorldMut<'_>, id: EntityId, by: &mut Command) {
    ///         if world.is_agent(id) {
    ///             world.press(by, "drum");
    ///         }
    ///     }
    ///
    ///     fn moved(&self, beats: &mut u32, world: &mut WorldMut<'_>, _: EntityId, by: &Command) {
    ///         *beats += u32::from(world.pressed(by, "drum"));
    ///     }
    /// }
    ///
    /// let map = std::sync::Arc::new(obsp::Map::load("../../maps/arena.obsp".as_ref())?);
    /// let mut game = Match::new(Drummers, map, obsp_sim::Config::default())?;
    /// game.step(&[]);
    /// assert_eq!(*game.state(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn press(&self, command: &mut Command, action: &str) -> bool {
        let button = self.shared.schema.button(action);
        command.buttons = command.buttons | button.unwrap_or_default();
        button.is_some()
    }

    /// Whether a player's command holds the action of this name, which the game declares in
    /// [`Game::actions`] or in its `game.toml`. False for a name that nobody declares.
    ///
    /// An action is held for as long as its key is down. A game that acts once per press keeps in
    /// its state whether the action was held in the tick before.
    pub fn pressed(&self, command: &Command, action: &str) -> bool {
        self.shared.schema.button(action).is_some_and(|button| command.buttons.contains(button))
    }
}
