//! The options of `server soak`.

use std::path::PathBuf;

use clap::Args;
use obsp_proto::MAX_ENTITIES;
use obsp_sim::{Resolution, World};

use crate::common::options::options_of;
use crate::server::options::MAX_SIM_THREADS;

/// Maximum number of scripted players.
const MAX_PLAYERS: u16 = 1024;
/// Maximum number of scattered bodies: a server has slots for this many beside [`MAX_PLAYERS`]
/// players.
const MAX_OBJECTS: i64 = MAX_ENTITIES as i64 - MAX_PLAYERS as i64;

/// `server soak`: which match to play, for how long, and what to write down.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct SoakOptions {
    /// Map to play on: a path, or a name found in `maps/`; a `.map` is compiled first
    #[arg(long, value_name = "NAME")]
    pub map: String,

    /// Scripted players, 0 to 1,024
    #[arg(long, visible_alias = "bots", value_name = "P", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(0..=i64::from(MAX_PLAYERS)))]
    pub players: u16,

    /// How many of the players drive hovertanks; all of them if the number is larger
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub tanks: u16,

    /// Rigid bodies to scatter beyond those that the map places
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(0..=MAX_OBJECTS))]
    pub objects: u32,

    /// Ticks to play, 1 to 10,000,000
    #[arg(long, value_name = "T", default_value_t = 3_600,
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub ticks: u64,

    /// Seed of the match and of all scripts
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Ticks per second, 10 to 128
    #[arg(long, value_name = "HZ", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(10..=128))]
    pub tick_rate: u32,

    /// Resolution of times of impact, as the number of parts of a tick; a match that is played with
    /// this option cannot be replayed
    #[arg(long, value_name = "N", value_parser = parse_resolution, conflicts_with = "record")]
    pub resolution: Option<Resolution>,

    /// Threads that the simulation may use, 1 to 8: results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_SIM_THREADS)))]
    pub sim_threads: u16,

    /// Limit of the cost of moving bodies per second, as the server's option of this name; 0 for no
    /// limit
    #[arg(long, value_name = "COST", default_value_t = World::DEFAULT_BUDGET_PER_SECOND)]
    pub sim_budget: u32,

    /// Audit the match every K ticks; 0 for never, which also leaves out the audit of paths between
    /// ticks
    #[arg(long, value_name = "K", default_value_t = 60)]
    pub audit_every: u64,

    /// Audit every one of the first T ticks
    #[arg(long, value_name = "T", default_value_t = 0)]
    pub audit_first: u64,

    /// Time the stages of the cascade, which slows ticks down
    #[arg(long)]
    pub time_stages: bool,

    /// Write the poses and velocities of all entities to FILE, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub dump: Option<PathBuf>,

    /// Ticks between two lines of the dump
    #[arg(long, value_name = "K", default_value_t = 60, requires = "dump",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub dump_every: u64,

    /// Record the match to FILE, for `server replay`; if it exists, to FILE.1, FILE.2 and so on:
    /// nothing is overwritten
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_resolution(text: &str) -> Result<Resolution, String> {
    let parts = text.parse().map_err(|_| "not a whole number".to_owned())?;
    let (least, most) = (Resolution::PARTS.start(), Resolution::PARTS.end());
    Resolution::new(parts).ok_or_else(|| format!("{parts} is not between {least} and {most}"))
}

impl SoakOptions {
    /// The options that `server soak --map NAME` alone gives.
    pub fn new(map: impl Into<String>) -> Self {
        Self { map: map.into(), ..options_of(&["--map", "any"]) }
    }

    /// Whether the match is to be audited after `tick`.
    pub(super) fn audits(&self, tick: u64) -> bool {
        self.audit_every > 0 && (tick <= self.audit_first || tick.is_multiple_of(self.audit_every))
    }
}
