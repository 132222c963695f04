use std::time::Duration;

use clap::Args;

use crate::common::options::{options_of, parse_duration};

/// The default of `--agones-port`. Agones names another port in `AGONES_SDK_HTTP_PORT`.
const DEFAULT_PORT: u16 = 9358;
/// The default of `--agones-health`. One sign of health may be lost within the five seconds that
/// Agones waits by default.
const DEFAULT_HEALTH: &str = "2s";
/// The default of `--agones-empty`: long enough for everybody to lose the connection and come back.
const DEFAULT_EMPTY: &str = "60s";

/// The default of `--agones-reservation`: long enough for a slow machine to load the game and fetch
/// the map.
const DEFAULT_RESERVATION: &str = "60s";

/// Whether and how the server reports to an Agones fleet.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AgonesOptions {
    /// Report to the Agones sidecar of this pod: ready, health, players, shutdown
    #[arg(long, env = "ARENA_AGONES")]
    pub agones: bool,

    /// TCP port of the sidecar's REST interface on this host
    #[arg(long, value_name = "PORT", env = "AGONES_SDK_HTTP_PORT", default_value_t = DEFAULT_PORT)]
    pub agones_port: u16,

    /// Time between two signs of health, less than the fleet's `periodSeconds`
    #[arg(long, value_name = "D", env = "ARENA_AGONES_HEALTH", value_parser = parse_duration,
          default_value = DEFAULT_HEALTH)]
    pub agones_health: Duration,

    /// Time after which an allocated match that nobody plays is offered to others again
    #[arg(long, value_name = "D", env = "ARENA_AGONES_EMPTY", value_parser = parse_duration,
          default_value = DEFAULT_EMPTY)]
    pub agones_empty: Duration,

    /// Time for which an allocation reserves places, until its players join
    #[arg(long, value_name = "D", env = "ARENA_AGONES_RESERVATION", value_parser = parse_duration,
          default_value = DEFAULT_RESERVATION)]
    pub agones_reservation: Duration,
}

impl AgonesOptions {
    /// Whether the server belongs to a fleet.
    pub(crate) fn is_member(&self) -> bool {
        self.agones
    }
}

impl Default for AgonesOptions {
    fn default() -> Self {
        options_of(&[])
    }
}
