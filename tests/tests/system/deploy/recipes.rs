//! Checks files without running them: the image, the compose file, the unit and the manifests name
//! files, programs, options and ports that exist. `.ci/container` runs the image and the compose
//! file.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use server::Options;
use tests::harness;

use crate::deploy::files::{folder, read};

/// Files that start a server.
const RECIPES: [&str; 4] =
    ["Dockerfile", "compose.yaml", "systemd/arena-server.service", "agones/fleet.yaml"];

/// The help text of a program of this project.
fn help(program: &str) -> String {
    let output = Command::new(harness::program(program)).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The programs of this project that a recipe starts, each with a line of its command. In compose
/// files, `entrypoint` comes before `command`. Programs of other images are left out.
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

/// The names in a text that begin with `beginning`.
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
        assert!(
            unknown.is_empty(),
            "{recipe} sets variables that the server does not have: {unknown:?}"
        );
    }
    // The health check is a subcommand of the server.
    let jobs = help("server");
    for recipe in ["Dockerfile", "compose.yaml"] {
        let check = read(recipe);
        let check = check.lines().find(|line| line.contains("\"server\", \"health\""));
        assert!(check.is_some() && jobs.contains("\n  health "), "{recipe} has no health check");
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
            assert!(unknown.is_empty(), "{recipe}: {program} has no options {unknown:?}");
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
            assert!(
                entries.any(|entry| fits(&entry.unwrap().path())),
                "COPY {source}: no file matches"
            );
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
    let (game, pages) = (options.listen[0].port(), options.pages.http.port());
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
            assert!(text.contains(&line), "{recipe} has no line {line}");
        }
    }
}

/// A unit that systemd watches must be allowed to report to it.
#[test]
fn a_unit_that_is_watched_may_report() {
    let unit = read("systemd/arena-server.service");
    for setting in ["Type=notify", "WatchdogSec=20", "Restart=on-failure"] {
        assert!(unit.lines().any(|line| line == setting), "no {setting}");
    }
    let families = unit.lines().find(|line| line.starts_with("RestrictAddressFamilies="));
    assert!(families.is_some_and(|families| families.contains("AF_UNIX")), "{families:?}");
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    let unit = read("systemd/arena-server.service");
    // The server is not installed here, so another program stands in for it.
    let unit = unit.replace("/usr/local/bin/arena-server", "/bin/true");
    let path = std::env::temp_dir().join(format!("arena-{}.service", std::process::id()));
    std::fs::write(&path, unit).unwrap();
    let verified = Command::new("systemd-analyze").arg("verify").arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let Ok(verified) = verified else {
        // `eprintln!` would be captured, and not shown for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no systemd-analyze");
        return;
    };
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_it: Vec<_> = told.lines().filter(|line| line.contains("arena-")).collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}
