//! The calls of a page that plays in a match.

use super::with;

exports! {
    /// Asks to join a match. The input is the name of the player, the name of the match (empty for the
    /// first) and a connect token, separated by zero bytes. `now` is a time in milliseconds, as in all
    /// functions here. Returns false, with the reason as output, if no server would take the names.
    fn join(now: f64) -> bool;

    /// Asks to join once more on a new connection, as the player whose connection was lost.
    fn rejoin(now: f64);

    /// Handles the input as bytes that came on the control stream, or as a datagram.
    fn receive(is_datagram: bool, now: f64);

    /// Takes the input as the game's data, `game` bytes long, and then the map of the match. Returns
    /// false, with the reason as output, if these are not the ones that the server named.
    fn use_map(game: usize, now: f64) -> bool;
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

exports! {
    /// The time at which the next tick is due, in milliseconds; negative while none is.
    fn next_tick() -> f64;

    /// The tick of the last command that was sent; negative before the first.
    fn sent_tick() -> f64;

    /// Outputs the next message to send and returns its kind: 1 is sent on the control stream, 2 as a
    /// datagram, 3 ends the stream, 4 closes the connection with the output as reason, 0 is not a
    /// message.
    fn transmit() -> u32;

    /// Outputs the next event of the connection, as JSON; false if there is none.
    fn event() -> bool;

    /// Outputs the next event of the match, as JSON; false if there is none.
    fn match_event(now: f64) -> bool;

    /// Outputs the effects that have come since the last call, as JSON.
    fn effects();
}

/// Outputs the entities to draw, as numbers. Returns whether the page's own player is the first.
#[unsafe(no_mangle)]
pub extern "C" fn view(now: f64) -> bool {
    with(|page| page.view(now).0)
}

/// The moment that [`view`] shows, in ticks; negative before there is one.
#[unsafe(no_mangle)]
pub extern "C" fn render_tick(now: f64) -> f64 {
    with(|page| page.view(now).1)
}

exports! {
    /// The slot of the page's own player; negative before it has one.
    fn slot() -> i32;

    /// Outputs the figures of the connection and the prediction, as JSON.
    fn stats();

    /// Outputs the values that the game replicates to the page's own player, as JSON.
    fn values(now: f64);

    /// Outputs the schema of the game, as the hello has it.
    fn schema();

    /// Checks the input as the name of a player. Returns false, and outputs why, if no server would
    /// take it.
    fn check_name() -> bool;

    /// Sends the input as a line of chat to all players. Returns false, and outputs why, if no server
    /// would take it.
    fn say() -> bool;

    /// Leaves the match.
    fn leave();
}
