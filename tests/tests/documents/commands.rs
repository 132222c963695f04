//! Runs the commands of the pages: each block whose fence is marked `sh run`. Bash runs it at the
//! top of the repository, and stops at the first command that fails. Each block has an empty folder
//! `$TMPDIR`, into which it must write its files. A block that starts a server must also end it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::page::{Page, files, root};

/// Longest time of a block, in seconds.
const LIMIT: &str = "300";

#[test]
fn each_block_that_says_that_it_runs_does() {
    if !cfg!(target_os = "linux") {
        return println!("SKIPPED: commands of the pages are run on Linux");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    let mut faults = Vec::new();
    for path in files("md") {
        let blocks = Page::read(&path).blocks;
        for (line, _, script) in blocks.iter().filter(|(_, info, _)| info == "sh run") {
            println!("{path}:{line}");
            let ended = run(script, &folder);
            if !ended.success() {
                let log = fs::read(folder.join("log")).expect("the log of the block can be read");
                let log = String::from_utf8_lossy(&log);
                let last: Vec<_> = log.lines().rev().take(40).collect();
                let last: Vec<_> = last.into_iter().rev().collect();
                faults.push(format!("{path}:{line}: {ended}\n{}", last.join("\n")));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "blocks that fail (exit status 124: after {LIMIT} seconds):\n{}",
        faults.join("\n\n")
    );
}

fn run(script: &str, folder: &Path) -> ExitStatus {
    // The folder is absent the first time.
    let _ = fs::remove_dir_all(folder);
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary).expect("a folder for the block can be made");
    let log = File::create(folder.join("log")).expect("a log for the block can be made");
    // The path is target/PROFILE/deps/TEST.
    let test = std::env::current_exe().expect("the path of this program is known");
    let target = test.ancestors().nth(3).expect("this program is in Cargo's folder of outputs");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LIMIT, "bash", "-euo", "pipefail", "-c", script]);
    command.current_dir(root()).env("CARGO_TARGET_DIR", target).env("TMPDIR", &temporary);
    // Cargo sets these variables for tests. Build scripts that depend on them would run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "OUT_DIR" || text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MAN") {
            command.env_remove(&name);
        }
    }
    command
        .stderr(log.try_clone().expect("the handle of the log can be cloned"))
        .stdout(log)
        .stdin(Stdio::null());
    command.status().expect("`timeout` of the coreutils can be started")
}
