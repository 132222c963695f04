//! The command `server`: the arena game, served over QUIC. All that it does is in the library,
//! by which a program serves a game of its own ([`server::run_game`]).

use std::process::ExitCode;

fn main() -> ExitCode {
    server::run_command_line()
}
