//! The tables `[actions.NAME]`: labels and default keys of actions.

use std::collections::BTreeMap;

use obsp_proto::schema::{Action, MAX_ACTIONS};
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;

/// An action of a `game.toml`. It changes keys or label of an action that the game declares, or
/// adds an action.
#[derive(Clone, Debug)]
pub(crate) struct ActionChange {
    name: String,
    raw: RawAction,
}

/// The table as it is written. A key that is left out is as the game declares it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAction {
    label: Option<String>,
    keys: Option<Vec<String>>,
    gamepad: Option<u8>,
    touch: Option<bool>,
}

impl ActionChange {
    /// Checks the tables.
    pub(super) fn read(
        tables: BTreeMap<String, Spanned<RawAction>>,
        text: &str,
    ) -> Result<Vec<Self>, GameFileError> {
        if let Some(table) = tables.values().nth(MAX_ACTIONS) {
            let message =
                format!("the file has {} actions; at most {MAX_ACTIONS} are allowed", tables.len());
            return Err(GameFileError::at(text, table.span().start, message));
        }
        let checked = tables.into_iter().map(|(name, table)| {
            let at = table.span().start;
            let change = Self { name, raw: table.into_inner() };
            let fault = |error| GameFileError::at(text, at, format!("{error}"));
            change.action().check().map_err(fault)?;
            Ok(change)
        });
        checked.collect()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The action by itself. Its label is its name if the table has none.
    pub(crate) fn action(&self) -> Action {
        self.over(&Action::new(&self.name, &self.name))
    }

    /// The action `declared` of the game with the changes of the table.
    pub(crate) fn over(&self, declared: &Action) -> Action {
        let RawAction { label, keys, gamepad, touch } = &self.raw;
        let label = label.as_deref().unwrap_or(declared.label());
        let mut action = Action::new(&self.name, label);
        for key in keys.as_deref().unwrap_or(declared.keys()) {
            action = action.key(key);
        }
        if let Some(button) = gamepad.or(declared.gamepad_button()) {
            action = action.gamepad(button);
        }
        if touch.unwrap_or(declared.has_touch()) { action } else { action.without_touch() }
    }
}

#[cfg(test)]
mod tests {
    use crate::arena::Arena;
    use crate::{AnyGame, GameFile, Hint};

    fn map() -> obsp::Map {
        obsp::Map::load("../../maps/arena.obsp".as_ref()).expect("the map ships")
    }

    #[test]
    fn a_file_changes_actions_of_the_game_and_adds_others() {
        let text = "[actions.grenade]\nlabel = 'Bomb'\nkeys = ['KeyG', 'Mouse2']\ngamepad = 5\n\
                    [actions.wave]\ntouch = false\n[actions.bow]\n";
        let game = Arena.with_file(&GameFile::parse(text).unwrap());
        let schema = game.schema(&map()).unwrap();
        let names: Vec<&str> = schema.actions().iter().map(|action| action.name()).collect();
        assert_eq!(names, ["fire", "rocket", "grenade", "bow", "wave"]);
        let bomb = &schema.actions()[2];
        assert_eq!((bomb.label(), bomb.gamepad_button()), ("Bomb", Some(5)));
        assert_eq!((bomb.keys(), bomb.has_touch()), (&["KeyG".into(), "Mouse2".into()][..], true));
        let wave = &schema.actions()[4];
        assert_eq!((wave.label(), wave.has_touch()), ("wave", false));
        assert_eq!(schema.button("bow").map(obsp_sim::Buttons::bits), Some(1 << 7));
    }

    #[test]
    fn a_table_that_cannot_be_is_told_with_its_place() {
        let many = (0..17).map(|index| format!("[actions.a{index:02}]\n")).collect::<String>();
        for (text, expected) in [
            ("[actions.fire]\nkeys = ['a b']", "line 1, column 1: the action \"fire\": \"a b\""),
            ("[actions.fire]\ngamepad = 17", "gamepads have no button 17"),
            ("[actions.fire]\ngamepad = 256", "line 2, column 11: "),
            ("[actions.fire]\nlabel = ''", "its label has 0 bytes"),
            ("[actions.fire]\nkey = 'KeyG'", "line 2, column 1: unknown field `key`"),
            ("[actions.'a b']\n", "the name \"a b\" is not allowed"),
            (&many, "line 17, column 1: the file has 17 actions; at most 16 are allowed"),
            ("[hints]\nclock = 'watch'", "line 2, column 9: there is no hint \"watch\""),
        ] {
            let found = GameFile::parse(text).unwrap_err().to_string();
            assert!(found.contains(expected), "{found} instead of {expected}");
            assert!(found.starts_with("line "), "{found}");
        }
        // With the three of the game, fourteen others are one too many.
        let fourteen = many.lines().take(14).map(|line| format!("{line}\n")).collect::<String>();
        let game = Arena.with_file(&GameFile::parse(&fourteen).unwrap());
        assert!(game.schema(&map()).unwrap_err().to_string().contains("17 actions"));
    }

    #[test]
    fn a_hint_of_the_file_takes_the_place_of_that_of_the_game() {
        let hints = GameFile::parse("[hints]\nclock = 'timer'\n").unwrap();
        let field = obsp_proto::schema::Field::new("clock", 0, 9).with_hint(Hint::Bar);
        let hinted = super::super::hints::hinted(vec![field], hints.hints());
        assert_eq!(hinted[0].hint(), Hint::Timer);
    }
}
