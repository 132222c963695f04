//! What no engine here can run, held to what can be known of it without one: files,
//! programs, options and ports that image, compose file, unit and manifests name.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use server::Options;
use tests::harness;

use crate::files::{folder, read};

/// Files that start a server.
const RECIPES: [&str; 4] =
    ["Dockerfile", "compose.yaml", "systemd/arena-server.service", "agones/fleet.yaml"];

/// What one of our programs says of its command line.
fn help(program: &str) -> String {
    let output = Command::new(harness::program(program)).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Which of our programs a recipe starts, and with which words; compose's
/// `entrypoint` comes before its `command`, and other images' are not ours.
fn commands(recipe: &str) -> Vec<(&'static str, String)> {
    const STARTS: [&str; 5] = ["ENTRYPOINT ", "ExecStart=", "entrypoint: ", "command: ", "args: "];
    let (mut program, mut commands) = ("server", Vec::new());
    for line in read(recipe).lines().map(str::trim) {
        if let Some(image) = line.strip_prefix("image: ") {
            program = if image.starts_with("arena") { "server" } else { "" };
        }
        let Some(said) = STARTS.iter().find_map(|start| line.strip_prefix(start)) else { continue };
        if said.contains("client-bot") {
            program = "client-bot";
        }
        if !program.is_empty() {
            commands.push((program, said.to_owned()));
        }
    }
    commands
}

/// Words of a text that begin so, without what cannot be part of a name.
fn words(text: &str, beginning: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let words = text.split(|c| !is_part(c)).filter(|word| word.starts_with(beginning));
    words.map(str::to_owned).collect()
}

#[test]
fn options_that_are_set_are_options_of_the_server() {
    let known = words(&help("server"), "ARENA_");
    assert!(known.contains("ARENA_MAP"), "{known:?}");
    for recipe in RECIPES {
        let unknown: Vec<_> = words(&read(recipe), "ARENA_").difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "{recipe} sets what there is not: {unknown:?}");
    }
    // Words that are no option are subcommands of the server.
    let jobs = help("server");
    for recipe in ["Dockerfile", "compose.yaml"] {
        let check = read(recipe);
        let check = check.lines().find(|line| line.contains("\"server\", \"health\""));
        assert!(check.is_some() && jobs.contains("\n  health "), "{recipe} asks for no health");
    }
    let mut given = 0;
    for recipe in RECIPES {
        let commands = commands(recipe);
        assert!(!commands.is_empty(), "{recipe} starts nothing");
        for (program, command) in commands {
            let options = words(&command, "--");
            given += options.len();
            let known = words(&help(program), "--");
            let unknown: Vec<_> = options.difference(&known).cloned().collect();
            assert!(unknown.is_empty(), "{recipe}: {program} has no {unknown:?}");
        }
    }
    assert!(given >= 4, "only {given} options were found in all recipes");
}

#[test]
fn files_that_are_named_are_there() {
    let top = folder().join("..");
    let dockerfile = read("Dockerfile");
    let copied = dockerfile.lines().filter_map(|line| line.strip_prefix("COPY "));
    for sources in copied.filter(|line| !line.contains("--from")) {
        for source in sources.split(' ').rev().skip(1) {
            let (place, pattern) = source.rsplit_once("/*").unwrap_or((source, ""));
            let mut entries = std::fs::read_dir(top.join(place))
                .unwrap_or_else(|error| panic!("COPY {source}: {error}"));
            let fits = |name: &Path| name.to_string_lossy().ends_with(pattern);
            assert!(entries.any(|entry| fits(&entry.unwrap().path())), "COPY {source}: nothing");
        }
    }
    let compose = read("compose.yaml");
    let mounted = compose.lines().filter_map(|line| line.trim().strip_prefix("- ./"));
    let mounted: Vec<_> = mounted.filter_map(|line| line.split(':').next()).collect();
    assert!(mounted.len() >= 4, "{mounted:?}");
    for path in mounted {
        assert!(folder().join(path).exists(), "compose.yaml mounts {path}");
    }
    assert!(compose.contains("dockerfile: deploy/Dockerfile"));
    for program in ["server", "client-bot"] {
        assert!(dockerfile.contains(&format!("target/release/{program}")), "{program}");
    }
}

#[test]
fn ports_that_are_opened_are_those_that_the_server_takes() {
    let options = Options::new("m");
    let (game, pages) = (options.listen.port(), options.http.port());
    for (recipe, lines) in [
        ("Dockerfile", vec![format!("EXPOSE {game}/udp {pages}/tcp")]),
        ("compose.yaml", vec![format!("{game}:{game}/udp"), format!("{pages}:{pages}")]),
        (
            "agones/fleet.yaml",
            vec![format!("containerPort: {game}"), format!("containerPort: {pages}")],
        ),
    ] {
        let text = read(recipe);
        for line in lines {
            assert!(text.contains(&line), "{recipe} does not say {line}");
        }
    }
}

/// systemd tells a unit with these settings where to report, and must let it.
#[test]
fn a_unit_that_is_watched_may_report() {
    let unit = read("systemd/arena-server.service");
    for setting in ["Type=notify", "WatchdogSec=20", "Restart=on-failure"] {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
    let families = unit.lines().find(|line| line.starts_with("RestrictAddressFamilies="));
    assert!(families.is_some_and(|families| families.contains("AF_UNIX")), "{families:?}");
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    let unit = read("systemd/arena-server.service");
    // The program is not installed here.
    let unit = unit.replace("/usr/local/bin/arena-server", "/bin/true");
    let path = std::env::temp_dir().join(format!("arena-{}.service", std::process::id()));
    std::fs::write(&path, unit).unwrap();
    let verified = Command::new("systemd-analyze").arg("verify").arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let Ok(verified) = verified else {
        // Not `eprintln!`, which tests that pass keep to themselves.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no systemd-analyze");
        return;
    };
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_it: Vec<_> = told.lines().filter(|line| line.contains("arena-")).collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}
