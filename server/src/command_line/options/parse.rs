//! Parses command lines and the environment. An empty variable counts as unset, and a switch
//! understands `1/0`, `true/false`, `yes/no` and `on/off`.
//!
//! These rules are applied to all arguments that clap knows, so they also hold for each new option.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{BoolishValueParser, Resettable, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

/// The value of an environment variable. `None` if the variable is unset or empty.
pub(crate) fn variable(name: impl AsRef<OsStr>) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Parses these words for `command`, or for one of its subcommands.
///
/// # Errors
/// The first fault, as a message for the user. It names the variable that holds the wrong value.
pub(crate) fn matches(command: Command, words: Vec<OsString>) -> Result<ArgMatches, Error> {
    let command = heed(command);
    let parsed = command.clone().try_get_matches_from(words.clone());
    parsed.map_err(|error| explain(error, command, &words))
}

/// The unparsed values of the options of `command`, by the options' long names.
pub(crate) fn values(command: &Command, matches: &ArgMatches) -> BTreeMap<String, Vec<OsString>> {
    let value = |option: &Arg| {
        let raw = matches.try_get_raw(option.get_id().as_str()).ok().flatten();
        let raw = raw.into_iter().flatten().map(OsStr::to_owned).collect();
        Some((option.get_long()?.to_owned(), raw))
    };
    command.get_arguments().filter_map(value).collect()
}

/// Whether the text switches something on. `None` if it is neither yes nor no.
pub(super) fn truth(text: &str) -> Option<bool> {
    let command = Command::new("");
    BoolishValueParser::new().parse_ref(&command, None, OsStr::new(text)).ok()
}

/// The command with the rules of this module. Its help shows no values of variables, because one
/// may hold a secret, such as the address of a webhook.
pub(super) fn heed(command: Command) -> Command {
    command.mut_args(heed_argument).mut_subcommands(heed)
}

fn heed_argument(argument: Arg) -> Arg {
    let argument = argument.hide_env_values(true);
    let argument = match argument.get_env() {
        Some(name) if std::env::var_os(name).is_some_and(|value| value.is_empty()) => {
            argument.env(Resettable::<clap::builder::OsStr>::Reset)
        }
        _ => argument,
    };
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        argument.value_parser(BoolishValueParser::new())
    } else {
        argument
    }
}

/// Adds the source of the wrong value to an error, if the source is not the command line.
fn explain(mut error: Error, mut command: Command, words: &[OsString]) -> Error {
    // A command knows how its options are written only after it is built.
    command.build();
    // The wrong option may be a subcommand's own.
    let options: Vec<&Arg> = std::iter::once(&command)
        .chain(command.get_subcommands())
        .flat_map(Command::get_arguments)
        .collect();
    if error.kind() == ErrorKind::InvalidUtf8 {
        return not_utf8(&options, words).unwrap_or(error);
    }
    let wrong: Vec<String> = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => Vec::new(),
    };
    let of_environment = |option: &&&Arg| {
        option.get_env().is_some_and(|name| variable(name).is_some()) && !is_typed(option, words)
    };
    let set: Vec<_> = options.iter().filter(of_environment).collect();
    let name = |option: &Arg| {
        option.get_env().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let tip = match set.iter().find(|option| wrong.contains(&option.to_string())) {
        Some(option) => format!("the value comes from the environment variable {}", name(option)),
        // A variable may set an option that another option needs or excludes.
        None if matches!(
            error.kind(),
            ErrorKind::MissingRequiredArgument | ErrorKind::ArgumentConflict
        ) && !set.is_empty() =>
        {
            let names: Vec<_> = set.iter().map(|option| name(option)).collect();
            format!("these environment variables set options, too: {}", names.join(", "))
        }
        None => return error,
    };
    let tips = vec![StyledStr::from(tip)];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

/// Whether the option is among these words.
fn is_typed(option: &Arg, words: &[OsString]) -> bool {
    words.iter().any(|word| name_of(word).is_some_and(|name| option.get_long() == Some(name)))
}

/// The long name in a word such as `--map` or `--map=arena`.
fn name_of(word: &OsStr) -> Option<&str> {
    let bytes = word.as_encoded_bytes().strip_prefix(b"--")?;
    std::str::from_utf8(bytes.split(|&byte| byte == b'=').next()?).ok()
}

/// The error that names the option whose value must be UTF-8 but is not.
fn not_utf8(options: &[&Arg], words: &[OsString]) -> Option<Error> {
    let takes_any = |option: &Arg| {
        let kind = option.get_value_parser().type_id();
        kind == TypeId::of::<PathBuf>() || kind == TypeId::of::<OsString>()
    };
    let strict = || options.iter().filter(|option| !takes_any(option));
    let mut places = words.iter().enumerate().filter(|(_, word)| word.to_str().is_none());
    let typed = places.find_map(|(index, word)| {
        let before = index.checked_sub(1).and_then(|before| name_of(words.get(before)?));
        let name = name_of(word).or(before)?;
        let option = strict().find(|option| option.get_long() == Some(name))?;
        Some((format!("--{}", option.get_long()?), word.clone()))
    });
    let of_environment = || {
        strict().find_map(|option| {
            let name = option.get_env()?;
            let value = variable(name).filter(|value| value.to_str().is_none())?;
            Some((format!("the environment variable {}", name.to_string_lossy()), value))
        })
    };
    let (place, value) = typed.or_else(of_environment)?;
    let message = format!(
        "the value of {place} is not UTF-8: {:?}; if it is a path, rename the file or its folder, \
         or name it by a path that is UTF-8\n",
        value.to_string_lossy()
    );
    Some(Error::raw(ErrorKind::InvalidUtf8, message))
}

#[cfg(test)]
mod tests;
