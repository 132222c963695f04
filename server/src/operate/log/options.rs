use clap::{Args, ValueEnum};

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text, for people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// How the program logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct LogOptions {
    /// How log lines are written to standard error
    #[arg(long, value_enum, env = "ARENA_LOG_FORMAT", default_value_t)]
    pub log_format: LogFormat,
}
