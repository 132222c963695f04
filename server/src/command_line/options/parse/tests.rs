//! The environment of a process cannot be changed safely. A test that needs another environment
//! runs one of these tests in a child process.

use std::process::{Command as Process, Output};

use clap::{CommandFactory, FromArgMatches};

use super::*;
use crate::server::options::Options;

/// The map that all tests ask for, so that no option is missing.
const MAP: &str = "a-map";

/// Reads the options in the environment of this process, and prints the outcome. The tests below
/// run this test in another process. Without the mark in the environment, it does nothing.
#[test]
fn part_in_another_environment() {
    if std::env::var_os("OPTIONS_PART").is_none() {
        return;
    }
    let arguments = std::env::var("OPTIONS_WORDS").unwrap_or_default();
    let words = ["server"].into_iter().chain(arguments.split_whitespace()).map(OsString::from);
    if arguments.starts_with("health") {
        let parsed = matches(Jobs::command(), words.collect());
        match parsed.and_then(|parsed| Jobs::from_arg_matches(&parsed)) {
            Ok(Jobs { job: Job::Health(options) }) => {
                println!("default: {}", options.http.to_string() == "127.0.0.1:8080");
            }
            Err(error) => println!("refused: {error}"),
        }
        return;
    }
    match Options::read(words.clone()) {
        Ok(options) => {
            let command = Options::command();
            let words = Options::with_file(words).unwrap();
            let values = values(&command, &matches(command.clone(), words).unwrap());
            let is_default = options == Options::new(MAP);
            println!("default: {is_default}; {values:?}");
        }
        Err(error) => println!("refused: {error}"),
    }
}

/// The output of [`part_in_another_environment`] with these variables.
fn read_with(variables: &[(&str, &OsStr)], words: &str) -> String {
    let mut process = Process::new(std::env::current_exe().unwrap());
    process.args([
        "--exact",
        "command_line::options::parse::tests::part_in_another_environment",
        "--nocapture",
    ]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ARENA_") {
            process.env_remove(name);
        }
    }
    process.env("OPTIONS_PART", "1").env("OPTIONS_WORDS", words);
    let Output { stdout, stderr, .. } = process.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        text.contains("default:") || text.contains("refused:"),
        "{text}{}",
        String::from_utf8_lossy(&stderr)
    );
    text
}

/// The variable and the long name of each option, and whether the option takes a value.
fn variables() -> Vec<(String, String, bool)> {
    let command = Options::command();
    let named = |option: &Arg| {
        let variable = option.get_env()?.to_str()?.to_owned();
        Some((variable, option.get_long()?.to_owned(), option.get_action().takes_values()))
    };
    command.get_arguments().filter_map(named).collect()
}

/// Symptom: an empty environment variable was taken for a value. The variables of all options are
/// tested at once, so that none is missed.
#[test]
fn empty_variable_counts_as_unset_for_every_option() {
    let all = variables();
    assert!(all.len() > 60, "{}", all.len());
    let empty: Vec<_> = all.iter().map(|(name, ..)| (name.as_str(), OsStr::new(""))).collect();
    let told = read_with(&empty, &format!("--map {MAP}"));
    assert!(told.contains("default: true"), "{told}");
    // An empty variable does not hide the value in the file either.
    let file = std::env::temp_dir().join(format!("empty-variable-{}.toml", std::process::id()));
    std::fs::write(&file, "map = 'of-the-file'\nmax-players = 4\nagones = 'yes'\n").unwrap();
    let told = read_with(&empty, &format!("--config {}", file.display()));
    std::fs::remove_file(file).unwrap();
    for (option, value) in [("map", "of-the-file"), ("max-players", "4"), ("agones", "true")] {
        assert!(told.contains(&format!("\"{option}\": [\"{value}\"]")), "{told}");
    }
}

#[test]
fn a_switch_understands_all_words_for_yes_and_no_and_names_its_variable() {
    let switches = variables().into_iter().filter(|(.., takes_values)| !takes_values);
    let mut count = 0;
    for (variable, option, _) in switches {
        count += 1;
        for (text, means) in [
            ("1", true),
            ("0", false),
            ("true", true),
            ("false", false),
            ("yes", true),
            ("no", false),
            ("on", true),
            ("off", false),
            ("YES", true),
        ] {
            assert_eq!(truth(text), Some(means), "{text}");
            let told = read_with(&[(&variable, OsStr::new(text))], &format!("--map {MAP}"));
            let expected = format!("\"{option}\": [\"{means}\"]");
            let as_typed = format!("\"{option}\": [\"{text}\"]");
            assert!(told.contains(&expected) || told.contains(&as_typed), "{text}: {told}");
            assert_eq!(told.contains("default: true"), !means, "{variable}={text}: {told}");
        }
        let told = read_with(&[(&variable, OsStr::new("maybe"))], &format!("--map {MAP}"));
        assert!(told.contains("refused:") && told.contains(&variable), "{told}");
    }
    assert!(count >= 2, "{count}");
    assert_eq!(truth("maybe"), None);
}

