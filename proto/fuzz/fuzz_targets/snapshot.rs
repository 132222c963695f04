//! Snapshots against a reader that has a baseline for every slot and tick.
#![no_main]

#[path = "snapshot/read.rs"]
mod read;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read::read(bytes);
});
