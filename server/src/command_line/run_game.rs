//! The command line of a program that serves a game of its own.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser};
use obsp_game::AnyGame;
use serde::Serialize;

use super::options;
use super::replay::{ReplayOptions, replay_game};
use super::serve::{prepare, serve_reloading};
use super::soak::{SoakOptions, soak_game};
use crate::operate::log::Log;
use crate::server::options::Options;
use crate::server::reload::Reading;

/// The options of a game: the options of the server, and the options of a soak or replay.
#[derive(Debug, Parser)]
#[command(version, about = "Serves a game over QUIC", long_about = None)]
struct GameOptions {
    /// Let scripted players play this many ticks without a network, audit every tick, and print a
    /// report
    #[arg(long, value_name = "TICKS", group = "job",
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    soak: Option<u64>,

    /// Run a recording of a match of this game again, as `--record` wrote it, and compare its
    /// digests
    #[arg(long, value_name = "FILE", group = "job")]
    replay: Option<PathBuf>,

    /// Print the report of a soak or a replay as JSON
    #[arg(long, requires = "job")]
    json: bool,

    /// Scripted players of a soak
    #[arg(long, visible_alias = "bots", value_name = "N", default_value_t = 8, requires = "soak",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    players: u16,

    #[command(flatten)]
    server: Options,
}

/// The whole `main` of a program that serves `game`. It takes the server's options from the command
/// line, with `map` as the default of `--map`, and serves until a signal asks for the end. With
/// `--soak TICKS` it plays without a network instead, audits every tick, and prints a report (with
/// `--json` as JSON). The exit code is then 1 if two bodies interpenetrated or a body went through
/// something. With `--replay FILE` it runs a recording again. The exit code is then 1 if a digest
/// differs.
pub fn run_game(game: impl AnyGame + 'static, map: &str) -> ExitCode {
    let arguments = Options::with_file(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let parsed = options::matches(GameOptions::command(), with_map(arguments, map))
        .and_then(|matches| GameOptions::from_arg_matches(&matches));
    let options = parsed.unwrap_or_else(|error| error.format(&mut GameOptions::command()).exit());
    let log = match Log::start(options.server.log.log_format) {
        Ok(log) => log,
        Err(error) => {
            // `eprintln!` would panic if standard error is closed.
            let _ = writeln!(std::io::stderr(), "error: cannot start the log: {error}");
            return ExitCode::FAILURE;
        }
    };
    match prepare().and_then(|()| run(game, options, map)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            log.fatal(&error);
            ExitCode::FAILURE
        }
    }
}

/// Serves, plays a soak, or runs a recording again. Returns whether every check passed.
fn run(game: impl AnyGame + 'static, options: GameOptions, map: &str) -> Result<bool> {
    if let Some(file) = options.replay {
        let map = Some(options.server.map);
        let outcome = replay_game(&game, &ReplayOptions { map, ..ReplayOptions::new(file) })?;
        tell(&outcome, options.json)?;
        return Ok(outcome.passed());
    }
    let Some(ticks) = options.soak else {
        let map = map.to_owned();
        let again = move || read_again(&map).map_err(|error| error.to_string());
        return serve_reloading(options.server, game, Some(Box::new(again))).map(|()| true);
    };
    let Options { map, objects, seed, tick_rate, tanks, .. } = options.server;
    let report = soak_game(
        &game,
        &SoakOptions {
            players: options.players,
            tanks,
            objects,
            seed,
            tick_rate,
            ticks,
            audit_every: 1,
            ..SoakOptions::new(map)
        },
    )?;
    tell(&report, options.json)?;
    Ok(report.interpenetrations + report.unsound + report.tunnelled == 0)
}

/// Reads the options of this process again, for a reload.
fn read_again(map: &str) -> std::result::Result<Reading, clap::Error> {
    let words = with_map(Options::with_file(std::env::args_os())?, map);
    options::reading(&options::matches(GameOptions::command(), words)?)
}

/// Prints a report.
fn tell(report: &(impl Serialize + Display), json: bool) -> Result<()> {
    let text = if json { serde_json::to_string_pretty(report)? } else { report.to_string() };
    // A reader that closes the pipe early, as `head` does, is not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
}

/// The command line with `--map`, unless it or the environment names a map already.
fn with_map(mut arguments: Vec<OsString>, map: &str) -> Vec<OsString> {
    let names_map = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"--map");
    let in_environment =
        ["ARENA_MAP", "ARENA_MAPS"].iter().any(|name| options::variable(name).is_some());
    if !in_environment && !arguments.iter().any(names_map) {
        arguments.extend(["--map".into(), map.into()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_has_its_map_unless_another_is_asked_for() {
        let map = |words: &[&str]| {
            let words = words.iter().map(Into::into).collect();
            GameOptions::parse_from(with_map(words, "own.map")).server.map
        };
        assert_eq!(map(&["sumo"]), "own.map");
        assert_eq!(map(&["sumo", "--soak", "60", "--json"]), "own.map");
        assert_eq!(map(&["sumo", "--map", "other.map"]), "other.map");
        assert_eq!(map(&["sumo", "--map=other.map"]), "other.map");
    }

    #[test]
    fn a_recording_is_run_again_and_reported_as_a_soak_is() {
        let parsed = |words: &[&str]| {
            let words = words.iter().map(Into::into).collect();
            GameOptions::try_parse_from(with_map(words, "own.map"))
        };
        let replays = parsed(&["sumo", "--replay", "match.obsr", "--json"]).unwrap();
        assert_eq!((replays.replay, replays.json), (Some("match.obsr".into()), true));
        assert!(parsed(&["sumo", "--soak", "60", "--json"]).is_ok());
        for word in ["--players", "--bots"] {
            let soak = parsed(&["sumo", "--soak", "60", word, "3"]).unwrap();
            assert_eq!(soak.players, 3, "{word}");
        }
        assert!(parsed(&["sumo", "--json"]).is_err());
        assert!(parsed(&["sumo", "--soak", "60", "--replay", "match.obsr"]).is_err());
    }
}