#[test]
fn an_error_names_the_variable_that_holds_the_value_and_not_one_that_was_typed_over() {
    for (variable, option, value) in [
        ("ARENA_MAX_PLAYERS", "max-players", "many"),
        ("ARENA_TICK_RATE", "tick-rate", "9"),
        ("ARENA_BAN", "ban", "everybody"),
        ("ARENA_LOG_FORMAT", "log-format", "xml"),
        ("ARENA_IDLE", "idle", "soon"),
    ] {
        let told = read_with(&[(variable, OsStr::new(value))], &format!("--map {MAP}"));
        assert!(told.contains("refused:") && told.contains(variable), "{told}");
        let typed =
            read_with(&[(variable, OsStr::new("5"))], &format!("--map {MAP} --{option} {value}"));
        assert!(typed.contains("refused:") && !typed.contains(variable), "{typed}");
    }
    let told = read_with(&[("ARENA_CERT", OsStr::new("c.pem"))], &format!("--map {MAP}"));
    assert!(told.contains("--key") && told.contains("ARENA_CERT"), "{told}");
    let told = read_with(&[("ARENA_CONFIG", OsStr::new("/nonexistent/c.toml"))], "");
    assert!(told.contains("/nonexistent/c.toml") && told.contains("ARENA_CONFIG"), "{told}");
}

/// Symptom: a file that `--config` named was silently not read if its path was not UTF-8.
#[cfg(unix)]
#[test]
fn config_silently_unread_in_a_folder_that_is_not_utf8_is_read_or_named() {
    use std::os::unix::ffi::OsStrExt;
    let folder = std::env::temp_dir()
        .join(OsStr::from_bytes(format!("d\u{1}j-{}", std::process::id()).as_bytes()));
    let mut name = folder.into_os_string().into_encoded_bytes();
    let place = name.iter().position(|&byte| byte == 1).unwrap();
    name[place] = 0xE9;
    let folder = PathBuf::from(OsStr::from_bytes(&name));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("c.toml");
    std::fs::write(&file, "max-players = 4\n").unwrap();
    let joined = |before: &str, path: &std::path::Path| {
        let mut word = OsString::from(before);
        word.push(path);
        word
    };
    let read = |words: Vec<OsString>| {
        let words = ["server".into(), "--map".into(), MAP.into()].into_iter().chain(words);
        Options::read(words)
    };
    assert_eq!(read(vec![joined("--config=", &file)]).unwrap().max_players, 4);
    assert_eq!(read(vec!["--config".into(), file.clone().into()]).unwrap().max_players, 4);
    assert!(
        read_with(&[("ARENA_CONFIG", file.as_os_str())], &format!("--map {MAP}"))
            .contains("\"max-players\": [\"4\"]")
    );

    for (option, variable) in [("map", "ARENA_MAP"), ("maps", "ARENA_MAPS")] {
        for words in [
            vec![joined(&format!("--{option}="), &file)],
            vec![format!("--{option}").into(), file.clone().into()],
        ] {
            let words = std::iter::once("server".into()).chain(words);
            let error = Options::read(words).unwrap_err().to_string();
            assert!(error.contains(&format!("--{option} is not UTF-8")), "{error}");
        }
        let told = read_with(&[(variable, file.as_os_str())], "");
        assert!(told.contains(variable) && told.contains("is not UTF-8"), "{told}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[derive(clap::Parser)]
struct Jobs {
    #[command(subcommand)]
    job: Job,
}

#[derive(clap::Subcommand)]
enum Job {
    Health(crate::command_line::health::HealthOptions),
}

/// Subcommands take the environment in the same way.
#[test]
fn a_subcommand_takes_empty_variables_for_unset() {
    assert!(read_with(&[("ARENA_HTTP", OsStr::new(""))], "health").contains("default: true"));
    let told = read_with(&[("ARENA_HTTP", OsStr::new("here"))], "health");
    assert!(told.contains("refused:") && told.contains("ARENA_HTTP"), "{told}");
}
