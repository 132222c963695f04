//! The command `server`: one match, until it is over or somebody stops it; or
//! one of the jobs that need no network.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind::MissingRequiredArgument;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use server::replay::{ReplayOptions, replay};
use server::scene::{SceneOptions, landing};
use server::soak::{SoakOptions, soak};
use server::{LogFormat, ModelsOptions, Options, Running, Server, write_models};
use tracing::info;
use tracing_subscriber::EnvFilter;

#[derive(Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CommandLine {
    #[command(subcommand)]
    job: Option<Job>,
    #[command(flatten)]
    serve: Option<Options>,
}

/// The command line of a job alone: what the environment says of serving must
/// not be asked to make sense then.
#[derive(Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None)]
struct JobLine {
    #[command(subcommand)]
    job: Job,
}

/// What needs no network.
#[derive(Subcommand)]
enum Job {
    /// Play a match by scripts, flat out, and audit it
    Soak(SoakOptions),
    /// Run a recording again and compare its digests
    Replay(ReplayOptions),
    /// Play a scene by scripts and show what its filters cost
    Scene(SceneOptions),
    /// Write the models that ship
    Models(ModelsOptions),
}

fn main() -> ExitCode {
    // Wrong usage ends here, with exit code 2.
    let arguments = Options::with_file(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let names_job = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    let CommandLine { job, serve } = if arguments.get(1).is_some_and(names_job) {
        CommandLine { job: Some(JobLine::parse_from(arguments).job), serve: None }
    } else {
        let matches = CommandLine::command().get_matches_from(arguments);
        // Asked for outright: of options that hold options within, the parser
        // cannot tell whether any was given.
        let serve = Options::from_arg_matches(&matches)
            .unwrap_or_else(|error| error.format(&mut CommandLine::command()).exit());
        CommandLine { job: None, serve: Some(serve) }
    };
    let log_format = serve.as_ref().map_or(LogFormat::Text, |options| options.log_format);
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    let done = match (job, serve) {
        (Some(job), _) => run(job),
        (None, Some(options)) => serve_match(&options).map(|()| ExitCode::SUCCESS),
        // The map is asked for unless there is a job.
        (None, None) => CommandLine::command().error(MissingRequiredArgument, "no --map").exit(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Each message already names its cause.
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does a job; a check that fails is an exit code, not an error.
fn run(job: Job) -> Result<ExitCode> {
    let passed = match job {
        Job::Soak(options) => {
            let report = soak(&options)?;
            if options.json {
                say(serde_json::to_string_pretty(&report)?);
            } else {
                say(report.to_string());
            }
            report.is_clean()
        }
        Job::Replay(options) => {
            let outcome = replay(&options)?;
            say(outcome.to_string());
            outcome.difference.is_none()
        }
        Job::Scene(options) => {
            let outcome = landing(options.landing())?;
            if options.landing().json {
                say(serde_json::to_string_pretty(&outcome)?);
            } else {
                say(outcome.to_string());
            }
            outcome.is_as_meant()
        }
        Job::Models(options) => {
            for path in write_models(&options)? {
                say(path.display().to_string());
            }
            true
        }
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what a job found. A reader who has had enough of it, as `head` has,
/// does not change what the exit code says.
fn say(found: String) {
    let _ = writeln!(std::io::stdout(), "{found}");
}

fn serve_match(options: &Options) -> Result<()> {
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
