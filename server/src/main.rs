//! The command `server` serves the arena game over QUIC. All of its code is in the library. A
//! program that serves a game of its own calls the same library ([`server::run_game`]).

use std::process::ExitCode;

fn main() -> ExitCode {
    server::run_command_line()
}
