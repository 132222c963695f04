//! The options of the server: the command line, the environment and the configuration file, in
//! groups. Each group has a file.

pub(crate) mod match_option;

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use obsp_sim::World;

use crate::common::address_prefix::AddressPrefix;

use crate::common::options::{options_of, parse_duration};
use crate::common::socket_address::parse_address;
use crate::door::admission::options::AddressOptions;
use crate::door::admittance::options::JoiningOptions;
use crate::door::introduction::options::IntroductionOptions;
use crate::door::outgoing::options::OutgoingOptions;
use crate::door::public_endpoint::advertise::Advertised;
use crate::door::public_endpoint::allowed_origin::AllowedOrigin;
use crate::matches::recording::options::RetentionOptions;
use crate::matches::rounds::options::RoundOptions;
use crate::matches::watchdog::options::ServiceOptions;
use crate::operate::admin::options::AdminOptions;
use crate::operate::fleet::options::AgonesOptions;
use crate::operate::log::options::LogOptions;
use crate::operate::page::options::PageOptions;
use crate::operate::queries::options::QueryOptions;
use crate::operate::spans::options::OtlpOptions;
use crate::operate::webhook::options::WebhookOptions;
pub use match_option::MatchOption;

/// Maximum number of threads of the simulation: the work of one tick is too short for more.
pub(crate) const MAX_SIM_THREADS: u16 = 8;

/// The greatest value of `--max-spectators`. Each spectator costs the network thread about as much
/// as a player.
const MAX_SPECTATORS: i64 = 1024;
/// The default of `--client-budget` and `--spectator-budget`, in bytes a second. A slow line
/// carries these 128 kbit/s with ease.
const DEFAULT_CLIENT_BUDGET: u32 = 16_000;

/// The default of `--hang-limit`. No tick takes that long, and a match that has stood still for so
/// long is over for everybody in it.
const DEFAULT_HANG_LIMIT: &str = "30s";

/// The default of `--drain`: enough for players to read why the server ends, and less than the 10 s
/// after which container engines kill the process.
const DRAIN: Duration = Duration::from_secs(3);
/// The default of `--drain` with `--agones`. It is longer, because a fleet has other servers for
/// new players meanwhile.
const FLEET_DRAIN: Duration = Duration::from_secs(30);

/// The default of `--rewind`: a round trip to the other side of a continent, and the time by which
/// a client interpolates. With a longer time, players would be shot behind corners, and that annoys
/// them more than shots that miss.
const DEFAULT_REWIND: &str = "200ms";
/// The greatest value of `--rewind`: the simulation remembers no more.
const MAX_REWIND: Duration = Duration::from_millis(500);

/// The options of a server: the command line of the binary, and the argument of
/// [`Server::start`](crate::Server::start).
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "server", version, about = "Serves an arena match over QUIC", long_about = None,
          args_override_self = true)]
pub struct Options {
    /// TOML file with any of these options, by their long names; the command line and the
    /// environment take precedence
    #[arg(long, value_name = "FILE", env = "ARENA_CONFIG")]
    pub config: Option<PathBuf>,

