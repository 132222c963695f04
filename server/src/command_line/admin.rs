//! `server admin`: the client of the admin interface, for operators and their scripts.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::options::parse_duration;
use clap::{Args, Subcommand};
use obsp_proto::control::MatchName;
use serde::Serialize;
use thiserror::Error;

use super::reach::{Reached, Unreached, ask, status};
use crate::operate::admin::bodies;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum number of bytes of an answer that are read. Every answer of a server is shorter.
const LONGEST_ANSWER: u64 = 4 << 20;

/// A command for the admin interface of a server.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AdminCommand {
    /// Address of the server's admin interface
    #[arg(long, value_name = "ADDR", env = "ARENA_ADMIN")]
    pub admin: Reached,

    /// File with a name and a token on each line; its first token is used
    #[arg(long, value_name = "FILE", env = "ARENA_ADMIN_TOKENS")]
    pub admin_tokens: PathBuf,

    /// Match that the command is for; by default the server's first, or for `say` all matches
    #[arg(long = "match", value_name = "NAME")]
    pub match_name: Option<MatchName>,

    /// The command.
    #[command(subcommand)]
    pub action: AdminAction,
}

/// The commands of `server admin`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum AdminAction {
    /// Show the state of the server
    Status,
    /// List the players and spectators that are connected
    Players,
    /// Remove a player or spectator, who may join again
    Kick {
        /// The number of the connection
        number: u64,
        /// Reason that is shown to the player
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Mute a player: no other client receives their chat, even after they have come back
    Mute {
        /// The number of a connection, an address, a prefix, or player:NUMBER
        who: String,
        /// Reason that is recorded with the mute
        #[arg(long, default_value = "")]
        reason: String,
        /// Duration, such as `2h`; without it, the mute is permanent
        #[arg(long = "for", value_name = "D", value_parser = parse_duration)]
        time: Option<Duration>,
    },
    /// Unmute a player
    Unmute {
        /// The number of a connection, or player, address or prefix, written as in the mute
        who: String,
    },
    /// List the players and addresses that are muted
    Mutes,
    /// List the players and addresses that may not join
    Bans,
    /// Ban an address, a prefix such as 192.0.2.0/24, or player:NUMBER
    Ban {
        /// Player, address or prefix
        subject: String,
        /// Reason that is recorded with the ban
        #[arg(long, default_value = "")]
        reason: String,
        /// Duration, such as `2h`; without it, the ban is permanent
        #[arg(long = "for", value_name = "D", value_parser = parse_duration)]
        time: Option<Duration>,
    },
    /// Lift a ban
    Unban {
        /// Player, address or prefix, written as in the ban
        subject: String,
    },
    /// Show a line of text to all clients
    Say {
        /// Line of text
        line: String,
    },
    /// Change to another map
    Map {
        /// Name of a map in the rotation or in a `maps/` folder of the server; not a path
        map: String,
    },
    /// Restart the round
    Restart,
    /// Change settings while the server runs; without options, show them
    Settings {
        /// How long rounds last; 0 for no limit
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        round_time: Option<Duration>,
        /// Score that ends a round; 0 for no limit
        #[arg(long, value_name = "N")]
        score_limit: Option<u16>,
        /// Time between two rounds
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        intermission: Option<Duration>,
        /// Remove players who have done nothing for this long; 0 for never
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        idle: Option<Duration>,
    },
    /// Refuse new clients, and end the server after this round or when the last player has left
    Drain {
        /// Longest time for which players may still play; by default 10m, or the server's `--drain`
        /// if that is longer
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        time: Option<Duration>,
    },
    /// Read again what may change while the server runs: certificate, bans, mutes, tokens of
    /// administrators, join key, password, list of players, message of the day, limits of addresses
    Reload,
    /// Change what is logged, for example to `info` or `error,server=debug`
    Log {
        /// Filter, in the syntax of `RUST_LOG`
        filter: String,
    },
}

