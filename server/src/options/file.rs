//! Reads options from a TOML file. Each becomes a word of the command line, in front of the words
//! that were typed, so that there is one parser and one set of rules.

use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Error};
use toml::{Table, Value};

use super::Options;
use super::environment;
use super::spelling::did_you_mean;

/// The option that names the file.
const OPTION: &str = "--config";
/// The environment variable that names the file.
const VARIABLE: &str = "ARENA_CONFIG";

/// The command line, with the options of the file that it names, if it names one. Environment
/// variables that look like options and are none are refused.
pub(super) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    // A job (such as `server soak`) has options of its own, and the file has none of them. The job
    // is always the first word, because no option may stand before it.
    let names_job = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    if arguments.get(1).is_some_and(names_job) {
        return Ok(arguments);
    }
    environment::check()?;
    let Some(path) = named(&arguments) else { return Ok(arguments) };
    let wrong = |what: String| {
        // A raw error shows no usage of the command line, because the fault is in the file.
        let message = format!("{OPTION} {}: {what}\n", Path::new(&path).display());
        Error::raw(ErrorKind::ValueValidation, message)
    };
    let text = obsp::text::read(&path).map_err(|error| wrong(error.to_string()))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let mut arguments = arguments.into_iter();
    let mut all: Vec<OsString> = arguments.next().into_iter().collect();
    let command = Options::command();
    for (key, value) in &table {
        let known = command.get_arguments().find(|known| known.get_long() == Some(key));
        let Some(known) = known.filter(|_| key != "config") else {
            let known = command.get_arguments().filter_map(|option| option.get_long());
            let way_out = did_you_mean(key, &known.collect::<Vec<_>>());
            return Err(wrong(format!("there is no option {key}; {way_out}")));
        };
        // The environment takes precedence over the file.
        if known.get_env().is_some_and(|variable| std::env::var_os(variable).is_some()) {
            continue;
        }
        // A switch has no value: it is there or not.
        if !known.get_action().takes_values() {
            let Value::Boolean(on) = value else {
                return Err(wrong(format!("{key} must be true or false")));
            };
            all.extend(on.then(|| format!("--{key}").into()));
            continue;
        }
        let value = written(value).ok_or_else(|| {
            wrong(format!("{key} must be a number, a text in quotes, or a list of these"))
        })?;
        all.push(format!("--{key}={value}").into());
    }
    all.extend(arguments);
    Ok(all)
}

/// The file that the command line or the environment names.
fn named(arguments: &[OsString]) -> Option<OsString> {
    for (index, argument) in arguments.iter().enumerate() {
        if argument == OPTION {
            return arguments.get(index + 1).cloned();
        }
        let attached = argument.to_str().and_then(|text| text.strip_prefix(OPTION));
        if let Some(path) = attached.and_then(|rest| rest.strip_prefix('=')) {
            return Some(path.into());
        }
    }
    std::env::var_os(VARIABLE)
}

/// A value as it would be typed on the command line. `None` if there is no way to type it.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Array(values) => {
            let values: Option<Vec<_>> = values.iter().map(written).collect();
            Some(values?.join(","))
        }
        Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}
