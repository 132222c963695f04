//! `server admin`: the client of the admin interface, for operators and their scripts.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::options::parse_duration;
use clap::{Args, Subcommand};
use obsp_proto::control::MatchName;
use serde::Serialize;
use thiserror::Error;

use super::bodies;
use crate::options::parse_address;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// More than any answer has.
const LONGEST_ANSWER: u64 = 4 << 20;

/// A command for the admin interface of a server.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AdminCommand {
    /// Address of the server's admin interface
    #[arg(long, value_name = "ADDR", env = "ARENA_ADMIN", value_parser = parse_address)]
    pub admin: SocketAddr,

    /// File whose first token is used: a name and a token a line
    #[arg(long, value_name = "FILE", env = "ARENA_ADMIN_TOKENS")]
    pub admin_tokens: PathBuf,

    /// Match that the command is about, of a server with several; without it the first, and
    /// all of them for `say`
    #[arg(long = "match", value_name = "NAME")]
    pub match_name: Option<MatchName>,

    /// The command.
    #[command(subcommand)]
    pub action: AdminAction,
}

/// The commands.
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
        /// Reason that the player is told
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Mute a player: no other client receives the chat
    Mute {
        /// The number of the connection
        number: u64,
    },
    /// Unmute a player
    Unmute {
        /// The number of the connection
        number: u64,
    },
    /// List the players and addresses that may not join
    Bans,
    /// Ban an address, a prefix such as 192.0.2.0/24, or player:NUMBER
    Ban {
        /// Player, address or prefix
        subject: String,
        /// Reason that is recorded
        #[arg(long, default_value = "")]
        reason: String,
        /// Duration, such as `2h`; for good without
        #[arg(long = "for", value_name = "D", value_parser = parse_duration)]
        time: Option<Duration>,
    },
    /// Lift a ban
    Unban {
        /// Player, address or prefix, as it was banned
        subject: String,
    },
    /// Show a line of text to all clients
    Say {
        /// Line of text
        line: String,
    },
    /// Change to another map
    Map {
        /// One of the rotation by its name, or any other as `--map` has it
        map: String,
    },
    /// Restart the round
    Restart,
    /// Change values while the server runs, or show them
    Settings {
        /// How long rounds last; 0 for ever
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        round_time: Option<Duration>,
        /// Score that ends a round; 0 for none
        #[arg(long, value_name = "N")]
        score_limit: Option<u16>,
        /// Time between two rounds
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        intermission: Option<Duration>,
        /// Remove players who have done nothing for this long; 0 for never
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        idle: Option<Duration>,
    },
    /// Refuse new clients, and end after this round or when the last player has left
    Drain {
        /// Time that players have left at most; 10m without it, or `--drain` of the server
        /// if that is longer
        #[arg(long, value_name = "D", value_parser = parse_duration)]
        time: Option<Duration>,
    },
    /// Change what is logged: info, or error,server=debug
    Log {
        /// As RUST_LOG has it
        filter: String,
    },
}

/// Why something was not done.
#[derive(Debug, Error)]
pub enum AdminError {
    /// There is no token to ask with.
    #[error("{}: {reason}", .path.display())]
    Token {
        /// Which file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// It does not answer.
    #[error("the admin interface at {address} does not answer: {source}")]
    Silent {
        /// The server's address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// It answers something else.
    #[error("{address} is no admin interface: it answers {answer:?}")]
    Strange {
        /// The server's address.
        address: SocketAddr,
        /// How the answer begins.
        answer: String,
    },
    /// The server refuses.
    #[error("{0}")]
    Refused(String),
}

/// Asks a server, and gives its answer: JSON for people and programs.
///
/// # Errors
/// It does not answer, or refuses.
pub fn admin(command: &AdminCommand) -> Result<String, AdminError> {
    let AdminCommand { admin: address, admin_tokens: path, match_name, action } = command;
    let no_token = |reason| AdminError::Token { path: path.clone(), reason };
    let token = first_token(path).map_err(no_token)?;
    let (method, mut target, body) = request(action);
    if let Some(name) = match_name {
        target += &format!("?match={name}");
    }
    let silent = |source| AdminError::Silent { address: *address, source };
    let answer = ask(*address, method, &target, &token, &body).map_err(silent)?;
    let strange = || {
        let answer = answer.chars().take(60).collect();
        AdminError::Strange { address: *address, answer }
    };
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(strange)?;
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    let value: serde_json::Value = serde_json::from_str(body).map_err(|_| strange())?;
    if status == Some("200") {
        let done = value["done"].as_str().map(str::to_owned);
        return Ok(done.unwrap_or_else(|| format!("{value:#}")));
    }
    Err(AdminError::Refused(value["error"].as_str().ok_or_else(strange)?.to_owned()))
}

fn first_token(path: &Path) -> Result<String, String> {
    let text = obsp::text::read(path).map_err(|error| error.to_string())?;
    let lines = text.lines().filter_map(|line| line.split('#').next());
    let mut tokens = lines.filter_map(|line| line.split_whitespace().nth(1));
    tokens.next().map(str::to_owned).ok_or_else(|| "there is no token in it".to_owned())
}

/// Method, path and body of what is asked.
fn request(action: &AdminAction) -> (&'static str, String, String) {
    fn post(target: impl Into<String>, body: impl Serialize) -> (&'static str, String, String) {
        // Plain structures of texts and numbers can always be written.
        ("POST", target.into(), serde_json::to_string(&body).unwrap_or_default())
    }
    let get = |target: &str| ("GET", target.to_owned(), String::new());
    let mute =
        |number: &u64, muted| post(format!("/v1/players/{number}/mute"), bodies::Mute { muted });
    let seconds = |time: &Option<Duration>| time.map(|time| time.as_secs());
    match action {
        AdminAction::Status => get("/v1/status"),
        AdminAction::Players => get("/v1/players"),
        AdminAction::Bans => get("/v1/bans"),
        AdminAction::Kick { number, reason } => {
            let kick = bodies::Kick { reason: reason.clone() };
            post(format!("/v1/players/{number}/kick"), kick)
        }
        AdminAction::Mute { number } => mute(number, true),
        AdminAction::Unmute { number } => mute(number, false),
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

fn ask(
    address: SocketAddr,
    method: &str,
    target: &str,
    token: &str,
    body: &str,
) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Version 1.0, in which an answer ends with its connection.
    let head = format!(
        "{method} {target} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
