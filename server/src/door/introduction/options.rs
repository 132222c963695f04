use clap::Args;

use super::{MessageOfTheDay, ServerName};

/// The server's name and message of the day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct IntroductionOptions {
    /// Name of the server, for lists, pages and newcomers; at most 64 characters
    #[arg(long, value_name = "TEXT", env = "ARENA_NAME")]
    pub name: Option<ServerName>,

    /// Message of the day, which newcomers are greeted with; at most 160 characters
    #[arg(long, value_name = "TEXT", env = "ARENA_MOTD")]
    pub motd: Option<MessageOfTheDay>,
}
