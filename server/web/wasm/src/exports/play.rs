//! The calls of a page that plays in a match.

use super::with;
use crate::Page;

/// Asks to join a match under the name that is the input, with a connect token behind a zero
/// if there is one; `now` is a time in milliseconds, here as below. False with the reason as
/// output if no server would take the name.
#[unsafe(no_mangle)]
pub extern "C" fn join(now: f64) -> bool {
    with(|page| page.join(now))
}

/// Asks to join once more on a new connection, as the player whose connection was lost.
#[unsafe(no_mangle)]
pub extern "C" fn rejoin(now: f64) {
    with(|page| page.rejoin(now));
}

/// The input has come on the control stream, or as a datagram.
#[unsafe(no_mangle)]
pub extern "C" fn receive(is_datagram: bool, now: f64) {
    with(|page| page.receive(is_datagram, now));
}

/// The input is the map of the match, after so many bytes of the game's data. False with the
/// reason as output if it is not.
#[unsafe(no_mangle)]
pub extern "C" fn use_map(game: usize, now: f64) -> bool {
    with(|page| page.use_map(game, now))
}

/// Plays a tick with these keys, if one is due.
#[unsafe(no_mangle)]
pub extern "C" fn tick(
    forward: i32,
    right: i32,
    yaw: u32,
    pitch: i32,
    buttons: u32,
    now: f64,
) -> bool {
    with(|page| page.tick([forward, right], (yaw, pitch), buttons, now))
}

/// When the next tick is due, in milliseconds; negative while none is.
#[unsafe(no_mangle)]
pub extern "C" fn next_tick() -> f64 {
    with(|page| page.next_tick())
}

/// The output is to be sent next: 1 on the control stream, 2 as a datagram, 3 ends the
/// stream, 4 closes the connection with that reason, 0 is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn transmit() -> u32 {
    with(Page::transmit)
}

/// The output is the next event of the connection, as JSON; false if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn event() -> bool {
    with(Page::event)
}

/// The output is the next event of the match, as JSON; false if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn match_event(now: f64) -> bool {
    with(|page| page.match_event(now))
}

/// The output is what is to be drawn, as numbers; whether the own player is the first.
#[unsafe(no_mangle)]
pub extern "C" fn view(now: f64) -> bool {
    with(|page| page.view(now).0)
}

/// The moment that [`view`] shows, in ticks; negative before there is one.
#[unsafe(no_mangle)]
pub extern "C" fn render_tick(now: f64) -> f64 {
    with(|page| page.view(now).1)
}

/// The slot of the own player; negative before it has one.
#[unsafe(no_mangle)]
pub extern "C" fn slot() -> i32 {
    with(|page| page.slot())
}

/// The output is how the prediction does, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn stats() {
    with(Page::stats);
}

/// Says the input to everybody; false if it is no line of chat.
#[unsafe(no_mangle)]
pub extern "C" fn say() -> bool {
    with(Page::say)
}

/// Says goodbye.
#[unsafe(no_mangle)]
pub extern "C" fn leave() {
    with(Page::leave);
}
