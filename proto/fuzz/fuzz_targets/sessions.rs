//! A server's and a client's session, and whatever may befall them in any
//! order: time, ticks, datagrams that pass, are lost, damaged or made up.
#![no_main]

#[path = "sessions/play.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    play::play(bytes);
});
