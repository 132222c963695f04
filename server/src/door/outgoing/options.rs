use clap::Args;

use crate::common::options::options_of;

/// The default of `--outgoing-budget`: 34 Mbit/s. On a line of 100 Mbit/s, a full match leaves far
/// more than that.
const DEFAULT_ALL: u32 = 4 * 1024 * 1024;
/// The default of `--address-outgoing-budget`. An address may be sent 8 MiB at once, which shows
/// the page within seconds. After that, the budget is enough for a map every other second.
const DEFAULT_ADDRESS: u32 = 256 * 1024;
/// The smallest value of either option: with less, opening the page would take minutes.
const LEAST: i64 = 16 * 1024;

/// The budgets of all bytes that leave the machine and do not belong to the match itself.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct OutgoingOptions {
    /// Maximum bytes a second that all addresses together are sent besides the match itself: pages,
    /// maps, recordings, rewinds, answers to queries
    #[arg(long, value_name = "BYTES", env = "ARENA_OUTGOING_BUDGET", default_value_t = DEFAULT_ALL,
          value_parser = clap::value_parser!(u32).range(LEAST..))]
    pub outgoing_budget: u32,

    /// Maximum bytes a second of `--outgoing-budget` that one address is sent in the long run;
    /// after a pause, it is sent the bytes of 32 seconds at once
    #[arg(long, value_name = "BYTES", env = "ARENA_ADDRESS_OUTGOING_BUDGET",
          default_value_t = DEFAULT_ADDRESS,
          value_parser = clap::value_parser!(u32).range(LEAST..))]
    pub address_outgoing_budget: u32,
}

impl Default for OutgoingOptions {
    fn default() -> Self {
        options_of(&[])
    }
}