/// Why a command of `server admin` was not carried out.
#[derive(Debug, Error)]
pub enum AdminError {
    /// The file of tokens cannot be read, or it holds no token.
    #[error("{}: {reason}", .path.display())]
    Token {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No address of the server can be connected to.
    #[error("the admin interface at {server} cannot be reached: {tried}")]
    Unreached {
        /// The server, as the user wrote it.
        server: Reached,
        /// The error of each address.
        tried: Unreached,
    },
    /// The server does not answer.
    #[error("the admin interface at {server} does not answer: {source}")]
    Silent {
        /// The server, as the user wrote it.
        server: Reached,
        /// The system's error.
        source: io::Error,
    },
    /// The answer does not come from an admin interface.
    #[error("{server} answers unlike an admin interface: {answer:?}; check --admin")]
    Strange {
        /// The server, as the user wrote it.
        server: Reached,
        /// How the answer begins.
        answer: String,
    },
    /// The server refuses the command.
    #[error("{0}")]
    Refused(String),
}

/// Sends a command to a server and returns its answer: a sentence, or indented JSON.
///
/// # Errors
/// No token can be read, the server does not answer, or it refuses the command.
pub fn admin(command: &AdminCommand) -> Result<String, AdminError> {
    let AdminCommand { admin: server, admin_tokens: path, match_name, action } = command;
    let no_token = |reason| AdminError::Token { path: path.clone(), reason };
    let token = first_token(path).map_err(no_token)?;
    let (method, mut target, body) = request(action);
    if let Some(name) = match_name {
        target += &format!("?match={name}");
    }
    let stream = server
        .connect(PATIENCE)
        .map_err(|tried| AdminError::Unreached { server: server.clone(), tried })?;
    let silent = |source| AdminError::Silent { server: server.clone(), source };
    let address = stream.peer_addr().map_err(silent)?;
    let request = format!(
        "{method} {target} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = ask(stream, &request, PATIENCE, LONGEST_ANSWER).map_err(silent)?;
    let strange = || {
        let answer = answer.chars().take(60).collect();
        AdminError::Strange { server: server.clone(), answer }
    };
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(strange)?;
    let value: serde_json::Value = serde_json::from_str(body).map_err(|_| strange())?;
    if status(head) == Some("200") {
        let done = value["done"].as_str().map(str::to_owned);
        return Ok(done.unwrap_or_else(|| format!("{value:#}")));
    }
    Err(AdminError::Refused(value["error"].as_str().ok_or_else(strange)?.to_owned()))
}

fn first_token(path: &Path) -> Result<String, String> {
    let text = obsp::text::read(path).map_err(|error| error.to_string())?;
    let lines = text.lines().filter_map(|line| line.split('#').next());
    let mut tokens = lines.filter_map(|line| line.split_whitespace().nth(1));
    tokens
        .next()
        .map(str::to_owned)
        .ok_or_else(|| "the file has no line with a name and a token".to_owned())
}

/// The method, path and body of the request for a command.
fn request(action: &AdminAction) -> (&'static str, String, String) {
    fn post(target: impl Into<String>, body: impl Serialize) -> (&'static str, String, String) {
        // Structures of strings and numbers can always be written as JSON, so the default is never
        // used.
        ("POST", target.into(), serde_json::to_string(&body).unwrap_or_default())
    }
    let get = |target: &str| ("GET", target.to_owned(), String::new());
    let seconds = |time: &Option<Duration>| time.map(|time| time.as_secs());
    match action {
        AdminAction::Status => get("/v1/status"),
        AdminAction::Players => get("/v1/players"),
        AdminAction::Bans => get("/v1/bans"),
        AdminAction::Kick { number, reason } => {
            let kick = bodies::Kick { reason: reason.clone() };
            post(format!("/v1/players/{number}/kick"), kick)
        }
        AdminAction::Mutes => get("/v1/mutes"),
        // A plain number names a connection. No address and no player is written as a plain number.
        AdminAction::Mute { who, reason, time } => match who.parse::<u64>() {
            Ok(number) => {
                let (reason, seconds) = (reason.clone(), seconds(time));
                let mute = bodies::Mute { muted: true, reason, seconds };
                post(format!("/v1/players/{number}/mute"), mute)
            }
            Err(_) => {
                let (subject, reason) = (who.clone(), reason.clone());
                post("/v1/mutes", bodies::NewBan { subject, reason, seconds: seconds(time) })
            }
        },
        AdminAction::Unmute { who } => match who.parse::<u64>() {
            Ok(number) => {
                let mute = bodies::Mute { muted: false, reason: String::new(), seconds: None };
                post(format!("/v1/players/{number}/mute"), mute)
            }
            Err(_) => post("/v1/mutes/lift", bodies::Unban { subject: who.clone() }),
        },
        AdminAction::Ban { subject, reason, time } => {
            let (subject, reason) = (subject.clone(), reason.clone());
            post("/v1/bans", bodies::NewBan { subject, reason, seconds: seconds(time) })
        }
        AdminAction::Unban { subject } => {
            post("/v1/bans/lift", bodies::Unban { subject: subject.clone() })
        }
        AdminAction::Say { line } => post("/v1/say", bodies::Say { line: line.clone() }),
        AdminAction::Map { map } => post("/v1/map", bodies::ChangeMap { map: map.clone() }),
        AdminAction::Restart => ("POST", "/v1/restart".to_owned(), String::new()),
        AdminAction::Reload => ("POST", "/v1/reload".to_owned(), String::new()),
        AdminAction::Settings { round_time, score_limit, intermission, idle } => post(
            "/v1/settings",
            bodies::Settings {
                round_seconds: seconds(round_time),
                score_limit: *score_limit,
                intermission_seconds: seconds(intermission),
                idle_seconds: seconds(idle),
            },
        ),
        AdminAction::Drain { time } => post("/v1/drain", bodies::Drain { seconds: seconds(time) }),
        AdminAction::Log { filter } => {
            post("/v1/log", bodies::LogFilter { filter: filter.clone() })
        }
    }
}
