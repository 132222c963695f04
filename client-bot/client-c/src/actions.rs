//! The actions that the game declares beside moving.

use std::ffi::c_char;

use obsp_proto::schema::{Action, MAX_KEYS, MAX_LABEL};
use obsp_sim::Buttons;

use crate::failure::guard;
use crate::handle::ObspClient;
use crate::raw;

/// Bytes of the name or label of an action, its zero byte included.
pub const OBSP_ACTION_NAME_BYTES: usize = 36;
const _: () = assert!(OBSP_ACTION_NAME_BYTES > MAX_LABEL, "every label fits");

/// Bytes of the name of a key, its zero byte included.
pub const OBSP_KEY_NAME_BYTES: usize = 24;

/// Maximum number of default keys of an action.
pub const OBSP_ACTION_KEYS: usize = 4;
const _: () = assert!(OBSP_ACTION_KEYS == MAX_KEYS, "every key fits");

/// Gamepad button of an action that has none.
pub const OBSP_NO_GAMEPAD_BUTTON: u8 = 255;

/// An action of the game, with the keys that do it by default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspAction {
    /// The bit of the action in the `buttons` of an `ObspCommand`.
    pub button: u32,
    /// The button of a gamepad in the standard mapping of browsers; `OBSP_NO_GAMEPAD_BUTTON` if it
    /// has none.
    pub gamepad: u8,
    /// Whether touch screens show a button for it.
    pub touch: bool,
    /// The name, by which programs find the action.
    pub name: [c_char; OBSP_ACTION_NAME_BYTES],
    /// The text that players read.
    pub label: [c_char; OBSP_ACTION_NAME_BYTES],
    /// The keys, as browsers name them: `KeyG`, `Space`, or `Mouse0` for the left button of the
    /// mouse. Empty texts follow the last key.
    pub keys: [[c_char; OBSP_KEY_NAME_BYTES]; OBSP_ACTION_KEYS],
}

/// Copies the actions of the game, at most `capacity` of them. Returns the number of all actions: 0
/// before `OBSP_EVENT_KIND_JOINED`, and at most 16.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_actions(
    client: *mut ObspClient,
    actions: *mut ObspAction,
    capacity: usize,
) -> usize {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let known = client.client.session().hello().map_or(&[][..], |hello| hello.schema.actions());
        let numbered = (0..).zip(known).map(|(number, action)| described(number, action));
        // SAFETY: the contract of the header.
        unsafe { raw::put_all(actions, capacity, numbered) }
    })
}

/// Returns the bit of the action of this name in the `buttons` of an `ObspCommand`; 0 if the game
/// has no such action, and before `OBSP_EVENT_KIND_JOINED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_action_button(
    client: *mut ObspClient,
    name: *const c_char,
) -> u32 {
    guard(0, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        // SAFETY: the contract of the header.
        let name = unsafe { raw::text(name, "the name of the action")? };
        Ok(client.client.action(name).map_or(0, Buttons::bits))
    })
}

fn described(number: u8, action: &Action) -> ObspAction {
    let key = |index: usize| action.keys().get(index).map_or("", String::as_str);
    ObspAction {
        button: Buttons::action(number).map_or(0, Buttons::bits),
        gamepad: action.gamepad_button().unwrap_or(OBSP_NO_GAMEPAD_BUTTON),
        touch: action.has_touch(),
        name: raw::fixed(action.name()),
        label: raw::fixed(action.label()),
        keys: [key(0), key(1), key(2), key(3)].map(raw::fixed),
    }
}
