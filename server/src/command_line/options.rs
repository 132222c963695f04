//! Reads the options: the command line, the environment and the configuration file become one list
//! of words, which one parser reads by one set of rules.

pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod parse;
pub(crate) mod spelling;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::server::options::Options;
use crate::server::reload::Reading;
pub(crate) use parse::{matches, variable};

impl Options {
    /// The options that this command line asks for, together with the
    /// environment and the file that `--config` names.
    ///
    /// # Errors
    /// The first fault of the options, as a message for the user.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = parse::matches(Self::command(), Self::with_file(arguments)?)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut Self::command()))
    }

    /// A command line together with the options of the file that `--config` names, for callers that
    /// parse it together with options of their own.
    ///
    /// # Errors
    /// The file cannot be read or is wrong, or the name of an environment variable begins with
    /// `ARENA_` and belongs to no option. The error can be shown to the user.
    pub fn with_file(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Vec<OsString>, clap::Error> {
        file::with_file(arguments.into_iter().collect())
    }
}

/// The options that a command line was parsed into, and their values before they were parsed.
///
/// # Errors
/// The options contradict each other, or a value is wrong.
pub(crate) fn reading(matches: &ArgMatches) -> Result<Reading, clap::Error> {
    let options = Options::from_arg_matches(matches)?;
    Ok(Reading { options, values: parse::values(&Options::command(), matches) })
}
