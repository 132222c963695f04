use std::path::PathBuf;

use clap::Args;

/// The receiver of joins, leaves, results and bans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct WebhookOptions {
    /// Address to which joins, leaves, results of rounds and bans are posted, each as JSON:
    /// `http://` or `https://`
    #[arg(long, value_name = "URL", env = "ARENA_WEBHOOK")]
    pub webhook: Option<String>,

    /// File with the secret by which posts of `--webhook` are signed; at least 16 bytes
    #[arg(long, value_name = "FILE", env = "ARENA_WEBHOOK_KEY", requires = "webhook")]
    pub webhook_key: Option<PathBuf>,
}
