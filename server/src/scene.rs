//! Scenes: small matches with a plot, played by scripts alone, that show what
//! one part of the simulation costs.
//!
//! There is one: [`landing`], the run that Blow measured his filters in.

mod landing;
mod pilot;
mod table;

use clap::{Args, Subcommand};

pub use landing::{Landing, SceneError, landing};
pub use table::{Row, Table};

/// `server scene`: which scene to play.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct SceneOptions {
    #[command(subcommand)]
    scene: Scene,
}

/// What there is to be played.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum Scene {
    /// A hovertank drops a repair pad, lands in it and flies off (Blow 1997)
    Landing(LandingOptions),
}

/// How to play the landing.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LandingOptions {
    /// Map with ground to land on: a path, or a name found in `maps/`
    #[arg(long, value_name = "NAME", default_value = "terrain")]
    pub map: String,

    /// Hovertanks that fly about meanwhile
    #[arg(long, value_name = "N", default_value_t = 7,
          value_parser = clap::value_parser!(u16).range(0..=63))]
    pub others: u16,

    /// Seed of how they fly
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

impl SceneOptions {
    /// What was asked for.
    pub fn landing(&self) -> &LandingOptions {
        let Scene::Landing(options) = &self.scene;
        options
    }
}
