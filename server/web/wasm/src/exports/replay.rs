//! The calls of a page that plays a recording. `open_recording` alone depends on the game, so the
//! crate that has the game exports it: see [`replay_module`](crate::replay_module).

use obsp_game::AnyGame;

use super::with;

/// Exports `open_recording`, which opens recordings of a game. The feature `replay` of this crate
/// exports all other functions. Together they are a module with which the page replays the game.
///
/// A crate uses the macro once, and `server/web/wasm/build --game` compiles the crate. The argument is
/// an expression: the game, with the values that the server gives it.
#[macro_export]
macro_rules! replay_module {
    ($game:expr) => {
        /// Opens the recording that is the input, and outputs its header as JSON. Returns false,
        /// with the reason as output, if the input is not a recording of the game.
        // JavaScript finds the function by its name. No other function of a module has it.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub extern "C" fn open_recording() -> bool {
            $crate::exports::replay::open(&$game)
        }
    };
}

/// Opens the recording of `game` that is the input, and outputs its header as JSON. Returns false,
/// with the reason as output, if the input is not such a recording.
pub fn open(game: &dyn AnyGame) -> bool {
    with(|page| page.open_recording(game))
}

exports! {
    /// Sets up the recorded match on the map that is the input. Returns false, with the reason as
    /// output, if that fails.
    fn open_map() -> bool;

    /// Verifies the next `ticks` ticks, and outputs the progress as JSON.
    fn verify(ticks: u32);

    /// Goes to a tick, or to the nearest one of the recording, and outputs its state as numbers.
    /// Returns the tick.
    fn show(tick: u32) -> u32;

    /// Outputs the events of the tick that is shown, as JSON.
    fn events();

    /// Outputs the contact points of awake props in the tick that is shown, as JSON.
    fn contacts();

    /// Outputs the work of the cascade in the tick that is shown, as JSON.
    fn cascade();

    /// Outputs a cut through the onion at a height, as JSON.
    fn cut(height: f64);

    /// Outputs why the entity in a slot moves or rests after a tick, as JSON.
    fn why(slot: u32, tick: u32);

    /// Searches for the tick in which the entity in a slot last moved before `tick`, one keyframe
    /// at a call. Returns true once the search has ended; the output is then its result, as JSON.
    fn last_moved(slot: u32, tick: u32) -> bool;

    /// Begins a branch after a tick, in which the entity in `slot` is changed. `change` is 0 for
    /// nothing, 1 for removed, 2 for stands still, 3 for holds fire and 4 for jumps; it lasts `ticks`
    /// ticks. Returns false, with the reason as output, if there can be no such branch.
    fn branch(slot: u32, change: u32, ticks: u32, tick: u32) -> bool;

    /// Goes to a tick of the branch, and outputs its state as numbers. Returns false if the branch does
    /// not have the tick.
    fn show_branch(tick: u32) -> bool;

    /// Ends the branch.
    fn end_branch();
}
