//! The calls of a page that plays a recording.

use super::with;
use crate::Page;

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

/// Goes to a tick, or the recording's nearest end; the output is its state as numbers.
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

/// The output is what the cascade is busy with in the tick that is shown, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn cascade() {
    with(Page::cascade);
}

/// The output is a cut through the onion at a height, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn cut(height: f64) {
    with(|page| page.cut(height));
}

/// The output is why the entity in a slot is as it is after a tick, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn why(slot: u32, tick: u32) {
    with(|page| page.why(slot, tick));
}

/// Looks for the tick in which the entity in a slot last moved before a tick, one keyframe at a
/// time: to be called until it is true. The output then is that tick, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn last_moved(slot: u32, tick: u32) -> bool {
    with(|page| page.last_moved(slot, tick))
}

/// Begins another future after a tick: the entity in a slot, the number of the change
/// (0 nothing, 1 removed, 2 stands still, 3 holds fire, 4 jumps) and for how many ticks.
/// False with the reason as output if that cannot be.
#[unsafe(no_mangle)]
pub extern "C" fn branch(slot: u32, change: u32, ticks: u32, tick: u32) -> bool {
    with(|page| page.branch(slot, change, ticks, tick))
}

/// Goes to a tick in the other future; the output is its state as numbers. False if there is
/// none there.
#[unsafe(no_mangle)]
pub extern "C" fn show_branch(tick: u32) -> bool {
    with(|page| page.show_branch(tick))
}

/// Ends the other future.
#[unsafe(no_mangle)]
pub extern "C" fn end_branch() {
    with(Page::end_branch);
}
