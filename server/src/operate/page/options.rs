use clap::Args;

/// The pages of the match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct PageOptions {
    /// If `--record` writes into `--replay-dir`, offer the recording that is being written to
    /// everybody who may watch the match. Without this option, only operators are offered it
    #[arg(long, env = "ARENA_REPLAY_RUNNING")]
    pub replay_running: bool,
}
