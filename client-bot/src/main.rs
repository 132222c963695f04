//! The command `client-bot`: runs a swarm of bots and prints its report.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use client_bot::Options;
use client_bot::swarm::{Report, Status, Swarm};
use tracing_subscriber::EnvFilter;

/// Log filter unless `RUST_LOG` is set. Other crates log only errors.
const FILTER: &str = "error,client_bot=info,obsp=info,obsp_sim=info,obsp_proto=info";

fn main() -> ExitCode {
    // Wrong usage ends here, with exit code 2.
    let options = Options::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    tracing_subscriber::fmt()
        // Without this, a line that cannot be written would panic.
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    let swarm = match options.swarm() {
        Ok(swarm) => swarm,
        Err(error) => {
            print_error(&error);
            return ExitCode::from(2);
        }
    };
    match run(&swarm).and_then(|report| print(&report, options.json)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints an error, if standard error is open.
fn print_error(error: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "error: {error}");
}

fn run(swarm: &Swarm) -> Result<Report> {
    swarm.check_descriptors()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stop = async {
        // If no handler can be installed, Ctrl-C ends the program at once.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let live = std::io::stderr().is_terminal();
    let report = runtime.block_on(swarm.run(stop, |status| {
        if live {
            show_status(status);
        }
    }))?;
    if live {
        let _ = writeln!(std::io::stderr());
    }
    Ok(report)
}

/// Overwrites the status line, and leaves the cursor at its start, so that a log line overwrites
/// it.
fn show_status(status: &Status) {
    let mut terminal = std::io::stderr().lock();
    // The line is not needed if the terminal is gone.
    let _ = write!(terminal, "\x1b[K{status}\r").and_then(|()| terminal.flush());
}

/// Prints the report; returns whether every check passed.
fn print(report: &Report, json: bool) -> Result<bool> {
    let text = if json { serde_json::to_string_pretty(report)? } else { report.to_string() };
    // A closed standard output does not change the exit code.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(report.passed())
}
