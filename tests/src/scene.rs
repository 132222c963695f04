//! Scenes: small matches with a plot, played by scripts alone. Each shows the cost of one part of
//! the simulation.
//!
//! [`landing`] is the run in which Blow measured his filters. In [`mass_landing`], all players land
//! at once, which Blow expected to slow his system down. [`heap`] drops bodies into a pen and shows
//! what awake bodies cost. [`mover_hall`] is full of doors, lifts and gates.

mod heap;
mod landing;
mod mover_hall;
mod pen;
mod pilot;
mod shaken_pen;
mod table;
pub mod timing;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use heap::{Heap, heap};
pub use landing::{
    HardCase, Landers, Landing, Leg, MassLanding, SceneError, Tally, Unfinished, landing,
    mass_landing, yard,
};
pub use mover_hall::{HallState, MOST_MOVERS, MoverHall, mover_hall};
pub use pen::{HeapModels, pen};
pub use table::{Row, Table};

/// The map of the single landing, wherever the program is started.
const TERRAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../maps/terrain.obsp");

/// Maximum number of threads that a scene may use: as many as a server may use today.
const MAX_THREADS: u16 = 8;

/// The command line of the program `scene`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(
    name = "scene",
    about = "Plays a scripted scene and shows what each filter of the collision cascade costs"
)]
pub struct SceneOptions {
    /// The scene to play.
    #[command(subcommand)]
    pub scene: Scene,
}

/// The scenes.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Scene {
    /// A hovertank drops a repair pad, lands in it and flies off (Blow 1997), or many do
    /// at once
    Landing(LandingOptions),
    /// Bodies are dropped into a pen and audited, by default in every tick
    Heap(HeapOptions),
}

/// How to play the landing.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LandingOptions {
    /// Compiled map with ground to land on
    #[arg(long, value_name = "PATH", default_value = TERRAIN)]
    pub map: PathBuf,

    /// Land this many hovertanks, 1 to 64, at once instead of one. The pad of each tank lies under the
    /// path of another tank, on a map that the scene generates
    #[arg(long, value_name = "N", conflicts_with_all = ["map", "others"],
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub landers: Option<u16>,

    /// Whether the hard case of the cascade is timed (only with `--landers`)
    #[arg(long, value_enum, value_name = "STATE", default_value_t = HardCase::Off,
          requires = "landers")]
    pub hard_case: HardCase,

    /// Time every stage of the cascade, which makes ticks longer (only with `--landers`; the
    /// single landing always does)
    #[arg(long, requires = "landers")]
    pub time_stages: bool,

    /// Threads that the simulation may use, 1 to 8, on which results do not depend (only with
    /// `--landers`)
    #[arg(long, value_name = "N", default_value_t = 1, requires = "landers",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    pub sim_threads: u16,

    /// Hovertanks that fly about meanwhile, 0 to 63 (not with `--landers`)
    #[arg(long, value_name = "N", default_value_t = 7,
          value_parser = clap::value_parser!(u16).range(0..=63))]
    pub others: u16,

    /// Seed that places the pads and assigns them to the hovertanks, with `--landers`; the single
    /// landing does not depend on it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

impl Default for LandingOptions {
    /// The defaults of the command line.
    fn default() -> Self {
        Self {
            map: TERRAIN.into(),
            landers: None,
            hard_case: HardCase::default(),
            time_stages: false,
            sim_threads: 1,
            others: 7,
            seed: 1,
            json: false,
        }
    }
}

/// How to drop the heap.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct HeapOptions {
    /// Bodies to drop, 1 to 4,000
    #[arg(long, value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub objects: u32,

    /// Models of the bodies
    #[arg(long, value_enum, value_name = "KIND", default_value_t = HeapModels::Mixed)]
    pub models: HeapModels,

    /// Ticks to play, at 60 a second
    #[arg(long, value_name = "N", default_value_t = 600,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub ticks: u32,

    /// Seed of the places of the bodies in the air
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Audit the bodies for overlaps every K ticks, and their paths in every tick; 0 for no audits
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub audit_every: u32,

    /// Threads that the simulation may use, 1 to 8, on which results do not depend
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    pub sim_threads: u16,

    /// Limit of the cost of a tick's bodies. The cost is the number of awake bodies and of touching
    /// pairs, and more where bodies carry far more than their own mass. Above the limit, islands
    /// are simulated more cheaply. Without this option, or with 0, there is no limit. The server's
    /// `--sim-budget` is for a second, not for a tick
    #[arg(long, value_name = "COST")]
    pub budget: Option<u32>,

    /// Shake the heap: the pen is a kinematic body, which is driven back and forth along all axes
    #[arg(long)]
    pub shake: bool,

    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
}
