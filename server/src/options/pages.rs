use clap::Args;

/// The pages of the match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct PageOptions {
    /// Offer everybody who may watch the match also the recording that is being written, if
    /// `--record` writes into `--replay-dir`. Without it, only operators are offered that one
    #[arg(long, env = "ARENA_REPLAY_RUNNING")]
    pub replay_running: bool,
}
