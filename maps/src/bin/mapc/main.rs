//! `mapc`: the map compiler, and queries of compiled maps.
//!
//! Each subcommand is a module. Exit codes: 0 done, 1 failed, 2 wrong usage.

mod arguments;
mod compile;
mod entities;
mod expand;
mod fgd;
mod info;
mod queries;
mod render;
mod verify;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use arguments::Usage;

/// Compiles brush maps into onion BSPs, and queries, draws and verifies them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compile(compile::Arguments),
    Expand(expand::Arguments),
    Fgd(fgd::Arguments),
    Info(info::Arguments),
    Render(render::Arguments),
    /// Prints for every point `x y z` on standard input whether it is solid or empty
    ///
    /// One answer per line; empty lines are skipped.
    Points(queries::PointsArguments),
    /// Traces a body along every segment `x y z  x y z` on standard input
    ///
    /// Prints one JSON object per line: `result` is `clear`, `hit` or `start_solid`; `time` is the
    /// fraction of the segment that is free; `point` and `normal` describe the contact; `end` is
    /// the position at which the body stops. Empty lines are skipped. A body that is traced through
    /// the shifted planes never passes a solid, but may be stopped too early at edges.
    Traces(queries::TracesArguments),
    Verify(verify::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Expand(arguments) => expand::run(&arguments),
        Command::Fgd(arguments) => fgd::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Points(arguments) => queries::points(&arguments),
        Command::Traces(arguments) => queries::traces(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    let pipe = error.downcast_ref::<io::Error>();
    if pipe.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        // The program that reads the answers has closed the pipe.
        return ExitCode::SUCCESS;
    }
    eprintln!("mapc: {error:#}");
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
