//! The command `client-bot`: sends bots into a match and reports how it went.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use client_bot::Options;
use client_bot::swarm::{Report, Status, Swarm};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    // Wrong usage ends here, with exit code 2.
    let options = Options::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    let swarm = match options.swarm() {
        Ok(swarm) => swarm,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&swarm).and_then(|report| print(&report, options.json)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(swarm: &Swarm) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stop = async {
        // Where Ctrl-C cannot be awaited, it ends the program instead.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let live = std::io::stderr().is_terminal();
    let report = runtime.block_on(swarm.run(stop, |status| {
        if live {
            show(status);
        }
    }))?;
    if live {
        eprintln!();
    }
    Ok(report)
}

/// Overwrites the status line, and leaves the cursor where a log line would
/// overwrite it in turn.
fn show(status: &Status) {
    let mut terminal = std::io::stderr().lock();
    // A terminal that is gone has no reader to miss the line.
    let _ = write!(terminal, "\x1b[K{status}\r").and_then(|()| terminal.flush());
}

/// Prints the report and says whether all went well.
fn print(report: &Report, json: bool) -> Result<bool> {
    let text = if json { serde_json::to_string_pretty(report)? } else { report.to_string() };
    // A reader who has had enough does not change what the exit code says.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(report.passed())
}
