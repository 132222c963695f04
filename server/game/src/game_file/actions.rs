//! The tables `[actions.NAME]`: labels and default keys of actions.

use std::collections::BTreeMap;

use obsp_proto::schema::{Action, MAX_ACTIONS};
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;

/// An action of a `game.toml`: one that the game declares, with other keys or another label, or one
/// more.
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
