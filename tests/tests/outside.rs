//! A game outside the workspace: `tests/outside/gravity_gun` depends on the crates by their paths
//! and changes nothing in them. It has tests of its own, which compile and play it. Another is
//! written by `server new-game`.

use std::path::Path;
use std::process::Command;

use tests::harness::program;

#[test]
fn a_weapon_and_a_body_from_outside_of_the_workspace_are_played() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["test", "--locked", "--manifest-path"])
        .arg(root.join("tests/outside/gravity_gun/Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target/outside"))
        .output()
        .expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{}\n{}", told[0], told[1]);
    assert!(told[0].contains("2 passed"), "the game's own two tests must pass: {}", told[0]);
}

#[test]
fn a_new_game_is_written_built_without_a_network_and_played() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parent = std::env::temp_dir().join(format!("outside-{}", std::process::id()));
    std::fs::create_dir_all(&parent).expect("there is room for a folder");
    let written = Command::new(program("server"))
        .args(["new-game", "my-game", "--path"])
        .arg(root.canonicalize().expect("the repository is there"))
        .current_dir(&parent)
        .output()
        .expect("the server runs");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["run", "--offline", "--manifest-path"])
        .arg(parent.join("my-game/Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target/outside"))
        // Of the libraries, a test needs no fast ones.
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .args(["--", "--soak", "1200", "--json"])
        .output()
        .expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let _ = std::fs::remove_dir_all(parent);
    assert!(run.status.success(), "{}\n{}", told[0], told[1]);
    let report: serde_json::Value = serde_json::from_str(&told[0]).expect("the report is JSON");
    assert_eq!(report["interpenetrations"], 0, "{report}");
    assert!(
        report["outcome"]["events"]["goal"].as_u64() > Some(0),
        "scripted players score: {report}"
    );
}
