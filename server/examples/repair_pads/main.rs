//! A program that serves hovertanks with repair pads. The rules are in `rules.rs`. Bots land in the
//! pads:
//!
//! ```sh
//! cargo run -p server --example repair_pads -- --tanks 8
//! cargo run -p client-bot -- --bots 8 --duration 1m       # in another terminal
//! cargo run -p server --example repair_pads -- --soak 3600 --players 8 --tanks 8
//! ```

mod rules;

use std::process::ExitCode;

fn main() -> ExitCode {
    let map = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/terrain.obsp");
    server::run_game(rules::RepairPads, map)
}
