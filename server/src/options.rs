use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use proto::parse_duration;

mod agones;
mod file;

pub use agones::AgonesOptions;

/// Ticks per second unless asked otherwise.
const DEFAULT_TICK_RATE: u32 = 60;
/// Players that a match holds unless asked otherwise.
const DEFAULT_MAX_PLAYERS: u16 = 32;
/// Spectators of a match unless asked otherwise.
const DEFAULT_MAX_SPECTATORS: u16 = 16;
/// Most spectators that can be asked for: each costs the network thread about
/// what a player does.
const MAX_SPECTATORS: i64 = 1024;
/// Snapshots a second and spectator unless asked otherwise: what lies between
/// is interpolated.
const DEFAULT_SPECTATOR_RATE: u32 = 20;
/// UDP port on which players join unless asked otherwise.
const DEFAULT_PORT: u16 = 4433;
/// TCP port of the operator's pages unless asked otherwise.
const DEFAULT_HTTP_PORT: u16 = 8080;
/// Bytes of snapshots that a client is sent a second unless asked otherwise:
/// 128 kbit, what a slow line carries with ease.
const DEFAULT_CLIENT_BUDGET: u32 = 16_000;

/// Farthest back that shots are judged unless asked otherwise: a round trip to
/// the other side of a continent, and what a client interpolates. Beyond that,
/// being shot behind a corner would be felt more than shooting in vain.
const DEFAULT_REWIND: &str = "200ms";
/// Farthest back that can be asked for: what the simulation remembers.
const MAX_REWIND: Duration = Duration::from_millis(500);

/// What to serve, where and how: the command line of the binary, and the
/// argument of [`Server::start`](crate::Server::start).
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None,
          args_override_self = true)]
pub struct Options {
    /// TOML file with any of these options, by their long names; what the command
    /// line or the environment says counts more
    #[arg(long, value_name = "FILE", env = "ARENA_CONFIG")]
    pub config: Option<PathBuf>,

    /// Map to serve: a path, or a name found in `maps/`; a `.map` is compiled first
    #[arg(long, value_name = "NAME", env = "ARENA_MAP")]
    pub map: String,

