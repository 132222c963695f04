//! A program that serves capture the flag, whose rules are in `rules.rs`:
//! `cargo run -p server --example capture_the_flag`, or with `-- --soak 12000 --json`.
//!
//! The folder `module` makes the same rules a module for the web page, which replays matches with it.

mod rules;

use std::process::ExitCode;

fn main() -> ExitCode {
    let map = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/capture_the_flag.map");
    server::run_game(rules::CaptureTheFlag, map)
}
