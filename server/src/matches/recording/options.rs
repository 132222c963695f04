use std::time::Duration;

use clap::Args;

use crate::common::options::parse_duration;

/// How many finished recordings of `--record` are kept. The oldest are deleted first; without a
/// limit none is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RetentionOptions {
    /// Number of finished recordings to keep for each match, besides the one that is being written;
    /// the oldest are deleted first; 0 keeps all
    #[arg(
        long,
        value_name = "N",
        env = "ARENA_RECORD_KEEP",
        default_value_t = 0,
        requires = "record"
    )]
    pub record_keep: u32,

    /// Delete finished recordings that are older than this, such as `7d`; 0 for never
    #[arg(long, value_name = "D", env = "ARENA_RECORD_KEEP_AGE", default_value = "0",
          requires = "record", value_parser = parse_duration)]
    pub record_keep_age: Duration,

    /// Bytes of finished recordings to keep for each match; the oldest are deleted first; 0 for
    /// any number
    #[arg(
        long,
        value_name = "BYTES",
        env = "ARENA_RECORD_KEEP_BYTES",
        default_value_t = 0,
        requires = "record"
    )]
    pub record_keep_bytes: u64,
}
