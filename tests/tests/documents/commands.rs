//! Runs the commands of the pages: each block whose fence is marked `sh run`. Bash runs it at the
//! top of the repository, and stops at the first command that fails. Each block has an empty folder
//! `$TMPDIR`, into which it must write its files, as `mktemp` does. The programs are in the `PATH`.
//! A block that starts a server must also end it, and must let it take any free ports, because
//! other tests also have servers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::page::{Page, files, root};

/// Minimum number of blocks that must be marked. If the mark were misspelt everywhere, the test
/// would run nothing.
const LEAST_BLOCKS: usize = 8;

/// Time limit of a block, in seconds. The programs are compiled before, outside this limit.
const LIMIT: &str = "120";

/// The programs that blocks run by their names, as arguments of `cargo build`.
const PROGRAMS: [&str; 2] = ["-p server -p client-bot", "--bin mapc"];

#[test]
fn each_block_that_says_that_it_runs_does() {
    if !cfg!(target_os = "linux") {
        return println!("SKIPPED: commands of the pages are run on Linux");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    let blocks: Vec<(String, String)> =
        files("md").iter().flat_map(|page| runnable(page)).collect();
    let mut programs: BTreeSet<&str> = PROGRAMS.into();
    programs.extend(blocks.iter().flat_map(|(_, script)| started_by_cargo(script)));
    for program in programs {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet"]).args(program.split(' '));
        let built = in_repository(&mut cargo).status().expect("cargo can be started");
        assert!(built.success(), "cargo build {program}: {built}");
    }
    let mut faults = Vec::new();
    for (place, script) in &blocks {
        println!("{place}");
        let ended = run(script, &folder);
        if !ended.success() {
            let log = fs::read(folder.join("log")).expect("the log of the block can be read");
            let log = String::from_utf8_lossy(&log);
            let last: Vec<_> = log.lines().rev().take(40).collect();
            let last: Vec<_> = last.into_iter().rev().collect();
            faults.push(format!("{place}: {ended}\n{}", last.join("\n")));
        }
    }
    assert!(
        faults.is_empty(),
        "blocks that fail (exit status 124: after {LIMIT} seconds):\n{}",
        faults.join("\n\n")
    );
    let count = blocks.len();
    assert!(count >= LEAST_BLOCKS, "{count} blocks are marked `sh run`, fewer than {LEAST_BLOCKS}");
}

/// The blocks of a page that are run: where each is (`PAGE:LINE`), and its text.
fn runnable(page: &str) -> Vec<(String, String)> {
    let blocks = Page::read(page).blocks.into_iter();
    let marked = blocks.filter(|(_, info, _)| info == "sh run");
    marked.map(|(line, _, script)| (format!("{page}:{line}"), script)).collect()
}

/// The arguments with which `cargo build` compiles the programs that a script starts by
/// `cargo run`. They name the same packages as the script, so that `cargo run` finds the programs
/// up to date. Further packages in one build would change the features of shared crates, and Cargo
/// would compile these crates again.
fn started_by_cargo(script: &str) -> impl Iterator<Item = &str> {
    let starts = script.lines().filter_map(|line| line.split_once("cargo run "));
    starts.map(|(_, arguments)| arguments.split_once(" -- ").map_or(arguments, |(own, _)| own))
}

#[test]
fn programs_started_by_cargo_are_named_as_in_the_script() {
    let script = "out=$(mktemp -d)\n  cargo run --bin scene -- landing\ncargo run -p server";
    let named: Vec<_> = started_by_cargo(script).collect();
    assert_eq!(named, ["--bin scene", "-p server"]);
}

/// The folder `target`, in which Cargo has put this test.
fn target() -> PathBuf {
    // The path is target/PROFILE/deps/TEST.
    let test = std::env::current_exe().expect("the path of this program is known");
    test.ancestors().nth(3).expect("this test is in target/PROFILE/deps").to_owned()
}

/// Lets a command run at the top of the repository, without the variables that Cargo sets for tests
/// or that change how tests and servers run.
fn in_repository(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // Build scripts that depend on Cargo's variables would run again.
        let of_cargo = text == "OUT_DIR" || text.starts_with("CARGO_PKG_");
        if of_cargo || text.starts_with("CARGO_MAN") || text.starts_with("ARENA_") {
            command.env_remove(&name);
        }
    }
    command.current_dir(root()).env("CARGO_TARGET_DIR", target())
}

fn run(script: &str, folder: &Path) -> ExitStatus {
    // The folder is absent the first time.
    let _ = fs::remove_dir_all(folder);
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).expect("a folder for the block can be made");
    let log = File::create(folder.join("log")).expect("a log for the block can be made");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = [target().join("debug")].into_iter().chain(std::env::split_paths(&paths));
    let paths = std::env::join_paths(paths).expect("the path of the outputs has no colon");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LIMIT, "bash", "-euo", "pipefail", "-c", script]);
    in_repository(&mut command)
        .env("PATH", paths)
        .env("TMPDIR", &temporary)
        // Servers keep their state there.
        .env("STATE_DIRECTORY", &temporary)
        .stderr(log.try_clone().expect("the handle of the log can be cloned"))
        .stdout(log)
        .stdin(Stdio::null());
    command.status().expect("`timeout` of the coreutils can be started")
}
