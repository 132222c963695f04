//! The command line of the server. Without a subcommand, it serves matches until they are over or
//! somebody stops it. A subcommand does another job and serves no match.

pub(crate) mod admin;
pub(crate) mod health;
pub(crate) mod models;
pub(crate) mod new_game;
pub(crate) mod options;
pub(crate) mod reach;
pub mod replay;
pub(crate) mod run_game;
pub(crate) mod serve;
pub mod soak;
pub(crate) mod token;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind::MissingRequiredArgument;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use obsp_game::arena::Arena;

use crate::operate::log::Log;
use crate::operate::log::LogFormat;
use crate::server::options::Options;
use crate::server::reload::Reading;
use admin::{AdminCommand, admin};
use health::{HealthOptions, health};
use models::{ModelsOptions, write_models};
use new_game::{NewGameOptions, new_game};
use replay::{ReplayOptions, replay};
use serve::{prepare, serve_reloading};
use soak::{SoakOptions, soak};
use token::{TokenOptions, token};

#[derive(Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CommandLine {
    #[command(subcommand)]
    job: Option<Job>,
    #[command(flatten)]
    serve: Option<Options>,
}

/// The command line of a job. It ignores the environment variables for serving, so that a wrong
/// value in one of them does not stop the job.
#[derive(Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None)]
struct JobLine {
    #[command(subcommand)]
    job: Job,
}

/// The subcommands.
#[derive(Subcommand)]
enum Job {
    /// Play a match by scripts, as fast as possible, and audit it
    Soak(SoakOptions),
    /// Run a recording again and compare its digests
    Replay(ReplayOptions),
    /// Write the shipped models as Wavefront OBJ files
    Models(ModelsOptions),
    /// Write a new crate with a game that runs, into a new folder
    NewGame(NewGameOptions),
    /// Ask a running server whether its match is alive; exit code 1 if not
    Health(HealthOptions),
    /// Control a running server over its admin interface
    Admin(AdminCommand),
    /// Make a connect token, or a key that seals tokens
    Token(TokenOptions),
}

/// The whole `main` of the program `server`: serves the arena game, or does a job, as the command
/// line says. The exit code is 0 on success, and 1 after an error or a check that did not pass.
/// Wrong usage ends the process with code 2.
pub fn run_command_line() -> ExitCode {
    let arguments = Options::with_file(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let names_job = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    let CommandLine { job, serve: options } = if arguments.get(1).is_some_and(names_job) {
        let parsed = options::matches(JobLine::command(), arguments)
            .and_then(|matches| JobLine::from_arg_matches(&matches))
            .unwrap_or_else(|error| error.format(&mut JobLine::command()).exit());
        CommandLine { job: Some(parsed.job), serve: None }
    } else {
        let matches = options::matches(CommandLine::command(), arguments)
            .unwrap_or_else(|error| error.exit());
        // The options are parsed explicitly. They contain groups of options, and the parser cannot
        // tell whether any option of a group within a group was given.
        let serve = Options::from_arg_matches(&matches)
            .unwrap_or_else(|error| error.format(&mut CommandLine::command()).exit());
        CommandLine { job: None, serve: Some(serve) }
    };
    let log_format = options.as_ref().map_or(LogFormat::Text, |options| options.log.log_format);
    let log = match Log::start(log_format) {
        Ok(log) => log,
        Err(error) => {
            // `eprintln!` would panic if standard error cannot be written.
            let _ = writeln!(std::io::stderr(), "error: cannot start the log: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = prepare().and_then(|()| match (job, options) {
        (Some(job), _) => run(job),
        (None, Some(options)) => {
            serve_reloading(options, Arena, Some(Box::new(read_again))).map(|()| ExitCode::SUCCESS)
        }
        // This case cannot occur: without a job, the options were parsed above.
        (None, None) => CommandLine::command().error(MissingRequiredArgument, "no --map").exit(),
    });
    match done {
        Ok(code) => code,
        Err(error) => {
            // The message alone is logged, because it already names the cause of the error.
            log.fatal(&error);
            ExitCode::FAILURE
        }
    }
}

/// Reads the options of this process again, for a reload.
fn read_again() -> std::result::Result<Reading, String> {
    let read = || -> std::result::Result<Reading, clap::Error> {
        let words = Options::with_file(std::env::args_os())?;
        options::reading(&options::matches(CommandLine::command(), words)?)
    };
    read().map_err(|error| error.to_string())
}

/// Does a job. A failed check is not an error: it sets the exit code.
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
            if options.json {
                say(serde_json::to_string_pretty(&outcome)?);
            } else {
                say(outcome.to_string());
            }
            outcome.passed()
        }
        Job::NewGame(options) => {
            say(new_game(&options, Path::new(""))?);
            true
        }
        Job::Health(options) => {
            health(&options)?;
            say("ok".to_owned());
            true
        }
        Job::Admin(command) => {
            say(admin(&command)?);
            true
        }
        Job::Token(options) => {
            say(token(&options)?);
            true
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

/// Prints the result of a job. A reader that stops early, like `head`, does not change the exit
/// code.
fn say(found: String) {
    let _ = writeln!(std::io::stdout(), "{found}");
}
