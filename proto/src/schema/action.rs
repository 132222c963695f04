//! The actions of a game: what a player can do besides moving, and the default keys for it.

use bincode::{Decode, Encode};

use super::SchemaError;
use super::field::check_name;
use crate::control::ChatLine;

/// Maximum number of actions of a game.
pub const MAX_ACTIONS: usize = obsp_sim::Buttons::MAX_ACTIONS as usize;

/// Maximum length of an action's label, in bytes.
pub const MAX_LABEL: usize = 32;

/// Maximum number of default keys of an action.
pub const MAX_KEYS: usize = 4;

/// Maximum length of the name of a key, in bytes.
pub const MAX_KEY_NAME: usize = 20;

/// Number of buttons of a gamepad in the standard mapping of browsers.
pub const GAMEPAD_BUTTONS: u8 = 17;

/// An action that a game declares. The first action that is declared has the number 0. A client
/// finds an action by its name, and holds [`Buttons::action`](obsp_sim::Buttons::action) of its
/// number.
///
/// ```
/// use obsp_proto::schema::{Action, Schema, SchemaParts};
///
/// let throw = Action::new("throw", "Throw").key("KeyG").gamepad(2);
/// let parts = SchemaParts { actions: vec![throw], ..SchemaParts::default() };
/// assert_eq!(Schema::new(parts)?.action("throw"), Some(0));
/// # Ok::<(), obsp_proto::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Action {
    name: String,
    label: String,
    keys: Vec<String>,
    gamepad: Option<u8>,
    touch: bool,
}

impl Action {
    /// An action with a button on touch screens, without keys. It is checked when it becomes part
    /// of a [`Schema`](super::Schema).
    pub fn new(name: &str, label: &str) -> Self {
        let (name, label) = (name.to_owned(), label.to_owned());
        Self { name, label, keys: Vec::new(), gamepad: None, touch: true }
    }

    /// Adds a default key: a `code` of browsers' `KeyboardEvent`, such as `KeyG`, or a button of
    /// the mouse: `Mouse0` is the left one, `Mouse1` the middle one, `Mouse2` the right one.
    #[must_use]
    pub fn key(mut self, code: &str) -> Self {
        self.keys.push(code.to_owned());
        self
    }

    /// Sets the default button of a gamepad, by its number in the standard mapping of browsers: 0
    /// is the lowest of the four buttons at the right, 7 the right trigger.
    #[must_use]
    pub fn gamepad(mut self, button: u8) -> Self {
        self.gamepad = Some(button);
        self
    }

    /// Leaves out the button on touch screens.
    #[must_use]
    pub fn without_touch(mut self) -> Self {
        self.touch = false;
        self
    }

    /// The name, by which programs find the action.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that players read.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The default keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The default button of a gamepad.
    pub fn gamepad_button(&self) -> Option<u8> {
        self.gamepad
    }

    /// Whether touch screens show a button.
    pub fn has_touch(&self) -> bool {
        self.touch
    }

    /// Checks the action by itself.
    ///
    /// # Errors
    /// A name, label, key or button is not allowed.
    pub fn check(&self) -> Result<(), SchemaError> {
        check_name(&self.name)?;
        let refused =
            |fault: String| Err(SchemaError::BadAction { name: self.name.clone(), fault });
        if self.label.is_empty() || self.label.len() > MAX_LABEL {
            let bytes = self.label.len();
            return refused(format!("its label has {bytes} bytes, not 1 to {MAX_LABEL}"));
        }
        if let Err(error) = ChatLine::new(&self.label) {
            return refused(format!("its label: {error}"));
        }
        if self.keys.len() > MAX_KEYS {
            return refused(format!(
                "it has {} keys; at most {MAX_KEYS} are allowed",
                self.keys.len()
            ));
        }
        let is_code = |key: &String| {
            let fits = (1..=MAX_KEY_NAME).contains(&key.len());
            fits && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if let Some(key) = self.keys.iter().find(|key| !is_code(key)) {
            return refused(format!(
                "{key:?} is not a key: write the `code` of a browser's KeyboardEvent, such as \
                 KeyG, or Mouse0"
            ));
        }
        match self.gamepad {
            Some(button) if button >= GAMEPAD_BUTTONS => refused(format!(
                "gamepads have no button {button}: the last one is {}",
                GAMEPAD_BUTTONS - 1
            )),
            _ => Ok(()),
        }
    }
}
