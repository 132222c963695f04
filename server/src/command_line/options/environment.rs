//! Refuses environment variables whose names look like options and belong to none. Otherwise a
//! misspelt variable would have no effect, and nobody would notice.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Error};

use super::spelling::did_you_mean;
use crate::server::options::Options;

/// The prefix of the variables of all options.
const PREFIX: &str = "ARENA_";

/// The prefix of the variables for this project's tests. Servers that the tests start may inherit
/// them.
const TESTS: &str = "ARENA_NEED_";

/// Refuses variables of this process whose names look like options and belong to none.
pub(super) fn check() -> Result<(), Error> {
    check_all(std::env::vars_os())
}

fn check_all(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<(), Error> {
    let command = Options::command();
    let known = command.get_arguments().filter_map(|option| option.get_env()?.to_str());
    let known: Vec<_> = known.filter(|name| name.starts_with(PREFIX)).collect();
    for (name, value) in variables {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let is_ours = name.starts_with(PREFIX) && !name.starts_with(TESTS);
        if is_ours && !known.contains(&&*name) && !is_of_a_service(&name, &value) {
            let way_out = did_you_mean(&name, &known);
            let message =
                format!("the environment variable {name} belongs to no option; {way_out}\n");
            return Err(Error::raw(ErrorKind::UnknownArgument, message));
        }
    }
    Ok(())
}

/// Whether Kubernetes has set the variable. Kubernetes sets some variables for each service of the
/// namespace. If a service is called `arena`, they begin with [`PREFIX`].
fn is_of_a_service(name: &str, value: &str) -> bool {
    let address = |text: &str| text.contains("://");
    name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || (name.ends_with("_PORT") && address(value))
        || name
            .split("_PORT_")
            .nth(1)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str) -> Result<(), String> {
        let variable = (OsString::from(name), OsString::from(value));
        check_all([variable].into_iter()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_misspelt_variable_is_an_error_that_names_the_right_one() {
        for (name, meant) in [
            ("ARENA_TICKRATE", "ARENA_TICK_RATE"),
            ("ARENA_MAX_PLAYER", "ARENA_MAX_PLAYERS"),
            ("ARENA_LISTEN_", "ARENA_LISTEN"),
            ("ARENA_PORT", "--help"),
        ] {
            let error = check(name, "4433").unwrap_err();
            assert!(error.contains(name) && error.contains(meant), "{error}");
        }
    }

    #[test]
    fn other_variables_are_let_be() {
        for (name, value) in [
            ("PATH", "/bin"),
            ("ARENA_TICK_RATE", "60"),
            ("ARENA_NEED_SHARED", "1"),
            ("ARENA_SERVICE_HOST", "10.0.0.1"),
            ("ARENA_SERVICE_PORT_GAME", "4433"),
            ("ARENA_PORT", "udp://10.0.0.1:4433"),
            ("ARENA_PORT_4433_UDP_PROTO", "udp"),
        ] {
            assert_eq!(check(name, value), Ok(()), "{name}");
        }
    }
}
