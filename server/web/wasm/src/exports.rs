//! What JavaScript calls. Numbers pass as arguments, bytes through two buffers whose
//! addresses in the module's memory it asks for.
//!
//! To be found by its name a function has to keep it, and `no_mangle` counts as unsafe:
//! two functions of one name would be undefined. All of this module's are here. No other
//! unsafe code is needed: only JavaScript reads and writes through the addresses.

#![allow(unsafe_code, clippy::missing_safety_doc)]

use std::cell::RefCell;

use crate::Page;

thread_local! {
    static PAGE: RefCell<Page> = RefCell::new(Page::default());
}

fn with<T>(act: impl FnOnce(&mut Page) -> T) -> T {
    PAGE.with_borrow_mut(act)
}

/// Makes room for so many bytes of input, and tells where they belong.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|page| page.input(length).as_mut_ptr())
}

/// Where the bytes are that the last call gave.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|page| page.output().as_ptr())
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    with(|page| page.output().len())
}

/// Opens the recording that is the input; its header is the output as JSON. False with the
/// reason as output if it is none.
#[unsafe(no_mangle)]
pub extern "C" fn open_recording() -> bool {
    with(Page::open_recording)
}

/// Sets up the recorded match on the map that is the input. False with the reason as output
/// if that cannot be.
#[unsafe(no_mangle)]
pub extern "C" fn open_map() -> bool {
    with(Page::open_map)
}

/// Verifies so many more ticks; the output is how far it has come, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn verify(ticks: u32) {
    with(|page| page.verify(ticks));
}

/// Goes to a tick, or as near as has been verified; the output is its state as numbers.
/// Gives the tick.
#[unsafe(no_mangle)]
pub extern "C" fn show(tick: u32) -> u32 {
    with(|page| page.show(tick))
}

/// The output is what happened in the tick that is shown, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn events() {
    with(Page::events);
}

/// The output is where awake props touch something in the tick that is shown, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn contacts() {
    with(Page::contacts);
}

/// The output is why the entity in a slot is as it is after a tick, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn why(slot: u32, tick: u32) {
    with(|page| page.why(slot, tick));
}

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

/// The input is the map of the match. False with the reason as output if it is not.
#[unsafe(no_mangle)]
pub extern "C" fn use_map(now: f64) -> bool {
    with(|page| page.use_map(now))
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
