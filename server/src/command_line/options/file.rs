//! Reads options from a TOML file. Each becomes a word of the command line, in front of the words
//! that were typed, so that there is one parser and one set of rules.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};
use toml::{Table, Value};

use super::environment;
use super::parse::{truth, variable};
use super::spelling::did_you_mean;
use crate::common::regular_file;
use crate::server::options::Options;

/// The option that names the file.
const OPTION: &str = "--config";
/// The environment variable that names the file.
const VARIABLE: &str = "ARENA_CONFIG";

/// The command line together with the options of its configuration file, if there is one. Refuses
/// environment variables whose names look like options and belong to none.
pub(super) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    // A job (such as `server soak`) has options of its own, and the file has none of them. The job
    // is always the first word, because no option may stand before it.
    let names_job = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    if arguments.get(1).is_some_and(names_job) {
        return Ok(arguments);
    }
    environment::check()?;
    let Some((path, place)) = named(&arguments)? else { return Ok(arguments) };
    let wrong = |what: String| {
        // A raw error shows no usage of the command line, because the fault is in the file.
        let message = format!("{place} {}: {what}\n", Path::new(&path).display());
        Error::raw(ErrorKind::ValueValidation, message)
    };
    let read = regular_file::read_text(Path::new(&path), regular_file::LARGEST);
    let text = read.map_err(|error| wrong(regular_file::explain(Path::new(&path), &error)))?;
    let table: Table = text.parse().map_err(|error| wrong(fault(&text, &error)))?;
    let typed = names(&arguments);
    let mut arguments = arguments.into_iter();
    let mut all: Vec<OsString> = arguments.next().into_iter().collect();
    let command = Options::command();
    for (key, value) in &table {
        let known = command.get_arguments().find(|known| known.get_long() == Some(key));
        if key == "config" {
            let way_out = format!("name one file, by {OPTION} or {VARIABLE}");
            return Err(wrong(format!("a file of options cannot name another one; {way_out}")));
        }
        let Some(known) = known else {
            let known = command.get_arguments().filter_map(|option| option.get_long());
            let way_out = did_you_mean(key, &known.collect::<Vec<_>>());
            return Err(wrong(format!("there is no option {key}; {way_out}")));
        };
        // The environment takes precedence over the file.
        if known.get_env().is_some_and(|name| variable(name).is_some()) {
            continue;
        }
        // The words of the file come before the words that were typed, so a typed value overrides
        // the file's. A list, however, grows by each word. A list that has a default must be
        // replaced as a whole, so the file's list is left out if the command line has one.
        let replaces = !known.get_default_values().is_empty();
        if replaces && known.get_long().is_some_and(|name| typed.iter().any(|word| word == name)) {
            continue;
        }
        // A switch has no value: it is there or not.
        if !known.get_action().takes_values() {
            let Some(on) = switch(value) else {
                return Err(wrong(format!("{key} must be true or false")));
            };
            all.extend(on.then(|| format!("--{key}").into()));
            continue;
        }
        let value = written(value).ok_or_else(|| {
            wrong(format!("{key} must be a number, a text in quotes, or a list of these"))
        })?;
        if value.is_empty() {
            return Err(wrong(format!("{key} is empty: leave the line out, or give it a value")));
        }
        all.push(format!("--{key}={value}").into());
    }
    if let Some(fault) = wrong_value(&command, &all, &table) {
        return Err(wrong(fault));
    }
    all.extend(arguments);
    Ok(all)
}

/// The first value in the file that is wrong for its option, and the reason. It is sought before
/// the words of the file are joined with the typed words. Afterwards nobody can tell where a value
/// comes from.
fn wrong_value(command: &Command, words: &[OsString], table: &Table) -> Option<String> {
    let error = command.clone().try_get_matches_from(words).err()?;
    let is_of_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    // The wrong value may come from an environment variable instead of the file.
    let option = match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(option) => option.strip_prefix("--")?.split([' ', '=']).next()?,
        _ => return None,
    };
    let text = error.to_string();
    let reason = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next()?;
    (is_of_value && table.contains_key(option)).then(|| reason.to_owned())
}

/// The place of a fault in the file, and the reason. The message does not quote the line, because
/// the line may hold a secret and the message is logged.
fn fault(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| 1 + before.matches('\n').count());
    let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{place}{}", error.message())
}

/// The file that the command line or the environment names, and the option or variable that names
/// it. The path need not be UTF-8.
///
/// # Errors
/// The command line names two files, of which only one would be read.
fn named(arguments: &[OsString]) -> Result<Option<(OsString, &'static str)>, Error> {
    let words = clap_lex::RawArgs::new(arguments.iter().skip(1).cloned());
    let mut cursor = words.cursor();
    let mut paths = Vec::new();
    while let Some(word) = words.next(&mut cursor) {
        if let Some((Ok(name), value)) = word.to_long()
            && OPTION.strip_prefix("--") == Some(name)
        {
            paths.extend(value.or_else(|| words.next_os(&mut cursor)).map(OsString::from));
        }
    }
    if let [first, second, ..] = paths.as_slice() {
        let [first, second] = [first, second].map(|path| Path::new(path).display());
        let message = format!(
            "{OPTION} names two files, {first} and {second}, and only one is read: put all options \
             into one of them\n"
        );
        return Err(Error::raw(ErrorKind::ArgumentConflict, message));
    }
    let typed = paths.pop().map(|path| (path, OPTION));
    Ok(typed.or_else(|| Some((variable(VARIABLE)?, VARIABLE))))
}

/// The long options on the command line, without their dashes.
fn names(arguments: &[OsString]) -> Vec<String> {
    let words = clap_lex::RawArgs::new(arguments.iter().skip(1).cloned());
    let mut cursor = words.cursor();
    let mut found = Vec::new();
    while let Some(word) = words.next(&mut cursor) {
        found.extend(word.to_long().and_then(|(name, _)| name.ok()).map(str::to_owned));
    }
    found
}

/// A switch's value, by the rules for environment variables.
fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(on) => Some(*on),
        Value::Integer(number) => truth(&number.to_string()),
        Value::String(text) => truth(text),
        _ => None,
    }
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