    /// Map to serve: a path, or a name found in `maps/`; a `.map` is compiled first
    #[arg(
        long,
        value_name = "NAME",
        env = "ARENA_MAP",
        required_unless_present = "maps",
        default_value = "",
        hide_default_value = true
    )]
    pub map: String,

    /// A further match on the same port, which clients join by its name: NAME=MAP, such as
    /// `duel=warren`; may be given several times, seven at most. The first match is `main`
    #[arg(long = "match", value_name = "NAME=MAP", env = "ARENA_MATCH", value_delimiter = ',')]
    pub matches: Vec<MatchOption>,

    /// The rotation of maps, and the rules of the rounds.
    #[command(flatten)]
    pub rounds: RoundOptions,

    /// UDP addresses on which players join, separated by commas; the option may be given several
    /// times. `[::]` stands for all addresses of the machine, IPv4 ones included; port 0 takes any
    /// free one
    #[arg(long, value_name = "ADDR", env = "ARENA_LISTEN", value_parser = parse_address,
          value_delimiter = ',', default_values_t = [any_address(4433)])]
    pub listen: Vec<SocketAddr>,

    /// Address at which clients reach the UDP port of `--listen`, if a container engine or a router
    /// maps it: HOST:PORT, or :PORT at the host of the pages; shown at `/info`
    #[arg(long, value_name = "ADDR", env = "ARENA_ADVERTISE")]
    pub advertise: Option<Advertised>,

    /// Origin of other sites' pages that may read this server's pages and enter its matches, such
    /// as `https://arena.example`; several, separated by commas; `*` for any
    #[arg(long, value_name = "ORIGIN", env = "ARENA_ALLOW_ORIGIN", value_delimiter = ',')]
    pub allow_origin: Vec<AllowedOrigin>,

    /// Ticks per second
    #[arg(long, value_name = "HZ", env = "ARENA_TICK_RATE", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(10..=128))]
    pub tick_rate: u32,

    /// Snapshots per second for each client, at most one a tick; by default one a tick
    #[arg(long, value_name = "HZ", env = "ARENA_SNAPSHOT_RATE",
          value_parser = clap::value_parser!(u32).range(1..=128))]
    pub snapshot_rate: Option<u32>,

    /// Rigid bodies to scatter beyond those that the map places
    #[arg(long, value_name = "N", env = "ARENA_OBJECTS", default_value_t = 0)]
    pub objects: u32,

    /// Seed of the random number generators
    #[arg(long, value_name = "S", env = "ARENA_SEED", default_value_t = 1)]
    pub seed: u64,

    /// Threads that the simulation of each match may use; results do not depend on it. By default
    /// one less than the machine has cores, between 1 and 8
    #[arg(long, value_name = "N", env = "ARENA_SIM_THREADS",
          default_value_t = default_sim_threads(), hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_SIM_THREADS)))]
    pub sim_threads: u16,

    /// Limit of the cost of moving bodies in a second; each tick has its share of it. The cost of a
    /// tick is the number of awake bodies and of touching pairs, and more where bodies carry far
    /// more than their own mass. If a tick costs more than its share, bodies far from all players
    /// are simulated more coarsely; players never are. The cost is counted, not timed, so every
    /// machine does the same. 0 for no limit
    #[arg(long, value_name = "COST", env = "ARENA_SIM_BUDGET",
          default_value_t = World::DEFAULT_BUDGET_PER_SECOND)]
    pub sim_budget: u32,

    /// Players that each match holds
    #[arg(long, value_name = "N", env = "ARENA_MAX_PLAYERS",
          default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_players: u16,

    /// Maximum number of hovertanks; players who join get one until so many players drive one
    #[arg(long, value_name = "N", env = "ARENA_TANKS", default_value_t = 0)]
    pub tanks: u16,

    /// Maximum bytes of snapshots per second for each client
    #[arg(long, value_name = "BYTES", env = "ARENA_CLIENT_BUDGET",
          default_value_t = DEFAULT_CLIENT_BUDGET,
          value_parser = clap::value_parser!(u32).range(1000..))]
    pub client_budget: u32,

    /// A ray hits other players where its shooter saw them, but no farther back in time than this;
    /// at most 500ms
    #[arg(long, value_name = "D", env = "ARENA_REWIND", default_value = DEFAULT_REWIND,
          value_parser = parse_rewind)]
    pub rewind: Duration,

    /// Stop after this time, such as `30s` or `2m`; without it, run until stopped
    #[arg(long, value_name = "D", env = "ARENA_DURATION", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// Time that players get to finish once SIGTERM or Ctrl-C asks the server to end. No client may
    /// join meanwhile, and the server ends sooner if the last player leaves. By default 3s, with
    /// `--agones` 30s; 0 for none
    #[arg(long, value_name = "D", env = "ARENA_DRAIN", value_parser = parse_duration)]
    pub drain: Option<Duration>,

    /// End a match that has finished no tick for this long, or that has sent no snapshot although
    /// players are heard. The server ends with its last match, or if its network thread hangs for
    /// this long, so that a supervisor can restart it; 0 for never
    #[arg(long, value_name = "D", env = "ARENA_HANG_LIMIT", value_parser = parse_duration,
          default_value = DEFAULT_HANG_LIMIT)]
    pub hang_limit: Duration,

    /// Directory for state that must outlive the server: the key by which clients notice a restart
    /// at once; by default, systemd's or the user's own state directory
    #[arg(long, value_name = "DIR", env = "ARENA_STATE_DIR")]
    pub state_dir: Option<PathBuf>,

    /// Record the match to FILE, for `server replay`; if it exists, to FILE.1,
    /// FILE.2 and so on: nothing is overwritten
    #[arg(long, value_name = "FILE", env = "ARENA_RECORD")]
    pub record: Option<PathBuf>,

    /// The limits of finished recordings.
    #[command(flatten)]
    pub retention: RetentionOptions,

    /// The collector of spans.
    #[command(flatten)]
    pub otlp: OtlpOptions,

    /// Certificate chain in PEM, read again every hour; without it, the server makes
    /// its own
    #[arg(long, value_name = "FILE", env = "ARENA_CERT", requires = "key")]
    pub cert: Option<PathBuf>,

    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", env = "ARENA_KEY", requires = "cert")]
    pub key: Option<PathBuf>,

    /// The rules by which players join, come back and stay.
    #[command(flatten)]
    pub joining: JoiningOptions,

    /// The admin interface.
    #[command(flatten)]
    pub admin: AdminOptions,

    /// Server queries.
    #[command(flatten)]
    pub query: QueryOptions,

    /// Addresses and prefixes, such as `192.0.2.0/24`, from which nobody may join, separated by
    /// commas; the option may be given several times. An IPv6 address without a length stands for
    /// its /64, which one host has for itself
    #[arg(long, value_name = "IP", env = "ARENA_BAN", value_delimiter = ',',
          value_parser = AddressPrefix::parse_host)]
    pub ban: Vec<AddressPrefix>,

    /// Audit the match by brute force every K ticks and count overlaps. An audit serves to find
    /// faults of the server, and takes many times longer than a tick; 0 for never
    #[arg(long, value_name = "K", env = "ARENA_AUDIT_EVERY", default_value_t = 0)]
    pub audit_every: u32,

    /// Spectators that may watch in browsers, beside the players
    #[arg(long, value_name = "N", env = "ARENA_MAX_SPECTATORS",
          default_value_t = 16,
          value_parser = clap::value_parser!(u16).range(..=MAX_SPECTATORS))]
    pub max_spectators: u16,

    /// Snapshots per second for each spectator, at most one a tick
    #[arg(long, value_name = "HZ", env = "ARENA_SPECTATOR_RATE",
          default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub spectator_rate: u32,

    /// Maximum bytes of snapshots per second for each spectator
    #[arg(long, value_name = "BYTES", env = "ARENA_SPECTATOR_BUDGET",
          default_value_t = DEFAULT_CLIENT_BUDGET,
          value_parser = clap::value_parser!(u32).range(1000..))]
    pub spectator_budget: u32,

    /// The limits of one address.
    #[command(flatten)]
    pub addresses: AddressOptions,

    /// The budgets of all bytes sent that do not belong to the match itself.
    #[command(flatten)]
    pub outgoing: OutgoingOptions,

    /// The pages of the match.
    #[command(flatten)]
    pub pages: PageOptions,

    /// The server's name and message of the day.
    #[command(flatten)]
    pub introduction: IntroductionOptions,

    /// The receiver of joins, leaves, results and bans.
    #[command(flatten)]
    pub webhook: WebhookOptions,

    /// Whether and how to report to an Agones fleet.
    #[command(flatten)]
    pub agones: AgonesOptions,

    /// How to report to the service manager.
    #[command(flatten)]
    pub service: ServiceOptions,

    /// How to log.
    #[command(flatten)]
    pub log: LogOptions,
}

impl Options {
    /// The options that `server --map NAME` alone gives.
    pub fn new(map: impl Into<String>) -> Self {
        Self { map: map.into(), ..options_of(&["--map", "any"]) }
    }

    /// Time that players get to finish once the server is asked to end.
    pub fn drain_time(&self) -> Duration {
        let default = if self.agones.is_member() { FLEET_DRAIN } else { DRAIN };
        self.drain.unwrap_or(default)
    }
}

/// All addresses of the machine, of both families.
fn any_address(port: u16) -> SocketAddr {
    (Ipv6Addr::UNSPECIFIED, port).into()
}

/// The default of `--sim-threads`: one core is left to the network.
fn default_sim_threads() -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).clamp(1, usize::from(MAX_SIM_THREADS)) as u16
}

/// Parses a time of at most [`MAX_REWIND`].
fn parse_rewind(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text)?;
    let short = duration <= MAX_REWIND;
    short.then_some(duration).ok_or_else(|| format!("must be at most {MAX_REWIND:?}"))
}
