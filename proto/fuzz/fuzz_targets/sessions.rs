//! A server session and a client session, and everything that may happen to them, in any order:
//! time passes, ticks happen, and datagrams arrive, are lost, damaged or made up.
#![no_main]

#[path = "sessions/play.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    play::play(bytes);
});
