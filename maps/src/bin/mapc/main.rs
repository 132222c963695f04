//! `mapc` compiles maps and asks compiled worlds questions.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage.

mod compile;
mod expand;
mod info;
mod queries;
mod render;
mod verify;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use thiserror::Error;

/// Compiles brush maps into onion BSPs, and asks them questions.
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
    Info(info::Arguments),
    Render(render::Arguments),
    /// Says of every `x y z` on standard input whether it is solid or empty
    ///
    /// One answer a line; empty lines are passed over.
    Points(queries::PointsArguments),
    /// Says of every segment `x y z  x y z` on standard input what a body meets
    ///
    /// One JSON object a line: `result` is `clear`, `hit` or `start_solid`,
    /// `time` the fraction of the segment that is free, `point` and `normal`
    /// those of the contact, `end` where the body stops. Empty lines are passed
    /// over. Through the shifted planes a body never passes what it cannot, and
    /// may be stopped too early at edges.
    Traces(queries::TracesArguments),
    Verify(verify::Arguments),
}

/// What becomes of Quake 3's curves (`patchDef2`).
#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum CurvesArgument {
    /// They are left out, with one warning that counts them
    #[default]
    LeftOut,
    /// Solids 4 units thick stand for them, within 2 units of the surface
    Solid,
}

impl From<CurvesArgument> for maps::Curves {
    fn from(argument: CurvesArgument) -> Self {
        match argument {
            CurvesArgument::LeftOut => Self::LeftOut,
            CurvesArgument::Solid => Self::Solid,
        }
    }
}

/// An argument that can be seen to be wrong only once a file is read.
#[derive(Debug, Error)]
#[error("{0}")]
struct Usage(String);

/// Refuses to write over what is read.
fn keep_apart(read: &Path, written: &Path) -> Result<(), Usage> {
    let same = read.canonicalize().is_ok_and(|a| written.canonicalize().is_ok_and(|b| a == b));
    let refused = || Usage(format!("{} is read; it would be overwritten", read.display()));
    if same { Err(refused()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Expand(arguments) => expand::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Points(arguments) => queries::points(&arguments),
        Command::Traces(arguments) => queries::traces(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    let pipe = error.downcast_ref::<io::Error>();
    if pipe.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        // Whoever read the answers has had enough.
        return ExitCode::SUCCESS;
    }
    eprintln!("mapc: {error:#}");
    if error.is::<Usage>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
