//! The parts that all groups of options share: durations as people write them, and the values of
//! options that are not given.

use std::time::Duration;

use clap::builder::{OsStr, Resettable};
use clap::{Args, Command};

/// The options that a command line of these words gives, whatever the environment holds. So each
/// default is written once, at its option.
///
/// # Panics
/// An option that must be given is not among the words.
pub(crate) fn options_of<O: Args>(words: &[&str]) -> O {
    let without_environment = |option: clap::Arg| option.env(Resettable::<OsStr>::Reset);
    let command = Command::new("options").no_binary_name(true);
    let command = O::augment_args(command).mut_args(without_environment);
    let options = command
        .try_get_matches_from(words)
        .and_then(|mut matches| O::from_arg_matches_mut(&mut matches));
    options.expect("each option is given or has a default")
}

/// Parses a duration as people write it on a command line: `30s`, `1m 30s` or plain
/// seconds.
///
/// # Errors
/// The text is not a duration; the message says how to write one.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    };
    duration.map_err(|error| format!("{error}; write it like 30s, 2m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_or_are_seconds() {
        let cases = [("30s", 30_000), ("2m", 120_000), ("1m 30s", 90_000), ("0.5", 500)];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert!(parse_duration("nan").is_err() && parse_duration("soon").is_err());
    }
}
