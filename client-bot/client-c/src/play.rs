//! The player's input.

use std::ffi::c_char;

use obsp_proto::control::ChatLine;
use obsp_sim::{Buttons, Command};

use crate::failure::{Failure, ObspStatus, guard, guard_status};
use crate::handle::ObspClient;
use crate::raw;

/// Jump.
pub const OBSP_BUTTON_JUMP: u32 = 1;
/// Crouch while held.
pub const OBSP_BUTTON_CROUCH: u32 = 2;
/// The first action of the game. In the arena it shoots a ray.
pub const OBSP_BUTTON_PRIMARY: u32 = 4;
/// Walk instead of run.
pub const OBSP_BUTTON_WALK: u32 = 8;
/// The second action of the game. In the arena it launches a rocket.
pub const OBSP_BUTTON_SECONDARY: u32 = 16;
/// The third action of the game. In the arena it throws a grenade.
pub const OBSP_BUTTON_TERTIARY: u32 = 32;

/// A player's input for one tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ObspCommand {
    /// Motion along the view, -127 back to 127 forward.
    pub forward: i8,
    /// Motion across the view, -127 left to 127 right.
    pub right: i8,
    /// Heading about +Z, counter-clockwise from +X; 65,536 steps a turn.
    pub yaw: u16,
    /// Elevation, up positive; 65,536 steps a turn, a quarter turn at most.
    pub pitch: i16,
    /// Keys held down: the sum of their `OBSP_BUTTON_` constants, and of the buttons of actions
    /// (`obsp_client_actions`, `obsp_client_action_button`).
    pub buttons: u32,
}

/// Sends the command if a tick is due, and predicts the own player. Call it in every frame, or at
/// `obsp_client_next_tick_at`, at least twice a second. Returns whether a command was sent. Keep a
/// pressed key in `command` until a command was sent. A client of `obsp_connect` also handles the
/// bytes that have arrived.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_tick(
    client: *mut ObspClient,
    command: *const ObspCommand,
    now: f64,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        // SAFETY: the contract of the header.
        let command = *unsafe { raw::structure(command, "the command")? };
        let ObspCommand { forward, right, yaw, pitch, buttons } = command;
        let buttons = Buttons::from_bits(buttons).ok_or_else(|| {
            Failure::invalid(format!(
                "the buttons {buttons:#x} have bits that \
                belong to no button: combine the OBSP_BUTTON constants and buttons of actions"
            ))
        })?;
        let command = Command { forward, right, yaw, pitch, buttons, ..Command::default() };
        let now = raw::time(now);
        #[cfg(feature = "connect")]
        if let Some(socket) = &mut client.socket {
            socket.receive(&mut client.client, now);
        }
        let sent = client.client.tick(command, now);
        client.flush();
        Ok(sent.is_some())
    })
}

/// The time at which the next tick is due, in seconds; negative while the client has not joined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_next_tick_at(client: *mut ObspClient) -> f64 {
    guard(-1.0, || {
        // SAFETY: the contract of the header.
        let due = unsafe { raw::client(client)? }.client.next_tick_at();
        Ok(due.map_or(-1.0, |due| due.elapsed().as_secs_f64()))
    })
}

/// Sends a chat line of at most 160 characters to everybody, the sender included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_say(
    client: *mut ObspClient,
    line: *const c_char,
) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let (client, line) = unsafe { (raw::client(client)?, raw::text(line, "the line")?) };
        client.client.say(ChatLine::new(line).map_err(Failure::invalid)?);
        client.flush();
        Ok(())
    })
}

/// Says goodbye: the player leaves the match at once. Free the client afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_leave(client: *mut ObspClient) -> ObspStatus {
    guard_status(|| {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        client.client.leave();
        client.flush();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_have_the_bits_of_the_simulation() {
        let pairs = [
            (OBSP_BUTTON_JUMP, Buttons::JUMP),
            (OBSP_BUTTON_CROUCH, Buttons::CROUCH),
            (OBSP_BUTTON_PRIMARY, Buttons::PRIMARY),
            (OBSP_BUTTON_WALK, Buttons::WALK),
            (OBSP_BUTTON_SECONDARY, Buttons::SECONDARY),
            (OBSP_BUTTON_TERTIARY, Buttons::TERTIARY),
        ];
        for (bits, button) in pairs {
            assert_eq!(bits, button.bits());
        }
    }
}
