//! A program that serves capture the flag. The rules are in `rules.rs`. Run
//! `cargo run -p server --example capture_the_flag`, or with `-- --soak 12000 --json`.
//!
//! The folder `module` compiles the same rules to a module. The web page replays matches with it.

mod rules;

use std::process::ExitCode;

fn main() -> ExitCode {
    let map = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/capture_the_flag.map");
    server::run_game(rules::CaptureTheFlag, map)
}
