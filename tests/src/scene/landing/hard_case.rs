use std::fmt;

use clap::ValueEnum;
use obsp_sim::Stages;
use serde::Serialize;

/// Whether the cascade times its hard case, which passes the polygons of one body down the other's
/// BSP. All other stages are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum HardCase {
    /// The hard case runs before the exact test, which decides in any case
    On,
    /// The hard case never runs, as in a match
    #[default]
    Off,
}

impl HardCase {
    /// The stages of the cascade that are on.
    pub fn stages(self) -> Stages {
        match self {
            Self::On => Stages::ALL,
            Self::Off => Stages::default(),
        }
    }
}

impl fmt::Display for HardCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}
