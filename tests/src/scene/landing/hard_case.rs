use std::fmt;

use clap::ValueEnum;
use obsp_sim::{Stage, Stages};
use serde::Serialize;

/// When the cascade runs its hard case, which passes the polygons of one body down the other's BSP.
/// All other stages are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum HardCase {
    /// Before the exact test.
    On,
    /// After the exact test, before a body is stopped, as in a match
    #[default]
    Deferred,
    /// Never.
    Off,
}

impl HardCase {
    /// The stages of the cascade that are on.
    pub fn stages(self) -> Stages {
        match self {
            Self::On => Stages::ALL,
            Self::Deferred => Stages::ALL.without(Stage::BspHard),
            Self::Off => Stages::ALL.without(Stage::BspHard).without_deferred(),
        }
    }
}

impl fmt::Display for HardCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::On => "on",
            Self::Deferred => "deferred",
            Self::Off => "off",
        })
    }
}