    /// UDP address on which players join; port 0 takes any free one
    #[arg(long, value_name = "ADDR", env = "ARENA_LISTEN",
          default_value_t = any_address(DEFAULT_PORT))]
    pub listen: SocketAddr,

    /// TCP address of `/metrics` and the other pages; port 0 takes any free one
    #[arg(long, value_name = "ADDR", env = "ARENA_HTTP",
          default_value_t = loopback(DEFAULT_HTTP_PORT))]
    pub http: SocketAddr,

    /// Ticks per second
    #[arg(long, value_name = "HZ", env = "ARENA_TICK_RATE", default_value_t = DEFAULT_TICK_RATE,
          value_parser = clap::value_parser!(u32).range(10..=128))]
    pub tick_rate: u32,

    /// Snapshots per second and client, at most one a tick; without it, one a tick
    #[arg(long, value_name = "HZ", env = "ARENA_SNAPSHOT_RATE",
          value_parser = clap::value_parser!(u32).range(1..=128))]
    pub snapshot_rate: Option<u32>,

    /// Rigid bodies to scatter beyond those that the map places
    #[arg(long, value_name = "N", env = "ARENA_OBJECTS", default_value_t = 0)]
    pub objects: u32,

    /// Seed of everything that is drawn by lot
    #[arg(long, value_name = "S", env = "ARENA_SEED", default_value_t = 1)]
    pub seed: u64,

    /// Players that the match holds
    #[arg(long, value_name = "N", env = "ARENA_MAX_PLAYERS",
          default_value_t = DEFAULT_MAX_PLAYERS, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_players: u16,

    /// Players who drive hovertanks: whoever joins while fewer do
    #[arg(long, value_name = "N", env = "ARENA_TANKS", default_value_t = 0)]
    pub tanks: u16,

    /// Bytes of snapshots that each client is sent per second at most
    #[arg(long, value_name = "BYTES", env = "ARENA_CLIENT_BUDGET",
          default_value_t = DEFAULT_CLIENT_BUDGET,
          value_parser = clap::value_parser!(u32).range(1000..))]
    pub client_budget: u32,

    /// Farthest back that a ray meets other players where its shooter saw them; at
    /// most 500ms
    #[arg(long, value_name = "D", env = "ARENA_REWIND", default_value = DEFAULT_REWIND,
          value_parser = parse_rewind)]
    pub rewind: Duration,

    /// Stop after this time, such as `30s` or `2m`; without it, run until stopped
    #[arg(long, value_name = "D", env = "ARENA_DURATION", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// Record the match to FILE, for `server replay`
    #[arg(long, value_name = "FILE", env = "ARENA_RECORD")]
    pub record: Option<PathBuf>,

    /// Certificate chain in PEM, read again every hour; without it, the server makes
    /// its own
    #[arg(long, value_name = "FILE", env = "ARENA_CERT", requires = "key")]
    pub cert: Option<PathBuf>,

    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", env = "ARENA_KEY", requires = "cert")]
    pub key: Option<PathBuf>,

    /// Address that may not join; may be given several times or separated by commas
    #[arg(long, value_name = "IP", env = "ARENA_BAN", value_delimiter = ',')]
    pub ban: Vec<IpAddr>,

    /// Audit the match by brute force every K ticks and count what overlaps: for
    /// finding faults, it takes many times longer than a tick; 0 for never
    #[arg(long, value_name = "K", env = "ARENA_AUDIT_EVERY", default_value_t = 0)]
    pub audit_every: u32,

    /// Spectators that may look on beside the players, in browsers
    #[arg(long, value_name = "N", env = "ARENA_MAX_SPECTATORS",
          default_value_t = DEFAULT_MAX_SPECTATORS,
          value_parser = clap::value_parser!(u16).range(..=MAX_SPECTATORS))]
    pub max_spectators: u16,

    /// Snapshots per second and spectator, at most one a tick
    #[arg(long, value_name = "HZ", env = "ARENA_SPECTATOR_RATE",
          default_value_t = DEFAULT_SPECTATOR_RATE, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub spectator_rate: u32,

    /// Bytes of snapshots that each spectator is sent per second at most
    #[arg(long, value_name = "BYTES", env = "ARENA_SPECTATOR_BUDGET",
          default_value_t = DEFAULT_CLIENT_BUDGET,
          value_parser = clap::value_parser!(u32).range(1000..))]
    pub spectator_budget: u32,

    /// Whether and how to report to a fleet.
    #[command(flatten)]
    pub agones: AgonesOptions,

    /// How log lines are written to standard error
    #[arg(long, value_enum, env = "ARENA_LOG_FORMAT", default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

impl Options {
    /// The options that `server --map NAME` alone gives.
    pub fn new(map: impl Into<String>) -> Self {
        Self {
            config: None,
            map: map.into(),
            listen: any_address(DEFAULT_PORT),
            http: loopback(DEFAULT_HTTP_PORT),
            tick_rate: DEFAULT_TICK_RATE,
            snapshot_rate: None,
            objects: 0,
            seed: 1,
            max_players: DEFAULT_MAX_PLAYERS,
            tanks: 0,
            client_budget: DEFAULT_CLIENT_BUDGET,
            rewind: parse_rewind(DEFAULT_REWIND).unwrap_or_default(),
            duration: None,
            record: None,
            cert: None,
            key: None,
            ban: Vec::new(),
            audit_every: 0,
            max_spectators: DEFAULT_MAX_SPECTATORS,
            spectator_rate: DEFAULT_SPECTATOR_RATE,
            spectator_budget: DEFAULT_CLIENT_BUDGET,
            agones: AgonesOptions::default(),
            log_format: LogFormat::Text,
        }
    }

    /// The options that this command line asks for, together with the
    /// environment and the file that `--config` names.
    ///
    /// # Errors
    /// What is wrong with them, fit to be shown.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::try_parse_from(Self::with_file(arguments)?)
    }

    /// A command line together with what the file says that `--config` names,
    /// for whoever parses it along with more.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong; fit to be shown.
    pub fn with_file(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Vec<OsString>, clap::Error> {
        file::with_file(arguments.into_iter().collect())
    }
}

fn any_address(port: u16) -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, port).into()
}

fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A time no longer than [`MAX_REWIND`].
fn parse_rewind(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text)?;
    let short = duration <= MAX_REWIND;
    short.then_some(duration).ok_or_else(|| format!("more than {MAX_REWIND:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::read(["server"].iter().chain(arguments).map(OsString::from))
    }

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn a_map_is_all_that_must_be_said() {
        assert_eq!(parse(&["--map", "arena.obsp"]).unwrap(), Options::new("arena.obsp"));
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn every_option_is_read() {
        let text = "--map m --listen [::1]:5 --http 127.0.0.1:6 --tick-rate 30 --objects 300 \
                    --seed 9 --max-players 8 --tanks 3 --duration 90s --snapshot-rate 20 \
                    --client-budget 4000 --rewind 50ms --cert c --key k --ban ::1,10.0.0.1 \
                    --log-format json --record match.obsr --audit-every 60 --agones \
                    --agones-port 7 --agones-health 0.5 --agones-empty 20s \
                    --max-spectators 3 --spectator-rate 15 --spectator-budget 5000";
        let expected = Options {
            config: None,
            map: "m".into(),
            listen: "[::1]:5".parse().unwrap(),
            http: "127.0.0.1:6".parse().unwrap(),
            tick_rate: 30,
            snapshot_rate: Some(20),
            rewind: Duration::from_millis(50),
            objects: 300,
            seed: 9,
            max_players: 8,
            tanks: 3,
            client_budget: 4000,
            duration: Some(Duration::from_secs(90)),
            record: Some("match.obsr".into()),
            cert: Some("c".into()),
            key: Some("k".into()),
            ban: vec!["::1".parse().unwrap(), "10.0.0.1".parse().unwrap()],
            audit_every: 60,
            max_spectators: 3,
            spectator_rate: 15,
            spectator_budget: 5000,
            agones: AgonesOptions {
                agones: true,
                agones_port: 7,
                agones_health: Duration::from_millis(500),
                agones_empty: Duration::from_secs(20),
            },
            log_format: LogFormat::Json,
        };
        assert_eq!(parse(&words(text)).unwrap(), expected);
    }

    #[test]
    fn senseless_values_are_refused() {
        for bad in [
            ["--tick-rate", "9"],
            ["--tick-rate", "129"],
            ["--snapshot-rate", "0"],
            ["--max-players", "0"],
            ["--max-spectators", "1025"],
            ["--max-spectators", "65535"],
            ["--client-budget", "10"],
            ["--listen", "4433"],
            ["--duration", "soon"],
            ["--rewind", "501ms"],
            ["--duration", "-1"],
            ["--cert", "without-a-key"],
            ["--ban", "everybody"],
            ["--config", "no-such-file.toml"],
        ] {
            assert!(parse(&["--map", "m", bad[0], bad[1]]).is_err(), "{bad:?} was accepted");
        }
    }

    /// Reads options with this text in the file that `--config` names.
    fn with_file(name: &str, text: &str, more: &str) -> Result<Options, clap::Error> {
        let path = std::env::temp_dir().join(format!("{name}-{}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let arguments = format!("--config {} {more}", path.display());
        let options = parse(&words(&arguments));
        std::fs::remove_file(path).unwrap();
        options
    }

    #[test]
    fn a_file_gives_what_the_command_line_does_not() {
        let text = "map = 'arena'\ntick-rate = 30\nban = ['::1', '10.0.0.1']\nduration = '2m'";
        let options = with_file("options", text, "--tick-rate 20").unwrap();
        assert_eq!((options.map.as_str(), options.tick_rate), ("arena", 20));
        assert_eq!(options.duration, Some(Duration::from_secs(120)));
        assert_eq!(options.ban.len(), 2);
    }

    #[test]
    fn a_file_that_says_nonsense_is_named() {
        for text in ["map = ", "colour = 'red'", "map = { a = 1 }", "map = 'a'\ntick-rate = 5"] {
            let error = with_file("nonsense", text, "").unwrap_err().to_string();
            assert!(error.contains("nonsense") || error.contains("tick-rate"), "{error}");
        }
    }

    #[test]
    fn a_job_is_spared_the_file() {
        let arguments =
            |text: &str| -> Vec<OsString> { text.split_whitespace().map(OsString::from).collect() };
        // Reading a file that is not there would be an error.
        let job = arguments("server soak --map arena --config no-such-file.toml");
        assert_eq!(Options::with_file(job.clone()).unwrap(), job);
        let serving = arguments("server --map arena --config no-such-file.toml");
        assert!(Options::with_file(serving).is_err());
    }
}
