//! A bad line for any game over UDP, between its clients and its server. `--help` lists the
//! options.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tests::badline::{Options, Proxy, Stats};

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let (listen, to) = (options.listen, options.to);
    let proxy = Proxy::start(options.setup()).map_err(|error| {
        format!("{listen}: {error}; take another address with `--listen 127.0.0.1:4435`")
    })?;
    let address = proxy.address();
    eprintln!("clients that connect to UDP {address} reach {to} (seed {})", options.seed);
    wait(options.duration).map_err(|error| format!("cannot wait for signals: {error}"))?;
    let stats = proxy.stats();
    eprintln!("{stats}");
    match &options.stats_json {
        Some(path) => write(&stats, path).map_err(|error| format!("{}: {error}", path.display())),
        None => Ok(()),
    }
}

/// Waits until the time is over or the program is interrupted.
fn wait(duration: Option<Duration>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let over = tokio::time::sleep(duration.unwrap_or(Duration::MAX));
        tokio::select! {
            interrupted = interrupted() => interrupted,
            () = over => Ok(()),
        }
    })
}

/// Waits until the program is interrupted or asked to end.
#[cfg(unix)]
async fn interrupted() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Waits until the program is interrupted.
#[cfg(not(unix))]
async fn interrupted() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

fn write(stats: &Stats, path: &Path) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(stats)?;
    text.push('\n');
    if path == Path::new("-") {
        io::stdout().write_all(text.as_bytes())
    } else {
        File::create(path)?.write_all(text.as_bytes())
    }
}
