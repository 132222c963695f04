//! The command `server`: one match, until it is over or somebody stops it.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use server::{LogFormat, Options, Running, Server};
use tracing::info;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    // Wrong usage ends here, with exit code 2.
    let options = Options::read(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match options.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Each message already names its cause.
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let running = Server::start(options)?;
    introduce(&running, options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            stopped = asked_to_stop() => stopped,
            () = running.ending() => Ok(()),
        }
    })?;
    info!("shutting down");
    running.shutdown();
    running.join()?;
    Ok(())
}

/// What is served, and where.
fn introduce(running: &Running, options: &Options) {
    info!("map {}, hash {}", running.map_name(), running.map_hash());
    info!(
        "{} Hz, {} props, up to {} players, seed {}",
        options.tick_rate,
        running.props(),
        options.max_players,
        options.seed
    );
    info!("players join on UDP {}", running.local_addr());
    info!("certificate SHA-256 {}", running.certificate_sha256());
    info!("metrics on http://{}/metrics", running.http_addr());
}

/// Waits for Ctrl-C, or for what a service manager sends.
async fn asked_to_stop() -> Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    Ok(tokio::signal::ctrl_c().await?)
}
