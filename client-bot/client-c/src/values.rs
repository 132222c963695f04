//! The values of a game's own fields, by the names that the game gives them.

use std::ffi::c_char;

use obsp_client::View;
use obsp_sim::EntityId;

use crate::events::ObspId;
use crate::failure::guard;
use crate::handle::ObspClient;
use crate::raw;

/// Copies the value that the field `name` of an entity has at `now`. The entity may be the own
/// player. False if the client knows no such entity, or the game gives it no such field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_value(
    client: *mut ObspClient,
    now: f64,
    entity: ObspId,
    name: *const c_char,
    value: *mut i32,
) -> bool {
    let ObspId { slot, generation } = entity;
    let id = EntityId { slot, generation };
    // SAFETY: the contract of the header.
    unsafe { put_value(client, now, name, value, |view, name| view.value(id, name)) }
}

/// Copies the latest value of the match's field `name`. False if the game has no such field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_match_value(
    client: *mut ObspClient,
    name: *const c_char,
    value: *mut i32,
) -> bool {
    // SAFETY: the contract of the header.
    unsafe { put_value(client, 0.0, name, value, |view, name| view.match_value(name)) }
}

/// Copies the latest value of the own player's field `name`, which the server sends to no other
/// client. False if the game has no such field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_own_value(
    client: *mut ObspClient,
    name: *const c_char,
    value: *mut i32,
) -> bool {
    // SAFETY: the contract of the header.
    unsafe { put_value(client, 0.0, name, value, |view, name| view.own_value(name)) }
}

/// Copies the value that `find` returns for a view and the name of a field.
///
/// # Safety
/// The pointers must be as the header demands.
unsafe fn put_value(
    client: *mut ObspClient,
    now: f64,
    name: *const c_char,
    value: *mut i32,
    find: impl FnOnce(View<'_>, &str) -> Option<i32>,
) -> bool {
    guard(false, || {
        // SAFETY: the caller's promise.
        let client = unsafe { raw::client(client)? };
        // SAFETY: the caller's promise.
        let name = unsafe { raw::text(name, "the name of the field")? };
        let Some(found) = find(client.client.view(raw::time(now)), name) else {
            return Ok(false);
        };
        // SAFETY: the caller's promise.
        unsafe { raw::put(value, found)? };
        Ok(true)
    })
}
